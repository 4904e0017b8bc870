"""Entries in the catalogue: listing, search, visibility, sign-off and deletion."""

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from pydantic import ValidationError

from aegis_sdk._client import Client
from aegis_sdk._errors import AegisError
from aegis_sdk._files import write_together
from aegis_sdk.cli.options import EntryIdArgument, JsonOption, RequireOfPeopleOption, requirements_in
from aegis_sdk.cli.terminal import InputError, aligned, print_json, print_result
from aegis_sdk.reading import (
    PACKAGE,
    Alone,
    configurations_of,
    csv_of,
    labels_of,
    promises_of,
    seen_by,
    share_alone,
    shown,
    some,
    text_of,
    verdict_in_words,
    with_file,
    worth_in_words,
)
from aegis_sdk.wire import PRIVACY_CRITERIA, EntryHead, Head, Visibility, VisibleTo, faults_of, stricter

_COLUMNS = ("id", "name", "label", "records", "columns", "k", "version", "tenant", "visible to")
_TITLE = 60
_WHO = "`private`: only its own tenant; `all`: every caller; without WHO and --tenant: show who sees it now."


def list_(
    query: Annotated[
        str | None, typer.Option(help="Text in the name, the title, a keyword or a column's name.")
    ] = None,
    keyword: Annotated[str | None, typer.Option(help="Only entries with this keyword.")] = None,
    label: Annotated[str | None, typer.Option(help="Only entries with this class label, the first or another.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1_000_000, help="Show at most this many entries, the newest.")] = 50,
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """List the entries that you may see. The newest come first."""
    with Client() as client:
        first = [*islice(client.entries(query, keyword, label), limit + 1)]
    heads, is_all = first[:limit], len(first) <= limit
    if as_json:
        print_json({"items": [head.model_dump(mode="json") for head in heads], "more": not is_all})
    else:
        typer.echo("\n".join(_table_of(heads, is_all=is_all)))


def _table_of(heads: Sequence[Head], *, is_all: bool) -> Iterator[str]:
    """The lines of the report, with a row for each entry."""
    if heads:
        # A column only if needed: few callers may know of small counts, and few entries have them.
        optional = ("small counts",) if any(head.accepted_small_counts for head in heads) else ()
        rows = [_row(head, with_small_counts=bool(optional)) for head in heads]
        yield from aligned((*_COLUMNS, "alone, at most", *optional, "title"), rows)
    else:
        yield "no entries"
    if not is_all:
        yield "and more: raise --limit, or narrow the list with --query, --keyword or --label"


def _row(head: Head, *, with_small_counts: bool) -> tuple[str | int, ...]:
    names = (head.id, head.name, some(head.labels or [head.label], _NAMES))
    accepted = ("accepted" if head.accepted_small_counts else "",) if with_small_counts else ()
    alone = "not stated" if head.alone is None else share_alone(head.alone)
    rest = (seen_by(head.visibility), alone, *accepted, shown(head.title, _TITLE) if head.title else "")
    records, columns, k = ("-" if one is None else int(one) for one in (head.records, head.columns, head.k))
    numbers = (records, columns, k if head.unit is None or head.k is None else f"{k} people")
    return (*(shown(name, _TITLE) for name in names), *numbers, head.version, shown(head.tenant), *rest)


def visibility(
    entry_id: EntryIdArgument,
    who: Annotated[Literal["private", "all"] | None, typer.Argument(metavar="WHO", help=_WHO)] = None,
    tenant: Annotated[list[str] | None, typer.Option(help="Only its own tenant and this one; repeatable.")] = None,
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """Show or change who sees an entry. A change makes no new version."""
    wanted = _wanted(who, tenant or [])
    with Client() as client:
        head = client.entry(entry_id) if wanted is None else client.set_visibility(entry_id, wanted)
    if as_json:
        print_json(head.model_dump(mode="json", include={"id", "name", "visibility"}))
    else:
        typer.echo(f"{shown(head.name)} is visible to {seen_by(head.visibility)}")


def _wanted(who: Literal["private", "all"] | None, tenants: list[str]) -> Visibility | None:
    """The visibility to set; None to show the current one.

    Raises:
        InputError: WHO and --tenant are combined, or a tenant's name is invalid.
    """
    if who is not None and tenants:
        raise InputError(f"{who} cannot be combined with --tenant; use one of them")
    try:
        return VisibleTo(tenants=tenants) if tenants else who
    except ValidationError as error:
        raise InputError(f"--tenant: {faults_of(error)[0].detail}") from error


def preview(
    entry_id: EntryIdArgument,
    configuration: Annotated[str, typer.Option(metavar="ID", help="Masked configuration of the entry.")],
    to: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder for both files; made if it is not there.")],
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """Save made-up rows of a configuration, and its columns.

    Writes preview.csv, which looks like the masked table, and datapackage.json (Data Package 2.0: types, values,
    bounds and midpoints of intervals). A program that works on them works on the table that is delivered later. No row
    is one of the table.
    """
    with Client() as client:
        made = client.preview(entry_id, configuration)
    rows = csv_of(made)
    described = text_of(with_file(made.data_package, rows.encode()))
    files = {to / "preview.csv": rows, to / PACKAGE: described}
    try:
        to.mkdir(parents=True, exist_ok=True)
        write_together(files)
    except OSError as error:
        raise InputError(f"{to}: the preview cannot be written: {error.strerror}") from error
    told = {"configuration": configuration, "made_from": made.made_from, "files": [str(path) for path in files]}
    source = "from the published counts" if made.made_from == "counts" else "from names and values alone, not counts"
    lines = [f"{len(made.rows)} rows of {shown(configuration)}, made up {source}", f"in {' and '.join(told['files'])}"]
    print_result(told, lines, as_json=as_json)


def sign_off(
    entry_id: EntryIdArgument,
    version: Annotated[int | None, typer.Option(min=1, help="Version to sign off; the latest by default.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask first; required without a terminal.")] = False,  # noqa: FBT002 - a flag
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """Show others a version that awaits its sign-off. Prints its verdict, and asks for confirmation."""
    if not yes and not sys.stdin.isatty():
        raise InputError(f"cannot ask for confirmation without a terminal; use --yes to sign {entry_id} off")
    with Client() as client:
        # Read before the entry, so that the service refuses the sign-off if the entry changes meanwhile.
        tag = client.etag(entry_id, version)
        head = client.entry(entry_id, version)
        if not yes:
            _ask_to_sign(head)
        signed = client.sign_off(entry_id, tag, version)
    if as_json:
        print_json(signed.model_dump(mode="json", include={"id", "name", "version", "signed_off_by"}))
    else:
        typer.echo(f"version {signed.version} of {shown(signed.name)} is visible to {seen_by(signed.visibility)}")


def _ask_to_sign(head: EntryHead) -> None:
    """Ask for confirmation.

    Raises:
        AegisError: The answer is not yes.
    """
    if head.verdict is None:
        typer.echo("NOT JUDGED: no verdict has been reached yet", err=True)
    else:
        typer.echo(verdict_in_words(shown(head.name), head.verdict), err=True)
    published = f", published by {shown(head.published_by)}" if head.published_by else ""
    typer.echo(f"Sign version {head.version} of {shown(head.name)} off{published}? [y/N] ", nl=False, err=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise AegisError("nothing was signed off")


def delete(
    entry_id: EntryIdArgument,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask first; required without a terminal.")] = False,  # noqa: FBT002 - a flag
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """Delete an entry with all its versions and advice. Asks for confirmation, since this cannot be undone."""
    if not yes and not sys.stdin.isatty():
        raise InputError(f"cannot ask for confirmation without a terminal; use --yes to delete {entry_id}")
    with Client() as client:
        head = client.entry(entry_id)
        if not yes:
            entry = f"{shown(head.name)} ({head.id}), version {head.version} and all earlier ones, with their advice"
            typer.echo(f"Delete {entry}? [y/N] ", nl=False, err=True)
            if sys.stdin.readline().strip().lower() not in ("y", "yes"):
                raise AegisError("nothing was deleted")
        client.delete(entry_id)
    if as_json:
        print_json({"id": head.id, "name": head.name})
    else:
        typer.echo(f"deleted {shown(head.name)} ({head.id})")


_NAMES = 6
_MOST_K = 20
"""The largest k by which the service orders entries."""

_TEXT = 90


def search(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[WORD]...", help="Words that must all occur in name, title, keywords or columns."),
    ] = None,
    attribute: Annotated[
        list[str] | None, typer.Option(help="Only entries with this attribute; repeatable.", show_default=False)
    ] = None,
    label: Annotated[str | None, typer.Option(help="Only entries with this class label, the first or another.")] = None,
    keyword: Annotated[str | None, typer.Option(help="Only entries with this keyword.")] = None,
    license: Annotated[str | None, typer.Option(help="Only entries with this licence.")] = None,  # noqa: A002 - an option
    require: RequireOfPeopleOption = None,
    limit: Annotated[int, typer.Option(min=1, max=1_000_000, help="Show at most this many entries, the first.")] = 10,
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """Search for data that you may request.

    Shows the label and the attributes of each entry, and how many of its configurations have the required privacy.
    With --label and --require k=K, those come first on whose best table a model should do best, by the lower end of
    what it should reach; otherwise the newest.
    """
    wanted = _Wanted(tuple(words or ()), tuple(attribute or ()), *requirements_in(require), is_for=label)
    for name in wanted.require.keys() - PRIVACY_CRITERIA.keys():
        raise InputError(f"--require: {name!r} is not a privacy criterion; use one of {', '.join(PRIVACY_CRITERIA)}")
    with Client() as client:
        first = [*islice(wanted.matching(client, keyword, label, license), limit + 1)]
        matches, more = first[:limit], len(first) > limit
        lines = [line for entry in matches for line in _lines(entry, wanted)]
        if more:
            lines.append("and more: raise --limit, or narrow the search")
        elif not matches:
            lines.append(f"no entries{_why_none(client, wanted, (keyword, label, license))}")
    items = [match.model_dump(mode="json") for match in matches]
    print_result({"items": items, "more": more}, lines, as_json=as_json)


@dataclass(frozen=True)
class _Wanted:
    words: tuple[str, ...]
    attributes: tuple[str, ...]
    require: Mapping[str, float]
    unit: str | None = None
    is_for: str | None = None

    @property
    def is_by_worth(self) -> bool:
        """Whether the entries come in the order of what a model should reach on them."""
        return self.is_for is not None and self.require.get("k", math.inf) <= _MOST_K

    @property
    def required(self) -> str:
        """The required privacy in words; empty without any."""
        of_people = "" if self.unit is None else " of people"
        return " and ".join(f"{name}={limit:g}{of_people}" for name, limit in self.require.items())

    def matching(
        self, client: Client, keyword: str | None, label: str | None, licence: str | None
    ) -> Iterator[EntryHead]:
        """The entries that meet all criteria. The service checks most of them, so that few are read."""
        require = dict(self.require) if self.is_by_worth else dict(islice(self.require.items(), 1))
        query = " ".join(self.words) or None
        asked = client.entries(
            query,
            keyword,
            label,
            license=licence,
            needs=[name for name in self.attributes if "," not in name],
            require=require,
            unit=self.unit if require else None,
            sort="worth" if self.is_by_worth else None,
        )
        for head in asked:
            entry = client.entry(head.id)
            columns = [head.label, *(attribute["name"] for attribute in entry.entry_schema["attributes"])]
            # The service looks for parts of a phrase, such as "study of", wherever they are.
            text = "\n".join([head.name, head.title, *head.keywords, *columns]).casefold()
            if all(word.casefold() in text for word in self.words) and self.offered_by(entry):
                yield entry.model_copy(update={"worth": head.worth})

    def offered_by(self, entry: EntryHead) -> int:
        """The number of configurations with the required privacy, of an entry with these attributes."""
        attributes = entry.entry_schema["attributes"]
        names = {attribute["name"] for attribute in attributes}
        names |= {(attribute.get("concept") or {}).get("uri") for attribute in attributes}
        if not names.issuperset(self.attributes):
            return 0
        ids = configurations_of(entry.entry_schema)
        columns = promises_of(entry.entry_schema, ids)
        kept = [True] * len(ids)
        for name, limit in self.require.items():
            promised = columns.get(name, [None] * len(ids))
            kept = [
                one and number is not None and stricter(name, number, limit) == number
                for one, number in zip(kept, promised, strict=True)
            ]
        return sum(kept)


def _why_none(client: Client, wanted: _Wanted, others: tuple[str | None, str | None, str | None]) -> str:
    """What excludes every entry, as far as one criterion alone does."""
    if wanted.require and any(replace(wanted, require={}).matching(client, *others)):
        return f": of those that meet the rest, none has a configuration with {wanted.required}"
    if wanted.words and not any(replace(wanted, attributes=(), require={}).matching(client, None, None, None)):
        return "; words are searched in name, title, keywords, and the names of label and attributes"
    return ": the words occur, but in no entry that meets the other options" if wanted.words else ""


def _lines(entry: EntryHead, wanted: _Wanted) -> Iterator[str]:
    schema = entry.entry_schema
    yield f"{shown(entry.name)}  {entry.id}"
    yield f"  {Alone.of(schema).line(offered=True)}"
    if entry.title:
        yield f"  {shown(entry.title, _TEXT)}"
    people = "" if entry.people is None else f" of {entry.people} people"
    yield f"  {schema['records']} records{people}; {_predicts(schema)}"
    if entry.worth is not None:
        yield f"  {worth_in_words(entry.worth)}"
    require = f" with {wanted.required}" if wanted.require else ""
    licence = shown(entry.license, _TEXT) if entry.license else "none stated"
    yield f"  of {shown(entry.tenant)}, licence {licence}; {wanted.offered_by(entry)} configurations{require}"


def _predicts(schema: Mapping[str, Any]) -> str:
    """The labels, and the attributes that are none."""
    labels = labels_of(schema)
    names = [attribute["name"] for attribute in schema["attributes"] if attribute["name"] not in labels]
    if len(labels) == 1:
        return f"predicts {shown(labels[0])} from {some(names, _NAMES)}"
    return f"predicts each of {some(labels, _NAMES)} from the others{' and ' * bool(names)}{some(names, _NAMES)}"
