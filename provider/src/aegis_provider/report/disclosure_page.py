"""The page about what the counts of an entry give away: `aegis disclose --html`."""

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from aegis_provider.disclosure import AttributeDisclosure, Cell, Disclosure, PublishedTable
from aegis_provider.output import written_whole
from aegis_provider.privacy import percent
from aegis_provider.report.disclosure_figures import beside_the_truth, known_within, small_counts, smallest_counts
from aegis_provider.report.disclosure_words import CERTAINTY, TERMS, declared_in_words, table_in_words
from aegis_provider.report.model import Part, Section, Terms, TextTable
from aegis_provider.report.page import render_page
from aegis_provider.report.risk_words import RECORDS
from aegis_sdk.reading import shown

_MOST_TABLES = 200
_LONGEST_VALUE = 60


def write_disclosure_page(found: Disclosure, path: Path) -> None:
    """Writes the page as one HTML file, whole or not at all. Raises `OutputError`."""
    with written_whole(path) as part:
        part.write_text(disclosure_page(found), encoding="utf-8")


def disclosure_page(found: Disclosure) -> str:
    """The page: small counts, what follows from all tables together, how near the truth that is, and every table."""
    sections = [
        Section("At a glance", list(_glance(found))),
        Section("Small counts", list(_small(found))),
        Section("What all tables say together", list(_together(found))),
    ]
    if any(each.compared for each in found.attributes):
        sections.append(Section("Beside the truth", list(_truth(found))))
    sections += [
        Section("Every table by itself", list(_tables(found))),
        Section("What the numbers mean", [Terms(TERMS)]),
    ]
    return render_page(f"What the counts of {found.entry} give away", sections)


def _glance(found: Disclosure) -> Iterator[str]:
    tables = _all_tables(found)
    few, small = f"1 to {found.below - 1}", sum(each.certainly_below for _, each in tables)
    smallest = _smallest((each.name, each.smallest) for each in found.attributes)
    yield (
        f"The entry has {len(tables):,} table{'s' * (len(tables) != 1)} of counts of {found.records:,} records. "
        f"{small:,} of their counts are of {few} records.{smallest}"
    )
    cells = sum(each.linked.cells for each in found.attributes)
    exact = sum(each.linked.exact for each in found.attributes)
    derived = sum(each.linked.derived_below for each in found.attributes)
    hidden = _smallest((each.name, each.linked.derived) for each in found.attributes)
    yield (
        f"From all tables of an attribute together, {exact:,} of {cells:,} cells ({percent(exact / cells)}) follow "
        f"exactly. {derived:,} of them are of {few} records and stand in no table: only differences of tables give "
        f"them away.{hidden}{_one_label(found)}"
    )
    if found.unfinished:
        yield "The bounds of some attributes were stopped early: more may follow than is said here."
    if any(table.declared.noise is not None for _, table in tables):
        yield CERTAINTY
    yield RECORDS


def _smallest(cells: Iterable[tuple[str, Cell | None]]) -> str:
    """A sentence on the smallest of these counts, which stand beside their attribute's name; none if there is none."""
    known = [(name, cell) for name, cell in cells if cell is not None]
    if not known:
        return ""
    name, cell = min(known, key=lambda item: item[1].count)
    return f" The smallest: {_counted(cell)} of {name} {_where(cell)}."


def _one_label(found: Disclosure) -> str:
    cells = [(each, each.linked.largest) for each in found.attributes if each.linked.largest is not None]
    if not cells:
        return ""
    groups = sum(each.linked.alike for each in found.attributes)
    attribute, cell = max(cells, key=lambda item: item[1].count)
    return (
        f" In {groups} group{'s' * (groups != 1)} of values all records have one label value for certain; the largest: "
        f"{_counted(cell)} of {attribute.name} {_where(cell)}."
    )


def _small(found: Disclosure) -> Iterator[Part]:
    yield small_counts(found)
    yield smallest_counts(found)
    rows = [
        (each.name, cell.count, _where(cell), "yes" if each.given_away else "")
        for each in found.attributes
        if (cell := each.linked.derived) is not None and cell.count < found.below
    ]
    if rows:
        header = ("attribute", "records", "of which values and label value", "smaller than any in a table")
        yield TextTable(header, rows, "In no table, and known all the same: the smallest of each attribute.")


def _together(found: Disclosure) -> Iterator[Part]:
    yield known_within(found)
    header = (
        "attribute",
        "tables",
        "groups",
        "of one label value",
        "cells",
        "follow exactly",
        "without a record",
        "in a table",
        f"within {found.within}",
    )
    yield TextTable(header, [_together_row(each, found.within) for each in found.attributes])


def _together_row(each: AttributeDisclosure, within: int) -> tuple[str | float, ...]:
    together = each.linked
    return (
        each.name,
        len(each.tables),
        together.atoms,
        together.alike,
        together.cells,
        together.exact,
        together.empty,
        together.in_tables,
        percent(together.share_within(within)),
    )


def _truth(found: Disclosure) -> Iterator[Part]:
    yield beside_the_truth(found)
    header = ("attribute", "all tables, of groups", "margins, of groups", "all tables, of values", "margins, of values")
    rows = [
        (each.name, *map(percent, (known.pooled.atoms, known.margins.atoms, known.pooled.values, known.margins.values)))
        for each in found.attributes
        if (known := each.compared) is not None
    ]
    yield TextTable(header, rows, "Total variation distance from the true joint counts: 0 is the truth.")


def _tables(found: Disclosure) -> Iterator[Part]:
    tables = _all_tables(found)
    rows = [
        (
            name,
            table_in_words(each),
            each.records,
            each.cells,
            each.occupied,
            each.below,
            "-" if each.smallest is None else _told(each.smallest),
            declared_in_words(each.declared),
        )
        for name, each in tables[:_MOST_TABLES]
    ]
    more = f"The first {_MOST_TABLES} of {len(tables)}." if len(tables) > _MOST_TABLES else ""
    header = ("of", "table", "records", "cells", "above 0", f"below {found.below}", "smallest above 0", "declared")
    yield TextTable(header, rows, more)
    if found.pairs:
        yield "Tables of pairs are looked at one by one: what follows from them together with others is not found out."


def _all_tables(found: Disclosure) -> list[tuple[str, PublishedTable]]:
    """Every table that was looked at, with what it is of."""
    of_attributes = ((each.name, table) for each in found.attributes for table in each.tables)
    return list(chain([(found.label, found.histogram)], of_attributes, (("pairs", table) for table in found.pairs)))


def _told(cell: Cell) -> str:
    return f"{_counted(cell)} ({_where(cell)})"


def _counted(cell: Cell) -> str:
    return f"{cell.count:,} record{'s' * (cell.count != 1)}"


def _where(cell: Cell) -> str:
    return " x ".join(shown(text, _LONGEST_VALUE) for text in cell.place)
