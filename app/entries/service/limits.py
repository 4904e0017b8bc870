"""Limits on the work from one entry: a small body can describe a computation too large for any machine."""

from collections.abc import Iterator, Sequence
from math import comb

from aegis_advisor.atoms import common_refinement
from aegis_advisor.evidence import AttributeEvidence
from app.entries.model.published import PublishedEntry
from app.platform.errors import Fault, pointer

#: The largest number of pairs of maskings of the same attribute. Comparing one takes a fraction of a millisecond.
PAIRS = 50_000

#: The largest number of probabilities in all transition matrices; a matrix of 300 x 300 takes half a minute to fit.
PROBABILITIES = 250_000

#: The largest number of cells in all pair counts, which are loaded together, 8 bytes each plus intermediate data.
PAIR_CELLS = 10_000_000

#: The largest reconstructed table, in cells (atoms times labels) of about 50 bytes during the computation.
CELLS = 20_000_000


def excess_maskings(evidence: Sequence[AttributeEvidence]) -> Iterator[Fault]:
    """A fault if the entry has too many pairs of maskings of the same attribute."""
    pairs = sum(comb(len(attribute.maskings), 2) for attribute in evidence)
    if pairs > PAIRS:
        detail = f"The maskings of the same attribute make {pairs} pairs to compare; at most {PAIRS} are accepted"
        yield Fault("/attributes", detail)


def excess_probabilities(evidence: Sequence[AttributeEvidence]) -> Iterator[Fault]:
    """A fault if the transition matrices of the entry have too many cells (values times masked values)."""
    given = (masking.transition for attribute in evidence for masking in attribute.maskings)
    cells = sum(transition.size for transition in given if transition is not None)
    if cells > PROBABILITIES:
        yield Fault("/attributes", f"The transition matrices have {cells} cells; at most {PROBABILITIES} are accepted")


def excess_pairs(entry: PublishedEntry) -> Iterator[Fault]:
    """A fault if the entry has too many cells in the counts of its pairs."""
    cells = sum(pair.joint.size for pair in entry.pairs.values())
    if cells > PAIR_CELLS:
        detail = f"The pair counts have {cells} cells; at most {PAIR_CELLS} are accepted. Leave out fine maskings"
        yield Fault("/pairs", detail)


def excess_cells(evidence: Sequence[AttributeEvidence]) -> Iterator[Fault]:
    """A fault for each attribute whose reconstruction would have too many cells. All mappings must be in range."""
    for place, attribute in enumerate(evidence):
        if attribute.joint is not None or attribute.values * attribute.labels <= CELLS:
            continue
        atoms = int(common_refinement(attribute.partitions, attribute.values).max()) + 1
        if atoms * attribute.labels > CELLS:
            detail = (
                f"The mappings and transition matrices distinguish {atoms} groups of values. With {attribute.labels} "
                f"classes, that makes {atoms * attribute.labels} cells to reconstruct; at most {CELLS} are "
                "accepted. Leave out fine maskings"
            )
            yield Fault(pointer("attributes", place, "maskings"), detail)
