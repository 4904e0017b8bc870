"""The `pairs` of an entry: joint counts of pairs of masked attributes, chosen so that they determine all others."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, groupby
from math import prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aegis_provider.counting.coded_table import BY_LABEL, LABEL, CodedTable
from aegis_provider.counting.counted_table import LEAST, CountedAttribute, CountedTable, MaskedDomain
from aegis_provider.counting.counts import Counts, Partition, Places, common_refinement
from aegis_provider.counting.pair_cells import LabelAssociation, LabelSums, PairCells
from aegis_provider.counting.published_domain import PublishedDomain
from aegis_provider.counting.unmasked_trace import UnmaskedTrace
from aegis_provider.errors import PlanError, TableError
from aegis_provider.plan.model import IDENTITY, Plan
from aegis_provider.processes import Progress

Views: TypeAlias = Mapping[str, Partition]
"""The partitions of an attribute's values, by masking id, including the identity."""


@dataclass(frozen=True)
class Pair:
    """Two attributes by their places in the plan, ascending, and the masking id of each.

    `finer`: the masking ids of the pair whose joint counts determine this one's; its own if there is no other.
    `is_used`: whether a configuration uses the two together; otherwise one is a label, whose counts are always needed.
    """

    attributes: tuple[int, int]
    maskings: tuple[str, str]
    finer: tuple[str, str]
    is_used: bool = True

    @property
    def is_needed(self) -> bool:
        """Whether no other pair determines its joint counts."""
        return self.finer == self.maskings


_Viewed: TypeAlias = tuple[str | None, str | None]

# Up to this many cells, the atoms are counted together, and the tables are computed from them.
_FEW_CELLS = 4096


@dataclass(frozen=True, eq=False)
class _Coding:
    """The counted groups of an attribute's values.

    `atoms`: the common refinement of `views`, a partition of the values. `views`: partitions of the atoms by masking
    id; `None` stands for the atoms themselves.
    """

    atoms: Partition
    views: Mapping[str | None, Partition]

    @classmethod
    def of(cls, views: Views) -> "_Coding":
        atoms = common_refinement(list(views.values()))
        coded: dict[str | None, Partition] = {
            name: Partition(view.per_group_of(atoms), view.size) for name, view in views.items()
        }
        return cls(atoms, coded | {None: Partition.identity(atoms.size)})


@dataclass(frozen=True)
class LabelPlace:
    """A label: its name, and its place among the attributes, or `LABEL` for the default one."""

    name: str
    place: int


_Wanted: TypeAlias = tuple[tuple[int, int], _Viewed, int]
"""Two attributes, a view of each, and the place of a label."""


def labels_of(plan: Plan) -> list[LabelPlace]:
    """Return the labels of a plan, the default one first."""
    places = {attribute.name: place for place, attribute in enumerate(plan.attributes)}
    return [LabelPlace(plan.label, LABEL), *(LabelPlace(name, places[name]) for name in plan.other_labels)]


