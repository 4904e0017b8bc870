"""Which configurations no other one beats in utility and privacy at once."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from aegis_provider.errors import PlotError
from aegis_provider.plots.style import refuse_vast
from aegis_provider.privacy import CRITERIA
from aegis_sdk.reading import ids_of, vouched_for
from aegis_sdk.wire import PRIVACY_CRITERIA, Advice, EntryDocument


@dataclass(frozen=True)
class Scored:
    """A configuration: the privacy that is vouched for, and its utility and deviation in the ranking."""

    configuration: str
    privacy: float
    utility: float
    deviation: float


def best_promise(entry: EntryDocument, advice: Advice | None = None) -> str:
    """The first name of privacy by which configurations differ; where they differ by none, the first vouched for.

    They are those that the advice ranks, or else all. Raises `PlotError` if nothing is vouched for.
    """
    vouched = {name: found for name in PRIVACY_CRITERIA if (found := vouched_for(entry, name))}
    if not vouched:
        raise PlotError(f"no configuration of {entry.name!r} vouches for any privacy; write promises in the plan")
    ids = ids_of(entry) if advice is None else [row.configuration for row in advice.ranking or ()]
    ranked = {name: {found[each] for each in ids if each in found} for name, found in vouched.items()}
    return next((name for name, numbers in ranked.items() if len(numbers) > 1), next(iter(vouched)))


def scored(entry: EntryDocument, advice: Advice, privacy: str) -> list[Scored]:
    """The configurations of the ranking, best first, that vouch for that privacy.

    Raises `PlotError` if the advice has no ranking, ranks what the entry does not have, or if nothing is left.
    """
    if not advice.ranking:
        raise PlotError("the advice has no ranking; ask again, with --limit 1000000 --json")
    known, vouched = set(ids_of(entry)), vouched_for(entry, privacy)
    for row in advice.ranking:
        if row.configuration not in known:
            raise PlotError(f"the advice ranks {row.configuration!r}, which {entry.name!r} does not have")
    found = [
        Scored(row.configuration, number, row.utility, row.deviation)
        for row in advice.ranking
        if (number := vouched.get(row.configuration)) is not None
    ]
    if not found:
        raise PlotError(f"no configuration of the ranking vouches for {privacy}; name another with --privacy")
    refuse_vast(number for each in found for number in (each.privacy, each.utility, each.deviation))
    return found


def pareto(configurations: Sequence[Scored], privacy: str) -> list[Scored]:
    """The Pareto frontier, from the least private to the most: nothing else is as private and loses as little, and
    better in one of the two.

    What loses less is what has the smaller deviation, as in the ranking. Equally good ones stand on it together.
    """
    sign = 1 if CRITERIA[privacy].at_least else -1
    most_private_first = sorted(configurations, key=lambda each: (-sign * each.privacy, each.deviation))
    return sorted(_undominated(most_private_first), key=lambda each: sign * each.privacy)


def _undominated(most_private_first: Sequence[Scored]) -> Iterator[Scored]:
    last: Scored | None = None
    for each in most_private_first:
        same = last is not None and (each.privacy, each.deviation) == (last.privacy, last.deviation)
        if last is None or same or each.deviation < last.deviation:
            last = each
            yield each
