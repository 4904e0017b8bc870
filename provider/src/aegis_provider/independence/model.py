"""The result of hiding attributes: the clusters, the masked values, and the information left in the table."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from aegis_provider.independence.grouping import Solver
from aegis_provider.independence.vectors import IntArray

STAR: Final = "*"
"""The default text for masked values."""


@dataclass(frozen=True)
class Extent:
    """The values of a column in a cluster.

    Attributes:
        attribute: The name of the column.
        is_ordered: Whether its values are treated as numbers or dates.
        values: The smallest and the largest of numbers and dates; otherwise all values that occur. They are exact, and
            written or printed only on request.
        distinct: The number of values that occur.
        missing: The number of the cluster's records without a value.
        interval: Two ends, neither a value of the table, between which the values lie; an end is `None` if the interval
            is open there. The interval itself is `None` if it would reveal too much or nothing: for values without
            order, for several columns, and for few records.
    """

    attribute: str
    is_ordered: bool
    values: tuple[str, ...]
    distinct: int
    missing: int
    interval: tuple[str | None, str | None] | None = None

    def in_words(self) -> str:
        """Describe what may be published: an interval or a number of values, and the number missing."""
        told = f"{self.distinct} value{'s' * (self.distinct != 1)}" if self.interval is None else _within(self.interval)
        return f"{told}; {self.missing} missing" if self.missing else told


def _within(interval: tuple[str | None, str | None]) -> str:
    above, below = interval
    if above is None or below is None:
        return f"below {below}" if below is not None else f"above {above}" if above is not None else "all values"
    return f"{above} to {below}"


@dataclass(frozen=True)
class Cluster:
    """The records published with the same cluster number.

    Attributes:
        number: The number, from 1.
        records: The number of records.
        extents: The extent of each column from which the clusters are made.
    """

    number: int
    records: int
    extents: tuple[Extent, ...]


@dataclass(frozen=True)
class Association:
    """The mutual information of two vectors of attributes, in bits.

    Attributes:
        first: The attributes on one side.
        second: The attributes on the other side.
        before: The information in the original table; `None` if not measured, since a column has too many values.
        after: The information in the published table; `None` as above.
        in_clusters: Whether `second` is represented by its cluster both before and after, so that any loss is due to
            masked values.
    """

    first: tuple[str, ...]
    second: tuple[str, ...]
    before: float | None
    after: float | None
    in_clusters: bool = False


@dataclass(frozen=True)
class Hidden:
    """The result of hiding, and its cost.

    Attributes:
        hidden: The attributes with masked values.
        from_: The attributes that they are hidden from.
        cluster: The name of the column of clusters.
        others: The unchanged columns.
        output: The file of the masked table.
        clusters_output: The file that describes each cluster.
        exact_values: Whether that file has the exact values.
        clusters: The clusters.
        records: The number of published records.
        dropped: The number of records dropped at random so that all clusters are of equal size.
        seed: The seed of all draws.
        groups: The number of groups of records made alike, with one record of each cluster per group.
        stars_by_attribute: The number of masked values of each attribute.
        lower_bound: A lower bound on the stars of any independent table with these clusters.
        solver: The solver that made the groups.
        unmasked: (vectors, clusters) The number of records with each combination of the hidden attributes' values,
            before masking.
        associations: The attributes' information before and after hiding; empty unless measured.
        accepted: The columns with accepted identifying values, and the kinds of these.
    """

    hidden: tuple[str, ...]
    from_: tuple[str, ...]
    cluster: str
    others: tuple[str, ...]
    output: Path
    clusters_output: Path
    exact_values: bool
    clusters: tuple[Cluster, ...]
    records: int
    dropped: int
    seed: int
    groups: int
    stars_by_attribute: Mapping[str, int]
    lower_bound: int
    solver: Solver
    unmasked: IntArray = field(compare=False, repr=False)
    associations: tuple[Association, ...] = ()
    accepted: Mapping[str, str] = field(default_factory=dict)

    @property
    def stars(self) -> int:
        """The number of masked values."""
        return sum(self.stars_by_attribute.values())

    @property
    def values(self) -> int:
        """The number of values of the hidden attributes, masked or not."""
        return self.records * len(self.hidden)
