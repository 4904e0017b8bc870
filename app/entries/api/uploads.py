"""Uploaded entries: a child process parses them, with arrays for counts, validates and converts them."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import repeat
from math import prod
from types import GenericAlias
from typing import Any, TypeVar, TypeVarTuple, Unpack

import msgspec
import numpy as np
from anyio import fail_after
from pydantic import BaseModel, ValidationError

from aegis_advisor.evidence import (
    EntryContent,
    PairAssociation,
    associations_of,
    blocks_of,
    evidence_of,
    pairs_of,
)
from aegis_sdk import wire
from aegis_sdk.wire import NotJsonError, read_json, refuse_too_many
from app.entries.api.mapping import visibility_of
from app.entries.model.documents import entry_in
from app.entries.model.entries import CountKind, Publication
from app.entries.model.published import (
    ConfigurationColumns,
    CountsInPlace,
    DeclaredControl,
    Figures,
    Path,
    Prices,
    PublishedEntry,
)
from app.entries.service.checks import NO_POLICY, Policy
from app.entries.service.publications import publication_of
from app.platform.errors import InvalidDocumentError
from app.platform.http.bodies import invalid_document
from app.platform.http.refusals import MalformedRequestError
from app.platform.process.child import ChildProcess
from app.platform.queue.model import Lane

Given = TypeVarTuple("Given")
Result = TypeVar("Result")

#: The largest entry in bytes that is checked in the light lane, and the seconds before it moves to the heavy one, since
#: a small document can cause much work.
LIGHT_BODY, LIGHT_SECONDS = 2**20, 1.0

#: The time limit of a check in seconds; an ordinary entry of 64 MiB takes four.
DEADLINE = 120.0

#: Seconds after which the rest of a verdict before publication is undecided (an ordinary entry of 1 MB takes half a
#: second), and those after which people stop waiting for it.
JUDGING_SECONDS, PATIENCE = 3.0, 30.0

#: The largest number of entries waiting in a lane.
MOST_WAITING = 200


def own_cores() -> int:
    """The number of cores available to this process, which can be fewer than the machine's."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


#: The largest number of large entries checked concurrently, and their total size in bytes. A check takes 5 to 20 times
#: the entry's size in memory, most for thousands of small attributes.
LARGE_AT_ONCE, LARGE_BYTES = min(own_cores(), 4), 128 * 2**20


def checking_children() -> Mapping[Lane, ChildProcess]:
    """The processes that check entries."""
    return {
        Lane.LIGHT: ChildProcess(__name__, LIGHT_SECONDS, MOST_WAITING),
        Lane.HEAVY: ChildProcess(__name__, DEADLINE, MOST_WAITING, at_once=LARGE_AT_ONCE, room=LARGE_BYTES),
    }


async def read_publication_in(
    children: Mapping[Lane, ChildProcess], tenant: str, body: bytes, policy: Policy = NO_POLICY
) -> Publication:
    """Run `read_publication` in a child process, in the tenant's turn.

    Raises:
        InvalidDocumentError: as in `read_publication`, or the entry takes too long.
        InterruptedWorkError: the process died.
        OverloadedError: too many entries are waiting.
    """
    if len(body) <= LIGHT_BODY:
        with suppress(TimeoutError):
            return await children[Lane.LIGHT].run(read_publication, body, policy, on_behalf_of=tenant)
    try:
        heavy = children[Lane.HEAVY]
        return await heavy.run(read_publication, body, policy, on_behalf_of=tenant, size=len(body))
    except TimeoutError:
        detail = f"Checking this entry takes more than {DEADLINE:g} s. Publish fewer maskings or smaller domains."
        raise InvalidDocumentError(detail, code="too_heavy") from None


async def run_patiently(
    children: Mapping[Lane, ChildProcess],
    tenant: str,
    function: Callable[[Unpack[Given]], Result],
    *given: *Given,
    size: int,
) -> Result | None:
    """Run a function in the heavy lane; None if it takes longer than people wait, not counting the start of a process.

    In that lane a process is not killed for being a second late. `size` is that of its input, in bytes. Raises what
    `read_publication_in` raises of its process.
    """
    child = children[Lane.HEAVY]
    with suppress(TimeoutError):
        if not child.state().is_alive:
            await child.warm(tenant, PATIENCE)
        with fail_after(PATIENCE):
            return await child.run(function, *given, on_behalf_of=tenant, size=size)
    return None


def read_publication(body: bytes, policy: Policy = NO_POLICY) -> Publication:
    """Parse an entry, validate it, check its sums and the policy, and pack it. Slow: run this in a child process.

    Raises:
        MalformedRequestError: the body is not JSON.
        InvalidDocumentError: the entry breaks a rule of the contract, is inconsistent, or breaks the policy.
    """
    try:
        document, entry = wire.read_entry(body, parse_entry)
    except NotJsonError as error:
        raise MalformedRequestError(f"The body is not JSON: {error}") from None
    except ValidationError as error:
        raise invalid_document(error) from None
    return publication_of(published_entry(entry, document), policy)


