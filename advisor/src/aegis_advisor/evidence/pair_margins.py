"""What is known of the records of each masked value, which the tables of all its pairs must add up to."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from aegis_advisor.arrays import IntArray, fold
from aegis_advisor.evidence.attribute import IDENTITY, AttributeEvidence
from aegis_advisor.evidence.fault import Fault, Path, differ, places
from aegis_advisor.evidence.refinement import coarsening, mapping_of, masking_of

Place = tuple[int, str]
"""An attribute, by its place in the evidence, and a masking of it, by its id or `identity`."""


@dataclass(frozen=True, slots=True, eq=False)
class Margin:
    """Records (groups,) of each masked value; `says` is the words for where they are known from."""

    counts: IntArray
    says: str


@dataclass(slots=True)
class Margins:
    """What each masking counts: known from its attribute's evidence, or else learnt from the first pair that has it."""

    evidence: Sequence[AttributeEvidence]
    _found: dict[Place, Margin | None] = field(default_factory=dict)

    def of(self, place: Place) -> Margin | None:
        """What is known now."""
        if place not in self._found:
            self._found[place] = _known_margin(self.evidence[place[0]], place[1])
        return self._found[place]

    def learn(self, place: Place, margin: Margin) -> None:
        """Keep what a pair counts, if nothing is known yet."""
        if self.of(place) is None:
            self._found[place] = margin

    def faults(self, path: Path, place: Place, counts: IntArray) -> Iterator[Fault]:
        """Faults of counts (groups,) of which nothing is known directly, against those of nesting maskings."""
        evidence = self.evidence[place[0]]
        mapping = mapping_of(evidence, place[1])
        if mapping is None:
            return
        reached = np.bincount(mapping, minlength=counts.size) > 0
        for (group,) in places(~reached & (counts > 0)):
            what = f"no value is mapped to masked value {group} of {place[1]!r}"
            yield Fault(path, f"{what}, yet it counts {counts[group]} records")
        for other in (IDENTITY, *(masking.id for masking in evidence.maskings)):
            known, theirs = self.of((place[0], other)), mapping_of(evidence, other)
            if known is not None and theirs is not None:
                names = place[1], other
                yield from _nesting_faults(path, names, (mapping, theirs), counts, known)


def _nesting_faults(
    path: Path, names: tuple[str, str], mappings: tuple[IntArray, IntArray], counts: IntArray, known: Margin
) -> Iterator[Fault]:
    """Groups of the coarser of two mappings (values,) of which they count otherwise; none where they do not nest."""
    ours, theirs, coarser = counts, known.counts, names[1]
    if (outer := coarsening(*mappings, ours.size)) is not None:
        ours = fold(ours, outer, theirs.size)
    elif (outer := coarsening(*mappings[::-1], theirs.size)) is not None:
        theirs, coarser = fold(theirs, outer, ours.size), names[0]
    else:
        return
    for (group,) in places(ours != theirs):
        said = f"masked value {group} of {coarser!r} adds up to"
        yield Fault(path, differ(said, int(ours[group]), known.says, int(theirs[group])))


def _known_margin(evidence: AttributeEvidence, masking: str) -> Margin | None:
    """What an attribute's own evidence says of the records (groups,) of each masked value."""
    counts, known = evidence.value_counts, masking_of(evidence, masking)
    if known is None:
        says = "the unmasked counts add up to" if evidence.histogram is None else "the histogram counts"
        return None if counts is None else Margin(counts, says)
    if known.joint is not None:
        return Margin(known.joint.sum(axis=1), f"the counts of {masking!r} add up to")
    if known.mapping is None or counts is None:
        return None
    return Margin(fold(counts, known.mapping, known.groups), "the histogram of its values counts")
