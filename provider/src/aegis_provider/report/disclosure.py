"""The report on what counts give away, as text and as JSON, which `aegis disclose` prints."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import chain
from typing import Any

from aegis_provider.disclosure import (
    AttributeDisclosure,
    Cell,
    Comparison,
    Declared,
    Disclosure,
    LinkedTables,
    PublishedTable,
)
from aegis_provider.report.model import Part, Section, TextTable, text_lines
from aegis_sdk.reading import shown

_WORDS = 60
_PAIRS = 10
_METHODS = {
    "given": "the unmasked counts are published",
    "closed_form": "in closed form",
    "linear_programs": "by linear programs, {} of them",
}
_KINDS = {"label": "histogram", "histogram": "histogram", "joint": "unmasked", "masking": "", "pairs": ""}


def disclosure_text(disclosure: Disclosure, *, in_full: bool) -> Iterator[str]:
    """Lines: each attribute in a line, or in full with every table of it; then all that belongs to none of them."""
    attributes = _in_full(disclosure) if in_full else _all_attributes(disclosure)
    others = chain(_differences(disclosure), [_others(disclosure)], _reservations(disclosure))
    return text_lines(chain([_head(disclosure)], attributes, others))


def disclosure_document(disclosure: Disclosure) -> dict[str, Any]:
    """All of it, as JSON values."""
    attributes = [_attribute_document(each) for each in disclosure.attributes]
    return {**asdict(disclosure), "attributes": attributes, "small_and_certain": dict(disclosure.small_and_certain)}


def _attribute_document(attribute: AttributeDisclosure) -> dict[str, Any]:
    return {
        "name": attribute.name,
        "tables": [asdict(each) for each in attribute.tables],
        "together": asdict(attribute.linked),
        "compared": None if attribute.compared is None else asdict(attribute.compared),
        "given_away": None if attribute.given_away is None else asdict(attribute.given_away),
    }


def _head(disclosure: Disclosure) -> Section:
    declared = declared_in_words(disclosure.histogram.declared)
    certain = sum(disclosure.small_and_certain.values())
    limits = ", as far as bounds were found" if disclosure.unfinished else ""
    counted = f"{disclosure.records} records{declared and f' ({declared})'}, label {shown(disclosure.label)}"
    small = f"counts below {disclosure.below} that are certain, in a table or by difference"
    return Section("", [f"{disclosure.entry}: {counted}", f"{small}: {certain or 'none'}{limits}"])


def _all_attributes(disclosure: Disclosure) -> Iterator[Section]:
    compared = any(each.compared for each in disclosure.attributes)
    columns = (
        "attribute",
        "tables",
        "smallest",
        f"below {disclosure.below}",
        "cells",
        "follow",
        "smallest that follows",
    )
    more = ("by difference", f"within {disclosure.within}", *(("TV", "TV of values") if compared else ()))
    rows = [_row(each, disclosure, compared=compared) for each in disclosure.attributes]
    yield Section("", [TextTable((*columns, *more), rows)])
    yield Section("", list(_legend(disclosure, compared=compared)))


def _in_full(disclosure: Disclosure) -> Iterator[Section]:
    for each in disclosure.attributes:
        yield Section(f"{shown(each.name)}, each table by itself:", [_table_of(each.tables, disclosure.below)])
        yield Section(f"{shown(each.name)}, all tables together:", list(_linked(each.linked, disclosure.below)))
        if each.compared is not None:
            yield Section(f"{shown(each.name)}, beside the truth:", list(_beside_the_truth(each.compared)))


def _row(each: AttributeDisclosure, disclosure: Disclosure, *, compared: bool) -> tuple[str | float, ...]:
    linked = each.linked
    return (
        shown(each.name),
        len(each.tables),
        _count(each.smallest),
        each.below,
        linked.cells,
        linked.exact,
        _count(linked.smallest),
        linked.derived_below,
        f"{linked.share_within(disclosure.within):.1%}",
        *(_distances(each.compared) if compared else ()),
    )


def _distances(compared: Comparison | None) -> tuple[str, ...]:
    if compared is None:
        return ("", "")
    pooled, margins = compared.pooled, compared.margins
    return f"{pooled.atoms:.4f} / {margins.atoms:.4f}", f"{pooled.values:.4f} / {margins.values:.4f}"


def _count(cell: Cell | None) -> str | int:
    return "-" if cell is None else cell.count


def where(cell: Cell | None) -> str:
    """The values and the label value of a cell: `[5,7) x poor`."""
    return "-" if cell is None else " x ".join(shown(each, _WORDS) for each in cell.place)


def _counted(cell: Cell) -> str:
    return f"{cell.count} record{'s' * (cell.count != 1)}, {where(cell)}"


def _legend(disclosure: Disclosure, *, compared: bool) -> Iterator[str]:
    yield f"smallest, below {disclosure.below}: of the counts above 0 in its tables, without noise, rounding and chance"
    yield "cells: each group of values that no masking tells apart, with each label value"
    yield "follow: how many of these cells all tables together leave no choice of; of them the smallest above 0"
    few, within = f"from 1 to {disclosure.below - 1}", disclosure.within
    yield f"by difference: how many of those {few} stand in no table; differences give them away"
    yield f"within {within}: share of the cells that are known to within {within} records, up or down"
    if compared:
        yield "TV: total variation distance from the truth, of the pooled reconstruction / of the margins alone"
        yield "TV of values: the same by single values, where groups share their records by the histogram, or evenly"


def derived_table(disclosure: Disclosure) -> TextTable:
    """The smallest count of each attribute that no table shows and that follows all the same, if it is small."""
    rows = [
        (shown(each.name), cell.count, where(cell), "smaller than any in its tables" if each.given_away else "")
        for each in disclosure.attributes
        if (cell := each.linked.derived) is not None and cell.count < disclosure.below
    ]
    return TextTable(("attribute", "records", "where", ""), rows)


def _differences(disclosure: Disclosure) -> Iterator[Section]:
    table = derived_table(disclosure)
    if table.rows:
        yield Section("in no table, and known all the same:", [table])
    if disclosure.unfinished:
        names = ", ".join(map(shown, disclosure.unfinished))
        yield Section("", [f"bounds stopped early, so that more may follow (--seconds): {names}"])


def _others(disclosure: Disclosure) -> Section:
    """The tables that belong to no single attribute."""
    tables = [disclosure.histogram, *sorted(disclosure.pairs, key=_smallest)[:_PAIRS]]
    names = [f"label {shown(disclosure.label)}", *(each.name for each in tables[1:])]
    rows = [
        (shown(name, _WORDS), each.cells, _count(each.smallest), where(each.smallest), each.below)
        for name, each in zip(names, tables, strict=True)
    ]
    header = ("other tables", "cells", "smallest", "where", f"below {disclosure.below}")
    parts: list[Part] = [TextTable(header, rows)]
    if len(disclosure.pairs) > _PAIRS:
        parts.append(f"  and {len(disclosure.pairs) - _PAIRS} more tables of pairs")
    if disclosure.pairs:
        parts.append("each table of pairs is looked at by itself: what they say together with others is not found out")
    return Section("", parts)


def _smallest(table: PublishedTable) -> tuple[bool, int]:
    cell = table.smallest
    return cell is None, 0 if cell is None else cell.count


def _reservations(disclosure: Disclosure) -> Iterator[Section]:
    """What is declared of counts that are not those of the table, and what is certain all the same."""
    tables = [
        ("label", disclosure.histogram),
        *((each.name, table) for each in disclosure.attributes for table in each.tables),
    ]
    rows = [
        (shown(name), count_table_name(table), declared_in_words(table.declared))
        for name, table in tables
        if not table.is_plain
    ]
    if not rows:
        return
    epsilon = f", epsilon {disclosure.epsilon:g} in all" if disclosure.epsilon is not None else ""
    parts: list[Part] = [TextTable(("", "table", "declared"), rows)]
    if any(table.declared.noise is not None for _, table in tables):
        parts.append("of a table with noise nothing follows for certain: each of its counts may be off by any number")
    yield Section(f"not the counts of the table{epsilon}:", parts)


def _table_of(tables: Sequence[PublishedTable], below: int) -> TextTable:
    rows = [
        (
            count_table_name(each),
            each.records,
            each.cells,
            each.occupied,
            _count(each.smallest),
            where(each.smallest),
            each.below,
            declared_in_words(each.declared),
        )
        for each in tables
    ]
    header = ("table", "records", "cells", "above 0", "smallest", "where", f"below {below}", "")
    return TextTable(header, rows)


def count_table_name(table: PublishedTable) -> str:
    """Which table of an attribute or of the label it is."""
    return _KINDS[table.kind] or shown(table.name, _WORDS)


def declared_in_words(declared: Declared) -> str:
    """In what way the counts are declared not to be those of the provider's table; empty if they are."""
    epsilon = "" if declared.epsilon is None else f" (epsilon {declared.epsilon:g})"
    reservations = [
        "" if declared.noise is None else f"noise of scale {declared.noise:g}{epsilon}",
        "" if declared.rounded_to is None else f"rounded to {declared.rounded_to}",
        "" if declared.records is None else f"of {declared.records} records",
        "left to chance" if declared.drawn else "",
    ]
    return ", ".join(filter(None, reservations))


