"""What one entry may ask of a worker: a small body can describe a computation that no machine could hold."""

from collections.abc import Iterator, Sequence

from app.advisor.atoms import common_refinement
from app.advisor.evidence import AttributeEvidence
from app.domain.errors import Fault, pointer

#: Views of an attribute are compared in pairs.
MASKINGS_PER_ATTRIBUTE = 200

#: Cells of a reconstructed table, atoms times labels; a cell takes some 50 bytes while it is computed.
CELLS = 20_000_000


def excess_maskings(evidence: Sequence[AttributeEvidence]) -> Iterator[Fault]:
    """A fault for each attribute with more maskings than are taken."""
    for place, attribute in enumerate(evidence):
        given = len(attribute.maskings)
        if given > MASKINGS_PER_ATTRIBUTE:
            detail = f"{given} maskings; at most {MASKINGS_PER_ATTRIBUTE} of an attribute are taken"
            yield Fault(pointer("attributes", place, "maskings"), detail)


def excess_cells(evidence: Sequence[AttributeEvidence]) -> Iterator[Fault]:
    """A fault for each attribute whose reconstruction would have too many cells. Mappings are known to be in range."""
    for place, attribute in enumerate(evidence):
        if attribute.joint is not None or attribute.values * attribute.labels <= CELLS:
            continue
        mappings = [masking.mapping for masking in attribute.maskings if masking.mapping is not None]
        atoms = int(common_refinement(mappings, attribute.values).max()) + 1
        if atoms * attribute.labels > CELLS:
            detail = (
                f"The mappings tell {atoms} groups of values apart, which with {attribute.labels} classes makes "
                f"{atoms * attribute.labels} cells to reconstruct; at most {CELLS} are taken: leave out fine mappings"
            )
            yield Fault(pointer("attributes", place, "maskings"), detail)