def parse_entry(body: bytes | str) -> object:
    """Parse a body as JSON, with int64 arrays for the integer lists and tables of an entry's attributes.

    These make up most of a large entry. Parsing them to millions of Python integers first would take several times
    longer than all other steps. Everything else, and a body that is not an entry, is parsed as usual. Members come in
    the order of the contract.

    Raises:
        NotJsonError: the body is not JSON.
        ValidationError: it has more attributes or pairs than an entry may have.
    """
    try:
        members = _DECODER.decode(body)
        refuse_too_many(getattr(members, "attributes", None), getattr(members, "pairs", None))
        return _read_object(members, depth=1)
    except ValidationError:
        raise
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return read_json(body)  # this parser reports the fault


def _members_of(model: type[BaseModel], **lists: type[msgspec.Struct]) -> type[msgspec.Struct]:
    """A struct with a model's members: lists of structs for those in `lists`, raw JSON for the others."""
    kinds: dict[str, Any] = dict.fromkeys(model.model_fields, msgspec.Raw)
    kinds |= {name: GenericAlias(list, (item,)) for name, item in lists.items()}
    members = [(name, kind | msgspec.UnsetType, msgspec.UNSET) for name, kind in kinds.items()]
    return msgspec.defstruct(model.__name__, members, forbid_unknown_fields=True)


# A body can have tens of megabytes, so all its long lists of objects are parsed in one pass.
_MASKING = _members_of(wire.Masking)
_ATTRIBUTE = _members_of(wire.Attribute, maskings=_MASKING)
_ENTRY = _members_of(wire.EntryDocument, attributes=_ATTRIBUTE, pairs=_members_of(wire.Pair))
_DECODER = msgspec.json.Decoder(_ENTRY)

#: The members of attributes, maskings and pairs with counts or indices.
_COUNTS = frozenset({"histogram", "joint", "mapping"})

#: The bytes allowed between the brackets and commas of a list or table of integers.
_INTEGERS = b"0123456789- \t\r\n"

#: The number that the parser of arrays returns for integers outside of int64, also for negative ones.
_SATURATED = np.iinfo(np.int64).max


def _read_counts(raw: msgspec.Raw, depth: int) -> object:
    """Parse a list of integers, or a table of them with rows of equal length, as an array; anything else as JSON."""
    text = bytes(raw)
    shape = _shape(text.translate(None, _INTEGERS))
    if shape is not None:
        numbers = np.fromstring(text.translate(None, b"[] \t\r\n"), dtype=np.int64, sep=",")
        # The brackets of an empty list look like those around one number.
        if numbers.size == prod(shape) and numbers.max(initial=0) < _SATURATED:
            return numbers.reshape(shape)
    return _read_value(raw, depth)


def _shape(marks: bytes) -> tuple[int, ...] | None:
    """The shape of a list or table with these brackets and commas; None if they do not form one."""
    end = marks.find(b"]")
    if marks == b"[%b]" % (b"," * (end - 1)):
        return (end,)
    row = b"[%b]" % (b"," * (end - 2))
    rows = (len(marks) - 1) // (len(row) + 1)
    return (rows, end - 1) if marks == b"[%b]" % b",".join([row] * rows) else None


def _read_object(members: msgspec.Struct, depth: int) -> dict[str, object]:
    """Parse an object whose members are nested `depth` levels deep in the body."""
    values: dict[str, object] = {}
    for name in members.__struct_fields__:
        value = getattr(members, name)
        if isinstance(value, list):
            values[name] = [_read_object(item, depth + 2) for item in value]
        elif value is not msgspec.UNSET:
            values[name] = _read_counts(value, depth) if name in _COUNTS else _read_value(value, depth)
    return values


def _read_value(raw: msgspec.Raw, depth: int) -> object:
    """Parse any value, wrapped in `depth` brackets, so that the limit on nesting applies to the whole body."""
    value: Any = read_json(b"".join((b"[" * depth, raw, b"]" * depth)))
    for _ in range(depth):
        (value,) = value
    return value


def published_entry(entry: wire.EntryDocument, document: dict[str, Any]) -> PublishedEntry:
    """Convert a validated model and its document into a published entry."""
    content = entry_in(document)
    return PublishedEntry(
        name=entry.name,
        title=entry.title,
        description=entry.description,
        keywords=tuple(entry.keywords),
        license=entry.license,
        visibility=visibility_of(entry.visibility),
        label=entry.label.name,
        evidence=evidence_of(content),
        pairs=pairs_of(content),
        associations=associations_of(content),
        masked_records={
            (place, index): masking.records
            for place, attribute in enumerate(entry.attributes)
            for index, masking in enumerate(attribute.maskings)
            if masking.records is not None
        },
        control=_control(entry.disclosure_control),
        trace=content.joint_trace,
        terms=content.terms,
        people=entry.people,
        rows_per_person=entry.rows_per_person,
        labels=None if entry.labels is None else tuple(entry.labels),
        concepts=tuple(_concepts(entry)),
        content=None if entry.labels is None and not entry.label.maskings else content,
        blocks=list(_blocks(content)),
        with_labels=dict(_with_labels(content)),
        traces={("joint_traces", label): trace for label, trace in content.joint_traces.items()},
        configurations=_configurations(entry, content),
        document=document,
    )


