"""From a bare table to a release that can be shared, in one call."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, Self

from pydantic import TypeAdapter

from aegis_provider.advice import expected_of
from aegis_provider.classifiers import CheckResult
from aegis_provider.entry import refuse_name
from aegis_provider.errors import MachineError, OutputError, SmallCountsError
from aegis_provider.files import digest_of
from aegis_provider.identifiers import accepted_in
from aegis_provider.ledger import SOME_HELD_BACK
from aegis_provider.ledger.leaving import Leaving
from aegis_provider.ledger.store import ANYONE
from aegis_provider.plan.model import Configuration
from aegis_provider.processes import Stage, processes_ready, unseen
from aegis_provider.release.alone import told_alone
from aegis_provider.search import SearchResult, find_configurations
from aegis_provider.table import Source, delimiter_in, table_name
from aegis_provider.table.databases import is_url
from aegis_provider.workflow.aim import USUAL, Aim
from aegis_provider.workflow.card import CARD_ENDINGS, Card, CardExpected, CardService
from aegis_provider.workflow.card_head import head_of, in_markdown
from aegis_provider.workflow.card_making import Findings, Summarised, card_of, entry_faults, texts_of_cards
from aegis_provider.workflow.deadline import Deadline
from aegis_provider.workflow.folder import Folder
from aegis_provider.workflow.generating import LEVELS, METHOD, Comparison, file_at
from aegis_provider.workflow.leaving import leave, note_entry, refuse_ledger, told_by_entry
from aegis_provider.workflow.measuring import compared, kept_of_columns, measured_privacy, trained
from aegis_provider.workflow.public_card import public
from aegis_provider.workflow.released import Released
from aegis_provider.workflow.searching import found_for, refuse_unknown
from aegis_provider.workflow.steps import ENTRY, FOUND, MASKED, PLAN, Steps
from aegis_sdk import (
    AegisError,
    ServiceUnreachableError,
    UnavailableError,
    UnexpectedAnswerError,
    UniqueRecordsError,
)
from aegis_sdk.reading import ACCEPT_UNIQUE, PACKAGE, maskings_in, read_together_line
from aegis_sdk.wire import IDENTITY, EntryDocument, Expected

if TYPE_CHECKING:  # slow to load
    from aegis_provider.disclosure import Judged
    from aegis_sdk import Client

CARD: Final = "card"
PROVIDER_ONLY: Final = "provider-only.json"
_CARDS: Final = (PROVIDER_ONLY, *(f"{CARD}{ending}" for ending in CARD_ENDINGS), PACKAGE)
_FINISHED: Final = (ENTRY, MASKED, *map(file_at, LEVELS), *_CARDS)
"""The files of a release to share, and the provider's own card. Cards and package are written last."""

_FAILURES: Final = (ServiceUnreachableError, UnexpectedAnswerError, UnavailableError, MachineError, OutputError)
_FRAMES: Final = ("pandas", "polars")
_LONGEST_NAME: Final = 60


