"""Fulfils an approved request: compares plan and entry, masks, measures, uploads, and reports to the service."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from aegis_advisor.verdict import SMALL, published_privacy
from aegis_provider.errors import (
    EntryError,
    IdentifierError,
    InUseError,
    MachineError,
    OutputError,
    PlanError,
    PromiseError,
    ServiceError,
    SmallCountsError,
)
from aegis_provider.files import digest_of
from aegis_provider.handover.agreement import refuse_other
from aegis_provider.handover.delivered_card import Masked, delivered_card, delivered_package
from aegis_provider.handover.leasing import (
    LEASED,
    MASKED,
    SECONDS,
    Held,
    abandon,
    leased,
    work_folder,
)
from aegis_provider.handover.lineage import Lineage, OriginalTable, run_event
from aegis_provider.handover.storage import CSV_ENDING, MEDIA_TYPES, PACKAGE_TYPE, Storage, file_name, withdraw
from aegis_provider.ledger import CompositionError, HeldBack, Leaving, foretold, hold_back, leave
from aegis_provider.plan.model import Plan
from aegis_provider.privacy import CRITERIA, holds
from aegis_provider.processes import Stage, unseen
from aegis_provider.receiving.with_entry import SECONDS as TOGETHER_SECONDS
from aegis_provider.receiving.with_entry import judged_beside
from aegis_provider.release.alone import told_alone
from aegis_provider.release.apply import Applied, apply
from aegis_provider.release.table_file import hand_out
from aegis_provider.table import Source, open_table
from aegis_provider.table.formulas import unescaped_table
from aegis_provider.workflow.folder import Folder, digests_of
from aegis_provider.workflow.public_card import is_public
from aegis_sdk import Client, ConflictError, InvalidError, UniqueRecordsError
from aegis_sdk._links import link_faults
from aegis_sdk.reading import (
    ACCEPT_UNIQUE,
    Alone,
    package_name,
    read_together_line,
)
from aegis_sdk.wire import (
    DataRequest,
    DeliveryDescriptor,
    EntryDocument,
    EntryHead,
    faults_of,
)

_NAMED: Final = 3
"""Maximum number of undecided places to name."""

_SEPARATOR: Final = ","
"""Separates the fields of what is delivered, as in the preview that a consumer's program was written for."""


@dataclass(frozen=True)
class Task:
    """A request to fulfil, and how.

    Attributes:
        table: The table; anything that `open_table` accepts.
        ending: The ending of the masked table's file: `.csv` or `.parquet`.
        card: The public release card, as JSON values; without one, the descriptor states the roles of the columns.
        accept_unique: Whether to deliver even if more than 1 % of the records are alone on all shared columns.
        lease_seconds: Time after the death of this program until another may take over.
        accept_identifiers: Whether the masked table may contain identifying values.
        accept_composition: Whether to deliver even if the promise is broken together with what the consumer has.
        colluding: Whether consumers are taken to share what each of them has.
        lineage: Where to send an OpenLineage event of the delivery; `None` for nowhere.
    """

    service: Client
    request_id: str
    table: Source
    plan: Plan
    delimiter: str = ","
    memory_limit: str = "1GB"
    ending: str = CSV_ENDING
    escape_formulas: bool = False
    card: Mapping[str, Any] | None = None
    accept_unique: bool = False
    lease_seconds: int = SECONDS
    accept_identifiers: bool = False
    accept_composition: bool = False
    colluding: bool = False
    lineage: Lineage | None = None
    stage: Stage = unseen


@dataclass(frozen=True)
class Fulfilled:
    """A fulfilled request.

    Attributes:
        alone: How many of its records are alone, and how many in the worst configuration of the entry; `None` if
            generated.
        warning: What could not be cleaned up, or sent as lineage; empty if nothing is left.
        together: What it tells with what left before, for the provider only.
    """

    request: DataRequest
    masked: Masked
    alone: Alone | None = None
    warning: str = ""
    together: tuple[str, ...] = ()