def count_pairs(
    counted: CountedTable,
    labels: Sequence[LabelPlace],
    views: Sequence[Views],
    pairs: Sequence[Pair],
    progress: Progress,
) -> Iterator[tuple[Pair, Mapping[str, PairCells]]]:
    """Yield the counts of each pair with each label that is not one of the two, those of two attributes in succession.

    The engine counts any number of pairs in one reading of the table. The counts of two attributes are in memory at a
    time.

    Args:
        labels: The labels, the default one first.

    Raises:
        TableError: The table has changed since it was counted.
    """
    used: dict[int, dict[str, Partition]] = {}
    for pair in pairs:
        for place, masking in zip(pair.attributes, pair.maskings, strict=True):
            used.setdefault(place, {})[masking] = views[place][masking]
    codings = {place: _Coding.of(used[place]) for place in sorted(used)}
    by_attributes = {both: list(each) for both, each in groupby(pairs, lambda pair: pair.attributes)}
    tables = {both: _tables(codings, [one for one in alike if one.is_needed]) for both, alike in by_attributes.items()}
    by_label = {both: [label for label in labels if label.place not in both] for both in tables}
    wanted = [
        (both, viewed, label.place) for both, each in tables.items() for viewed in each for label in by_label[both]
    ]
    counts = _counted(counted, labels[0].name, codings, wanted)
    for done, (both, alike) in enumerate(by_attributes.items(), start=1):
        cells = {(viewed, label.name): next(counts) for viewed in tables[both] for label in by_label[both]}
        for pair in alike:
            source: _Viewed = (None, None) if (None, None) in tables[both] else pair.finer
            yield pair, {each.name: _folded(pair, source, cells[source, each.name], codings) for each in by_label[both]}
        progress(done * counted.records // len(by_attributes), counted.records)


def _counted(
    counted: CountedTable, label: str, codings: Mapping[int, _Coding], wanted: Sequence[_Wanted]
) -> Iterator[PairCells]:
    """Yield the counts of each table in turn."""
    used: dict[int, list[str | None]] = {place: [] for place in codings}
    columns = []
    for attributes, viewed, _ in wanted:
        for place, view in zip(attributes, viewed, strict=True):
            if view not in used[place]:
                used[place].append(view)
        first, second = ((place, used[place].index(view)) for place, view in zip(attributes, viewed, strict=True))
        columns.append((first, second))
    partitions: dict[int, list[Partition]] = {place: [] for place in used}
    for place, each in used.items():
        for view in each:  # as a partition of the attribute's values
            groups = codings[place].views[view]
            partitions[place].append(Partition(groups.groups[codings[place].atoms.groups], groups.size))
    thirds = {LABEL: BY_LABEL}
    for place in {third for _, _, third in wanted} - {LABEL}:
        values = Partition.identity(len(counted.attributes[place].domain))
        partitions.setdefault(place, []).append(values)
        thirds[place] = place, len(partitions[place]) - 1
    threes = [(*both, thirds[third]) for both, (_, _, third) in zip(columns, wanted, strict=True)]
    yield from CodedTable.of(counted, label, partitions).counts(threes)


def _tables(codings: Mapping[int, _Coding], pairs: Sequence[Pair]) -> list[_Viewed]:
    """Choose the tables to count for the pairs of two attributes: their atoms if these are few, otherwise each pair."""
    both = pairs[0].attributes

    def shape(views: _Viewed) -> tuple[int, int]:
        first, second = (codings[place].views[view].size for place, view in zip(both, views, strict=True))
        return first, second

    atoms: tuple[None, None] = (None, None)
    as_one = prod(shape(atoms)) <= max(_FEW_CELLS, sum(prod(shape(pair.maskings)) for pair in pairs))
    return [atoms] if as_one else [pair.maskings for pair in pairs]


def _folded(pair: Pair, source: _Viewed, cells: PairCells, codings: Mapping[int, _Coding]) -> PairCells:
    """Return the counts of the pair, folded from those of the atoms or of the finer pair."""
    if pair.maskings == source:
        return cells
    (rows, row_sizes), (columns, column_sizes) = (
        (codings[place].views[name].per_group_of(codings[place].views[finer]), codings[place].views[name].size)
        for place, name, finer in zip(pair.attributes, pair.maskings, source, strict=True)
    )
    return cells.fold(rows, columns, (row_sizes, column_sizes))


def pairs_used(
    plan: Plan, views: Sequence[Views], labels: Collection[int] = (), *, used: bool = True
) -> Iterator[Pair]:
    """Yield the pairs of views that some configuration uses together, each with the pair that determines its counts.

    A table of two attributes is a folded other one if, on both sides, its masking is a function of the other's. Of
    equivalent tables, the first in the order of `views` is needed. With every label that is an attribute, each view of
    every other attribute is a pair, whether a configuration uses both or not.

    Args:
        views: The views of interest of each attribute; other maskings count as unused.
        labels: The places of the attributes that are labels.
        used: Whether to yield other pairs than those with a label.
    """
    chosen = _choices(plan, views)
    follows = [_follows(list(view.values())) for view in views]
    ids = [list(view) for view in views]
    for first, second in combinations(range(len(views)), 2):
        both = _used_together(chosen[:, first], chosen[:, second]) if used else np.zeros((0, 2), dtype=np.intp)
        together = {(int(row), int(column)) for row, column in both}
        if first in labels and IDENTITY in views[first]:
            together |= {(ids[first].index(IDENTITY), column) for column in range(len(ids[second]))}
        if second in labels and IDENTITY in views[second]:
            together |= {(row, ids[second].index(IDENTITY)) for row in range(len(ids[first]))}
        places = np.array(sorted(together), dtype=np.intp).reshape(-1, 2)
        finer = _finer(follows[first], follows[second], places)
        names = [(ids[first][row], ids[second][column]) for row, column in places]
        kept = {(ids[first][row], ids[second][column]) for row, column in both}
        for name, place in zip(names, finer, strict=True):
            pair = Pair((first, second), name, names[place], is_used=name in kept)
            if pair.is_used or pair.is_needed:
                yield pair


def _choices(plan: Plan, views: Sequence[Views]) -> Places:
    """Return (configurations, attributes) the place of each masking among its attribute's views, or -1."""
    places = [{name: place for place, name in enumerate(view)} for view in views]
    rows = [
        [
            known.get(configuration.maskings[attribute.name], -1)
            for attribute, known in zip(plan.attributes, places, strict=True)
        ]
        for configuration in plan.configurations
    ]
    return np.array(rows, dtype=np.intp)


def _follows(views: Sequence[Partition]) -> NDArray[np.bool_]:
    """Return (views, views) whether the row's view is a function of the column's view."""
    follows = [view.follows_from(other) for view in views for other in views]
    return np.array(follows, dtype=np.bool_).reshape(len(views), len(views))


def _used_together(first: Places, second: Places) -> Places:
    """Return (pairs, 2) every two views that a configuration uses together, each once, in order."""
    present = (first >= 0) & (second >= 0)
    width = int(second.max()) + 1
    pairs = np.unique(first[present] * width + second[present])
    return np.stack(np.divmod(pairs, max(width, 1)), axis=1)


def _finer(first: NDArray[np.bool_], second: NDArray[np.bool_], used: Places) -> Places:
    """Return (pairs,) the place of the needed pair that determines each: its own if it is needed itself."""
    rows, columns = used.T
    follows = first[np.ix_(rows, rows)] & second[np.ix_(columns, columns)]
    earlier = np.tri(len(used), k=-1, dtype=np.bool_)
    needed = ~np.any(follows & (~follows.T | earlier), axis=1)
    sources: Places = np.argmax(follows & needed, axis=1) if len(used) else np.zeros(0, dtype=np.intp)
    return np.where(needed, np.arange(len(used)), sources)


# The service rejects entries with more.
_MOST_CELLS = 10_000_000


PairName: TypeAlias = tuple[tuple[str, ...], tuple[str, ...]]
"""The names of two attributes, and the masking of each."""


@dataclass(frozen=True)
class OfLabel:
    """What pairs tell of a label, for controls; none of it is part of an entry.

    Attributes:
        sums: By pair, its label sums, which determine its chi-square with the label.
        frequent: By pair, the association of its frequent combinations with the label; the others are pooled.
        trace: The trace of the unmasked table; `None` if pairs were not counted.
    """

    sums: Mapping[PairName, LabelSums] = field(default_factory=dict)
    frequent: Mapping[PairName, LabelAssociation] = field(default_factory=dict)
    trace: UnmaskedTrace | None = None


@dataclass(frozen=True)
class PairsTold(OfLabel):
    """The published tables of pairs, and further results for controls: of the default label, and of the others.

    Attributes:
        pairs: The entry's `pairs` as JSON values.
        of_others: What they tell of each other label, by its name.
        with_others: By the names of an attribute and of another label, the exact counts (listed values, label values).
    """

    pairs: Sequence[dict[str, Any]] = ()
    of_others: Mapping[str, OfLabel] = field(default_factory=dict)
    with_others: Mapping[tuple[str, str], Counts] = field(default_factory=dict)


def pair_tables(
    counted: CountedTable,
    plan: Plan,
    masked: Sequence[Mapping[str, MaskedDomain]],
    published: Sequence[PublishedDomain],
    progress: Progress,
    *,
    shared_only: bool = False,
    of_attributes: bool = True,
) -> PairsTold:
    """Return the entry's `pairs`: the joint counts of every two attributes in a configuration of the plan.

    Each is a table of two (masked) attributes that a configuration releases together. It contains no more than the
    masked table of this configuration, except for the records which that table leaves out. Redundant tables are
    omitted: those that another one implies, and those of a masking with one masked value. The association of two
    attributes with a label does not follow from other pairs, so each pair has it. Each masking of an attribute has its
    counts with every other label, too, as a pair.

    In the task of a label the default one takes its place: with a label of the pair, `with_labels` has the association
    of the other attribute and the default label.

    Args:
        masked: For each attribute, the masked domains of its maskings.
        published: For each attribute, its listed values.
        shared_only: Whether controls follow, which may need the associations of frequent combinations.
        of_attributes: Whether to count other pairs than those with a label, and associations.

    Raises:
        TableError: There are more cells than an entry can have, or the table has changed.
    """
    labels = labels_of(plan)
    views = [_views(plan, *each) for each in zip(counted.attributes, masked, published, strict=True)]
    pairs = list(pairs_used(plan, views, {label.place for label in labels[1:]}, used=of_attributes))
    _refuse_too_many_cells(counted, views, [pair for pair in pairs if pair.is_needed])
    counts = count_pairs(counted, labels if of_attributes else labels[:1], views, pairs, progress) if pairs else ()
    documents = []
    sums: dict[str, dict[PairName, LabelSums]] = {label.name: {} for label in labels}
    frequent: dict[str, dict[PairName, LabelAssociation]] = {label.name: {} for label in labels}
    for pair, by_label in counts:
        name: PairName = tuple(plan.attributes[place].name for place in pair.attributes), pair.maskings
        document: dict[str, Any] = {"attributes": list(name[0]), "maskings": list(pair.maskings)}
        if pair.is_needed:
            document["joint"] = by_label[plan.label].joint().tolist()
        with_labels = {}
        tasks = {**by_label, **dict(_in_place_of(pair, labels, by_label[plan.label]))}
        for label, cells in tasks.items() if pair.is_used and of_attributes else ():
            told = cells.with_label()
            sums[label][name] = told.sums
            if shared_only:
                frequent[label][name] = cells.without_rare(LEAST * counted.rows).with_label()
            with_labels[label] = {"chi_square": told.chi_square, "combinations": told.combinations}
        if with_labels:
            document["with_label"] = with_labels.pop(plan.label)
        documents.append(document | ({"with_labels": with_labels} if with_labels else {}))
    others = {name: OfLabel(sums[name], frequent[name]) for name in plan.other_labels}
    return PairsTold(sums[plan.label], frequent[plan.label], pairs=documents, of_others=others)


def _in_place_of(pair: Pair, labels: Sequence[LabelPlace], default: PairCells) -> Iterator[tuple[str, PairCells]]:
    """Yield for each label of a pair that it shows as it is, the counts with the default one in its place."""
    sides = dict(zip(pair.attributes, zip((0, 1), pair.maskings, strict=True), strict=True))
    for label in labels[1:]:
        side, masking = sides.get(label.place, (0, ""))
        if masking == IDENTITY:
            yield label.name, default.exchanged(side)


def refuse_uncountable(plan: Plan, instead: str = "summarize without pairs") -> None:
    """Reject a plan with a masking whose pairs cannot be published.

    The counts of a random masking are a draw of their own, unrelated to the values of other attributes. A table masked
    elsewhere has no mapping. If a mapping is secret, pairs of its attribute, however masked, would reveal which masked
    value is which.

    Raises:
        PlanError: The plan has such a masking.
    """
    for attribute in plan.attributes:
        used = {configuration.maskings[attribute.name] for configuration in plan.configurations}
        for masking in attribute.maskings:
            if masking.is_secret or (not masking.is_by_value and masking.id in used):
                why = "it was masked elsewhere" if masking.is_elsewhere else "it masks at random"
                why = "its mapping is secret" if masking.is_secret else why
                raise PlanError(f"{masking.place}: has no pair counts, because {why}; {instead}")


def refuse_undone_secrets(counted: CountedTable, masked: Sequence[Mapping[str, MaskedDomain]]) -> None:
    """Reject a masking whose joint counts would reveal which token is which.

    They would if its masked values are as distinct as the values, since the masked table then has the same rows as the
    unmasked one in another order. They would also if it is random or was masked elsewhere.

    Raises:
        PlanError: The plan has such a masking.
    """
    for attribute, domains in zip(counted.attributes, masked, strict=True):
        for masking in attribute.attribute.maskings if attribute.attribute.is_secret else ():
            values = len(attribute.domain)
            tells = not masking.is_secret and (not masking.is_by_value or len(domains[masking.id].texts) == values > 1)
            if tells:
                raise PlanError(
                    f"{masking.place}: its counts would reveal which token of {attribute.attribute.name!r} is which; "
                    "remove this masking or the token from the plan"
                )


def _views(
    plan: Plan, counted: CountedAttribute, masked: Mapping[str, MaskedDomain], published: PublishedDomain
) -> Views:
    """Return the views of an attribute that are counted and have several masked values, identity first.

    Configurations use these. A label is always counted as it is, and other labels with every masking of the plan.
    """
    name, others = counted.attribute.name, bool(plan.other_labels)
    used = {configuration.maskings[name] for configuration in plan.configurations}
    views = {IDENTITY: published.partition}
    views |= {masking: domain.partition() for masking, domain in masked.items()}
    needed = {masking for masking in views if masking in used or (others and masking != IDENTITY)}
    needed |= {IDENTITY} if name in plan.other_labels else set()
    return {masking: view for masking, view in views.items() if masking in needed and view.size > 1}


def _refuse_too_many_cells(counted: CountedTable, views: Sequence[Views], pairs: Sequence[Pair]) -> None:
    cells = [prod(_shape(views, pair)) for pair in pairs]
    if sum(cells) <= _MOST_CELLS:
        return
    largest = pairs[cells.index(max(cells))]
    (rows, columns), names = _shape(views, largest), counted.attributes
    first, second = (
        f"{names[place].attribute.name!r} ({masking})"
        for place, masking in zip(largest.attributes, largest.maskings, strict=True)
    )
    raise TableError(
        f"{counted.table.name}: the pairs have {sum(cells)} cells, but an entry can have {_MOST_CELLS}; the largest is "
        f"{first} with {second}, {rows} x {columns}: mask such attributes more coarsely, or summarize without pairs"
    )


def _shape(views: Sequence[Views], pair: Pair) -> tuple[int, int]:
    first, second = (views[place][name].size for place, name in zip(pair.attributes, pair.maskings, strict=True))
    return first, second
