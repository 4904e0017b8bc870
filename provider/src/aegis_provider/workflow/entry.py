"""The entry of a release: rounded until it and the masked table disclose no small count, and given to the service."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from pydantic import ValidationError

from aegis_provider.advice import EntryAdvice, advise, of_service
from aegis_provider.control import ControlError, LastingRandomness, RandomRounding, base_for
from aegis_provider.errors import EntryError, PublishingError, ServiceError, shortened
from aegis_provider.plan.model import Plan
from aegis_provider.prepare import PreparedEntry, prepare_entry
from aegis_provider.privacy import CRITERIA
from aegis_provider.processes import Stage
from aegis_provider.receiving.with_entry import SECONDS, judged_beside
from aegis_provider.release.apply import apply
from aegis_provider.table import Source, open_table
from aegis_provider.workflow.aim import Aim
from aegis_sdk import AegisError, ConflictError, NotFoundError, ProblemError
from aegis_sdk.wire import DESCRIPTION_LENGTH, Advice, EntryDocument, PublishingTerms, Verdict

_DRAWS: Final = 5
"""Draws per base; most entries pass the first."""

_BASES: Final = (5, 10, 20)
"""Larger bases to try after the default one has failed."""


@dataclass(frozen=True, eq=False)
class DrawnEntry:
    """An entry whose rounding was drawn.

    Attributes:
        prepared: The entry.
        advice: Its ranked configurations.
        in_time: Whether it passed or all draws were tried; otherwise time ran out, and another draw might pass.
    """

    prepared: PreparedEntry
    advice: EntryAdvice
    in_time: bool


def draw_entry(
    table: Source,
    plan: Plan,
    name: str,
    chance: LastingRandomness,
    mask: Callable[[PreparedEntry], EntryAdvice],
    judge: Callable[[EntryDocument, str], Verdict],
    stage: Stage,
    how: Mapping[str, Any],
    seconds: float,
) -> DrawnEntry:
    """Return an entry that passes the verdict together with the masked table, and its ranked configurations.

    If none passes, it is the last one drawn.

    The verdict depends only on published data, so knowing that an entry passed excludes no possible table.

    Args:
        name: The name of the entry.
        chance: The randomness of its rounding.
        mask: Ranks the configurations by the exact counts, and masks the table by the best one.
        judge: Judges an entry together with the masked table of the configuration with this id.
        stage: Shows the progress.
        how: Options for reading the table.
        seconds: Time limit for further draws; none begins that would end later if it took as long as the last.
    """
    draws, began = _draws(table, plan, name, chance, stage, how), monotonic()
    end = began + seconds
    prepared = next(draws)
    advice = mask(prepared)
    while not _passes(judge, prepared.entry, advice.best.id):
        took, began = monotonic() - began, monotonic()
        if began + took >= end:
            return DrawnEntry(prepared, advice, in_time=False)
        if (again := next(draws, None)) is None:
            break
        prepared = again
    return DrawnEntry(prepared, advice, in_time=True)


def _passes(judge: Callable[[EntryDocument, str], Verdict], entry: EntryDocument, configuration: str) -> bool:
    """Return whether an entry passes beside a masked table.

    With several labels, sums of rounded counts can be off by a base or more where no rounding has all sums at once:
    then the masked table shows it, and another draw is needed.
    """
    try:
        return judge(entry, configuration).passed
    except EntryError:
        if entry.labels is None:
            raise
        return False


def entry_of_release(
    table: Source, plan: Plan, name: str, chance: LastingRandomness, stage: Stage, how: Mapping[str, Any]
) -> PreparedEntry:
    """Return the entry that a release by this plan publishes, of whose draws some may be refused beside its table.

    So whoever summarises a released table publishes the same counts, and nobody gets two draws of them.

    Args:
        name: The name of the entry.
        chance: The randomness of its rounding.
        stage: Shows the progress.
        how: Options for reading the table, and `accept_identifiers`.
    """
    reads = {each: how[each] for each in ("delimiter", "memory_limit")}
    with TemporaryDirectory(prefix="aegis-summarize-") as folder:
        masked = Path(folder) / "masked.csv"

        def mask(prepared: PreparedEntry) -> EntryAdvice:
            left_out = {each.id: each.suppressed or 0 for each in plan.configurations}
            advice = Aim(plan.label).choosing(advise(prepared.counted, "joint", left_out, plan.weights), plan)
            refused: Any = {"accept_identifiers": True, "accept_unique": True, "force": True}  # nobody gets this table
            apply(table, plan, advice.best.id, masked, keep_order=True, **refused, **reads)
            return advice

        def judge(entry: EntryDocument, configuration: str) -> Verdict:
            with open_table(masked, **reads) as opened:
                return judged_beside(entry, configuration, opened, SECONDS)

        return draw_entry(table, plan, name, chance, mask, judge, stage, how, inf).prepared


def _draws(
    table: Source, plan: Plan, name: str, chance: LastingRandomness, stage: Stage, how: Mapping[str, Any]
) -> Iterator[PreparedEntry]:
    used, rows, doing = 0, 1, "counting"
    for controls in ((), *((RandomRounding(base),) for base in _BASES)):
        if controls and controls[0].base * rows <= used:
            continue
        for again in range(_DRAWS):
            drawn = chance.of("again", str(again)) if again else chance
            one: dict[str, Any] = {"name": name, "pairs": True, "chance": drawn, **how}
            try:
                with stage(doing) as progress:
                    prepared = prepare_entry(table, plan, controls, progress=progress, **one)
            except ControlError:
                if not used:
                    raise
                return  # too small a table for larger bases
            doing = "rounding the counts anew"
            yield prepared
        control = prepared.entry.disclosure_control
        used, rows = (control and control.rounded_to) or 0, prepared.entry.rows_per_person or 1


if TYPE_CHECKING:  # a client loads httpx
    from aegis_sdk import Client

_WITHOUT = "nothing was done; without --publish, a release needs no service"


def check_service(service: Client, name: str, aim: Aim, count_records: Callable[[], int]) -> None:
    """Check before any work whether the service would refuse the entry of a release.

    It refuses if the key may not publish, if the name belongs to an entry about another label, or if no release can
    have the required privacy or counts. Disclosure by counts, and the size of the entry, are known only later.

    Args:
        name: The name of the entry.
        aim: The requirements on the release.
        count_records: Counts the records of the table; called only if needed.

    Raises:
        ServiceError: The service does not respond, or does not let the caller publish.
        PublishingError: It would refuse the entry.
    """
    try:
        terms = service.publishing(name)
    except NotFoundError as error:
        raise ServiceError(f"{service.url}: not an Aegis service, or an older version; {_WITHOUT}") from error
    except ProblemError as error:
        raise ServiceError(f"{service.url}: {str(error).rstrip('.')}; {_WITHOUT}") from error
    except AegisError as error:  # the text has the address
        raise ServiceError(f"{error}; {_WITHOUT}") from error
    reason = next(_reasons(terms, name, aim, count_records), None)
    if reason is not None:
        raise PublishingError(f"{service.url}: {reason}; {_WITHOUT}")


def _reasons(terms: PublishingTerms, name: str, aim: Aim, count_records: Callable[[], int]) -> Iterator[str]:
    if terms.named is not None and terms.named.label != aim.label:
        other = shortened(terms.named.label)
        yield f"has an entry {name!r} about the label {other}, not {shortened(aim.label)}: choose another --name"
    yield from _of_privacy(terms, aim)
    if terms.require_noise:
        epsilon = "NUMBER" if terms.max_epsilon is None else f"{terms.max_epsilon:g}"
        yield f"requires noise in all counts, but a release rounds them: use aegis summarize --epsilon {epsilon}"
    least = terms.min_cell
    if least is not None and least > (base := base_for(count_records())):
        yield (
            f"accepts no count below {least}, but a release rounds counts to multiples of {base}: use aegis summarize "
            f"--min-cell {least}"
        )


def _of_privacy(terms: PublishingTerms, aim: Aim) -> Iterator[str]:
    lacking = {name: limit for name, limit in terms.require.items() if not aim.reaches(name, limit)}
    if unmeasured := [name for name in lacking if name not in CRITERIA or not CRITERIA[name].is_measured]:
        yield f"requires {', '.join(unmeasured)} of configurations, which no table shows: ask its operator"
    elif lacking:
        options = " ".join(f"--require {name}={limit:g}" for name, limit in lacking.items())
        yield f"requires more privacy than this release has to have: add {options}"


def published(service: Client, entry: EntryDocument) -> str:
    """Publish the entry, or a new version of it, and return its id; records that are alone were accepted before.

    An entry that differs only in its description, such as the head of a card, or in who sees it, stays as it is.
    """
    try:
        return service.publish(entry, accept_unique=True).id
    except ConflictError as conflict:
        if conflict.entry is None:
            raise
        own = {"description": entry.description, "visibility": entry.visibility}
        with suppress(ValidationError):  # a newer service's
            known = EntryDocument.model_validate(service.summaries(conflict.entry))
            if not entry.description and known.model_copy(update=own) == entry:
                return conflict.entry
        return service.update(conflict.entry, entry, accept_unique=True).id


def describe(service: Client, entry_id: str, entry: EntryDocument, head: str) -> None:
    """Give a published entry without a description the head of its card, as `aegis publish` does; no count changes."""
    if not entry.description and len(head) <= DESCRIPTION_LENGTH:
        service.update(entry_id, entry.model_copy(update={"description": head}), accept_unique=True)


def asked(service: Client, entry_id: str, entry: EntryDocument, aim: Aim, weights: Mapping[str, float]) -> EntryAdvice:
    """Ask the service for the best configuration, by these weights of attributes.

    Raises:
        AegisError: The caller may not read the full answer.
    """
    answer = service.advise(entry_id, aim.measure, weights=dict(weights) or None, limit=aim.most)
    if not isinstance(answer, Advice):
        raise AegisError(f"{entry.name}: the key may not read the full answer; use a provider's key")
    return of_service(answer)
