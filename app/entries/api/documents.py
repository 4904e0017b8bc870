"""Published documents as JSON."""

from math import prod

from app.edge.state import State
from app.entries.api.mapping import entry_json
from app.entries.model.documents import is_small
from app.entries.model.entries import CountTable, Visibility
from app.platform.callers import Caller

#: Up to this many cells and bytes, this process builds the document itself, in a few milliseconds.
SMALL = 50_000


async def document_json(
    state: State,
    caller: Caller,
    visibility: Visibility,
    schema: bytes,
    configurations: bytes,
    tables: tuple[CountTable, ...],
    in_full: bool,  # noqa: FBT001 -- as in `entry_json`
) -> bytes:
    """Return the published document as JSON. A child process builds large ones; call this outside of transactions."""
    parts = (visibility, schema, configurations, tables, in_full)
    cells = sum(prod(table.counts.shape) for table in tables)
    if cells <= SMALL and is_small(schema, SMALL) and is_small(configurations, SMALL):
        return entry_json(*parts)
    return await state.making.run(entry_json, *parts, on_behalf_of=caller.tenant)
