"""The verdict: all small counts that published counts disclose, the cheapest checks first."""

from collections.abc import Callable, Iterator
from itertools import chain

from aegis_advisor.cell_bounds import bound_cells
from aegis_advisor.reconstruction.ipf import never
from aegis_advisor.verdict.certain import Bound, find_certain
from aegis_advisor.verdict.model import Finding, PublishedCounts, Verdict
from aegis_advisor.verdict.privacy_steps import find_in_privacy
from aegis_advisor.verdict.promised import find_promised
from aegis_advisor.verdict.shown import find_little_noise, find_shown
from aegis_advisor.verdict.totals import certainly_few, find_known_label, find_likely
from aegis_advisor.verdict.two_columns import find_certain_together


def judge(published: PublishedCounts, *, bound: Bound | None = None, stop: Callable[[], bool] = never) -> Verdict:
    """Return the verdict on what published counts disclose.

    They pass if they determine no small count (`PublishedCounts.small`), and a reader who knows the declared controls
    gives none of these a probability above `LIKELY`. It may still be certain that a cell has a small count: such cells
    are counted (`Verdict.few`). Tables that show small counts end the search, since the verdict cannot change any
    more.

    Args:
        published: the counts, without faults.
        bound: computes the bounds of an attribute's cells; `bound_cells` by default.
        stop: called regularly; if true, the rest is undecided, which is not a pass.
    """
    of_labels = (map(label.placed, find_shown(label.published)) for label in published.labels)
    if shown := (*find_shown(published), *chain.from_iterable(of_labels)):
        return Verdict(shown)
    bound = bound or (lambda evidence: bound_cells(evidence, stop=stop))
    few = sum(map(certainly_few, (published, *(label.published for label in published.labels))))
    return Verdict(tuple(_find_hidden(published, bound, stop)), few)


def _find_hidden(published: PublishedCounts, bound: Bound, stop: Callable[[], bool]) -> Iterator[Finding]:
    """Yield the small counts that no single table shows."""
    for place, evidence in enumerate(published.evidence):
        yield from find_certain(place, evidence, bound, published.small)
    yield from find_certain_together(published, bound)
    yield from find_known_label(published)
    yield from find_likely(published, stop)
    yield from find_little_noise(published)
    yield from find_in_privacy(published, stop)
    yield from find_promised(published, stop)
    for label in published.labels:
        yield from map(label.placed, _find_hidden(label.published, bound, stop))