def release(
    table: Source,
    label: str,
    *,
    output: Path | str | None = None,
    plan: Path | str | None = None,
    require: Mapping[str, float] = USUAL,
    suppress_at_most: float = 0.01,
    measure: str = "joint",
    effort: str = "normal",
    seconds: float = 1800.0,
    name: str | None = None,
    publish: Client | None = None,
    delimiter: str | None = None,
    memory_limit: str = "1GB",
    also_generate: bool = False,
    escape_formulas: bool = False,
    accept_unique: bool = False,
    accept_identifiers: bool = False,
    new_randomness: bool = False,
    to: str = ANYONE,
    accept_composition: bool = False,
    colluding: bool = False,
    configuration: str | None = None,
    index: bool = False,
    odd_as_missing: bool = False,
    fold_case: bool = False,
    keep_leaks: Sequence[str] = (),
    keep: Sequence[str] | Mapping[str, str | None] = (),
    weights: Mapping[str, float] | None = None,
    person: str | None = None,
    rows_per_person: int | None = None,
    other_labels: Sequence[str] = (),
    stage: Stage = unseen,
) -> Released:
    """Mask a table so that it has the required privacy and keeps as much utility for the label as possible.

    With several labels, each is protected from somebody who knows all others, and what is kept is the mean over them.

    Every step leaves its files in the output folder, where an interrupted run resumes if nothing else changed. Ctrl-C
    during the search continues with the best configurations so far. A refused run leaves the plan and its
    configurations, but removes anything that looks like a release, even of an earlier run; a run that cannot begin
    changes nothing. An interrupted run, or one that cannot write, leaves finished files without a card, and says so.

    Args:
        table: Anything that `open_table` accepts.
        label: The column to predict from the others.
        output: The folder of the release; by default, a temporary one that lasts as long as the result.
        plan: A plan of the table; by default, the one in the folder, or a drafted one.
        require: The required privacy, by name.
        suppress_at_most: The share of records that may be left out for it.
        measure: The measure of utility: `joint`, or one of single attributes.
        effort: The work of the search: `small`, `normal` or `thorough`. Equal tables, plans and efforts give equal
            configurations, on a busy machine, too.
        seconds: The time limit; see `Deadline`. The card lists unfinished steps.
        name: The name of the entry; by default that of the table.
        publish: The service that gets the entry and ranks the configurations by its published counts. By default,
            nothing is sent anywhere, and the exact counts decide.
        delimiter: The delimiter of a CSV table; by default, the one with which the header has the label.
        also_generate: Whether to add generated tables to the folder, the plan, the entry and the card. Needs the extra
            `synth`.
        escape_formulas: Whether cells and headers of the masked table that a spreadsheet would run get an apostrophe
            before them.
        accept_unique: Whether to publish the entry even if more than 1 % of the records are alone on all columns that a
            configuration shares.
        accept_identifiers: Whether the plan may share columns that identify persons.
        new_randomness: Whether to round afresh, not by the user's key; one more look at a table published before.
        to: Who gets the masked table, for the ledger of what left. A temporary folder is not kept there.
        accept_composition: Whether it may break its promise with what left before, to the same consumer or to anyone.
        colluding: Whether consumers are taken to share what each of them has.
        configuration: The id of a configuration that an earlier run in this folder found, as a refusal offers it: it is
            shared instead of the best. What was found for the same table and options is not searched again.
        index: Whether a drafted plan includes the index of a data frame.
        odd_as_missing: How a drafted plan reads other texts among numbers or dates; see `start`.
        fold_case: How it reads values that differ only in case; see `start`.
        keep_leaks: The columns that it drafts although they give the label away; see `start`.
        keep: The attributes that are never dropped, beside those that the plan keeps; as a mapping, each with its
            coarsest masking, or `None`. The card says what that costs.
        weights: How much attributes count in a measure of single attributes; others count 1.
        person: The column that says whose a record is, which is never shared: privacy then counts people. By default
            that of the plan, if any.
        rows_per_person: The most records of a person to use; by default that of the plan, or the fewest that keep 95 %.
        other_labels: Further columns to predict, for a drafted plan; those of a given one, if named, must be these.
        stage: Called with the name of each step; returns a context that shows its progress.

    Raises:
        PlanError: The plan or the requirements are invalid, or the folder has no such configuration.
        TableError: The table cannot be read or does not fit the plan.
        OutputError: The folder cannot be used, or has the release of another table.
        IdentifierError: A column shared unmasked, or a text in the output, identifies persons, and that is not
            accepted.
        NothingHoldsError: No configuration has the required privacy.
        ServiceError: The service does not respond, or does not let the caller publish. Nothing was done.
        PublishingError: The service would refuse the entry. Nothing was done.
        SmallCountsError: The entry to publish gives away small counts.
        UniqueRecordsError: Too many records are alone on all shared columns, and that is not accepted.
        CompositionError: With what left before, the masked table breaks its promise, and that is not accepted.
        LedgerError: The ledger of what left cannot be used, or is of a table with other columns.
        AegisError: The service refuses the entry, or no longer responds.
    """
    kept = keep if isinstance(keep, Mapping) else dict.fromkeys(keep)
    demands: dict[str, Any] = {"generates": also_generate, "keep": kept, "weights": weights or {}}
    demands |= {"person": person, "rows_per_person": rows_per_person, "configuration": configuration}
    demands |= {"other_labels": tuple(other_labels)}
    aim, deadline = (
        Aim(label, require, suppress_at_most, measure, effort, seconds, **demands),
        Deadline(seconds),
    )
    for requirement in aim.requirements():
        requirement.check_alone()
    temporary = TemporaryDirectory(prefix="aegis-release-") if output is None else None
    folder = Folder.open(Path(temporary.name if temporary else output or ""), keep=[PLAN, *map(file_at, LEVELS)])
    how = {"delimiter": delimiter or delimiter_in(table, label), "memory_limit": memory_limit}
    reads = {"index": index, "odd_as_missing": odd_as_missing, "fold_case": fold_case, "keep_leaks": list(keep_leaks)}
    given, may = Path(plan) if plan else None, (accept_identifiers, escape_formulas, new_randomness)
    steps = Steps(table, aim, folder, given, name or name_of(table), how, stage, deadline, *may, reads)
    if temporary is None:
        may_leave: dict[str, Any] = {"accept": accept_composition, "colluding": colluding}
        place = str(folder.path.resolve())
        steps = replace(steps, leaving=Leaving(name=steps.name, to=to, place=place, **may_leave))
    return carried_out(steps, publish, accept_unique=accept_unique, temporary=temporary)


