"""A table whose records are in clusters of equal size, before anything is masked."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from aegis_provider.errors import TableError
from aegis_provider.independence.clustering import Basis, Extent, clusters_of, extents_of
from aegis_provider.independence.columns import Column, read_columns
from aegis_provider.independence.grouping import Grouping
from aegis_provider.independence.masked_records import MaskedRecords
from aegis_provider.independence.stars import starred
from aegis_provider.independence.vectors import BoolArray, IntArray, distinct_rows
from aegis_provider.progress import Progress
from aegis_provider.table import Table


@dataclass(frozen=True)
class Cluster:
    """The records that are published with this `number`, from 1; `extents`: what they hold of each column B."""

    number: int
    records: int
    extents: tuple[Extent, ...]


@dataclass(frozen=True, eq=False)
class ClusteredTable:
    """The intermediate table of the paper, as far as it matters.

    `columns`: A; `basis`: B. `kept`: (n,) the records that were not dropped; `cluster_of_record`: (kept,) from 0.
    """

    table: Table
    columns: tuple[Column, ...]
    basis: tuple[Basis, ...]
    kept: BoolArray
    cluster_of_record: IntArray

    @classmethod
    def of(
        cls,
        table: Table,
        hide: Sequence[str],
        from_: Sequence[str],
        clusters: int,
        random: Generator,
        progress: Progress,
    ) -> "ClusteredTable":
        """Reads the columns, drops records until the clusters can be equal. Raises `TableError` for too few records."""
        found = read_columns(table, [*hide, *from_], progress)
        basis = tuple(map(Basis.of, found[len(hide) :]))
        kept = _kept(table, len(found[0].codes), clusters, random)
        return cls(table, found[: len(hide)], basis, kept, clusters_of(basis, kept, clusters, random))

    @property
    def codes(self) -> IntArray:
        """(kept, A) the place of each value in the texts of its column."""
        return np.stack([column.codes[self.kept] for column in self.columns], axis=1)

    def counts(self) -> IntArray:
        """(vectors, clusters) how many records have each combination of values of A that occurs, before masking."""
        values, vectors = distinct_rows(self.codes)
        found = np.zeros((len(values), int(self.cluster_of_record.max()) + 1), dtype=np.int64)
        np.add.at(found, (vectors, self.cluster_of_record), 1)
        return found

    @property
    def dropped(self) -> int:
        """How many records are not kept."""
        return int(np.count_nonzero(~self.kept))

    def masked(self, grouping: Grouping, star: str) -> MaskedRecords:
        """The published table: a star where a group disagrees."""
        stars = np.zeros((len(self.kept), len(self.columns)), dtype=np.bool_)
        stars[self.kept] = starred(self.codes, grouping.group_of_record)
        clusters = np.zeros(len(self.kept), dtype=np.int64)
        clusters[self.kept] = self.cluster_of_record + 1
        replaced = tuple(each.column for each in self.basis)
        return MaskedRecords(self.table, self.columns, replaced, self.kept, stars, clusters, star)

    def clusters(self) -> tuple[Cluster, ...]:
        """What each cluster holds."""
        return tuple(self._cluster(number) for number in range(int(self.cluster_of_record.max()) + 1))

    def _cluster(self, number: int) -> Cluster:
        records = np.zeros(len(self.kept), dtype=np.bool_)
        records[self.kept] = self.cluster_of_record == number
        return Cluster(number + 1, int(np.count_nonzero(records)), extents_of(self.basis, records))

    def refuse_star(self, star: str) -> None:
        """Raises `TableError` if a value to hide is the star: nobody could tell it from a masked one."""
        for column in self.columns:
            if star in column.texts.to_pylist():
                where = self.table.located(column.name, star)
                raise TableError(f"{where}: {column.name} is {star!r}, as masked values are; choose another --star")


def _kept(table: Table, records: int, clusters: int, random: Generator) -> BoolArray:
    """All but the fewest that must go for the clusters to be equal, drawn at random."""
    if records < clusters:
        raise TableError(f"{table.name}: {clusters} clusters need as many records, and there are {records}")
    kept = np.ones(records, dtype=np.bool_)
    kept[random.choice(records, records % clusters, replace=False)] = False
    return kept
