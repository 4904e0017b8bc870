"""The two output files: the masked table, and the values or extents that each cluster stands for."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from aegis_provider.errors import OutputError, TableError
from aegis_provider.independence.clustered_table import Basis, Cluster, ClusteredTable, Column
from aegis_provider.independence.vectors import BoolArray, IntArray, starred
from aegis_provider.processes import Progress
from aegis_provider.release.blocks import RECORDS, block_schema, blocks_of
from aegis_provider.release.table_file import shuffled, write_csv, write_parquet
from aegis_provider.table import Table
from aegis_provider.table.values import MISSING, Domain, ValueType

CLUSTER = "cluster"
"""The name of the column of clusters if it stands for several columns."""

_PARQUET = ".parquet"

_Maker: TypeAlias = Callable[[pa.RecordBatch, int], pa.Array]
"""Makes an output column from a block and the number of its first record."""


@dataclass(frozen=True, eq=False)
class MaskedRecords:
    """The published table, before it is written.

    Attributes:
        masked: The columns with masked values, A in the paper.
        replaced: The columns that the cluster stands for, B in the paper.
        kept: (n,) Whether each record is published.
        stars: (n, A) Whether each value is masked; meaningless for records that are not published.
        clusters: (n,) The cluster of each record, from 1; meaningless for records that are not published.
    """

    table: Table
    masked: tuple[Column, ...]
    replaced: tuple[Column, ...]
    kept: BoolArray
    stars: BoolArray
    clusters: IntArray
    star: str

    @classmethod
    def of(cls, clustered: ClusteredTable, group_of_record: IntArray, star: str) -> "MaskedRecords":
        """Return the records of the clusters, with a star where a group of (kept,) disagrees."""
        stars = np.zeros((len(clustered.kept), len(clustered.columns)), dtype=np.bool_)
        stars[clustered.kept] = starred(clustered.codes, group_of_record)
        clusters = np.zeros(len(clustered.kept), dtype=np.int64)
        clusters[clustered.kept] = clustered.cluster_of_record + 1
        replaced = tuple(basi.column for basi in clustered.basis)
        return cls(clustered.table, clustered.columns, replaced, clustered.kept, stars, clusters, star)

    @property
    def cluster(self) -> str:
        """The name of the column of clusters: that of the column it replaces, if it replaces only one."""
        return self.replaced[0].name if len(self.replaced) == 1 else CLUSTER

    @cached_property
    def others(self) -> tuple[str, ...]:
        """The unchanged columns, C in the paper."""
        return tuple(name for name in self.table.columns if name not in {column.name for column in self._read})

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The published columns, in the table's order."""
        later = {column.name for column in self.replaced[1:]}
        return tuple(
            self.cluster if name == self.replaced[0].name else name for name in self.table.columns if name not in later
        )

    def write(self, path: Path, progress: Progress, *, parquet: bool, keep_order: bool) -> None:
        """Write the records as CSV, or as Parquet, in which the unchanged columns keep the table's types.

        `keep_order`: whether the records keep the order of the table, which can identify people.

        Raises:
            TableError: The table changed since it was read.
            OutputError: Parquet cannot hold a column.
            OSError: The file cannot be written.
        """
        read = [column.name for column in self._read]
        if parquet:
            checked = self._checked(self.table.batches(read, self.others), progress)
            blocks = self._made(
                checked, self.names, lambda texts: pc.if_else(pc.equal(texts, MISSING), None, texts), pa.int32()
            )
        else:
            checked = self._checked(self.table.batches([*read, *self.others]), progress)
            names = [f"v{place}" for place in range(len(self.names))]
            blocks = self._made(checked, names, lambda texts: texts, pa.string())
        if not keep_order:
            first = next(blocks)
            blocks = shuffled(chain([first], blocks), int(self.kept.sum()), first.schema, path.parent)
        if not parquet:
            write_csv(path, self.names, blocks, self.table.delimiter or ",")
            return
        try:
            first = next(blocks)
            with pq.ParquetWriter(path, first.schema, compression="zstd") as writer:
                for block in chain([first], blocks):
                    writer.write_batch(block)
        except pa.ArrowNotImplementedError as error:
            raise OutputError(f"{path.name}: Parquet does not support the type of a column; name a CSV file") from error

    @property
    def _read(self) -> tuple[Column, ...]:
        return (*self.masked, *self.replaced)

    def _checked(self, batches: Iterator[pa.RecordBatch], progress: Progress) -> Iterator[tuple[pa.RecordBatch, int]]:
        """Yield the blocks, each with the number of its first record, if they equal what was read before."""
        start, records = 0, len(self.kept)
        changed = TableError(f"{self.table.name}: its records or their order changed while it was read; try again")
        for block in blocks_of(batches):
            read = slice(start, start + block.num_rows)
            expected = [column.texts.take(pa.array(column.codes[read])) for column in self._read]
            if not all(mine.equals(texts) for mine, texts in zip(expected, block.columns, strict=False)):
                raise changed
            yield block, start
            start += block.num_rows
            progress(start, records)
        if start != records:
            raise changed

    def _made(
        self,
        blocks: Iterator[tuple[pa.RecordBatch, int]],
        names: Sequence[str],
        masked: Callable[[pa.StringArray], pa.StringArray],
        number: pa.DataType,
    ) -> Iterator[pa.RecordBatch]:
        later = {column.name for column in self.replaced[1:]}
        makers = [self._maker(name, masked, number) for name in self.table.columns if name not in later]
        for block, start in blocks:
            keep = pa.array(self.kept[start : start + block.num_rows])
            yield pa.record_batch([make(block, start) for make in makers], list(names)).filter(keep)

    def _maker(self, name: str, masked: Callable[[pa.StringArray], pa.StringArray], number: pa.DataType) -> _Maker:
        if name == self.replaced[0].name:
            return lambda block, start: pc.cast(pa.array(self.clusters[start : start + block.num_rows]), number)
        names = [column.name for column in self.masked]
        if name in names:
            place = names.index(name)
            stars = self.stars[:, place]
            return lambda block, start: masked(
                pc.if_else(pa.array(stars[start : start + block.num_rows]), self.star, block.column(place))
            )
        other = len(self._read) + self.others.index(name)
        return lambda block, _start: block.column(other)


