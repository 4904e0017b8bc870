"""Search the catalogue by words, attributes and required privacy."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, starmap
from typing import Annotated, TypedDict

import typer

from aegis_sdk._client import Client
from aegis_sdk.cli.failures import InputError
from aegis_sdk.cli.options import JsonOption, RequireOption, requirements_of
from aegis_sdk.cli.terminal import print_result
from aegis_sdk.reading import Alone, configurations_of, promises_of, shown, some
from aegis_sdk.wire import PRIVACY_CRITERIA, EntryHead, Head

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
    print_result({"items": items, "more": more}, _report(matches, wanted, more=more), as_json=as_json)


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


def _report(matches: Sequence[EntryHead], wanted: _Wanted, *, more: bool) -> Iterator[str]:
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