def fulfil(task: Task, storage: Storage, work: Path) -> Fulfilled:
    """Mask the table as approved, upload it to the provider's storage, and report its link to the service.

    Plan, entry and approval must agree: the version's digest and the maskings are compared. The promised privacy is
    measured in the masked file, whose records are shuffled. An interrupted run resumes with the same `work`, without
    masking or uploading again.

    Raises:
        ConflictError: Another program fulfils the request, or it has changed meanwhile.
        PlanError: The service does not accept links to this storage, the plan does not match the entry, or the card is
            the provider's own, with exact numbers.
        TableError: The table cannot be read or does not fit the plan.
        IdentifierError: The masked table would contain identifying values, and that is not accepted.
        PromiseError: The masked table lacks the promised privacy.
        UniqueRecordsError: Too many records are alone on all shared columns, and that is not accepted.
        CompositionError: The promise is broken together with what left before, and that is not accepted.
        LedgerError: The ledger of what left cannot be used, or is of a table with other columns.
        SmallCountsError: The entry and the masked table together give away small counts.
        MachineError: That could not be decided in time; the next run resumes.
        EntryError: The entry does not count the records of the table.
        OutputError: The table cannot be written or uploaded.
        AegisError: The service does not respond, or refuses.
    """
    if task.card is not None and not is_public(task.card):
        raise PlanError(
            "the release card has exact numbers, for you only; deliver the card.json of a release by this version"
        )
    _refuse_link(task, storage)
    request = task.service.requests.get(task.request_id)
    _refuse_unapproved(request, storage, work)
    _refuse_other_card(task, request)
    head = task.service.entry(request.entry.id, request.entry.version)
    entry = EntryDocument.model_validate(task.service.summaries(request.entry.id, request.entry.version))
    vouched = refuse_other(head, entry, request, task.plan)
    with leased(task.service, request.id, task.lease_seconds) as lease, work_folder(work, request.id) as folder:
        try:
            original = None if task.lineage is None else OriginalTable.of(task.table)
            leaving = _leaving(task, entry, request)
            held = _held_back(task, request, folder, leaving)
            masked = _masked(task, request, folder, vouched, held)
            alone = _refuse_unique(task, head, request, masked)
            if masked.checked is not None and not head.accepted_small_counts:  # a generated table shows no records
                _refuse_read_together(task, entry, request, masked, folder.file(masked.file))
            leaving = replace(leaving, digest=digest_of(folder.file(masked.file)), held=held.digest if held else "")
            together = _kept_in_ledger(task, request, leaving)
        except (CompositionError, EntryError, IdentifierError, PromiseError, SmallCountsError, UniqueRecordsError):
            folder.remove()  # after other failures, the next run reuses the masked table
            raise
        if lease.lost.is_set():
            raise ServiceError("the lease was lost: another program fulfils the request, or it has changed")
        card = delivered_card(task.card, task.plan, request, entry, masked, alone)
        delivered = _delivered(task, request, head, storage, folder, masked, lease, card)
        said = [] if original is None else [_sent(task, original, head, delivered)]
        try:
            folder.remove()
        except OutputError as error:
            said.append(f"{error}; the masked table is still there")
        return Fulfilled(delivered, masked, alone, "; ".join(filter(None, said)), together)


def _sent(task: Task, original: OriginalTable, head: EntryHead, request: DataRequest) -> str:
    """Send the lineage of a delivered request; return why that failed, or an empty text."""
    if task.lineage is None or request.delivery is None:
        return ""
    return task.lineage.send(run_event(original, head, request, request.delivery))


def _refuse_link(task: Task, storage: Storage) -> None:
    """Refuse a storage whose links the service does not accept; only the service knows about private networks."""
    try:
        link = storage.link(file_name(task.request_id, "0" * 64, task.ending)).url
    except ValidationError as error:
        faults = [f"{fault.pointer}: {fault.detail}" for fault in faults_of(error)]
    else:
        faults = list(link_faults(link, allow_private=True))
    if faults:
        # Omit the link, which may contain a password.
        raise PlanError(f"this cannot be delivered: no link to this storage will do: {' '.join(faults)}")


def _refuse_unapproved(request: DataRequest, storage: Storage, work: Path) -> None:
    """Refuse a request that cannot be fulfilled, and remove the work of an earlier run."""
    if request.state == "approved" and request.configuration is not None:
        return
    if (work / request.id).is_dir():
        with suppress(InUseError), work_folder(work, request.id) as folder:
            abandon(folder, request, storage)
    raise ServiceError(f"request {request.id} is {request.state}; only an approved one can be fulfilled")


def _refuse_other_card(task: Task, request: DataRequest) -> None:
    about = None if task.card is None else task.card.get("configuration")
    if task.card is not None and about != request.configuration:
        raise PlanError(
            f"the release card is about {about!r}, but {request.configuration!r} was approved; leave it out"
        )


def _refuse_unique(task: Task, head: EntryHead, request: DataRequest, masked: Masked) -> Alone | None:
    """Return how many records are alone on all columns that the table shares."""
    if (checked := masked.checked) is None:
        return None
    shares = {**Alone.of(head.entry_schema).shares, request.configuration or "": checked.alone.share}
    alone = told_alone(task.plan, shares, request.configuration)
    if alone.is_much(offered=False) and not task.accept_unique:
        raise UniqueRecordsError(f"{alone.line()}. It is not delivered; mask more, or accept that: {ACCEPT_UNIQUE}")
    if checked.faults and not task.accept_unique:
        raise UniqueRecordsError(f"{'; '.join(checked.faults)}. It is not delivered; or accept that: {ACCEPT_UNIQUE}")
    return alone


