"""What one entry may ask of a worker: a small body can describe a computation that no machine could hold."""

from collections.abc import Iterator, Sequence
from math import comb

from app.advisor.atoms import common_refinement
from app.advisor.evidence import AttributeEvidence
from app.domain.errors import Fault, pointer

#: Views of an attribute are compared in pairs; a pair takes a fraction of a millisecond.
PAIRS = 50_000

#: Probabilities of all transition matrices of an entry; a matrix of 300 x 300 takes half a minute to fit.
PROBABILITIES = 250_000

#: Cells of a reconstructed table, atoms times labels; a cell takes some 50 bytes while it is computed.
CELLS = 20_000_000


def excess_maskings(evidence: Sequence[AttributeEvidence]) -> Iterator[Fault]:
    """A fault if the entry has more pairs of maskings, each of one attribute, than are compared."""
    pairs = sum(comb(len(attribute.maskings), 2) for attribute in evidence)
    if pairs > PAIRS:
        detail = f"The maskings of an attribute are compared in pairs: {pairs} of them; at most {PAIRS} are taken"
        yield Fault("/attributes", detail)


def excess_probabilities(evidence: Sequence[AttributeEvidence]) -> Iterator[Fault]:
    """A fault if the transition matrices of the entry have too many cells, values times masked values."""
    given = (masking.transition for attribute in evidence for masking in attribute.maskings)
    cells = sum(transition.size for transition in given if transition is not None)
    if cells > PROBABILITIES:
        yield Fault("/attributes", f"The transition matrices have {cells} cells; at most {PROBABILITIES} are taken")


def excess_cells(evidence: Sequence[AttributeEvidence]) -> Iterator[Fault]:
    """A fault for each attribute whose reconstruction would have too many cells. Mappings are known to be in range."""
    for place, attribute in enumerate(evidence):
        if attribute.joint is not None or attribute.values * attribute.labels <= CELLS:
            continue
        atoms = int(common_refinement(attribute.partitions, attribute.values).max()) + 1
        if atoms * attribute.labels > CELLS:
            detail = (
                f"The mappings and transition matrices tell {atoms} groups of values apart, which with "
                f"{attribute.labels} classes makes {atoms * attribute.labels} cells to reconstruct; "
                f"at most {CELLS} are taken: leave out fine ones"
            )
            yield Fault(pointer("attributes", place, "maskings"), detail)
