"""Checks of a single masking: its declarations, its mapping or transition matrix, and its counts."""

import math
from collections.abc import Iterator

import numpy as np

from aegis_advisor.arrays import FloatArray, IntArray
from aegis_advisor.evidence.attribute import AttributeEvidence, Masking
from aegis_advisor.evidence.checks.tables import (
    LARGEST_COUNT,
    Fault,
    Path,
    allowance,
    column_faults,
    count_faults,
    is_summable,
    places,
    row_faults,
    total,
    total_faults,
)
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
    table = list(_joint_faults((*path, "joint"), masking.joint, masking, evidence))
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


def _joint_faults(path: Path, table: IntArray, masking: Masking, evidence: AttributeEvidence) -> Iterator[Fault]:
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
