"""Cost estimates of computations, so that large ones do not block small ones.

The unit is about one cell constrained by a masking. Measured on one core: two to five random mappings of 10 to 800
values, 97 to 24,000 units, took 0.01 to 0.24 s. Four mappings that cross and leave most cells empty, 4,900 units, took
0.4 s. Transition matrices of 10 x 10 and 30 x 30 values with six labels, 6,000 and 54,000 units, took 0.1 and 8 s.
"""

from collections.abc import Iterable, Sequence

from app.advice.model.advice import AdviceQuestion
from app.advice.service.questions import needs_pairs
from app.entries.model.entries import AttributeOutline
from app.platform.queue.model import Lane

#: The largest cost of a job in the light lane.
LIGHT = 5_000

#: Transition matrices are fitted by many more iterations than mappings.
TRANSITION = 10

#: A cell is summed once for each masking, which is cheaper than fitting: this many per unit. 300,000 take 0.2 s.
SUMS = 50

#: A configuration is looked up for each attribute: this many lookups per unit. 500,000 take 0.15 s.
LOOKUPS = 250

#: A joint measure solves equations for each configuration: this many products of two dimensions per unit.
PRODUCTS = 10_000


def lane_of(cost: float) -> Lane:
    """The lane of a job with this cost."""
    return Lane.LIGHT if cost <= LIGHT else Lane.HEAVY


def reference_cost(attribute: AttributeOutline) -> int:
    """The approximate cost of a reference: its cells times the maskings that constrain them; 1 for at most one.

    Bins of an ordered domain split it into at most as many atoms as all maskings have bins together. Nested maskings
    and other closed forms cost less, but only the mappings would show that. For a transition matrix, each cell is
    multiplied with each masked value.
    """
    views = [masking for masking in attribute.maskings if masking.counted and (masking.mapped or masking.drawn)]
    matrices = [masking for masking in views if masking.drawn and not masking.mapped]
    if attribute.joint or (len(views) <= 1 and not matrices):
        return 1
    if matrices:
        return 1 + TRANSITION * attribute.values * attribute.labels * sum(one.occupied for one in matrices)
    atoms = min(attribute.values, sum(view.occupied for view in views))
    return 1 + atoms * attribute.labels * len(views)


def advice_cost(
    question: AdviceQuestion, outline: Sequence[AttributeOutline], places: Iterable[int], configurations: int
) -> float:
    """The approximate cost of an answer: the cells of its attributes under every masking, and all configurations.

    With declared utilities, no cell is summed.
    """
    if question.ranks_declared:
        return configurations / LOOKUPS
    chosen = [outline[place] for place in places]
    cells = sum(attribute.cells * (1 + len(attribute.maskings)) for attribute in chosen)
    cost = cells / SUMS + configurations * len(chosen) / LOOKUPS
    if needs_pairs(question, outline):
        dimensions = sum(attribute.values for attribute in chosen)
        cost += configurations * dimensions**2 / PRODUCTS
    return cost
