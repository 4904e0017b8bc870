"""What hiding attributes comes to: the clusters, the masked values, and what the table still tells."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from aegis_provider.independence.grouping import Solver
from aegis_provider.independence.vectors import IntArray

STAR: Final = "*"
"""What masked values become, unless something else is asked for."""


@dataclass(frozen=True)
class Extent:
    """What a cluster holds of a column.

    Attributes:
        attribute: The column's name.
        is_ordered: Whether its values are taken for numbers or dates.
        values: The least and the most of numbers and dates, else all that occur. Exact: nothing of them is written or
            printed unless that is asked for.
        distinct: How many values occur.
        missing: How many of the cluster's records have no value there.
        interval: The values lie between these two, none of which is a value of the table; `None` where there is no end.
            The interval itself is `None` where it would say too much or nothing: of values without order, of several
            columns, and of few records.
    """

    attribute: str
    is_ordered: bool
    values: tuple[str, ...]
    distinct: int
    missing: int
    interval: tuple[str | None, str | None] | None = None

    def in_words(self) -> str:
        """What may be published: an interval or a number of values, and how many are missing."""
        told = f"{self.distinct} value{'s' * (self.distinct != 1)}" if self.interval is None else _within(self.interval)
        return f"{told}; {self.missing} missing" if self.missing else told


def _within(interval: tuple[str | None, str | None]) -> str:
    above, below = interval
    if above is None or below is None:
        return f"below {below}" if below is not None else f"above {above}" if above is not None else "all values"
    return f"{above} to {below}"


@dataclass(frozen=True)
class Cluster:
    """The records that are published with one number.

    Attributes:
        number: From 1.
        records: How many they are.
        extents: What they hold of each column that the clusters are made of.
    """

    number: int
    records: int
    extents: tuple[Extent, ...]


@dataclass(frozen=True)
class Association:
    """The mutual information of two vectors of attributes, in bits.

    Attributes:
        first: The attributes on one side.
        second: Those on the other.
        before: In the table; `None` if not measured, since a column has too many values.
        after: In what was published; `None` as above.
        in_clusters: Of `second` only the cluster is looked at, before as after, so that what is lost is lost by masked
            values.
    """

    first: tuple[str, ...]
    second: tuple[str, ...]
    before: float | None
    after: float | None
    in_clusters: bool = False


@dataclass(frozen=True)
class Hidden:
    """What was written, and what it cost.

    Attributes:
        hidden: The attributes of which values are masked.
        from_: The attributes that they are hidden from.
        cluster: The name of the column of clusters.
        others: The columns that stay as they are.
        output: The masked table.
        clusters_output: What each cluster holds.
        exact_values: Whether that file has the exact values.
        clusters: What each cluster holds.
        records: How many are published.
        dropped: How many a draw of `seed` left out, so that all clusters are of one size.
        seed: What every draw came from.
        groups: How many groups of records were made alike, of one record of each cluster.
        stars_by_attribute: How many values of each attribute are masked.
        lower_bound: No independent table of these clusters has fewer stars.
        solver: The one that made the groups.
        unmasked: (vectors, clusters) how many records have each combination of the hidden attributes' values, before
            any is masked.
        associations: What hiding did to what the attributes tell; empty where it was not to be measured.
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

    @property
    def stars(self) -> int:
        """How many values are masked."""
        return sum(self.stars_by_attribute.values())

    @property
    def values(self) -> int:
        """How many values the hidden attributes have, masked or not."""
        return self.records * len(self.hidden)
