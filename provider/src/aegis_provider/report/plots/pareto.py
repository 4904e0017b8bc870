"""The Pareto frontier of the configurations of an advice: privacy against deviation."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from aegis_provider.errors import PlotError
from aegis_provider.privacy import CRITERIA
from aegis_provider.report.plots.style import refuse_vast
from aegis_sdk.reading import ids_of, vouched_for
from aegis_sdk.wire import PRIVACY_CRITERIA, Advice, EntryDocument


@dataclass(frozen=True)
class Scored:
    """A configuration: the privacy that is vouched for; its utility, deviation and standard error in the ranking."""

    configuration: str
    privacy: float
    utility: float
    deviation: float
    error: float | None = None


def best_promise(entry: EntryDocument, advice: Advice | None = None) -> str:
    """Return the first privacy criterion by which configurations differ, or else the first vouched for.

    The configurations are those that the advice ranks; without advice, all.

    Raises:
        PlotError: No configuration vouches for any privacy.
    """
    vouched = {name: numbers for name in PRIVACY_CRITERIA if (numbers := vouched_for(entry, name))}
    if not vouched:
        raise PlotError(f"no configuration of {entry.name!r} vouches for any privacy; write promises in the plan")
    ids = ids_of(entry) if advice is None else [row.configuration for row in advice.ranking or ()]
    ranked = {name: {by_id[each] for each in ids if each in by_id} for name, by_id in vouched.items()}
    return next((name for name, numbers in ranked.items() if len(numbers) > 1), next(iter(vouched)))


def scored(entry: EntryDocument, advice: Advice, privacy: str) -> list[Scored]:
    """Return the configurations of the ranking, best first, that vouch for that privacy.

    Raises:
        PlotError: The advice has no ranking, ranks what the entry does not have, or nothing is left.
    """
    if not advice.ranking:
        raise PlotError("the advice has no ranking; ask again with --limit 10000 --json")
    known, vouched = set(ids_of(entry)), vouched_for(entry, privacy)
    for row in advice.ranking:
        if row.configuration not in known:
            raise PlotError(f"the advice ranks {row.configuration!r}, which {entry.name!r} does not have")
    points = [
        Scored(row.configuration, number, row.utility, row.deviation, row.standard_error)
        for row in advice.ranking
        if (number := vouched.get(row.configuration)) is not None
    ]
    if not points:
        raise PlotError(f"no configuration of the ranking vouches for {privacy}; name another with --privacy")
    refuse_vast(number for each in points for number in (each.privacy, each.utility, each.deviation, each.error or 0))
    return points


def pareto(configurations: Sequence[Scored], privacy: str) -> list[Scored]:
    """Return the Pareto frontier, from the least private to the most private.

    For a configuration on it, no other is at least as private, loses at most as much, and is better in one of the two.
    As in the ranking, a smaller deviation means a smaller loss. Equally good configurations are on it together.
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