def _refuse_read_together(task: Task, entry: EntryDocument, request: DataRequest, masked: Masked, file: Path) -> None:
    """Refuse a table if it and the entry together give away counts of 1 to 4 that the table does not show.

    Exact published counts mean that small ones may be known.
    """
    with (
        task.stage("judging entry and table together"),
        open_table(file, delimiter=_SEPARATOR, memory_limit=task.memory_limit) as opened,
    ):
        table, held = unescaped_table(opened, task.plan.columns) if task.escape_formulas else opened, masked.held_back
        verdict = judged_beside(entry, request.configuration or "", table, TOGETHER_SECONDS, held_back=held)
    if not verdict.passed and all(finding.reason == "undecided" for finding in verdict.findings):
        where = ", ".join(finding.pointer for finding in verdict.findings[:_NAMED])
        mend = f"run the same command again on a faster or less busy machine: {TOGETHER_SECONDS:g} seconds were too few"
        line = f"{read_together_line(verdict, mend)} ({where}). No such count was found until then"
        raise MachineError(f"{line}. It is not delivered; the masked table stays for the next run")
    if not verdict.passed:
        mend = "publish the entry anew, with its counts rounded by --new-randomness, and let it be requested again"
        raise SmallCountsError(f"{read_together_line(verdict, mend)}. It is not delivered")


def ask_ledger(task: Task, offered: str | None = None) -> tuple[str, ...]:
    """Return what the table of a request that is not approved yet will tell with what left before, in sentences.

    Args:
        offered: The configuration to offer instead of the requested one.

    Raises:
        PlanError: The plan does not match the entry.
        CompositionError: The promise is broken together with what left before, and that is not accepted.
        LedgerError: The ledger of what left cannot be used, or is of a table with other columns.
        AegisError: The table cannot be read, or the service does not respond.
    """
    request = task.service.requests.get(task.request_id)
    request = request if offered is None else request.model_copy(update={"configuration": offered})
    head = task.service.entry(request.entry.id, request.entry.version)
    entry = EntryDocument.model_validate(task.service.summaries(request.entry.id, request.entry.version))
    refuse_other(head, entry, request, task.plan)
    how = {"delimiter": task.delimiter, "memory_limit": task.memory_limit}
    with task.stage("measuring what it tells with what left before"):
        leaving = _leaving(task, entry, request)
        return tuple(foretold(task.table, task.plan, request.configuration or "", leaving, how)[1])


def _leaving(task: Task, entry: EntryDocument, request: DataRequest) -> Leaving:
    may: dict[str, Any] = {"accept": task.accept_composition, "colluding": task.colluding}
    offered_in = str(task.plan.files[0].resolve().parent) if task.plan.files else ""
    about: dict[str, Any] = {"name": entry.name, "to": request.consumer, "place": request.id, "planned_in": offered_in}
    return Leaving(**about, by_columns=True, **may)


def _held_back(task: Task, request: DataRequest, folder: Folder, leaving: Leaving) -> HeldBack | None:
    made = folder.file(f"{MASKED}{task.ending}")
    leaving = replace(leaving, digest=digest_of(made) if made.exists() else "")
    how = {"delimiter": task.delimiter, "memory_limit": task.memory_limit}
    with task.stage("measuring what it tells with what left before"):
        return hold_back(task.table, task.plan, request.configuration or "", leaving, how)


def _kept_in_ledger(task: Task, request: DataRequest, leaving: Leaving) -> tuple[str, ...]:
    """Keep in the ledger what is about to leave, which stays there if the upload fails; return what it tells."""
    how = {"delimiter": task.delimiter, "memory_limit": task.memory_limit}
    with task.stage("keeping what leaves in the ledger"):
        return tuple(leave(task.table, task.plan, request.configuration or "", leaving, how))


def _masked(
    task: Task, request: DataRequest, folder: Folder, vouched: Mapping[str, float], held: HeldBack | None
) -> Masked:
    """Mask the table, unless it is masked already."""
    generated = task.plan.generated_table(request.configuration or "")
    ending = task.ending if generated is None else generated.file.suffix.lower()
    made_from = {
        "entry": request.entry.digest,
        "configuration": request.configuration,
        "plan": [digest_of(each) for each in task.plan.files],
        "table": digests_of(task.table),
        "delimiter": task.delimiter,
        "separator": _SEPARATOR,
        "escape_formulas": task.escape_formulas,
        "accept_identifiers": task.accept_identifiers,
        **({} if held is None else {"held": held.digest}),
    }
    file = f"{MASKED}{ending}"
    output = folder.file(file)
    masking = partial(_applied, task, request, output, vouched, held)
    work = masking if generated is None else partial(_handed_out, task, request, output)
    return folder.step(f"mask to {ending}", made_from, [file], Masked, work)


