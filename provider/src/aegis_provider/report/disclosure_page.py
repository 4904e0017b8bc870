"""The page about what the counts of an entry give away: `aegis disclose --html`."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Final

from aegis_provider.disclosure import AttributeDisclosure, Cell, Disclosure, PublishedTable
from aegis_provider.output import written_whole
from aegis_provider.privacy import percent
from aegis_provider.report.disclosure import count_table_name, declared_in_words, derived_table, where
from aegis_provider.report.disclosure_figures import beside_the_truth, known_within, small_counts, smallest_counts
from aegis_provider.report.model import Part, Section, Term, Terms, TextTable
from aegis_provider.report.page import render_page
from aegis_provider.report.risk_page import RECORDS

_MOST_TABLES = 200

_TERMS: Final = (
    Term(
        "Cell",
        "how many records have values of a group and a certain label value. A group is of values that no masking of "
        "the entry tells apart (an atom): nobody who sees the entry can look further into it, but by the histogram.",
    ),
    Term(
        "Follows exactly",
        "all tables of the attribute leave no choice: every table of whole counts that has their sums has this count "
        "here: the smallest and the largest count that the sums allow are the same.",
    ),
    Term(
        "In no table",
        "no table shows the count, but differences do. Bins of 5 years less bins of 7 years are bins of fewer people: "
        "each table may be harmless, and both together not.",
    ),
    Term(
        "Without a record",
        "a cell that is certainly empty. That, too, says something of people: nobody with these values has this label.",
    ),
    Term(
        "Groups of one label value",
        "all records of the group have the same label value, for certain. Who knows that somebody is in the group "
        "knows the label value, however large the group is.",
    ),
    Term(
        "Known to within k",
        "the least and the most that the tables allow are 2k apart at most: the middle is off by k or less.",
    ),
    Term(
        "Total variation distance",
        "half the sum of the differences of the shares of records, cell by cell: which share of the records would have "
        "to be moved to make one table of the other. The pooled reconstruction is the best guess from all tables; the "
        "margins are the histograms of attribute and label, as if one said nothing of the other. Overlapping coarse "
        "tables together can be almost as good as the unmasked one.",
    ),
)

_CERTAINTY: Final = (
    "Noise was added to counts. Of a table with noise nothing follows with certainty: each of its counts may be off by "
    "any number of records, only large ones are improbable. It is left out of what follows exactly."
)


def write_disclosure_page(disclosure: Disclosure, path: Path) -> None:
    """Writes the page as one HTML file, whole or not at all.

    Raises:
        OutputError: The file cannot be written.
    """
    with written_whole(path) as part:
        part.write_text(disclosure_page(disclosure), encoding="utf-8")


def disclosure_page(disclosure: Disclosure) -> str:
    """The page: small counts, what follows from all tables together, how near the truth that is, and every table."""
    sections = [
        Section("At a glance", list(_glance(disclosure))),
        Section("Small counts", list(_small(disclosure))),
        Section("What all tables say together", list(_linked(disclosure))),
    ]
    if any(each.compared for each in disclosure.attributes):
        sections.append(Section("Beside the truth", list(_truth(disclosure))))
    sections += [
        Section("Every table by itself", list(_tables(disclosure))),
        Section("What the numbers mean", [Terms(_TERMS)]),
    ]
    return render_page(f"What the counts of {disclosure.entry} give away", sections)


def _glance(disclosure: Disclosure) -> Iterator[str]:
    tables = _all_tables(disclosure)
    few, small = f"1 to {disclosure.below - 1}", sum(each.certainly_below for _, each in tables)
    smallest = _smallest((each.name, each.smallest) for each in disclosure.attributes)
    yield (
        f"The entry has {len(tables):,} table{'s' * (len(tables) != 1)} of counts of {disclosure.records:,} records. "
        f"{small:,} of their counts are of {few} records.{smallest}"
    )
    cells = sum(each.linked.cells for each in disclosure.attributes)
    exact = sum(each.linked.exact for each in disclosure.attributes)
    derived = sum(each.linked.derived_below for each in disclosure.attributes)
    hidden = _smallest((each.name, each.linked.derived) for each in disclosure.attributes)
    yield (
        f"From all tables of an attribute together, {exact:,} of {cells:,} cells ({percent(exact / cells)}) follow "
        f"exactly. {derived:,} of them are of {few} records and stand in no table: only differences of tables give "
        f"them away.{hidden}{_one_label(disclosure)}"
    )
    if disclosure.unfinished:
        yield "The bounds of some attributes were stopped early: more may follow than is said here."
    if any(table.declared.noise is not None for _, table in tables):
        yield _CERTAINTY
    yield RECORDS


def _smallest(cells: Iterable[tuple[str, Cell | None]]) -> str:
    """A sentence on the smallest of these counts, which stand beside their attribute's name; none if there is none."""
    known = [(name, cell) for name, cell in cells if cell is not None]
    if not known:
        return ""
    name, cell = min(known, key=lambda item: item[1].count)
    return f" The smallest: {_counted(cell)} of {name} {where(cell)}."


