"""What an entry gives away as text and as JSON: what `aegis disclose` prints."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
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
from aegis_sdk.cli.terminal import aligned
from aegis_sdk.reading import shown

_WORDS = 60
_PAIRS = 10
_METHODS = {
    "given": "the unmasked counts are published",
    "closed_form": "in closed form",
    "linear_programs": "by linear programs, {} of them",
}
_KINDS = {"label": "histogram", "histogram": "histogram", "joint": "unmasked", "masking": "", "pairs": ""}


def all_attributes(found: Disclosure) -> Iterator[str]:
    """Lines: a line for each attribute, then what differences give away, the label, pair counts, what is declared."""
    yield from _head(found)
    compared = any(each.compared for each in found.attributes)
    columns = ("attribute", "tables", "smallest", f"below {found.below}", "cells", "follow", "smallest that follows")
    more = ("by difference", f"within {found.within}", *(("TV", "TV of values") if compared else ()))
    rows = [_row(each, found, compared=compared) for each in found.attributes]
    yield from ("", *aligned((*columns, *more), rows))
    yield from ("", *_legend(found, compared=compared))
    yield from _given_away(found)
    yield from _others(found)
    yield from _reservations(found)


def attributes_in_full(found: Disclosure) -> Iterator[str]:
    """Lines: each attribute with every table of it, and all that these say together."""
    yield from _head(found)
    for each in found.attributes:
        yield from ("", f"{shown(each.name)}, each table by itself:", *_tables(each.tables, found.below))
        yield from ("", f"{shown(each.name)}, all tables together:", *_together(each.linked, found.below))
        if each.compared is not None:
            yield from ("", f"{shown(each.name)}, beside the truth:", *_beside_the_truth(each.compared))
    yield from _given_away(found)
    yield from _others(found)
    yield from _reservations(found)


def as_document(found: Disclosure) -> dict[str, Any]:
    """All of it, as JSON values."""
    attributes = [_attribute_document(each) for each in found.attributes]
    return {**asdict(found), "attributes": attributes, "small_and_certain": dict(found.small_and_certain)}


def _attribute_document(attribute: AttributeDisclosure) -> dict[str, Any]:
    return {
        "name": attribute.name,
        "tables": [asdict(each) for each in attribute.tables],
        "together": asdict(attribute.linked),
        "compared": None if attribute.compared is None else asdict(attribute.compared),
        "given_away": None if attribute.given_away is None else asdict(attribute.given_away),
    }


def _head(found: Disclosure) -> Iterator[str]:
    declared = _declared(found.histogram.declared)
    yield f"{found.entry}: {found.records} records{declared and f' ({declared})'}, label {shown(found.label)}"
    certain = sum(found.small_and_certain.values())
    limits = ", as far as bounds were found" if found.unfinished else ""
    yield f"counts below {found.below} that are certain, in a table or by difference: {certain or 'none'}{limits}"


def _row(each: AttributeDisclosure, found: Disclosure, *, compared: bool) -> tuple[str | float, ...]:
    together = each.linked
    return (
        shown(each.name),
        len(each.tables),
        _count(each.smallest),
        each.below,
        together.cells,
        together.exact,
        _count(together.smallest),
        together.derived_below,
        f"{together.share_within(found.within):.1%}",
        *(_distances(each.compared) if compared else ()),
    )


def _distances(compared: "Comparison | None") -> tuple[str, ...]:
    if compared is None:
        return ("", "")
    pooled, margins = compared.pooled, compared.margins
    return f"{pooled.atoms:.4f} / {margins.atoms:.4f}", f"{pooled.values:.4f} / {margins.values:.4f}"


def _count(cell: "Cell | None") -> str | int:
    return "-" if cell is None else cell.count


def _where(cell: "Cell | None") -> str:
    return "-" if cell is None else " x ".join(shown(each, _WORDS) for each in cell.place)


def _told(cell: Cell) -> str:
    return f"{cell.count} record{'s' * (cell.count != 1)}, {_where(cell)}"


def _legend(found: Disclosure, *, compared: bool) -> Iterator[str]:
    yield f"smallest, below {found.below}: of the counts above 0 in its tables, without noise, rounding and chance"
    yield "cells: each group of values that no masking tells apart, with each label value"
    yield "follow: how many of these cells all tables together leave no choice of; of them the smallest above 0"
    yield f"by difference: how many of those from 1 to {found.below - 1} stand in no table; differences give them away"
    yield f"within {found.within}: share of the cells that are known to within {found.within} records, up or down"
    if compared:
        yield "TV: total variation distance from the truth, of the pooled reconstruction / of the margins alone"
        yield "TV of values: the same by single values, where groups share their records by the histogram, or evenly"


def _given_away(found: Disclosure) -> Iterator[str]:
    """The smallest count of each attribute that no table shows and that follows all the same, if it is small."""
    rows = [
        (shown(each.name), cell.count, _where(cell), "smaller than any in its tables" if each.given_away else "")
        for each in found.attributes
        if (cell := each.linked.derived) is not None and cell.count < found.below
    ]
    if rows:
        yield from ("", "in no table, and known all the same:", *aligned(("attribute", "records", "where", ""), rows))
    if found.unfinished:
        names = ", ".join(map(shown, found.unfinished))
        yield from ("", f"bounds stopped early, so that more may follow (--seconds): {names}")


def _others(found: Disclosure) -> Iterator[str]:
    """The tables that belong to no single attribute."""
    tables = [found.histogram, *sorted(found.pairs, key=_smallest)[:_PAIRS]]
    names = [f"label {shown(found.label)}", *(each.name for each in tables[1:])]
    rows = [
        (shown(name, _WORDS), each.cells, _count(each.smallest), _where(each.smallest), each.below)
        for name, each in zip(names, tables, strict=True)
    ]
    header = ("other tables", "cells", "smallest", "where", f"below {found.below}")
    yield from ("", *aligned(header, rows))
    if len(found.pairs) > _PAIRS:
        yield f"  and {len(found.pairs) - _PAIRS} more tables of pairs"
    if found.pairs:
        yield "each table of pairs is looked at by itself: what they say together with others is not found out"


def _smallest(table: PublishedTable) -> tuple[bool, int]:
    cell = table.smallest
    return cell is None, 0 if cell is None else cell.count


def _reservations(found: Disclosure) -> Iterator[str]:
    """What is declared of counts that are not those of the table, and what is certain all the same."""
    tables = [("label", found.histogram), *((each.name, table) for each in found.attributes for table in each.tables)]
    uncertain = [
        (shown(name), _named(table), _declared(table.declared)) for name, table in tables if not table.is_plain
    ]
    if not uncertain:
        return
    epsilon = f", epsilon {found.epsilon:g} in all" if found.epsilon is not None else ""
    yield from ("", f"not the counts of the table{epsilon}:", *aligned(("", "table", "declared"), uncertain))
    if any(table.declared.noise is not None for _, table in tables):
        yield "of a table with noise nothing follows for certain: each of its counts may be off by any number"


def _tables(tables: "Sequence[PublishedTable]", below: int) -> Iterator[str]:
    rows = [
        (
            _named(each),
            each.records,
            each.cells,
            each.occupied,
            _count(each.smallest),
            _where(each.smallest),
            each.below,
            _declared(each.declared),
        )
        for each in tables
    ]
    header = ("table", "records", "cells", "above 0", "smallest", "where", f"below {below}", "")
    yield from aligned(header, rows)


def _named(table: PublishedTable) -> str:
    return _KINDS[table.kind] or shown(table.name, _WORDS)


def _declared(declared: Declared) -> str:
    said = []
    if declared.noise is not None:
        epsilon = f" (epsilon {declared.epsilon:g})" if declared.epsilon is not None else ""
        said.append(f"noise of scale {declared.noise:g}{epsilon}")
    if declared.rounded_to is not None:
        said.append(f"rounded to {declared.rounded_to}")
    if declared.records is not None:
        said.append(f"of {declared.records} records")
    if declared.drawn:
        said.append("left to chance")
    return ", ".join(said)


def _together(together: LinkedTables, below: int) -> Iterator[str]:
    yield f"  {together.atoms} groups of values that no masking tells apart, {together.cells} cells"
    rows = [
        ("follow exactly", together.exact),
        ("of them without a record", together.empty),
        ("of them in a table as they are", together.in_tables),
        (f"of them from 1 to {below - 1}", together.below),
        (f"from 1 to {below - 1} and in no table", together.derived_below),
        *((f"known to within {k}", cells) for k, cells in together.within.items()),
    ]
    yield from aligned(
        ("", "cells", "share"), [(name, cells, f"{cells / together.cells:6.1%}") for name, cells in rows]
    )
    if together.smallest is not None:
        yield f"  smallest above 0 that follows: {_told(together.smallest)}"
    if together.derived is not None:
        yield f"  smallest above 0 in no table: {_told(together.derived)}"
    if together.largest is not None:
        groups = f"{together.alike} group{'s' * (together.alike != 1)}"
        yield f"  all of one label value for certain: {groups}; the largest: {_told(together.largest)}"
    found = "no linear program finds tighter ones" if together.complete else "stopped early, not the tightest"
    yield f"  bounds: {_METHODS[together.method].format(together.programs)}; {found}"


def _beside_the_truth(compared: Comparison) -> Iterator[str]:
    named = {"pooled reconstruction": compared.pooled, "margins alone": compared.margins}
    rows = [(name, f"{each.atoms:.4f}", f"{each.values:.4f}") for name, each in named.items()]
    yield from aligned(("total variation distance", "of groups", "of single values"), rows)
    if not compared.converged:
        yield "  the reconstruction did not converge: one that does may be nearer"