def carried_out(
    steps: Steps,
    publish: Client | None,
    *,
    accept_unique: bool,
    temporary: TemporaryDirectory[str] | None = None,
) -> Released:
    """Run the steps of a release, and return it.

    Args:
        publish: The service that gets the entry, if any.
        accept_unique: As in `release`.
        temporary: The folder if it lasts only as long as the result.

    Raises:
        AegisError: As in `release`.
    """
    folder, table, stage = steps.folder, steps.table, steps.stage
    with _no_empty(folder.path):
        _refuse_early(steps, publish)
        with stage("opening the table"):
            records = steps.records
        refuse_ledger(steps)
        folder.claim(table, steps.asked)
        earlier = any(folder.file(each).exists() for each in _CARDS)
        folder.withdraw(_CARDS)
        with processes_ready(records, find_configurations.__module__):
            with _withdrawn_if_refused(steps, _FINISHED, earlier=earlier):
                counted = _Counted.of(steps)
                of_entry = () if publish is None else told_by_entry(steps, counted.entry)
                entry_id = None if publish is None else _published(steps, publish, counted, accept_unique=accept_unique)
            # Keep a published entry, so that its counts are not rounded a second time.
            finished = [each for each in _FINISHED if entry_id is None or each != ENTRY]
            with _withdrawn_if_refused(steps, finished, earlier=earlier):
                if publish is not None and entry_id is not None:
                    note_entry(steps, counted.entry, publish.entry(entry_id).version)
                findings = _worked_out(steps, publish, counted, entry_id)
                together = (*of_entry, *leave(steps, findings.advice))
                service = None if publish is None or entry_id is None else CardService(publish.url, entry_id)
                card = _carded(steps, findings, service)
                if publish is not None and entry_id is not None:
                    _described(steps, publish, entry_id, counted.entry, card)
                    note_entry(steps, counted.entry, publish.entry(entry_id).version, card.for_consumers)
            steps.remember_key()
    kind = type(table).__module__.partition(".")[0]
    like = kind if kind in _FRAMES else "pyarrow"
    return Released(folder.path, card, findings, entry_id, like, steps.how["delimiter"], temporary, together)


def _carded(steps: Steps, findings: Findings, service: CardService | None) -> Card:
    """Write the public card, the package, and the exact card for the provider; return the public one."""
    from aegis_provider.workflow.card_files import write_card, write_package, write_provider_only  # noqa: PLC0415 - last
    from aegis_provider.workflow.card_report import card_report  # noqa: PLC0415 - last

    folder = steps.folder
    about = (steps.aim, table_name(steps.table), steps.found, digest_of(folder.file(FOUND)), findings, steps.made_by)
    kinds, accepted, held = steps.replayed.kinds, findings.accepted, steps.held.get(findings.advice.best.id)
    of_held = "" if held is None else held.in_words()
    exact = replace(card_of(*about, service), replayed=kinds, accepted=accepted, holds_back=of_held)
    published = replace(card_of(*about, service, published=True), holds_back=SOME_HELD_BACK if of_held else "")
    card = replace(public(published, findings.entry, steps.found.sensitive), replayed=kinds, accepted=accepted)
    card = replace(card, for_consumers=in_markdown(head_of(card)))
    texts = list(_texts_in(TypeAdapter(Card).dump_python(card, mode="json")))
    if steps.accept_identifiers:
        found = {**findings.accepted, **accepted_in([("this card", texts)], steps.replayed)}
        exact, card = replace(exact, accepted=found), replace(card, accepted=found)
    else:
        steps.replayed.refuse(texts, f"{folder.path}: the card")
    write_provider_only(folder.file(PROVIDER_ONLY), _as_json(exact))
    write_card(folder.file(CARD), card_report(card), _as_json(card))
    write_package(steps, card)
    return card


