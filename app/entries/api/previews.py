"""Previews over HTTP: made-up rows that look like the masked table of a configuration."""

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Annotated

import numpy as np
from fastapi import APIRouter, Header, Query, Response

from aegis_advisor.evidence import EntryContent
from aegis_sdk import wire
from aegis_sdk.reading import (
    Packaged,
    TableColumn,
    columns_of,
    csv_of,
    data_package,
    entry_in_package,
    suppressed_cells_of,
    value_within,
)
from app.edge.dependencies import CallerDependency, Version
from app.edge.state import State, StateDependency, services_of
from app.entries.api.mapping import entry_document
from app.entries.api.parameters import SearchText
from app.entries.api.routes import SMALL
from app.entries.model.documents import is_small, stored_entry
from app.entries.model.entries import CountTable, Head
from app.entries.model.previews import ROWS, ShownColumn, drawn_from_counts, equally_likely, random_of
from app.platform.callers import Caller
from app.platform.errors import Fault, InvalidDocumentError
from app.platform.http.negotiation import preferred
from app.platform.http.operations import JsonResponse, answers

CSV, JSON = "text/csv", "application/json"

router = APIRouter(prefix="/v1", tags=["entries"])

_ANSWERS = answers(200, wire.Preview, "Made-up rows with the table's columns", 404, 422)
_ANSWERS[200]["content"][CSV] = {"schema": {"type": "string"}}


async def preview_for(
    state: State, caller: Caller, entry_id: str, configuration: str, version: int | None = None
) -> wire.Preview:
    """The whole preview of a configuration, as this caller may see it. Call this outside of transactions.

    Raises:
        NotFoundError: there is no such entry or version, or the caller may not see it.
        InvalidDocumentError: the version has no such masked configuration.
    """
    async with state.database.transaction() as session:
        catalogue = services_of(state, session).catalogue()
        head = await catalogue.head(caller, entry_id, version)
        if head.shows_counts_to(caller):
            schema, configurations, tables = await catalogue.summaries(head)
            seed = head.keyed_digest
        else:
            (schema, configurations), tables = await catalogue.schema(head), ()
            seed = seed_of_others(head)
    entry = entry_in_package(head.name, head.id, head.version, head.digest)
    table = Packaged(f"Made-up rows of {configuration}", configuration, entry, head.license, is_made_up=True)
    parts = (schema, configurations, tables, table, f"{seed} {configuration}")
    cells = sum(prod(table.counts.shape) for table in tables)
    if cells <= SMALL and is_small(schema, SMALL) and is_small(configurations, SMALL):
        made = made_up(*parts)
    else:
        made = await state.making.run(made_up, *parts, on_behalf_of=caller.tenant)
    if made is None:
        fault = Fault("/configuration", "Is no masked configuration of this version: take one of the entry's schema.")
        raise InvalidDocumentError("There is no preview.", (fault,))
    return made


def seed_of_others(head: Head) -> str:
    """The seed of the previews of those who do not read the counts, on which it must not depend."""
    return f"{head.id} {head.version}"


def made_up(
    schema: bytes, configurations: bytes, tables: tuple[CountTable, ...], table: Packaged, seed: str
) -> wire.Preview | None:
    """Make the preview of a stored entry; None if it has no such masked configuration. Slow for large entries.

    Args:
        tables: the counts to draw from; without any, each value is equally likely.
        table: what the package says of it.
        seed: what the rows depend on besides the entry.
    """
    document, configuration = entry_document(schema, configurations, in_full=bool(tables)), table.configuration
    columns = columns_of(document, configuration)
    if not columns:
        return None
    rows = made_up_rows(columns, stored_entry(schema, tables) if tables else None, seed)
    # Others are not told how many cells are suppressed, so any may be.
    table = replace(table, may_have_stars=not tables or suppressed_cells_of(document, configuration) > 0)
    return wire.Preview(
        configuration=configuration,
        made_from="counts" if tables else "domains",
        columns=list(rows[0]),
        rows=rows,
        data_package=data_package(columns, table, "preview.csv"),
    )


def made_up_rows(
    columns: Sequence[TableColumn], entry: EntryContent | None, seed: str
) -> list[dict[str, bool | str | None]]:
    """All made-up rows of a table, each with a first column that marks it as such.

    Args:
        entry: the entry with the counts to draw from; None if each value is equally likely.
        seed: what the rows depend on besides.
    """
    random = random_of(seed)
    label, *shared = (ShownColumn(each.name, each.masking, len(each.texts)) for each in (columns[-1], *columns[:-1]))
    if entry is not None:
        places = drawn_from_counts(entry, (label, *shared), random)
    else:
        places = equally_likely((label, *shared), random)
    inside = random.random((ROWS, len(columns))).tolist()
    mark = _free_name([column.name for column in columns])
    return [
        {mark: True} | {one.name: value_within(one, *each) for one, *each in zip(columns, *drawn, strict=True)}
        for drawn in zip(np.roll(places, -1, axis=1).tolist(), inside, strict=True)
    ]


def _free_name(names: Sequence[str]) -> str:
    """The name of the column that marks rows as made up, which no column of the table has."""
    mark = "made_up"
    while mark in names:
        mark += "_"
    return mark


@router.get(
    "/entries/{entry_id}/preview",
    summary="Preview the table of a configuration",
    responses=_ANSWERS,
)
async def read_preview(
    entry_id: str,
    caller: CallerDependency,
    state: StateDependency,
    configuration: Annotated[SearchText, Query(description="Id of a masked configuration", max_length=255)],
    rows: Annotated[int, Query(ge=1, le=ROWS, description="Number of rows")] = 20,
    version: Version = None,
    accept: Annotated[str | None, Header(include_in_schema=False)] = None,
) -> Response:
    """Returns made-up rows that look like the table of a configuration, to try a program on before a request.

    They are the first of at most 100 rows, which are always the same.
    """
    whole = await preview_for(state, caller, entry_id, configuration, version)
    shown = whole.model_copy(update={"rows": whole.rows[:rows]})
    if preferred(accept, (JSON, CSV)) == CSV:
        return Response(csv_of(shown), media_type=f"{CSV}; header=present")
    return JsonResponse(shown)