def _control(stated: wire.DisclosureControl | None) -> DeclaredControl:
    if stated is None:
        return DeclaredControl()
    drawn_once = stated.rounding is not None
    return DeclaredControl(
        stated.min_cell, stated.rounded_to, drawn_once, stated.epsilon, stated.open_answers, is_declared=True
    )


def _blocks(content: EntryContent) -> Iterator[CountsInPlace]:
    """The counts of each masking with the masked label, in the places of their pairs."""
    for place, (_, block) in blocks_of(content).items():
        counts = np.asarray(content.pairs[place].joint, dtype=np.int64)
        yield CountsInPlace(CountKind.PAIRS, None, None, counts, block.perturbation, pair=place)


def _with_labels(content: EntryContent) -> Iterator[tuple[Path, PairAssociation]]:
    """The associations of pairs with each label but the default one, by their places."""
    for label in (content.labels or ())[1:]:
        pairs = [replace(pair, with_label=pair.with_labels.get(label)) for pair in content.pairs]
        for place, association in associations_of(replace(content, pairs=pairs)).items():
            yield ("pairs", place, "with_labels", label), association


def _label_codes(entry: wire.EntryDocument) -> list[int] | None:
    """How each configuration shows the label, by the place of its masking; a generated one has all labels."""
    label, table = entry.label, entry.configuration_table
    if not label.maskings:
        return None
    code = {wire.IDENTITY: 0} | {masking.id: place for place, masking in enumerate(label.maskings, start=1)}
    if table is not None:
        return [code[masking] for masking in table.maskings[label.name]]
    rows = entry.configurations or []
    return [code[row.maskings[label.name]] if isinstance(row, wire.Configuration) else 0 for row in rows]


def _configurations(entry: wire.EntryDocument, content: EntryContent) -> ConfigurationColumns:
    table, rows = entry.configuration_table, entry.configurations or []
    on_records = list(_measured_on_records(entry))
    label, price = _label_codes(entry), _prices(entry)
    if table is not None:
        return ConfigurationColumns(
            table.ids,
            table.maskings,
            table.privacy or {},
            alone=table.alone or (),
            on_records=on_records,
            in_columns=True,
            unit=entry.unit,
            label=label,
            price=price,
        )
    masked = [row if isinstance(row, wire.Configuration) else None for row in rows]
    names = [one.name for one in entry.attributes]
    guarantees = {name for row in rows for name in row.privacy or ()}
    return ConfigurationColumns(
        ids=[row.id for row in rows],
        maskings={name: [wire.DROP if row is None else row.maskings[name] for row in masked] for name in names},
        privacy={name: [(row.privacy or {}).get(name) for row in rows] for name in sorted(guarantees)},
        suppressed=[None if row is None else row.suppressed for row in masked],
        suppressed_cells=[None if row is None else row.suppressed_cells for row in masked],
        alone=[None if row is None else row.alone for row in masked],
        measured=[place for place, row in enumerate(masked) if row is not None and row.measured is not None],
        generated=[row is None for row in masked],
        on_records=on_records,
        unguaranteed=[
            place for place, row in enumerate(rows) if masked[place] is None and "epsilon" not in (row.privacy or {})
        ],
        figures=Figures.of([row.transfer for row in content.configurations or ()], names),
        unit=entry.unit,
        label=label,
        price=price,
    )


def _concepts(entry: wire.EntryDocument) -> Iterator[tuple[str, str]]:
    if entry.label.concept is not None:
        yield "label", entry.label.concept.uri
    labels = entry.labels or ()
    for attribute in entry.attributes:
        if attribute.concept is not None:
            kinds = ("attribute", "label") if attribute.name in labels else ("attribute",)
            yield from zip(kinds, repeat(attribute.concept.uri))


def _prices(entry: wire.EntryDocument) -> Prices | None:
    """What the configurations cost; None if none has a price."""
    table, rows = entry.configuration_table, entry.configurations or []
    if table is not None:
        return None if table.price is None else Prices(table.price.amounts, table.price.currency)
    prices = [row.price if isinstance(row, wire.Configuration) else None for row in rows]
    currency = next((one.currency for one in prices if one is not None), None)
    return None if currency is None else Prices([None if one is None else one.amount for one in prices], currency)


def _measured_on_records(entry: wire.EntryDocument) -> Iterator[Path]:
    """The places of numbers measured on the records, besides AUCs."""
    if entry.holdout is not None:
        yield ("holdout",)
    for place, row in enumerate(entry.configurations or ()):
        if row.transfer is not None:
            yield "configurations", place, "transfer"
        if isinstance(row, wire.GeneratedConfiguration) and row.attacks:
            yield "configurations", place, "attacks"
