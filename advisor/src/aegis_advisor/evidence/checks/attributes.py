"""Inconsistencies in an attribute's evidence, described in plain words.

`docs/model.md` says which checks there are, and why no more. Views that agree pairwise may still admit no table.
Such evidence is accepted; its reconstruction reports that it did not converge.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, islice

import numpy as np
import scipy

from aegis_advisor.arrays import IntArray, fold
from aegis_advisor.atoms import coarsening, common_refinement, per_atom
from aegis_advisor.evidence.attribute import AttributeEvidence
from aegis_advisor.evidence.checks.maskings import declaration_faults, masking_faults
from aegis_advisor.evidence.checks.tables import (
    FAULTS_PER_TABLE,
    LARGEST_COUNT,
    Fault,
    Path,
    column_faults,
    count_faults,
    differ,
    label_allowances,
    listing,
    places,
    row_faults,
    table_faults,
    total,
    total_faults,
    undeclared,
)


def find_faults(evidence: AttributeEvidence) -> tuple[Fault, ...]:
    """Find all inconsistencies; evidence without any can be used for a reconstruction.

    Arrays may contain any integers and have any shape. At most 100 faults are returned per table.
    """
    label = list(count_faults((), evidence.label_histogram, (evidence.label_histogram.size,)))
    label += [Fault((), fault.detail) for fault in declaration_faults((), evidence.label_perturbation)]
    if label or total(evidence.label_histogram) > LARGEST_COUNT:
        return (*label, Fault((), "the label's histogram adds up to more records than can be counted"))[:1]
    histogram = list(_histogram_faults(evidence))
    joint = list(_joint_faults(evidence, histogram_is_sound=not histogram))
    sound = evidence.value_counts if not histogram and not joint else None
    maskings = [list(masking_faults(evidence, index, sound)) for index in range(len(evidence.maskings))]
    comparable = [
        index for index, masking in enumerate(evidence.maskings) if masking.constrains and not maskings[index]
    ]
    agreement: Iterator[Fault] = iter(())
    if evidence.joint is None:
        agreement = agreement_faults(evidence, comparable, sound)
    elif not joint:
        agreement = unmasked_faults(evidence, evidence.joint, comparable)
    return (*histogram, *joint, *(fault for faults in maskings for fault in faults), *agreement)


def _histogram_faults(evidence: AttributeEvidence) -> Iterator[Fault]:
    if evidence.histogram is None:
        return
    path = ("histogram",)
    malformed = list(count_faults(path, evidence.histogram, (evidence.values,)))
    _, whole = label_allowances(evidence)
    yield from malformed or total_faults(path, evidence.histogram, total(evidence.label_histogram), whole)


def _joint_faults(evidence: AttributeEvidence, *, histogram_is_sound: bool) -> Iterator[Fault]:
    if evidence.joint is None:
        return
    table = list(table_faults(("joint",), evidence.joint, evidence.values, evidence))
    yield from table
    if evidence.histogram is not None and histogram_is_sound and not table:
        yield from row_faults(("joint",), evidence.joint, evidence.histogram, "the histogram counts")


def agreement_faults(evidence: AttributeEvidence, comparable: list[int], histogram: IntArray | None) -> Iterator[Fault]:
    """Faults of pairs of views that disagree on their common coarsening.

    Two groups are linked if they share a value (one with records, if the histogram is known). A connected set of
    groups has the same records in both views.
    """
    views = {
        index: (mapping, joint)
        for index in comparable
        if (mapping := evidence.maskings[index].mapping) is not None
        and (joint := evidence.maskings[index].joint) is not None
    }
    present = np.ones(evidence.values, dtype=bool) if histogram is None else histogram > 0
    refined = common_refinement([mapping[present] for mapping, _ in views.values()], int(present.sum()))
    atoms = int(refined.max(initial=-1)) + 1
    cells = {index: per_atom(mapping[present], refined, atoms) for index, (mapping, _) in views.items()}
    rows = {index: joint.shape[0] for index, (_, joint) in views.items()}
    for pair, parts in _comparisons(cells, rows):
        yield from _coarsening_faults(evidence, pair, parts)


def _comparisons(
    cells: Mapping[int, IntArray], rows: Mapping[int, int]
) -> Iterator[tuple[tuple[int, int], tuple[IntArray, IntArray]]]:
    """The pairs of views to compare, with the part of the common coarsening that each of their groups belongs to.

    Most views nest, and then no search for linked groups is needed. In a chain of nesting views only neighbours are
    compared: if they agree, all do. `cells` are the groups (atoms,) of each view, `rows` their number.
    """
    order = sorted(cells, key=lambda view: -rows[view])
    nesting = {
        (fine, coarse): outer
        for fine, coarse in combinations(order, 2)
        if (outer := coarsening(cells[fine], cells[coarse], rows[fine])) is not None
    }
    for place, fine in enumerate(order):
        for step, coarse in enumerate(order[place + 1 :]):
            between = order[place + 1 : place + 1 + step]
            if (fine, coarse) not in nesting:
                parts = _linked_groups(cells[fine], cells[coarse], rows[fine], rows[coarse])
            elif any((fine, middle) in nesting and (middle, coarse) in nesting for middle in between):
                continue
            else:
                parts = nesting[fine, coarse], np.arange(rows[coarse])
            yield ((fine, coarse), parts) if fine < coarse else ((coarse, fine), parts[::-1])


def _linked_groups(first: IntArray, second: IntArray, rows: int, others: int) -> tuple[IntArray, IntArray]:
    """The part of the common coarsening that each group of two views, (rows,) and (others,), belongs to."""
    links = scipy.sparse.coo_array((np.ones(first.size), (first, rows + second)), shape=(rows + others, rows + others))
    part = scipy.sparse.csgraph.connected_components(links.tocsr(), directed=False)[1].astype(np.int64)
    return part[:rows], part[rows:]


def _coarsening_faults(
    evidence: AttributeEvidence, pair: tuple[int, int], parts: tuple[IntArray, IntArray]
) -> Iterator[Fault]:
    tables = [evidence.maskings[index].joint for index in pair]
    if tables[0] is None or tables[1] is None:
        return
    size = int(max(part.max(initial=0) for part in parts)) + 1
    if size == 1:  # the part is the whole table, whose sums were already compared with the label's histogram
        return
    ours, theirs = _united(tables[1], parts[1], size), _united(tables[0], parts[0], size)
    for part, label in places(ours != theirs):
        groups, others = (listing(parts[side] == part) for side in (1, 0))
        counted = f"column {label} of masked values {groups} adds up to"
        other = f"masked values {others} of {evidence.maskings[pair[0]].id!r}, which cover the same values, add up to"
        here, there = int(ours[part, label]), int(theirs[part, label])
        detail = differ(counted, here, other, there, undeclared(here, there))
        yield Fault(("maskings", pair[1], "joint"), detail)


def _united(table: IntArray, part: IntArray, size: int) -> IntArray:
    """Sum a table by the part that each of its groups belongs to: (size, labels)."""
    if np.array_equal(part, np.arange(size)):
        return table
    # An entry has thousands of tables of hundreds of rows; for these this is several times faster than `fold`.
    labels = table.shape[1]
    sums = np.zeros(size * labels, dtype=np.int64)
    np.add.at(sums, (part[:, np.newaxis] * labels + np.arange(labels)).ravel(), table.ravel())
    return sums.reshape(size, labels)


def unmasked_faults(evidence: AttributeEvidence, joint: IntArray, comparable: list[int]) -> Iterator[Fault]:
    """Faults of cells of views that differ from the folded unmasked counts."""
    for index in comparable:
        masking = evidence.maskings[index]
        if masking.mapping is None or masking.joint is None:
            continue
        folded = fold(joint, masking.mapping, masking.groups)
        for place in places(folded != masking.joint):
            here, there = int(masking.joint[place]), int(folded[place])
            detail = differ("is", here, "the unmasked counts add up to", there, undeclared(here, there))
            yield Fault(("maskings", index, "joint", *place), detail)


def find_label_faults(evidence: Sequence[AttributeEvidence]) -> tuple[Fault, ...]:
    """Find exact tables and histograms whose label counts differ from those of the first exact table; at most 100.

    An exact label histogram was already compared with each of them. An inexact one allows differences, so they are
    compared with each other here. The evidence must have no other faults. Paths start at the list of attributes.
    """
    return tuple(islice(_label_faults(evidence), FAULTS_PER_TABLE))


def _label_faults(evidence: Sequence[AttributeEvidence]) -> Iterator[Fault]:
    if not evidence or evidence[0].label_perturbation.is_none:
        return
    exact = [table for place, attribute in enumerate(evidence) for table in _exact_tables(place, attribute)]
    for path, table in exact[1:]:
        first, label = exact[0]
        yield from column_faults(path, table, label.sum(axis=0), source=f"{_pointer(first)} counts")
    histograms = [
        ((place, "histogram"), attribute.histogram)
        for place, attribute in enumerate(evidence)
        if attribute.histogram is not None
    ]
    for path, counts in histograms:
        first, known = (exact or histograms)[0]
        yield from total_faults(path, counts, int(known.sum()), source=f"{_pointer(first)} counts")


def _pointer(path: Path) -> str:
    return "/".join(("", "attributes", *map(str, path)))


def _exact_tables(place: int, evidence: AttributeEvidence) -> Iterator[tuple[Path, IntArray]]:
    """The exact tables (groups, labels) of an attribute, each with its path."""
    if evidence.joint is not None:
        yield (place, "joint"), evidence.joint
    for index, masking in enumerate(evidence.maskings):
        if masking.joint is not None and masking.perturbation.is_none:
            yield (place, "maskings", index, "joint"), masking.joint
