"""The tables of an entry in the report on what counts give away, the smallest counts first."""

from collections.abc import Iterator
from itertools import chain

from aegis_provider.disclosure import Cell, Disclosure, PublishedTable
from aegis_provider.report.model import Part, TextTable
from aegis_sdk.reading import shown

WORDS = 60
"""The most characters of a name."""

_TABLES = 10
_MOST_TABLES = 200
_KINDS = {"label": "histogram", "histogram": "histogram", "joint": "unmasked", "masking": "", "pairs": ""}


def tables(disclosure: Disclosure, *, in_full: bool) -> Iterator[Part]:
    """Yield every examined table."""
    ordered = sorted(all_tables(disclosure), key=lambda item: _order(item[1]))
    rows = [
        (
            shown(name),
            _KINDS[each.kind] or shown(each.name, WORDS),
            each.records,
            each.cells,
            each.occupied,
            count(each.smallest),
            where(each.smallest),
            each.below,
            each.declared.in_words(),
        )
        for name, each in ordered[:_MOST_TABLES]
    ]
    header = (
        "of",
        "table",
        "records",
        "cells",
        "above 0",
        "smallest",
        "where",
        f"below {disclosure.below}",
        "declared",
    )
    more = f"the first {_MOST_TABLES} of {len(ordered)}" if len(ordered) > _MOST_TABLES else ""
    yield TextTable(header, rows, more, most=None if in_full else _TABLES)
    if disclosure.pairs:
        yield "each table of pairs is examined on its own here; the verdict takes all tables together"
    if disclosure.associations:
        yield (
            f"{disclosure.associations} pairs say what they tell of the label together (with_label), which is not used "
            "here: a chi-square depends on the counts of both attributes and the label, and narrows them down"
        )


def _order(table: PublishedTable) -> float:
    return float("inf") if table.smallest is None else table.smallest.count


def all_tables(disclosure: Disclosure) -> list[tuple[str, PublishedTable]]:
    """Return every examined table, with the name of what it counts."""
    of_attributes = ((each.name, table) for each in disclosure.attributes for table in each.tables)
    of_pairs = (("pairs", table) for table in disclosure.pairs)
    return list(chain([(disclosure.label, disclosure.histogram)], of_attributes, of_pairs))


def where(cell: Cell | None) -> str:
    """Return the values and the label value of a cell: `[5,7) x poor`."""
    return "-" if cell is None else " x ".join(shown(each, WORDS) for each in cell.place)


def count(cell: Cell | None) -> str | int:
    """Return the count of a cell, or a dash."""
    return "-" if cell is None else cell.count
