"""How the references of a version are shared out among jobs: small versions are one, large ones a few dozen."""

from collections.abc import Sequence

from app.domain.entries import AttributeOutline

#: The least that is worth a job: 30 to 500 ms where references are iterated; a job costs 15 ms besides.
SMALLEST = 5_000

#: The most jobs for one version, since each loads the whole schema. Eight workers have four each.
MOST = 32


def chunks(outline: Sequence[AttributeOutline], places: Sequence[int]) -> list[tuple[int, ...]]:
    """The attributes at `places`, in order, in chunks of about equal cost, one for each job."""
    found: list[tuple[int, ...]] = []
    left = sum(cost(outline[place]) for place in places)
    chunk: list[int] = []
    spent = 0
    for place in places:
        chunk.append(place)
        spent += cost(outline[place])
        # Anew for each chunk: one that was more than its share leaves less for the others.
        if spent >= left / max(1, min(MOST - len(found), left // SMALLEST)):
            found.append(tuple(chunk))
            left -= spent
            chunk, spent = [], 0
    return found


def cost(attribute: AttributeOutline) -> int:
    """About how much work a reference is: its cells times the views that constrain them; 1 where there is one at most.

    Bins of an ordered domain cut it into at most as many atoms as there are bins in all views together. Whether views
    nest, or have a closed form for another reason, only their mappings tell: such references take less.
    """
    views = [masking for masking in attribute.maskings if masking.counted and (masking.mapped or masking.drawn)]
    if attribute.joint or len(views) <= 1:
        return 1
    atoms = min(attribute.values, sum(view.occupied for view in views))
    return 1 + atoms * attribute.labels * len(views)
