"""What of pair counts does not add up: against what is known of each attribute, and against each other."""

from collections.abc import Iterator, Sequence
from itertools import islice

from aegis_advisor.evidence.attribute import AttributeEvidence
from aegis_advisor.evidence.fault import Fault, Path
from aegis_advisor.evidence.pair_agreement import agreement_faults
from aegis_advisor.evidence.pair_margins import Margin, Margins
from aegis_advisor.evidence.pairs import PairCounts
from aegis_advisor.evidence.refinement import groups_of, masking_of
from aegis_advisor.evidence.table_faults import (
    column_faults,
    count_faults,
    is_summable,
    label_allowances,
    row_faults,
    total_faults,
)

MOST_FAULTS = 100
"""Of tens of thousands of tables all can be wrong, and nobody reads on."""


def find_pair_faults(evidence: Sequence[AttributeEvidence], pairs: Sequence[PairCounts]) -> tuple[Fault, ...]:
    """Find what of pair counts does not add up, the first 100 faults; paths start at the list of pairs.

    The evidence is known to be sound, and attributes and maskings of the pairs to exist. Arrays may hold any integers
    and have any shape. Tables that agree with everything they are compared with may still admit no table of all
    attributes; such evidence is accepted.
    """
    return tuple(islice(_all_faults(evidence, pairs), MOST_FAULTS))


def _all_faults(evidence: Sequence[AttributeEvidence], pairs: Sequence[PairCounts]) -> Iterator[Fault]:
    margins, sound = Margins(evidence), list[int]()
    for index, pair in enumerate(pairs):
        found = [*_faults(margins, index, pair)]
        yield from found
        if not found:
            sound.append(index)
    yield from agreement_faults(evidence, pairs, sound)


def _faults(margins: Margins, index: int, pair: PairCounts) -> Iterator[Fault]:
    """Faults of one table by itself; the margins of a sound one become known."""
    sides = tuple(zip(pair.attributes, pair.maskings, strict=True))
    malformed = [*_inexact_faults(margins.evidence, index, pair)]
    malformed += count_faults((index, "joint"), pair.joint, tuple(groups_of(margins.evidence[a], m) for a, m in sides))
    yield from malformed
    if malformed:
        return
    wrong = [*_total_faults((index, "joint"), pair, margins.evidence)]
    if is_summable(pair.joint):  # otherwise the total says enough
        wrong += _margin_faults(margins, index, pair)
    yield from wrong
    if not wrong:
        for axis, side in enumerate(sides):
            margins.learn(side, Margin(pair.joint.sum(axis=1 - axis), f"pair {index} counts"))


def _total_faults(path: Path, pair: PairCounts, evidence: Sequence[AttributeEvidence]) -> Iterator[Fault]:
    """A fault unless the counts add up to the records, as far as these are known."""
    known = next((evidence[place] for place in pair.attributes if evidence[place].knows_label), None)
    if known is not None:
        yield from total_faults(path, pair.joint, known.records)
    else:
        _, whole = label_allowances(evidence[0])
        yield from total_faults(path, pair.joint, evidence[0].records, whole)


def _inexact_faults(evidence: Sequence[AttributeEvidence], index: int, pair: PairCounts) -> Iterator[Fault]:
    """Exact counts beside inexact ones of the same masking give away what these hide, and contradict them."""
    for side, (attribute, masking) in enumerate(zip(pair.attributes, pair.maskings, strict=True)):
        known = masking_of(evidence[attribute], masking)
        if known is not None and not known.perturbation.is_none:
            detail = (
                f"the counts of {masking!r} are declared inexact (noise, rounded_to or records), and pair counts are "
                "exact: they would give away what the declaration hides"
            )
            yield Fault((index, "maskings", side), detail)


def _margin_faults(margins: Margins, index: int, pair: PairCounts) -> Iterator[Fault]:
    """Rows and columns that count otherwise than what is known of their masking."""
    path, (first, second) = (index, "joint"), zip(pair.attributes, pair.maskings, strict=True)
    rows, columns = margins.of(first), margins.of(second)
    if rows is None:
        yield from margins.faults(path, first, pair.joint.sum(axis=1))
    else:
        yield from row_faults(path, pair.joint, rows.counts, rows.says)
    if columns is None:
        yield from margins.faults(path, second, pair.joint.sum(axis=0))
    else:
        yield from column_faults(path, pair.joint, columns.counts, says=columns.says)