def _one_label(disclosure: Disclosure) -> str:
    cells = [(each, each.linked.largest) for each in disclosure.attributes if each.linked.largest is not None]
    if not cells:
        return ""
    groups = sum(each.linked.alike for each in disclosure.attributes)
    attribute, cell = max(cells, key=lambda item: item[1].count)
    return (
        f" In {groups} group{'s' * (groups != 1)} of values all records have one label value for certain; the largest: "
        f"{_counted(cell)} of {attribute.name} {where(cell)}."
    )


def _small(disclosure: Disclosure) -> Iterator[Part]:
    yield small_counts(disclosure)
    yield smallest_counts(disclosure)
    derived = derived_table(disclosure)
    if derived.rows:
        yield replace(derived, caption="In no table, and known all the same: the smallest of each attribute.")


def _linked(disclosure: Disclosure) -> Iterator[Part]:
    yield known_within(disclosure)
    header = (
        "attribute",
        "tables",
        "groups",
        "of one label value",
        "cells",
        "follow exactly",
        "without a record",
        "in a table",
        f"within {disclosure.within}",
    )
    yield TextTable(header, [_linked_row(each, disclosure.within) for each in disclosure.attributes])


def _linked_row(each: AttributeDisclosure, within: int) -> tuple[str | float, ...]:
    linked = each.linked
    return (
        each.name,
        len(each.tables),
        linked.atoms,
        linked.alike,
        linked.cells,
        linked.exact,
        linked.empty,
        linked.in_tables,
        percent(linked.share_within(within)),
    )


def _truth(disclosure: Disclosure) -> Iterator[Part]:
    yield beside_the_truth(disclosure)
    header = ("attribute", "all tables, of groups", "margins, of groups", "all tables, of values", "margins, of values")
    rows = [
        (each.name, *map(percent, (known.pooled.atoms, known.margins.atoms, known.pooled.values, known.margins.values)))
        for each in disclosure.attributes
        if (known := each.compared) is not None
    ]
    yield TextTable(header, rows, "Total variation distance from the true joint counts: 0 is the truth.")


def _tables(disclosure: Disclosure) -> Iterator[Part]:
    tables = _all_tables(disclosure)
    rows = [
        (
            name,
            count_table_name(each),
            each.records,
            each.cells,
            each.occupied,
            each.below,
            "-" if each.smallest is None else _smallest_count(each.smallest),
            declared_in_words(each.declared),
        )
        for name, each in tables[:_MOST_TABLES]
    ]
    more = f"The first {_MOST_TABLES} of {len(tables)}." if len(tables) > _MOST_TABLES else ""
    header = ("of", "table", "records", "cells", "above 0", f"below {disclosure.below}", "smallest above 0", "declared")
    yield TextTable(header, rows, more)
    if disclosure.pairs:
        yield "Tables of pairs are looked at one by one: what follows from them together with others is not found out."


def _all_tables(disclosure: Disclosure) -> list[tuple[str, PublishedTable]]:
    """Every table that was looked at, with what it is of."""
    of_attributes = ((each.name, table) for each in disclosure.attributes for table in each.tables)
    of_pairs = (("pairs", table) for table in disclosure.pairs)
    return list(chain([(disclosure.label, disclosure.histogram)], of_attributes, of_pairs))


def _smallest_count(cell: Cell) -> str:
    return f"{_counted(cell)} ({where(cell)})"


def _counted(cell: Cell) -> str:
    return f"{cell.count:,} record{'s' * (cell.count != 1)}"