def _as_json(card: Card) -> str:
    return TypeAdapter(Card).dump_json(card, indent=1).decode()


def _texts_in(document: Any) -> Iterator[str]:  # noqa: ANN401 - any JSON value
    """Yield the texts of a JSON value, including member names."""
    if isinstance(document, str):
        yield document
    elif isinstance(document, dict):
        for name, value in document.items():
            yield from (name, *_texts_in(value))
    elif isinstance(document, list):
        for each in document:
            yield from _texts_in(each)


@contextmanager
def _withdrawn_if_refused(steps: Steps, names: Sequence[str], *, earlier: bool) -> Iterator[None]:
    """Remove these files if the release is refused.

    The error mentions a removed `earlier` release; one that is repeated comes back. Runs that stop otherwise, by
    Ctrl-C, a full disk or a lost service, can resume: the card is removed, finished files stay, and the error says not
    to share them yet.
    """
    folder, again = steps.folder, steps.again
    try:
        yield
    except (*_FAILURES, KeyboardInterrupt, SystemExit) as stopped:
        with suppress(OutputError):  # the disk may be the problem
            folder.withdraw(_CARDS)
        if (left := [each for each in _FINISHED if each not in _CARDS and folder.file(each).exists()]) and not again:
            there = f"{folder.path} has {' and '.join(left)} without a card"
            stopped.add_note(f"{there}: do not share them yet; the same command goes on")
        raise
    except AegisError as error:
        folder.withdraw(names)
        if earlier and not again:
            error.add_note(f"The release of an earlier run that was in {folder.path} is removed")
        raise


@contextmanager
def _no_empty(folder: Path) -> Iterator[None]:
    """Remove the folder after a failure if it is empty."""
    try:
        yield
    except BaseException:
        with suppress(OSError):  # not empty
            folder.rmdir()
        raise


def _refuse_early(steps: Steps, service: Client | None) -> None:
    """Refuse what would fail only after minutes of work, and the plan of another release, without changing it."""
    refuse_name(steps.name)
    if not steps.again:
        steps.folder.refuse_other(steps.table, _FINISHED)
    if steps.aim.configuration is not None and not steps.again:
        refuse_unknown(steps, steps.aim.configuration)
    if steps.given is not None or steps.plan.exists():
        steps.planned()
    if steps.aim.generates:
        from aegis_provider.synth.generate.methods.registry import method_of  # noqa: PLC0415 - only then is it loaded

        method_of(METHOD)  # its extra may be missing
    if service is not None:
        from aegis_provider.workflow.entry import check_service  # noqa: PLC0415 - only then is it loaded

        with steps.stage("asking the service what it requires"):
            check_service(service, steps.name, steps.aim, lambda: steps.records)


@dataclass(frozen=True, eq=False)
class _Counted:
    """The results before publishing: the search, the entry, and the verdict on its counts."""

    search: SearchResult
    entry: EntryDocument
    summarised: Summarised
    judged: Judged

    @classmethod
    def of(cls, steps: Steps) -> Self:
        """Run these steps."""
        steps.draft()
        if not steps.deadline.reserve():
            with steps.stage("counting and masking alone may take longer than --seconds allows: they are done whole"):
                pass
        search = found_for(steps, steps.generate())
        entry, summarised = steps.summarise()
        return cls(search, entry, summarised, steps.judge(entry))


def _published(steps: Steps, service: Client, counted: _Counted, *, accept_unique: bool) -> str:
    """Publish the entry, and return its id."""
    entry, summarised = counted.entry, counted.summarised
    if faults := entry_faults(entry.name, counted.judged, summarised.telling, steps.made_by):
        raise SmallCountsError(f"{faults[0]}. It is not published")
    if not (together := steps.judge_together(entry, summarised.advice.best.id)).passed:
        raise SmallCountsError(f"{read_together_line(together)}. It is not published")
    alone = told_alone(steps.found, {configuration.id: configuration.alone for configuration in entry.masked})
    if alone.is_much(offered=True) and not accept_unique:
        raise UniqueRecordsError(f"{alone.line(offered=True)}. It is not published without {ACCEPT_UNIQUE}")
    if not steps.accept_identifiers:
        steps.replayed.refuse(texts_of_cards(steps.found, table_name(steps.table)), f"{steps.folder.path}: the card")
    from aegis_provider.workflow.entry import published  # noqa: PLC0415 - only then is it loaded

    with steps.stage("publishing the entry"):
        return published(service, entry)