def is_parquet(path: Path) -> bool:
    """Return whether the file's name asks for Parquet."""
    return path.suffix.lower() == _PARQUET


def write_cluster_values(
    path: Path, basis: Sequence[Basis], kept: BoolArray, clusters: IntArray, delimiter: str, *, parquet: bool
) -> None:
    """Write a row for each published record: its cluster, and its values of the columns that make up the clusters.

    Rows are sorted by cluster and then by value, so that their order does not reveal the records.

    Args:
        kept: (n,) Whether each record is published.
        clusters: (n,) The cluster of each record, from 1.

    Raises:
        OSError: The file cannot be written.
    """
    numbers = clusters[kept]
    keys = [numbers]
    for basi in basis:
        texts = basi.column.texts.to_pylist()
        ranks = np.empty(len(texts), dtype=np.int64)
        ranks[sorted(range(len(texts)), key=texts.__getitem__)] = np.arange(len(texts))
        keys += [basi.places[kept], ranks[basi.column.codes][kept]]  # texts break ties
    order = np.lexsort(keys[::-1])
    columns = [pa.array(numbers[order]).cast(pa.string())]
    columns += [pa.array(basi.domain.texts).take(pa.array(basi.places[kept][order])) for basi in basis]
    names = [CLUSTER, *(basi.column.name for basi in basis)]
    _write(path, names, columns, int(numbers.max()), [basi.domain for basi in basis], None if parquet else delimiter)


def write_cluster_extents(path: Path, clusters: Sequence[Cluster], delimiter: str, *, parquet: bool) -> None:
    """Write a row for each cluster: its number, and its extent in each column from which it is made, in words.

    Raises:
        OSError: The file cannot be written.
    """
    names = [CLUSTER, *(extent.attribute for extent in clusters[0].extents)]
    rows = [(str(cluster.number), *(extent.in_words() for extent in cluster.extents)) for cluster in clusters]
    columns = [pa.array(texts, pa.string()) for texts in zip(*rows, strict=True)]
    domains = [Domain.of(texts.to_pylist(), ValueType.STRING) for texts in columns[1:]]
    _write(path, names, columns, len(clusters), domains, None if parquet else delimiter)


def _write(
    path: Path,
    names: Sequence[str],
    columns: Sequence[pa.StringArray],
    clusters: int,
    domains: Sequence[Domain],
    delimiter: str | None,
) -> None:
    """Write columns, the first of them the numbers of clusters; as Parquet without a delimiter."""
    schema, starts = block_schema(len(columns)), range(0, len(columns[0]), RECORDS)
    blocks = (pa.record_batch([each.slice(start, RECORDS) for each in columns], schema=schema) for start in starts)
    if delimiter is None:
        numbers = Domain.of(map(str, range(1, clusters + 1)), ValueType.INTEGER)
        write_parquet(path, names, blocks, [numbers, *domains])
    else:
        write_csv(path, names, blocks, delimiter)
