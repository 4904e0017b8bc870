"""Inconsistencies in an attribute's evidence, described in plain words.

`docs/model.md` says which checks there are, and why no more. Views that agree pairwise may still admit no table.
Such evidence is accepted; its reconstruction reports that it did not converge.

Single maskings come first: their declarations, their mapping or transition matrix, and their counts.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, islice

import numpy as np
import scipy

from aegis_advisor.arrays import FloatArray, IntArray, fold
from aegis_advisor.atoms import coarsening, common_refinement, per_atom
from aegis_advisor.evidence.attribute import AttributeEvidence, Masking
from aegis_advisor.evidence.checks.tables import (
    FAULTS_PER_TABLE,
    LARGEST_COUNT,
    Fault,
    Path,
    allowance,
    column_faults,
    count_faults,
    differ,
    is_summable,
    label_allowances,
    listing,
    places,
    row_faults,
    table_faults,
    total,
    total_faults,
    undeclared,
)
from aegis_advisor.evidence.masked_label import with_label_masked
from aegis_advisor.evidence.perturbation import Perturbation

SUM_TOLERANCE = 1e-9
"""How far the sum of a value's probabilities may be from 1."""


def masking_faults(evidence: AttributeEvidence, index: int, histogram: IntArray | None) -> Iterator[Fault]:
    """Faults of a single masking; `histogram` (values,) is None if it is unknown or has faults."""
    masking, path = evidence.maskings[index], ("maskings", index)
    if masking.mapping is None and masking.joint is None:
        yield Fault(path, "has neither a mapping nor joint counts; give at least one of them")
    declared = [
        *declaration_faults(path, masking.perturbation),
        *_records_faults(path, masking.perturbation, evidence),
    ]
    function = [*_mapping_faults(path, masking, evidence.values), *_transition_faults(path, masking, evidence.values)]
    yield from (*declared, *function)
    if masking.joint is None or declared:
        return
    table = list(_masked_count_faults((*path, "joint"), masking.joint, masking, evidence))
    yield from table
    if not function and not table:
        yield from _preimage_faults((*path, "joint"), masking, histogram, evidence)


def declaration_faults(path: Path, declared: Perturbation) -> Iterator[Fault]:
    """Faults of out-of-range declarations of noise and rounding."""
    scale, base = declared.noise_scale, declared.rounded_to
    if scale is not None and not (math.isfinite(scale) and 0 < scale <= LARGEST_COUNT):
        detail = f"{scale} is not a scale: it must be above 0 and at most {LARGEST_COUNT}"
        yield Fault((*path, "noise", "scale"), detail)
    if base is not None and not 1 < base <= LARGEST_COUNT:
        yield Fault((*path, "rounded_to"), f"{base} is not a base for rounding: it must be from 2 to {LARGEST_COUNT}")


def _records_faults(path: Path, declared: Perturbation, evidence: AttributeEvidence) -> Iterator[Fault]:
    """A fault if a masking declares that it counts more records than the table has, or less than one."""
    counted, records, (_, slack) = declared.records, total(evidence.label_histogram), evidence.sum_slack(declared)
    if evidence.rounded_once is not None:
        slack += declared.slack(evidence.labels, 1)
    if counted is not None and not 1 <= counted <= records + slack:
        yield Fault((*path, "records"), f"{counted} records are counted, but there are {records}")


def _mapping_faults(path: Path, masking: Masking, values: int) -> Iterator[Fault]:
    mapping = masking.mapping
    if mapping is None:
        return
    if not masking.deterministic:
        yield Fault((*path, "deterministic"), "a masking with a mapping is deterministic")
    if mapping.shape != (values,):
        yield Fault((*path, "mapping"), f"has shape {mapping.shape}, but the domain has {values} values")
        return
    for place in places((mapping < 0) | (mapping >= masking.groups)):
        detail = f"masked value {mapping[place]} is out of range: there are {masking.groups} masked values"
        yield Fault((*path, "mapping", *place), detail)


def _transition_faults(path: Path, masking: Masking, values: int) -> Iterator[Fault]:
    transition = masking.transition
    if transition is None:
        return
    if masking.mapping is not None:
        yield Fault((*path, "transition"), "a masking has a mapping or a transition matrix, not both")
    elif masking.deterministic:
        yield Fault((*path, "deterministic"), "a masking with a transition matrix is not deterministic")
    if transition.shape != (values, masking.groups):
        expected = f"{values} values and {masking.groups} masked values"
        yield Fault((*path, "transition"), f"has shape {transition.shape}, but there are {expected}")
        return
    yield from _probability_faults((*path, "transition"), transition)


def _probability_faults(path: Path, transition: FloatArray) -> Iterator[Fault]:
    # Written as a negation, so that it also finds NaN, which fails every comparison.
    wrong = ~((transition >= 0) & (transition <= 1))
    for place in places(wrong):
        yield Fault((*path, *place), f"{transition[place]} is not a probability")
    sums = np.where(wrong, 0.0, transition).sum(axis=1)
    for (value,) in places((np.abs(sums - 1.0) > SUM_TOLERANCE) & ~wrong.any(axis=1)):
        yield Fault((*path, value), f"the probabilities of this value add up to {sums[value]:.12g}, not 1")


