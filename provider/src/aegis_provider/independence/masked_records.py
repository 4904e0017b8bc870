"""The records of a table with some values masked and some columns replaced by a cluster, block by block."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from aegis_provider.errors import OutputError, TableError
from aegis_provider.independence.columns import Column
from aegis_provider.independence.vectors import BoolArray, IntArray
from aegis_provider.progress import Progress
from aegis_provider.release.blocks import blocks_of
from aegis_provider.release.table_file import write_csv
from aegis_provider.table import Table
from aegis_provider.table.values import MISSING

PARQUET_ENDING = ".parquet"
CLUSTER = "cluster"
"""What the column of the clusters is called where it stands for several."""

_Made: TypeAlias = Callable[[pa.RecordBatch, int], pa.Array]
"""Makes an output column of a block and the number of its first record."""


@dataclass(frozen=True, eq=False)
class MaskedRecords:
    """The published table, before it is written.

    `masked`: the columns A; `replaced`: the columns B. `kept`: (n,) the records that are published. `stars`: (n, A)
    which values are masked; `clusters`: (n,) the cluster of each record, from 1. Both say nothing of other records.
    """

    table: Table
    masked: tuple[Column, ...]
    replaced: tuple[Column, ...]
    kept: BoolArray
    stars: BoolArray
    clusters: IntArray
    star: str

    @property
    def cluster(self) -> str:
        """The name of the column of the clusters: that of the column in whose place it is, if it is one."""
        return self.replaced[0].name if len(self.replaced) == 1 else CLUSTER

    @cached_property
    def others(self) -> tuple[str, ...]:
        """The columns C, which stay as they are."""
        return tuple(name for name in self.table.columns if name not in {each.name for each in self._read})

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The published columns, as the table orders them."""
        later = {each.name for each in self.replaced[1:]}
        return tuple(
            self.cluster if name == self.replaced[0].name else name for name in self.table.columns if name not in later
        )

    def write(self, path: Path, progress: Progress, *, parquet: bool) -> None:
        """Writes them: as CSV, or as Parquet, where the columns C keep the types that the table has for them.

        Raises `TableError` where the table is not the one that was read before, `OSError`, and `OutputError` for what
        Parquet cannot hold.
        """
        if not parquet:
            write_csv(path, self.names, self._texts(progress), self.table.delimiter or ",")
            return
        try:
            self._write_parquet(path, progress)
        except pa.ArrowNotImplementedError as error:
            raise OutputError(f"{path.name}: a column has a type that Parquet lacks; name a CSV file") from error

    def _write_parquet(self, path: Path, progress: Progress) -> None:
        blocks = self._typed(progress)
        first = next(blocks)
        with pq.ParquetWriter(path, first.schema, compression="zstd") as writer:
            writer.write_batch(first)
            for block in blocks:
                writer.write_batch(block)

    def _texts(self, progress: Progress) -> Iterator[pa.RecordBatch]:
        names = [f"v{place}" for place in range(len(self.names))]
        read = [each.name for each in self._read]
        blocks = self._checked(self.table.batches([*read, *self.others]), progress)
        return self._made(blocks, names, lambda texts: texts, pa.string())

    def _typed(self, progress: Progress) -> Iterator[pa.RecordBatch]:
        blocks = self._checked(self.table.batches([each.name for each in self._read], self.others), progress)
        return self._made(blocks, self.names, _null_if_missing, pa.int32())

    @property
    def _read(self) -> tuple[Column, ...]:
        return (*self.masked, *self.replaced)

    def _checked(self, batches: Iterator[pa.RecordBatch], progress: Progress) -> Iterator[tuple[pa.RecordBatch, int]]:
        """The blocks, each with the number of its first record, as long as they are what was read before."""
        start, records = 0, len(self.kept)
        for block in blocks_of(batches):
            expected = [each.part(start, block.num_rows) for each in self._read]
            if not all(mine.equals(texts) for mine, texts in zip(expected, block.columns, strict=False)):
                raise self._changed()
            yield block, start
            start += block.num_rows
            progress(start, records)
        if start != records:
            raise self._changed()

    def _made(
        self,
        blocks: Iterator[tuple[pa.RecordBatch, int]],
        names: Sequence[str],
        masked: Callable[[pa.StringArray], pa.StringArray],
        number: pa.DataType,
    ) -> Iterator[pa.RecordBatch]:
        makers = [self._maker(name, masked, number) for name in self._sources]
        for block, start in blocks:
            keep = pa.array(self.kept[start : start + block.num_rows])
            yield pa.record_batch([make(block, start) for make in makers], list(names)).filter(keep)

    @property
    def _sources(self) -> list[str]:
        """The column of the table that each published one is in the place of."""
        later = {each.name for each in self.replaced[1:]}
        return [name for name in self.table.columns if name not in later]

    def _maker(self, name: str, masked: Callable[[pa.StringArray], pa.StringArray], number: pa.DataType) -> _Made:
        if name == self.replaced[0].name:
            return lambda block, start: pc.cast(pa.array(self.clusters[start : start + block.num_rows]), number)
        for place, column in enumerate(self.masked):
            if column.name == name:
                return self._starring(place, masked)
        place = len(self._read) + self.others.index(name)
        return lambda block, _start: block.column(place)

    def _starring(self, place: int, masked: Callable[[pa.StringArray], pa.StringArray]) -> _Made:
        def make(block: pa.RecordBatch, start: int) -> pa.Array:
            stars = pa.array(self.stars[start : start + block.num_rows, place])
            return masked(pc.if_else(stars, self.star, block.column(place)))

        return make

    def _changed(self) -> TableError:
        return TableError(f"{self.table.name}: its records changed, or came in another order, while it was read")


def _null_if_missing(texts: pa.StringArray) -> pa.StringArray:
    return pc.if_else(pc.equal(texts, MISSING), None, texts)