def _described(steps: Steps, service: Client, entry_id: str, entry: EntryDocument, card: Card) -> None:
    """Send the head of the card, which is made after the entry is published, as the description of the entry."""
    from aegis_provider.workflow.entry import describe  # noqa: PLC0415 - only then is it loaded

    with steps.stage("publishing the head of the card"):
        describe(service, entry_id, entry, card.for_consumers)


def _worked_out(steps: Steps, service: Client | None, counted: _Counted, entry_id: str | None) -> Findings:
    """Run the remaining steps; return all results."""
    search, entry, advice = counted.search, counted.entry, counted.summarised.advice
    if service is not None and entry_id is not None:
        from aegis_provider.workflow.entry import asked  # noqa: PLC0415 - only then is it loaded

        with steps.stage("asking the service for advice"):
            advice = steps.aim.choosing(asked(service, entry_id, entry, steps.aim, steps.found.weights), steps.found)
    masked = steps.mask(advice)
    together = steps.judge_together(entry, advice.best.id)
    published_privacy = (
        next((configuration.privacy for configuration in entry.masked if configuration.id == advice.best.id), None)
        or {}
    )
    shares = {each.id: each.alone for each in entry.masked} | {advice.best.id: masked.applied.checked.alone.share}
    alone = told_alone(steps.found, shares, advice.best.id)
    assessed = measured_privacy(steps, advice.best.id, alone, published_privacy)
    kept = kept_of_columns(steps, advice.best.id)
    tried = [advice.best] if advice.named or advice.runner_up is None else [advice.best, advice.runner_up]
    check = _checked(steps, [ranked.id for ranked in tried], search)
    on_frontier = [point.configuration for point in search.frontier if point.configuration is not None]
    masks = {each.id: each for each in [*on_frontier, steps.found.configuration(advice.best.id)]}
    comparison = _compared(steps, entry, sorted(masks.values(), key=lambda each: each.privacy.get("k", 0)))
    summarised = replace(counted.summarised, advice=advice)
    done = (search, entry, counted.judged, summarised, masked, together, assessed, kept, check, comparison)
    return Findings(*done, steps.repeating, _expected(steps, entry, advice.best.id))


def _expected(steps: Steps, entry: EntryDocument, configuration: str) -> dict[str, CardExpected]:
    """Return what a model of each label should reach, by the counts that others get."""
    shown = maskings_in(entry, configuration)
    with steps.stage("expecting what a model will reach"):
        return {
            label: CardExpected(
                Expected(**asdict(masked.in_two_digits)),
                None if whole is None else Expected(**asdict(whole.in_two_digits)),
                None if shown.get(label, IDENTITY) == IDENTITY else shown[label],
            )
            for label, (masked, whole) in expected_of(entry, configuration).items()
        }


def _compared(steps: Steps, entry: EntryDocument, masks: Sequence[Configuration]) -> Comparison | str | None:
    """Compare masked with generated tables, if any; or return why that is not possible."""
    try:
        return compared(steps, entry, masks)
    except AegisError as error:
        return str(error)


def _checked(steps: Steps, configurations: Sequence[str], search: SearchResult) -> CheckResult | str:
    """Train models, on the frontier last; or return why that is not possible, which does not fail the release."""
    frontier = {point.configuration.id: point.configuration for point in search.frontier if point.configuration}
    try:
        return trained(steps, configurations, [each for name, each in frontier.items() if name not in configurations])
    except AegisError as error:  # an extra is missing, or too few records have a label value
        return str(error)


def name_of(table: Source) -> str:
    """Return a name for the entry of a table: that of its file or database table, in permitted characters."""
    name = table_name(table)
    stem = name.rpartition("#")[2].rpartition(".")[2] if is_url(name) else Path(name).stem
    letters = unicodedata.normalize("NFKD", stem.casefold())
    plain = "".join(letter for letter in letters if not unicodedata.combining(letter))  # Größe: grosse
    return re.sub(r"[^a-z0-9._-]+", "-", plain).strip("-._")[:_LONGEST_NAME] or "table"
