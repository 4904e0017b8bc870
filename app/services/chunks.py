"""How the references of a version are shared out among jobs: small versions are one, large ones a few dozen."""

from collections.abc import Iterator, Sequence

from app.domain.entries import AttributeOutline

#: The least that is worth a job: some 100 ms where views overlap, next to the 15 ms that a job costs besides.
SMALLEST = 5_000

#: The most jobs for one version, since each loads the whole schema. Eight workers have four each.
MOST = 32


def chunks(outline: Sequence[AttributeOutline], places: Sequence[int]) -> list[tuple[int, ...]]:
    """The attributes at `places`, in order, in chunks of about equal cost, one for each job."""
    least = max(SMALLEST, sum(cost(outline[place]) for place in places) / MOST)
    return list(_divided(outline, places, least))


def _divided(outline: Sequence[AttributeOutline], places: Sequence[int], least: float) -> Iterator[tuple[int, ...]]:
    chunk: list[int] = []
    spent = 0
    for place in places:
        chunk.append(place)
        spent += cost(outline[place])
        if spent >= least:
            yield tuple(chunk)
            chunk, spent = [], 0
    if chunk:
        yield tuple(chunk)


def cost(attribute: AttributeOutline) -> int:
    """About how much work a reference is: its cells times the views that constrain them; 1 where nothing iterates.

    Bins of an ordered domain cut it into at most as many atoms as there are bins in all views together.
    """
    views = [masking for masking in attribute.maskings if masking.mapped and masking.counted]
    if attribute.joint or len(views) <= 1:
        return 1
    atoms = min(attribute.values, sum(view.occupied for view in views))
    return 1 + atoms * attribute.labels * len(views)
