"""From a bare table to a release that can be shared, in one call."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, Self

from pydantic import TypeAdapter

from aegis_provider.check_result import CheckResult
from aegis_provider.digests import digest_of
from aegis_provider.errors import MachineError, OutputError, SmallCountsError
from aegis_provider.identifiers import accepted_in
from aegis_provider.plan.model import Configuration
from aegis_provider.processes import processes_ready
from aegis_provider.release.alone import told_alone
from aegis_provider.search import SearchResult, find_configurations
from aegis_provider.summary import refuse_name
from aegis_provider.table import Source, delimiter_in, table_name
from aegis_provider.table.address import is_url
from aegis_provider.workflow.aim import USUAL, Aim, Deadline
from aegis_provider.workflow.card import Card, CardService
from aegis_provider.workflow.card_files import CARD_ENDINGS, write_card, write_provider_only
from aegis_provider.workflow.card_making import Findings, card_of, entry_faults, texts_of_cards
from aegis_provider.workflow.card_public import public
from aegis_provider.workflow.card_report import card_report
from aegis_provider.workflow.folder import Folder
from aegis_provider.workflow.generating import LEVELS, METHOD, Comparison, file_at
from aegis_provider.workflow.publishing import asked, check_service, published
from aegis_provider.workflow.released import Released
from aegis_provider.workflow.results import Masked, Stage, Summarised, unseen
from aegis_provider.workflow.steps import ENTRY, FOUND, MASKED, PLAN, Steps
from aegis_sdk import (
    AegisError,
    ServiceUnreachableError,
    UnavailableError,
    UnexpectedAnswerError,
    UniqueRecordsError,
)
from aegis_sdk.reading import ACCEPT_UNIQUE, Alone, read_together_line
from aegis_sdk.wire import EntryDocument

if TYPE_CHECKING:  # slow to load
    from aegis_provider.disclosure import Judged
    from aegis_sdk import Client

CARD: Final = "card"
PROVIDER_ONLY: Final = "provider-only.json"
_CARDS: Final = (PROVIDER_ONLY, *(f"{CARD}{ending}" for ending in CARD_ENDINGS))
_FINISHED: Final = (ENTRY, MASKED, *map(file_at, LEVELS), *_CARDS)
"""What a release consists of, besides what only the provider has."""

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
    seconds: float = 60.0,
    name: str | None = None,
    publish: Client | None = None,
    delimiter: str | None = None,
    memory_limit: str = "1GB",
    also_generate: bool = False,
    escape_formulas: bool = False,
    accept_unique: bool = False,
    accept_identifiers: bool = False,
    index: bool = False,
    odd_as_missing: bool = False,
    fold_case: bool = False,
    stage: Stage = unseen,
) -> Released:
    """Mask a table so that it has the required privacy and keeps as much as possible of what it tells about the label.

    Every step leaves its files in the output folder. A run that was stopped goes on there, if nothing else changed.
    Ctrl-C during the search goes on with the best configurations until then. A run that is refused leaves the plan and
    what was found for it, and nothing that looks like a release, not even that of an earlier run; one that cannot begin
    changes nothing. One that is stopped, or cannot write, leaves what is done, without a card, and says so.

    Args:
        table: Anything that `open_table` accepts.
        label: The column that the others are to predict.
        output: The folder of the release; without it, a temporary one that lasts as long as the result.
        plan: A plan of the table; without it, one is drafted, or the one in the folder is used.
        require: The privacy it must have, by name.
        suppress_at_most: The share of records that may be left out for that.
        measure: The measure of utility: `joint`, or one of single attributes.
        seconds: How long it may take; see `Deadline`. The card names what is not finished then.
        name: The name of the entry; by default that of the table.
        publish: The service to publish the entry in, and to ask which configuration is best by the published counts.
            Without it, nothing is sent anywhere, and the exact counts decide.
        delimiter: The delimiter of a CSV table; by default, the usual one with which the header has the label.
        memory_limit: The memory limit of DuckDB.
        also_generate: Whether tables that a model draws are put beside the masked one: into the folder, the plan, the
            entry and the card. It needs the extra `synth`.
        escape_formulas: Whether cells and headers of the masked table that a spreadsheet would run get an apostrophe
            before them.
        accept_unique: Whether the entry is published even if a configuration leaves more than 1 % of the records alone
            on all columns that it shares.
        accept_identifiers: Whether columns that identify persons may be shared if the plan has them. Otherwise the
            release is refused.
        index: Whether a drafted plan has the index of a data frame as a column.
        odd_as_missing: What a drafted plan says of other texts among numbers or dates; see `start`.
        fold_case: What it says of values that differ only in case; see `start`.
        stage: Called with the name of each step; returns a context that shows its progress.

    Raises:
        PlanError: The plan, or what is required, cannot be used.
        TableError: The table cannot be read or does not fit the plan.
        OutputError: The folder cannot be used.
        IdentifierError: A column that may be shared as it is, or a text in what is written, identifies persons, and
            that is not accepted.
        NothingHoldsError: No configuration has the privacy.
        ServiceError: The service does not answer, or does not let the caller publish. Nothing was done.
        PublishingError: The service would refuse the entry. Nothing was done.
        SmallCountsError: The entry is to be published, but gives small counts away.
        UniqueRecordsError: It is to be published, but too many records are alone, and nobody has accepted that.
        AegisError: The service refuses the entry, or is gone when it is finished.
    """
    aim, deadline = Aim(label, require, suppress_at_most, measure, seconds, generates=also_generate), Deadline(seconds)
    for requirement in aim.requirements():
        requirement.check_alone()
    temporary = TemporaryDirectory(prefix="aegis-release-") if output is None else None
    folder = Folder.open(Path(temporary.name if temporary else output or ""), keep=[PLAN, *map(file_at, LEVELS)])
    how = {"delimiter": delimiter or delimiter_in(table, label), "memory_limit": memory_limit}
    reads = {"index": index, "odd_as_missing": odd_as_missing, "fold_case": fold_case}
    given, may = Path(plan) if plan else None, (accept_identifiers, escape_formulas)
    steps = Steps(table, aim, folder, given, name or name_of(table), how, stage, deadline, *may, reads)
    with _no_empty(folder.path):
        _refuse_early(steps, publish)
        with stage("opening the table"):
            records = steps.records
        earlier = any(folder.file(each).exists() for each in _CARDS)
        folder.withdraw(_CARDS)
        with processes_ready(records, find_configurations.__module__):
            with _withdrawn_if_refused(folder, _FINISHED, earlier=earlier):
                counted = _Counted.of(steps)
                entry_id = None if publish is None else _published(steps, publish, counted, accept_unique=accept_unique)
            # A published entry stays, so that its counts are not rounded a second time.
            finished = [each for each in _FINISHED if entry_id is None or each != ENTRY]
            with _withdrawn_if_refused(folder, finished, earlier=earlier):
                findings = _worked_out(steps, publish, counted, entry_id)
                service = None if publish is None or entry_id is None else CardService(publish.url, entry_id)
                card = _carded(steps, findings, service)
    kind = type(table).__module__.partition(".")[0]
    like = kind if kind in _FRAMES else "pyarrow"
    return Released(folder.path, card, findings, entry_id, like, how["delimiter"], temporary)


def _carded(steps: Steps, findings: Findings, service: CardService | None) -> Card:
    """Write the card, and the exact one for the provider alone; return the one that may be published.

    Raises:
        IdentifierError: It has an identifying value of the table, and that is not accepted.
        OutputError: A file cannot be written.
    """
    folder = steps.folder
    about = (steps.aim, table_name(steps.table), steps.found, digest_of(folder.file(FOUND)), findings, steps.made_by)
    kinds, accepted = steps.replayed.kinds, findings.accepted
    exact = replace(card_of(*about, service), replayed=kinds, accepted=accepted)
    published = card_of(*about, service, published=True)
    card = replace(public(published, findings.entry, steps.found.sensitive), replayed=kinds, accepted=accepted)
    texts = list(_texts_in(TypeAdapter(Card).dump_python(card, mode="json")))
    if steps.accept_identifiers:
        found = {**findings.accepted, **accepted_in([("this card", texts)], steps.replayed)}
        exact, card = replace(exact, accepted=found), replace(card, accepted=found)
    else:
        steps.replayed.refuse(texts, f"{folder.path}: the card")
    write_provider_only(folder.file(PROVIDER_ONLY), _as_json(exact))
    write_card(folder.file(CARD), card_report(card), _as_json(card))
    return card


def _as_json(card: Card) -> str:
    return TypeAdapter(Card).dump_json(card, indent=1).decode()


def _texts_in(document: Any) -> Iterator[str]:  # noqa: ANN401 - any JSON value
    """Yield the texts of a JSON value, the names of its members, too."""
    if isinstance(document, str):
        yield document
    elif isinstance(document, dict):
        for name, value in document.items():
            yield from (name, *_texts_in(value))
    elif isinstance(document, list):
        for each in document:
            yield from _texts_in(each)


@contextmanager
def _withdrawn_if_refused(folder: Folder, names: Sequence[str], *, earlier: bool) -> Iterator[None]:
    """Remove these files if the release is refused.

    The refusal says so if an `earlier` release was there. What stops otherwise, by Ctrl-C, a full disk or a service
    that is gone, can go on: the card is removed, what is done stays, and the error says not to share it yet.
    """
    try:
        yield
    except (*_FAILURES, KeyboardInterrupt, SystemExit) as stopped:
        with suppress(OutputError):  # the disk may be what is wrong
            folder.withdraw(_CARDS)
        if left := [name for name in _FINISHED if name not in _CARDS and folder.file(name).exists()]:
            there = f"{folder.path} has {' and '.join(left)} without a card"
            stopped.add_note(f"{there}: do not share them yet; the same command goes on")
        raise
    except AegisError as error:
        folder.withdraw(names)
        if earlier:
            error.add_note(f"The release of an earlier run that was in {folder.path} is removed")
        raise


@contextmanager
def _no_empty(folder: Path) -> Iterator[None]:
    """Remove the folder after a failure if nothing is in it."""
    try:
        yield
    except BaseException:
        with suppress(OSError):  # it is not empty
            folder.rmdir()
        raise


def _refuse_early(steps: Steps, service: Client | None) -> None:
    """Refuse what would fail only after minutes of work, and the plan of another release, which stays as it is."""
    refuse_name(steps.name)
    if steps.given is not None or steps.plan.exists():
        steps.planned()
    if steps.aim.generates:
        from aegis_provider.synth.generate import method_of  # noqa: PLC0415 - only then is it loaded

        method_of(METHOD)  # its extra may be missing
    if service is not None:
        with steps.stage("asking the service what it requires"):
            check_service(service, steps.name, steps.aim, lambda: steps.records)


@dataclass(frozen=True, eq=False)
class _Counted:
    """What is worked out before anything is published: what was found, its entry, and the verdict on its counts."""

    search: SearchResult
    entry: EntryDocument
    summarised: Summarised
    judged: Judged

    @classmethod
    def of(cls, steps: Steps) -> Self:
        """Take the steps."""
        steps.draft()
        search = steps.search(steps.generate())
        entry, summarised = steps.summarise()
        return cls(search, entry, summarised, steps.judge(entry))


def _published(steps: Steps, service: Client, counted: _Counted, *, accept_unique: bool) -> str:
    """Publish the entry, and return its id.

    Raises:
        SmallCountsError: It gives small counts away, or a name in it tells a rare value.
        UniqueRecordsError: A configuration leaves too many records alone, and nobody has accepted that.
        IdentifierError: A card of this release would have an identifying value of the table.
        AegisError: The service refuses it.
    """
    entry, summarised = counted.entry, counted.summarised
    if faults := entry_faults(entry.name, counted.judged, summarised.telling, steps.made_by):
        raise SmallCountsError(f"{faults[0]}. It is not published")
    if not (together := steps.judge_together(entry, summarised.advice.best.id)).passed:
        raise SmallCountsError(f"{read_together_line(together)}. It is not published")
    alone = told_alone(steps.found, {each.id: each.alone for each in entry.masked})
    if alone.is_much(offered=True) and not accept_unique:
        raise UniqueRecordsError(f"{alone.line(offered=True)}. It is not published without {ACCEPT_UNIQUE}")
    if not steps.accept_identifiers:
        steps.replayed.refuse(texts_of_cards(steps.found, table_name(steps.table)), f"{steps.folder.path}: the card")
    with steps.stage("publishing the entry"):
        return published(service, entry)


def _worked_out(steps: Steps, service: Client | None, counted: _Counted, entry_id: str | None) -> Findings:
    """Take the other steps; return the results of all."""
    search, entry, advice = counted.search, counted.entry, counted.summarised.advice
    if service is not None and entry_id is not None:
        with steps.stage("asking the service for advice"):
            advice = asked(service, entry_id, entry, steps.aim)
    masked = steps.mask(advice.best.id)
    together = steps.judge_together(entry, advice.best.id)
    published_privacy = next((each.privacy for each in entry.masked if each.id == advice.best.id), None) or {}
    assessed = steps.assess(advice.best.id, _alone(steps, entry, masked, advice.best.id), published_privacy)
    check = _checked(steps, [each.id for each in advice.ranking[:2]], search)
    comparison = _compared(steps, entry, _on_the_frontier(steps, advice.best.id, search))
    summarised = replace(counted.summarised, advice=advice)
    return Findings(search, entry, counted.judged, summarised, masked, together, assessed, check, comparison)


def _alone(steps: Steps, entry: EntryDocument, masked: Masked, configuration: str) -> Alone:
    """Return how many records are alone: in the masked table as it was written, and in what the entry offers."""
    shares = {each.id: each.alone for each in entry.masked} | {configuration: masked.applied.checked.alone.share}
    return told_alone(steps.found, shares, configuration)


def _compared(steps: Steps, entry: EntryDocument, masks: Sequence[Configuration]) -> Comparison | str | None:
    """Compare masked with generated tables, if there are any; or return why that is not possible here."""
    try:
        return steps.compare(entry, masks)
    except AegisError as error:
        return str(error)


def _on_the_frontier(steps: Steps, best: str, search: SearchResult) -> list[Configuration]:
    """Return the configuration that masks the table, and the best ones for other privacy."""
    others = [each.configuration for each in search.frontier if each.configuration is not None]
    masks = {each.id: each for each in [*others, steps.found.configuration(best)]}
    return sorted(masks.values(), key=lambda each: each.privacy.get("k", 0))


def _checked(steps: Steps, configurations: Sequence[str], search: SearchResult) -> CheckResult | str:
    """Train models, on the frontier last; or return why that is not possible here, which makes no release worse."""
    frontier = {each.configuration.id: each.configuration for each in search.frontier if each.configuration}
    try:
        return steps.check(configurations, [each for name, each in frontier.items() if name not in configurations])
    except AegisError as error:  # an extra is missing, or too few records have a label value
        return str(error)


def name_of(table: Source) -> str:
    """Return a name for the entry of a table: its own in a file or a database, in the letters that names may have."""
    name = table_name(table)
    stem = name.rpartition("#")[2].rpartition(".")[2] if is_url(name) else Path(name).stem
    letters = unicodedata.normalize("NFKD", stem.casefold())
    plain = "".join(letter for letter in letters if not unicodedata.combining(letter))  # Größe: grosse
    return re.sub(r"[^a-z0-9._-]+", "-", plain).strip("-._")[:_LONGEST_NAME] or "table"
