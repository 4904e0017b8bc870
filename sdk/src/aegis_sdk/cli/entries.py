"""Entries in the catalogue: listing, search, visibility, sign-off and deletion."""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, starmap
from typing import Annotated, Literal, TypedDict

import typer
from pydantic import ValidationError

from aegis_sdk._client import Client
from aegis_sdk._errors import AegisError
from aegis_sdk.cli.options import EntryIdArgument, JsonOption, RequireOption, requirements_of
from aegis_sdk.cli.terminal import InputError, aligned, print_json, print_result
from aegis_sdk.reading import Alone, configurations_of, promises_of, seen_by, share_alone, shown, some, verdict_in_words
from aegis_sdk.wire import PRIVACY_CRITERIA, EntryHead, Head, Visibility, VisibleTo, faults_of

_COLUMNS = ("id", "name", "label", "version", "tenant", "visible to")
_TITLE = 60
_WHO = "`private`: only its own tenant; `all`: every caller; without WHO and --tenant: show who sees it now."


def list_(
    query: Annotated[str | None, typer.Option(help="Text in the name, the title or a keyword.")] = None,
    keyword: Annotated[str | None, typer.Option(help="Only entries with this keyword.")] = None,
    label: Annotated[str | None, typer.Option(help="Only entries with this class label.")] = None,
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
    names = (head.id, head.name, head.label)
    accepted = ("accepted" if head.accepted_small_counts else "",) if with_small_counts else ()
    alone = "not stated" if head.alone is None else share_alone(head.alone)
    rest = (seen_by(head.visibility), alone, *accepted, shown(head.title, _TITLE) if head.title else "")
    return (*(shown(name, _TITLE) for name in names), head.version, shown(head.tenant), *rest)


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
            _ask_to_delete(head)
        client.delete(entry_id)
    if as_json:
        print_json({"id": head.id, "name": head.name})
    else:
        typer.echo(f"deleted {shown(head.name)} ({head.id})")


def _ask_to_delete(head: Head) -> None:
    """Ask for confirmation.

    Raises:
        AegisError: The answer is not yes.
    """
    entry = f"{shown(head.name)} ({head.id}), version {head.version} and all earlier ones, with their advice"
    typer.echo(f"Delete {entry}? [y/N] ", nl=False, err=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise AegisError("nothing was deleted")


_NAMES = 6
_TEXT = 90


def search(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[WORD]...", help="Words that must all occur in name, title or keywords."),
    ] = None,
    attribute: Annotated[
        list[str] | None, typer.Option(help="Only entries with this attribute; repeatable.", show_default=False)
    ] = None,
    label: Annotated[str | None, typer.Option(help="Only entries with this class label.")] = None,
    keyword: Annotated[str | None, typer.Option(help="Only entries with this keyword.")] = None,
    license: Annotated[str | None, typer.Option(help="Only entries with this licence.")] = None,  # noqa: A002 - an option
    require: RequireOption = None,
    limit: Annotated[int, typer.Option(min=1, max=1_000_000, help="Show at most this many entries, the newest.")] = 10,
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """Search for data that you may request.

    Shows the label and the attributes of each entry, and how many of its configurations have the required privacy.
    """
    wanted = _Wanted(tuple(words or ()), tuple(attribute or ()), _required(require))
    with Client() as client:
        heads = client.entries(wanted.query, keyword, label, license=license, **wanted.further)
        first = [*islice(_matching(client, heads, wanted), limit + 1)]
    matches, more = first[:limit], len(first) > limit
    items = [match.model_dump(mode="json") for match in matches]
    print_result({"items": items, "more": more}, _matches_report(matches, wanted, more=more), as_json=as_json)


class _Further(TypedDict):
    attribute: str | None
    require: Mapping[str, float]


@dataclass(frozen=True)
class _Wanted:
    words: tuple[str, ...]
    attributes: tuple[str, ...]
    require: Mapping[str, float]

    @property
    def query(self) -> str | None:
        """The words, as the service searches for them."""
        return " ".join(self.words) or None

    @property
    def further(self) -> "_Further":
        """Further criteria for the service: one attribute and one promise, so that few entries are read."""
        first = dict(islice(self.require.items(), 1))
        return {"attribute": next(iter(self.attributes), None), "require": first}

    def is_in(self, head: Head) -> bool:
        """Whether a head contains all words."""
        text = "\n".join([head.name, head.title, *head.keywords]).casefold()
        return all(word.casefold() in text for word in self.words)

    def offered_by(self, entry: EntryHead) -> int:
        """The number of configurations with the required privacy, of an entry with these attributes."""
        names = {attribute["name"] for attribute in entry.entry_schema["attributes"]}
        if not names.issuperset(self.attributes):
            return 0
        ids = configurations_of(entry.entry_schema)
        columns = promises_of(entry.entry_schema, ids)
        without = [None] * len(ids)
        vouched = zip(*(columns.get(name, without) for name in self.require), strict=True)
        return sum(map(self._is_kept, vouched)) if self.require else len(ids)

    def _is_kept(self, vouched: Sequence[float | None]) -> bool:
        """Whether a configuration that promises these numbers has the required privacy."""
        return all(starmap(_holds, zip(self.require.items(), vouched, strict=True)))


def _holds(required: tuple[str, float], number: float | None) -> bool:
    name, limit = required
    if number is None:
        return False
    return number >= limit if PRIVACY_CRITERIA[name] == "higher" else number <= limit


def _required(texts: list[str] | None) -> dict[str, float]:
    required = requirements_of(texts)
    for name in required.keys() - PRIVACY_CRITERIA.keys():
        raise InputError(f"--require: {name!r} is not a privacy criterion; use one of {', '.join(PRIVACY_CRITERIA)}")
    return required


def _matching(client: Client, heads: Iterable[Head], wanted: _Wanted) -> Iterator[EntryHead]:
    """The entries that meet all criteria, of which the service checks only some."""
    for head in heads:
        if wanted.is_in(head):
            entry = client.entry(head.id)
            if wanted.offered_by(entry):
                yield entry


def _matches_report(matches: Sequence[EntryHead], wanted: _Wanted, *, more: bool) -> Iterator[str]:
    if not matches:
        hint = "; words are searched in name, title and keywords; for other things use --label and --attribute"
        yield f"no entries{hint if wanted.words else ''}"
    for entry in matches:
        yield from _lines(entry, wanted)
    if more:
        yield "and more: raise --limit, or narrow the search"


def _lines(entry: EntryHead, wanted: _Wanted) -> Iterator[str]:
    schema = entry.entry_schema
    names = [attribute["name"] for attribute in schema["attributes"]]
    yield f"{shown(entry.name)}  {entry.id}"
    yield f"  {Alone.of(schema).line(offered=True)}"
    if entry.title:
        yield f"  {shown(entry.title, _TEXT)}"
    yield f"  {schema['records']} records; predicts {shown(entry.label)} from {some(names, _NAMES)}"
    require = "".join(f" with {name}={limit:g}" for name, limit in wanted.require.items())
    licence = shown(entry.license, _TEXT) if entry.license else "none stated"
    yield f"  of {shown(entry.tenant)}, licence {licence}; {wanted.offered_by(entry)} configurations{require}"
