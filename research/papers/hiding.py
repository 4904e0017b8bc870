"""Independence masking (001): the ratio of masked values, and the association rules that are kept."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from aegis_advisor.arrays import FloatArray, IntArray
from aegis_advisor.measures import MEASURES
from aegis_provider.independence.clusters import balanced_clusters, quantile_clusters
from aegis_provider.independence.grouping import SOLVERS, Solver, group
from aegis_provider.independence.vectors import MASKED, is_independent, starred
from research.rivals.maskings.tables import sampled
from research.study import Table

SEED = 10
MOST = 20_000
"""At most this many records of a table are used."""

SUPPORT = 0.02
CONFIDENCE = 0.6
"""What a rule needs, beside a lift above 1."""

LIFT = 1.0 + 1e-9


@dataclass(frozen=True)
class Case:
    """What is hidden, in a table.

    Attributes:
        hidden: the attributes to mask: the first `attributes` of them are A of the paper.
        sources: those that they are hidden from: the first `of` of them are B, and become clusters.
        clusters: u of the paper.
    """

    table: Table
    hidden: Sequence[str]
    sources: Sequence[str]
    attributes: int = 2
    of: int = 1
    clusters: int = 4
    records: int = MOST

    def at(self, axis: str, size: int) -> "Case":
        """Return the case with another size on one axis: `attributes`, `of`, `clusters` or `records`."""
        varied: dict[str, Any] = {axis: size}
        return replace(self, **varied)

    @property
    def others(self) -> list[str]:
        """The attributes that stay: C of the paper, with the label."""
        used = {*self.hidden[: self.attributes], *self.sources[: self.of]}
        return [name for name in self.table.columns if name not in used]


Rule = tuple[tuple[str, str], ...]
"""The items of the antecedent, sorted, then that of the consequent; an item is an attribute and its value."""

KINDS = ("A", "C", "AC", "BC", "AB")
"""The correlations of the paper's section III; B is the cluster."""


class Rules(NamedTuple):
    """The rules of one kind: before masking, those of them that are kept after, and new ones."""

    before: int
    kept: int
    new: int


@dataclass(frozen=True, eq=False)
class Hidden:
    """What independence masking did to a case.

    Attributes:
        stars: by solver, the number of masked values.
        bound: a lower bound of the stars of any masking.
        ratio: the share of the values of A that `best` masks.
        independent: whether A is exactly independent of the clusters.
        told: in bits, what the clusters say of the attributes that stay, as a mean over these.
        rules: by kind.
    """

    case: Case
    stars: Mapping[Solver, int]
    bound: int
    ratio: float
    independent: bool
    told: float
    rules: Mapping[str, Rules]


def hide(case: Case) -> Hidden:
    """Mask the first attributes of a case, and mine rules before and after."""
    random = np.random.default_rng(SEED)
    drawn = sampled(case.table, case.records)
    kept = np.sort(random.permutation(drawn.records)[: drawn.records // case.clusters * case.clusters])
    columns = {name: column[kept] for name, column in {**drawn.columns, "label": drawn.label}.items()}
    clusters = _clusters([columns[name] for name in case.sources[: case.of]], case.clusters, random)
    hidden = case.hidden[: case.attributes]
    codes = np.stack([np.unique(columns[name], return_inverse=True)[1] for name in hidden], axis=1)
    groupings = {solver: group(codes, clusters, solver, np.random.default_rng(SEED)) for solver in SOLVERS}
    stars = starred(codes, groupings["best"].group_of_record)
    others = {name: columns[name] for name in (*case.others, "label")}
    before = {**{name: columns[name] for name in hidden}, "cluster": clusters.astype(np.str_), **others}
    after = {**before, **{name: np.where(stars[:, place], "*", before[name]) for place, name in enumerate(hidden)}}
    return Hidden(
        replace(case, records=len(kept)),
        {solver: each.stars for solver, each in groupings.items()},
        groupings["best"].lower_bound,
        float(stars.mean()),
        is_independent(np.where(stars, MASKED, codes), clusters),
        float(np.mean([_information(clusters, column) for column in others.values()])),
        compared(before, after, hidden),
    )


def _clusters(columns: Sequence[np.ndarray], clusters: int, random: np.random.Generator) -> IntArray:
    """Return (records,) the cluster of each record: intervals of one number, else by k-means of equal sizes."""
    features = [_feature(column) for column in columns]
    if len(features) == 1 and np.issubdtype(features[0].dtype, np.floating):
        return quantile_clusters(features[0].astype(np.float64), clusters, random)
    return balanced_clusters(features, clusters, random)


def _feature(column: np.ndarray) -> FloatArray | IntArray:
    try:
        return column.astype(np.float64)
    except ValueError:
        return np.unique(column, return_inverse=True)[1].astype(np.int64)


def _information(clusters: IntArray, column: np.ndarray) -> float:
    _, codes = np.unique(column, return_inverse=True)
    counts = np.zeros((int(clusters.max()) + 1, int(codes.max()) + 1))
    np.add.at(counts, (clusters, codes), 1)
    return float(MEASURES["mutual_information"](counts))


def compared(
    before: Mapping[str, np.ndarray], after: Mapping[str, np.ndarray], hidden: Sequence[str]
) -> dict[str, Rules]:
    """Compare the rules of a table (columns of texts) before and after values of `hidden` became stars."""
    known, left = set(rules(before)), set(rules(after))
    by_kind: dict[str, Rules] = {}
    for kind in KINDS:
        ours, theirs = ({rule for rule in each if _kind(rule, hidden) == kind} for each in (known, left))
        by_kind[kind] = Rules(len(ours), len(ours & theirs), len(theirs - ours))
    return by_kind


def _kind(rule: Rule, hidden: Sequence[str]) -> str:
    """Return the parts that a rule is about; `AB` are only those from one to the other.

    A rule from a value of A and a cluster to a value of A holds in an independent table, too, since it does without the
    cluster.
    """
    sides = ["A" if name in hidden else "B" if name == "cluster" else "C" for name, _ in rule]
    parts = "".join(sorted(set(sides)))
    return "mixed" if parts == "AB" and sides[-1] in sides[:-1] else parts


def rules(columns: Mapping[str, np.ndarray]) -> Iterator[Rule]:
    """Yield the association rules with one or two items before and one after; a star is no item.

    A rule has at least the support and the confidence above, and its consequent is likelier after its antecedent than
    without it.
    """
    items = [(name, str(value)) for name, column in columns.items() for value in np.unique(column) if value != "*"]
    held = np.array([columns[name] == value for name, value in items], dtype=np.float32)
    records = held.shape[1]
    frequent = held.sum(axis=1) >= SUPPORT * records
    items, held = [item for item, often in zip(items, frequent, strict=True) if often], held[frequent]
    alone = held.sum(axis=1)
    antecedents = [(place,) for place in range(len(items))] + list(combinations(range(len(items)), 2))
    for chosen in antecedents:
        if len({items[place][0] for place in chosen}) < len(chosen):
            continue
        both = held[list(chosen)].prod(axis=0)
        if (count := both.sum()) < SUPPORT * records:
            continue
        together = held @ both
        follows = (together >= SUPPORT * records) & (together >= CONFIDENCE * count)
        follows &= together * records > LIFT * count * alone
        for place in np.flatnonzero(follows).tolist():
            if items[place][0] not in {items[one][0] for one in chosen}:
                yield (*sorted(items[one] for one in chosen), items[place])