def _applied(
    task: Task, request: DataRequest, output: Path, vouched: Mapping[str, float], held: HeldBack | None
) -> Masked:
    with task.stage("masking records") as progress:
        applied = apply(
            task.table,
            task.plan,
            request.configuration or "",
            output,
            delimiter=task.delimiter,
            separator=_SEPARATOR,
            memory_limit=task.memory_limit,
            escape_formulas=task.escape_formulas,
            accept_identifiers=task.accept_identifiers,
            accept_unique=True,  # judged below
            asked_k=(request.request.get("require") or {}).get("k"),
            held=None if held is None else held.records,
            progress=progress,
        )
    short = [name for name, limit in vouched.items() if not holds(name, applied.reached.get(name, limit), limit)]
    if held is not None and short:
        raise PromiseError(
            f"{request.configuration}: without the records that are held back beside what left before, it has less "
            f"{', '.join(short)} than the entry states; publish the entry anew from this table"
        )
    reached = _stated(applied, vouched)
    return Masked(
        output.name,
        applied.records,
        applied.suppressed,
        {**{name: applied.promised[name] for name in applied.unchecked}, **reached},
        applied.unchecked,
        applied.checked,
        (*applied.warnings, *applied.checked.shown.in_words()),
        bool(applied.held_back),
    )


def _stated(applied: Applied, vouched: Mapping[str, float]) -> dict[str, float]:
    """Return the privacy that the descriptor states of the masked table; `vouched` is that of the entry."""
    records = applied.records
    # Criteria that compare with the whole table depend on records that the consumer lacks. The entry's values hold;
    # others are rounded to the published steps if some label value is rare.
    told = published_privacy(
        applied.reached, vouched, [((1, SMALL), (records, records + applied.suppressed + applied.held_back))]
    )
    compared = {name: vouched.get(name, told.get(name)) for name in applied.reached if CRITERIA[name].compares}
    reached = {name: number for name, number in {**applied.reached, **compared}.items() if number is not None}
    if applied.of_people:  # the consumer cannot count them
        return {name: vouched[name] for name in reached if name in vouched}
    return reached


def _handed_out(task: Task, request: DataRequest, output: Path) -> Masked:
    if task.escape_formulas:
        raise PlanError(
            f"{request.configuration} is a generated table, which is delivered as it is: leave --escape-formulas out"
        )
    accept: dict[str, Any] = {"accept_identifiers": task.accept_identifiers}
    handed_out = hand_out(task.plan, request.configuration or "", output, task.table, task.delimiter, **accept)
    with open_table(output, delimiter=task.delimiter) as opened:
        records = opened.records()
    promised = handed_out.generated.privacy
    warnings = (handed_out.warning,) if handed_out.warning else ()
    return Masked(output.name, records, 0, dict(promised), tuple(promised), None, warnings)


def _descriptor(
    request: DataRequest, storage: Storage, file: Path, masked: Masked, lease: Held, card: dict[str, Any] | None
) -> DeliveryDescriptor:
    """Return the descriptor of the masked table for the service."""
    sha256 = digest_of(file)
    try:
        return DeliveryDescriptor(
            **storage.link(file_name(request.id, sha256, file.suffix)).model_dump(),
            media_type=MEDIA_TYPES[file.suffix],
            size=file.stat().st_size,
            sha256=sha256,
            records=masked.records,
            configuration=request.configuration or "",
            entry_digest=request.entry.digest,
            privacy=dict(masked.privacy),
            card=card,
            lease=lease.id,
        )
    except ValidationError as error:
        faults = "; ".join(f"{fault.pointer}: {fault.detail}" for fault in faults_of(error))
        raise PlanError(f"this cannot be delivered: {faults}") from error


def _delivered(
    task: Task,
    request: DataRequest,
    head: EntryHead,
    storage: Storage,
    folder: Folder,
    masked: Masked,
    lease: Held,
    card: dict[str, Any] | None,
) -> DataRequest:
    """Upload the masked table and report it to the service; remove what the service refuses for good."""
    file = folder.file(masked.file)
    descriptor = _descriptor(request, storage, file, masked, lease, card)
    name = file_name(request.id, descriptor.sha256, file.suffix)
    with task.stage("uploading bytes") as progress:
        storage.put(file, name, descriptor.media_type, progress)
        delimiter = task.delimiter if masked.checked is None else _SEPARATOR
        package = delivered_package(head, masked, descriptor, name, folder, delimiter)
        if package is not None:
            storage.put(package, package_name(name), PACKAGE_TYPE, progress)
    try:
        return task.service.requests.deliver(request.id, descriptor)
    except ConflictError as error:
        # The holder of the lease may be about to deliver the same file, so it stays.
        if error.code != LEASED:
            abandon(folder, task.service.requests.get(request.id), storage)
        raise
    except InvalidError:
        with suppress(OutputError):
            withdraw(storage, name)
        raise