def _masked_count_faults(path: Path, table: IntArray, masking: Masking, evidence: AttributeEvidence) -> Iterator[Fault]:
    """Faults of masked joint counts (groups, labels) against the label's histogram, beyond what is declared."""
    malformed = list(_cell_faults(path, table, masking, evidence.labels))
    yield from malformed
    if malformed:
        return
    declared, sums = masking.perturbation, _sums(*table.shape)
    column, whole = evidence.sum_slack(declared)
    counted, source = declared.records, "its `records` says"
    if counted is None:
        counted, source = total(evidence.label_histogram), "the number of records is"
    known = declared.records is not None
    allowed = allowance(declared, table.size, sums, 0, label=0 if known else whole)
    yield from total_faults(path, table, counted, allowed, source)
    if is_summable(table):  # otherwise only the fault in the total is reported
        missing = max(total(evidence.label_histogram) + whole - counted, 0) if known else 0
        allowed = allowance(declared, table.shape[0], sums, missing, label=column)
        yield from column_faults(path, table, evidence.label_histogram, allowed)


def _cell_faults(path: Path, table: IntArray, masking: Masking, labels: int) -> Iterator[Fault]:
    declared, shape = masking.perturbation, (masking.groups, labels)
    noisy = declared.noise_scale is not None
    # Noise cannot plausibly push a count further below 0, and no count exceeds `LARGEST_COUNT`.
    least = -min(declared.slack(1, _sums(*shape)), LARGEST_COUNT) if noisy else 0
    malformed = list(count_faults(path, table, shape, least, "" if noisy else "; if noise explains this, declare it"))
    yield from malformed
    if not malformed:
        yield from multiple_faults(path, table, declared)


def multiple_faults(path: Path, table: IntArray, declared: Perturbation) -> Iterator[Fault]:
    """Faults of counts without noise that are not multiples of their declared base."""
    if declared.noise_scale is not None or declared.rounded_to is None:
        return
    for place in places(table % declared.rounded_to != 0):
        yield Fault((*path, *place), f"{table[place]} is not a multiple of {declared.rounded_to}, its `rounded_to`")


def _preimage_faults(
    path: Path, masking: Masking, histogram: IntArray | None, evidence: AttributeEvidence
) -> Iterator[Fault]:
    """Faults of rows of a masked table that no value can have, or that disagree with the histogram."""
    if masking.joint is None:
        return
    table, declared = masking.joint, masking.perturbation
    missing = 0 if declared.records is None or histogram is None else max(int(histogram.sum()) - declared.records, 0)
    values = evidence.values if masking.mapping is None else int(np.bincount(masking.mapping).max(initial=1))
    rounded = 0 if declared.is_none else evidence.rounding.slack(evidence.labels * values, 1)
    allowed = allowance(declared, table.shape[1], _sums(*table.shape), missing, label=rounded)
    rows = table.sum(axis=1)
    reached = _reached(masking, histogram)
    for place in places(~reached & (np.abs(rows) > allowed.above)):
        what = "is mapped to" if masking.transition is None else "that has records becomes"
        detail = f"no value {what} masked value {place[0]}, yet it counts {rows[place]} records"
        yield Fault((*path, *place), detail)
    if histogram is not None and masking.mapping is not None:
        # The total is a count, so these sums are exact in doubles, and several times faster than a sparse product.
        folded = np.bincount(masking.mapping, histogram, minlength=table.shape[0]).astype(np.int64)
        expected = np.where(reached, folded, rows)
        yield from row_faults(path, table, expected, "the histogram of its values counts", allowed)


def _reached(masking: Masking, histogram: IntArray | None) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Which masked values (groups,) can occur; all of them if neither mapping nor transition matrix is known."""
    if masking.mapping is not None:
        return np.asarray(np.bincount(masking.mapping, minlength=masking.groups) > 0)
    if masking.transition is not None:
        held = masking.transition if histogram is None else masking.transition[histogram > 0]
        return np.asarray((held > 0).any(axis=0))
    return np.ones(masking.groups, dtype=bool)


def _sums(groups: int, labels: int) -> int:
    """The number of sums of a table that are checked: its cells, its columns, its rows and its total."""
    return (groups + 1) * (labels + 1)


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


def find_block_faults(evidence: AttributeEvidence) -> tuple[tuple[int, Fault], ...]:
    """The places of blocks that contradict the rest, and how; `evidence` has no faults without its blocks.

    A block is checked as the counts of a masking in an entry with its masked label, to which all finer counts fold.
    """
    faults = []
    for place, block in enumerate(evidence.blocks):
        if block.label_mapping is None:
            continue
        others = tuple(one for one in evidence.blocks if one is not block)
        merged = with_label_masked(replace(evidence, blocks=others), block.label_mapping)
        known = [one for one in merged.maskings if one.joint is not None]
        whole = replace(merged, maskings=(*known, replace(block, label_mapping=None)), blocks=())
        faults += [(place, fault) for fault in find_faults(whole)[:1]]
    return tuple(faults)


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
