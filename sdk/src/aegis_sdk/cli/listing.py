from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Annotated

import typer

from aegis_sdk._client import Client
from aegis_sdk.cli.options import JsonOption
from aegis_sdk.cli.terminal import aligned, print_json
from aegis_sdk.reading import seen_by, share_alone, shown
from aegis_sdk.wire import Head

_COLUMNS = ("id", "name", "label", "version", "tenant", "visible to")
_TITLE = 60


def list(  # noqa: A001 - what a person types
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
        typer.echo("\n".join(_report(heads, is_all=is_all)))


def _report(heads: Sequence[Head], *, is_all: bool) -> Iterator[str]:
    """The lines of the report, with a row for each entry."""
    if heads:
        # Few callers may know of small counts, and few entries have them.
        told = ("small counts",) if any(head.accepted_small_counts for head in heads) else ()
        rows = [_row(head, with_small_counts=bool(told)) for head in heads]
        yield from aligned((*_COLUMNS, "alone, at most", *told, "title"), rows)
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