def _linked(linked: LinkedTables, below: int) -> Iterator[Part]:
    yield f"  {linked.atoms} groups of values that no masking tells apart, {linked.cells} cells"
    rows = [
        ("follow exactly", linked.exact),
        ("of them without a record", linked.empty),
        ("of them in a table as they are", linked.in_tables),
        (f"of them from 1 to {below - 1}", linked.below),
        (f"from 1 to {below - 1} and in no table", linked.derived_below),
        *((f"known to within {k}", cells) for k, cells in linked.within.items()),
    ]
    shares = [(name, cells, f"{cells / linked.cells:6.1%}") for name, cells in rows]
    yield TextTable(("", "cells", "share"), shares)
    if linked.smallest is not None:
        yield f"  smallest above 0 that follows: {_counted(linked.smallest)}"
    if linked.derived is not None:
        yield f"  smallest above 0 in no table: {_counted(linked.derived)}"
    if linked.largest is not None:
        groups = f"{linked.alike} group{'s' * (linked.alike != 1)}"
        yield f"  all of one label value for certain: {groups}; the largest: {_counted(linked.largest)}"
    tightness = "no linear program finds tighter ones" if linked.complete else "stopped early, not the tightest"
    yield f"  bounds: {_METHODS[linked.method].format(linked.programs)}; {tightness}"


def _beside_the_truth(compared: Comparison) -> Iterator[Part]:
    named = {"pooled reconstruction": compared.pooled, "margins alone": compared.margins}
    rows = [(name, f"{each.atoms:.4f}", f"{each.values:.4f}") for name, each in named.items()]
    yield TextTable(("total variation distance", "of groups", "of single values"), rows)
    if not compared.converged:
        yield "  the reconstruction did not converge: one that does may be nearer"
