import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from pydantic import ValidationError

from aegis_sdk._client import Client
from aegis_sdk._errors import AegisError, ConflictError, UniqueRecordsError
from aegis_sdk.cli.group import told_with_others, verdict_on
from aegis_sdk.cli.options import AcceptUniqueOption, EntryArgument, JsonOption, document_of, read
from aegis_sdk.cli.terminal import InputError, print_result, say, warn
from aegis_sdk.reading import ACCEPT_UNIQUE, Alone
from aegis_sdk.wire import DESCRIPTION_LENGTH, EntryDocument, NotJsonError, PublishedHead, publishable, read_json


def publish(
    entry: EntryArgument,
    update: Annotated[bool, typer.Option("--update", help="Publish a new version if the entry has changed.")] = False,  # noqa: FBT002 - a flag
    accept_small_counts: Annotated[  # noqa: FBT002 - a flag
        bool,
        typer.Option(
            "--accept-small-counts",
            help="Publish although counts of 1 to 4 are disclosed to everyone who may read the entry's counts.",
        ),
    ] = False,
    accept_unique: AcceptUniqueOption = False,  # noqa: FBT002 - a flag
    accept_composition: Annotated[  # noqa: FBT002 - a flag
        bool,
        typer.Option(
            "--accept-composition",
            help="Publish although entries with too many other cuts of this table have left this machine.",
        ),
    ] = False,
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """Publish an entry and print its id. An entry that is already published with the same content stays as it is.

    An entry without a description gets the head of the release card beside it, which its readers see.

    First, the entry is checked on this machine, as by `aegis disclose`. An entry that fails is sent only with
    --accept-small-counts. An entry that declares a configuration with more than 1 % of the records alone on all shared
    columns is sent only with --accept-unique, whatever attackers are assumed to know. One that counts an attribute in
    too many other cuts than entries of its name before, by the ledger on this machine, only with --accept-composition.
    """
    given = read(entry)
    content = _with_card(entry, given)
    document = document_of(entry, content, publishable)
    refusal = _refusal(document, entry, accept_small_counts=accept_small_counts, accept_unique=accept_unique)
    card = document.description if content != given else ""
    together, keep = told_with_others(document, entry, card=card, accept=accept_composition)
    for line in together:
        warn(line)
    with Client() as client:
        say(f"publishing {document.name} ...")
        if refusal is None:
            entry_id = _published(client, document, content, update=update, accept_small_counts=accept_small_counts)
        elif (known := _known(client, document)) is not None:
            entry_id = known
        else:
            raise refusal
        keep(client.entry(entry_id).version)
    print_result({"id": entry_id, "name": document.name}, [entry_id], as_json=as_json)


_CARD: Final = "card.json"


def _with_card(path: Path, content: bytes) -> bytes:
    """The content with the head of its release card as its description, unless it has one or no card is beside it."""
    try:
        document, card = read_json(content), read_json(path.with_name(_CARD).read_bytes())
    except (OSError, NotJsonError):  # an entry without a card, or a fault that is named when the entry is validated
        return content
    if not (isinstance(document, dict) and isinstance(card, dict)) or document.get("description"):
        return content
    head = card.get("for_consumers")
    if not isinstance(head, str) or not 0 < len(head) <= DESCRIPTION_LENGTH or not _is_of(card, document):
        return content
    return json.dumps({**document, "description": head}, ensure_ascii=False).encode()


def _is_of(card: Mapping[str, Any], document: Mapping[str, Any]) -> bool:
    """Whether a card is about this entry: its label has the same counts."""
    try:
        label = document["label"]
        published = dict(zip(label["domain"], label["histogram"], strict=True))
        counts = {value: each["records"] or 0 for value, each in card["labels"].items()}
        return bool(card["label"] == label["name"] and counts == published)
    except (AttributeError, KeyError, TypeError, ValueError):  # neither is validated
        return False


def _refusal(
    document: EntryDocument, path: Path, *, accept_small_counts: bool, accept_unique: bool
) -> AegisError | None:
    """The reason why an entry should not be published.

    `None` if no small count is disclosed, as far as can be checked here, and the entry declares that few records are
    alone.
    """
    verdict = verdict_on(document, path, counts=not accept_small_counts)
    if verdict is not None and not verdict.passed:
        return InputError(f"{verdict.line}. Or publish it as it is: --accept-small-counts")
    alone = Alone.stated_in(document)
    if accept_unique or not alone.is_much(offered=True):
        return None
    return UniqueRecordsError(f"{alone.line(offered=True)}. Mask more, or publish it as it is: {ACCEPT_UNIQUE}")


def _known(client: Client, document: EntryDocument) -> str | None:
    """The id of the caller's published entry with this name and content; `None` if there is none."""
    named = [head for head in client.entries(document.name) if head.name == document.name]
    own = (head.id for head in named if head.accepted_small_counts is not None)  # others cannot ask
    return next((entry_id for entry_id in own if _same(document, client.summaries(entry_id))), None)


def _published(
    client: Client, document: EntryDocument, content: bytes, *, update: bool, accept_small_counts: bool
) -> str:
    """Publish the content unless it is already published; return the id of the entry."""
    try:
        return _warned(client.publish(content, accept_small_counts=accept_small_counts, accept_unique=True))
    except ConflictError as conflict:
        if conflict.entry is None:
            raise
        if update:
            how = {"accept_small_counts": accept_small_counts, "accept_unique": True}
            return _warned(client.update(conflict.entry, content, if_match=None, **how))
        if not _same(document, client.summaries(conflict.entry)):
            raise InputError(
                f"{document.name!r} is published as {conflict.entry} with other content; "
                "use --update to publish a new version"
            ) from None
        return conflict.entry


def _warned(head: PublishedHead) -> str:
    """Print the service's warnings for the provider; return the id of the entry."""
    for warning in head.warnings:
        warn(warning)
    return head.id


def _same(document: EntryDocument, published: dict[str, Any]) -> bool:
    """Whether the entries are equal except for their visibility, which is not part of a version."""
    try:
        other = EntryDocument.model_validate(published)
    except ValidationError:  # a newer service
        return False
    return document.model_copy(update={"visibility": other.visibility}) == other
