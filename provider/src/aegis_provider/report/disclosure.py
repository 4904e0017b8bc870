"""The report of `aegis disclose` on what counts give away: its verdict, its sections and its JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, Final

from aegis_provider.report.model import DISCLOSURE, Part, Report, Section, Terms, TextTable
from aegis_provider.report.verdicts import judged_line
from aegis_sdk.charts import BAD, GOOD, NEUTRAL, Axis, Lengths, SeriesBars, Tone
from aegis_sdk.reading import Share, shown
from aegis_sdk.reading import verdict_line as in_a_line

if TYPE_CHECKING:  # slow to load
    from aegis_provider.disclosure import AttributeDisclosure, Cell, Disclosure, Judged, PublishedTable

_ROWS = 30
_METHODS = {
    "given": "not needed: unmasked counts are published",
    "closed_form": "in closed form",
    "linear_programs": "by {} linear programs",
}
_WORDS = 60
"""Maximum length of a name, in characters."""

_TABLES = 10
_MOST_TABLES = 200
_KINDS = {"label": "histogram", "histogram": "histogram", "joint": "unmasked", "masking": "", "pairs": ""}
_STRENGTHS: Final = (0.8, 0.6, 0.4, 0.25)


def disclosure_report(disclosure: Disclosure, summarize: str, *, in_full: bool = False) -> Report:
    """Report the verdict, small counts, cells that all tables determine, their distance from the truth, and all tables.

    Args:
        disclosure: The results.
        summarize: The command that made the entry, without options of its controls.
        in_full: Whether the text report also shows every table.
    """
    sections = [
        Section("What fails", list(failures(disclosure))),
        Section("Small counts", list(_small(disclosure))),
        Section("What all tables say together", list(_linked(disclosure))),
    ]
    if any(attribute.compared for attribute in disclosure.attributes):
        sections.append(Section("Compared with the truth", list(_truth(disclosure))))
    sections += [
        Section("Every table by itself, the smallest counts first", list(_tables(disclosure, in_full=in_full))),
        Section("What the numbers mean", [Terms(DISCLOSURE)]),
    ]
    title = f"What the counts of {disclosure.entry} give away"
    summary = [verdict_line(disclosure, summarize), *_summary(disclosure)]
    return Report(title, summary, [section for section in sections if section.parts])


def _summary(disclosure: Disclosure) -> Iterator[str]:
    declared = disclosure.histogram.declared.in_words()
    counted = f"{disclosure.records} records{declared and f' ({declared})'}, label {shown(disclosure.label)}"
    yield f"{disclosure.entry}: {counted}"
    certain = sum(disclosure.small_and_certain.values())
    limits = ", as far as bounds were computed" if disclosure.unfinished else ""
    smallest = _smallest("in a table", ((attribute.subject, attribute.smallest) for attribute in disclosure.attributes))
    small = f"counts below {disclosure.below} that are known for certain, in a table or by difference"
    yield f"{small}: {certain or 'none'}{limits}.{smallest}"
    cells = sum(attribute.linked.cells for attribute in disclosure.attributes)
    exact = sum(attribute.linked.exact for attribute in disclosure.attributes)
    derived = sum(attribute.linked.derived_below for attribute in disclosure.attributes)
    hidden = _smallest(
        "in no table", ((attribute.subject, attribute.linked.derived) for attribute in disclosure.attributes)
    )
    yield (
        f"All tables of an attribute together determine {exact:,} of {cells:,} cells ({Share(exact / cells)}) "
        f"exactly. {derived:,} of them count 1 to {disclosure.below - 1} records and appear in no table: only "
        f"differences of tables give them away.{hidden}{_one_label(disclosure)}"
    )
    yield from _reservations(disclosure)


def _reservations(disclosure: Disclosure) -> Iterator[str]:
    """Yield reasons why more or less may be known than reported."""
    if disclosure.unfinished:
        names = ", ".join(map(shown, disclosure.unfinished))
        yield f"bounds stopped early, so more cells may be determined exactly (see --seconds): {names}"
    tables = [table for _, table in _all_tables(disclosure)]
    changed = sum(not table.is_plain for table in tables)
    if changed:
        epsilon = f", epsilon {disclosure.epsilon:g} in total" if disclosure.epsilon is not None else ""
        yield f"declared to differ from the counts of the provider's table: {changed} of {len(tables)} tables{epsilon}"
    if any(table.declared.noise is not None for table in tables):
        yield (
            "a table with noise determines nothing for certain: each of its counts may be off by any number of "
            "records, though large errors are improbable"
        )


def _smallest(where: str, cells: Iterable[tuple[str, Cell | None]]) -> str:
    """Return a sentence on the smallest of these counts, given with their attributes; empty if there are none."""
    known = [(name, cell) for name, cell in cells if cell is not None]
    if not known:
        return ""
    name, cell = min(known, key=lambda item: item[1].count)
    return f" The smallest {where}: {_counted(name, cell)}."


def _one_label(disclosure: Disclosure) -> str:
    cells = [(attribute.subject, attribute.linked.largest) for attribute in disclosure.attributes]
    known = [(name, cell) for name, cell in cells if cell is not None]
    if not known:
        return ""
    groups = sum(attribute.linked.alike for attribute in disclosure.attributes)
    largest = _counted(*max(known, key=lambda item: item[1].count))
    alike = f"In {groups} group{'s' * (groups != 1)} of values, all records certainly have the same label value"
    return f" {alike}; the largest: {largest}."


def _counted(name: str, cell: Cell) -> str:
    return f"{cell.count:,} record{'s' * (cell.count != 1)} of {shown(name, _WORDS)} {_where(cell)}"


def _small(disclosure: Disclosure) -> Iterator[Part]:
    few = f"1 to {disclosure.below - 1}"
    attributes = _worst(disclosure, lambda each: each.below + each.linked.derived_below)
    by_difference = [attribute.linked.derived_below for attribute in attributes]
    yield SeriesBars(
        f"Small counts that are published, and small counts that differences of tables give away.{_of_all(disclosure)}",
        Axis("counts", "counts, on a logarithmic scale"),
        [attribute.subject for attribute in attributes],
        [
            Lengths(f"counts of {few} in its tables", GOOD, [attribute.below for attribute in attributes]),
            Lengths(f"counts of {few} in no table, but determined exactly", BAD, by_difference),
        ],
        is_logarithmic=True,
    )
    small = f"below {disclosure.below}"
    header = ("attribute", "tables", "smallest", small, "smallest exact", "where", "by difference")
    rows = [
        (
            shown(attribute.subject),
            len(attribute.tables),
            _count(attribute.smallest),
            attribute.below,
            _count(attribute.linked.smallest),
            _where(attribute.linked.smallest),
            attribute.linked.derived_below,
        )
        for attribute in disclosure.attributes
    ]
    yield TextTable(header, rows)
    yield f"smallest, {small}: among the counts above 0 in its tables without noise, rounding or random masking"
    yield (
        f"by difference: how many counts of {few} appear in no table but are determined exactly; "
        "the smallest of each attribute:"
    )
    derived = [
        (
            shown(attribute.subject),
            cell.count,
            _where(cell),
            "smaller than any in its tables" if attribute.given_away else "",
        )
        for attribute in disclosure.attributes
        if (cell := attribute.linked.derived) is not None and cell.count < disclosure.below
    ]
    yield TextTable(("attribute", "records", "where", ""), derived) if derived else "  none"


def _linked(disclosure: Disclosure) -> Iterator[Part]:
    yield _known_within(disclosure)
    within = sorted({0, *disclosure.attributes[0].linked.within} - {0})
    header = ("attribute", "groups", "of one label", "cells", "exact", "empty", "in a table")
    rows = [_linked_row(attribute, within) for attribute in disclosure.attributes]
    yield TextTable((*header, *(f"within {k}" for k in within), "bounds"), rows)
    yield "groups: sets of values that no masking tells apart"
    yield "of one label: groups whose records certainly all have the same label value"
    yield "cells: each group with each label value; exact: cells determined exactly by all tables combined"
    yield "empty, in a table: exact cells that have no record, or that appear in a table as they are"
    yield "within k: share of the cells that are known to within k records, up or down"
    yield from _by_whole_numbers(disclosure)


def _by_whole_numbers(disclosure: Disclosure) -> Iterator[Part]:
    """Yield the cells that follow not from differences of tables, but from counts being whole numbers."""
    linked = [(shown(attribute.subject), attribute.linked) for attribute in disclosure.attributes]
    named = [(name, known.by_whole_numbers, known.smallest_by_whole_numbers) for name, known in linked]
    if rows := [(name, cells, _count(smallest), _where(smallest)) for name, cells, smallest in named if cells]:
        note = "exact cells that follow only because counts are whole numbers"
        yield TextTable(("attribute", "only whole numbers", "smallest", "where"), rows, note)
    undecided = [f"{known.undecided:,} of {name}" for name, known in linked if known.undecided]
    if undecided:
        yield f"Not decided whether they follow because counts are whole numbers: {', '.join(undecided)}"


def _linked_row(attribute: AttributeDisclosure, within: Sequence[int]) -> tuple[str | float, ...]:
    linked = attribute.linked
    return (
        shown(attribute.subject),
        linked.atoms,
        linked.alike,
        linked.cells,
        linked.exact,
        linked.empty,
        linked.in_tables,
        *(Share(linked.share_within(k)) for k in within),
        _METHODS[linked.method].format(linked.programs) + ("" if linked.complete else ", stopped early"),
    )


def _known_within(disclosure: Disclosure) -> SeriesBars:
    """Draw how precisely all tables of each attribute together determine its cells, the most precise first."""
    attributes = _worst(disclosure, lambda each: each.linked.share_within(disclosure.within))
    linked = [attribute.linked for attribute in attributes]
    ks = sorted(linked[0].within)
    empty = [each.empty / each.cells for each in linked]
    in_tables = [each.in_tables / each.cells for each in linked]
    exact = [each.share_within(ks[0]) for each in linked]
    elsewhere = [whole - none - seen for whole, none, seen in zip(exact, empty, in_tables, strict=True)]
    series = [
        Lengths("no record, for certain", NEUTRAL, empty),
        Lengths("in a table", GOOD, in_tables),
        Lengths("in no table, known exactly", BAD, elsewhere),
    ]
    for place, (before, k) in enumerate(pairwise(ks)):
        tone = Tone("red", _STRENGTHS[min(place, len(_STRENGTHS) - 1)])
        known = [each.share_within(k) - each.share_within(before) for each in linked]
        series.append(Lengths(f"to within {k}", tone, known))
    series.append(Lengths("less well", Tone("blue", 0.2), [1 - each.share_within(ks[-1]) for each in linked]))
    return SeriesBars(
        "How well cells are known from all tables together",
        Axis("share", "share of the cells: groups of values by label value", "share"),
        [attribute.subject for attribute in attributes],
        series,
        is_stacked=True,
        notes=[f"Orange: cells that differences of tables give away.{_of_all(disclosure)}"],
    )


def _truth(disclosure: Disclosure) -> Iterator[Part]:
    compared = [
        (attribute.subject, known) for attribute in disclosure.attributes if (known := attribute.compared) is not None
    ]
    nearest = sorted(compared, key=lambda item: item[1].margins.values - item[1].pooled.values, reverse=True)[:_ROWS]
    series = [
        Lengths("the two histograms alone", NEUTRAL, [known.margins.values for _, known in nearest]),
        Lengths("pooled reconstruction, from all tables", BAD, [known.pooled.values for _, known in nearest]),
    ]
    axis = "share of the records that would have to move (total variation distance, by single values)"
    caption = f"How far someone who has only the entry is from the true joint counts.{_of_all(disclosure)}"
    yield SeriesBars(caption, Axis("share", axis, "share"), [name for name, _ in nearest], series)
    header = ("attribute", "all tables, by groups", "margins, by groups", "all tables, by values", "margins, by values")
    rows = [
        (
            shown(name),
            *map(Share, (known.pooled.atoms, known.margins.atoms, known.pooled.values, known.margins.values)),
            "" if known.converged else "did not converge: a converged one may be nearer",
        )
        for name, known in compared
    ]
    yield TextTable(
        (*header, ""),
        rows,
        "the share of the records that would have to move to give the true joint counts: 0% is the truth",
    )


def _worst(disclosure: Disclosure, exposure: Callable[[AttributeDisclosure], float]) -> Sequence[AttributeDisclosure]:
    """Return the most exposed attributes, the worst first."""
    return sorted(disclosure.attributes, key=exposure, reverse=True)[:_ROWS]


def _of_all(disclosure: Disclosure) -> str:
    attributes = len(disclosure.attributes)
    return f" These are the worst {_ROWS} of {attributes}." if attributes > _ROWS else ""


def _tables(disclosure: Disclosure, *, in_full: bool) -> Iterator[Part]:
    """Yield every examined table."""
    ordered = sorted(_all_tables(disclosure), key=lambda item: _order(item[1]))
    rows = [
        (
            shown(name),
            _KINDS[each.kind] or shown(each.name, _WORDS),
            each.records,
            each.cells,
            each.occupied,
            _count(each.smallest),
            _where(each.smallest),
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
            f"{disclosure.associations} pairs state their association with the label (with_label), which is not used "
            "here: a chi-square depends on the counts of both attributes and the label, and narrows them down"
        )


def _order(table: PublishedTable) -> float:
    return float("inf") if table.smallest is None else table.smallest.count


def _all_tables(disclosure: Disclosure) -> list[tuple[str, PublishedTable]]:
    """Return every examined table, with the name of its subject."""
    of_attributes = ((attribute.subject, table) for attribute in disclosure.attributes for table in attribute.tables)
    of_pairs = (("pairs", table) for table in disclosure.pairs)
    return list(chain([(disclosure.label, disclosure.histogram)], of_attributes, of_pairs))


def _where(cell: Cell | None) -> str:
    """Return the values and the label value of a cell: `[5,7) x poor`."""
    return "-" if cell is None else " x ".join(shown(each, _WORDS) for each in cell.place)


def _count(cell: Cell | None) -> str | int:
    """Return the count of a cell, or a dash."""
    return "-" if cell is None else cell.count


if TYPE_CHECKING:  # slow to load
    from aegis_provider.disclosure import Disclosure, Judged

_PLACES = 10
_REASONS = {
    "shown": "it shows small counts",
    "certain": "small counts follow from several tables",
    "likely": "small counts have a probability above 0.9",
    "undecided": "not decided",
}


def verdict_line(disclosure: Disclosure, summarize: str) -> str:
    """Return the line with the verdict and, on failure, the command that fixes it.

    Args:
        disclosure: The results.
        summarize: The command that made the entry, without options of its controls.
    """
    judged = disclosure.judged
    if judged is None:
        return in_a_line(None, f"{disclosure.entry} was examined in part; leave out --attribute for a verdict")
    return judged_line(disclosure.entry, judged, summarize)


def failures(disclosure: Disclosure) -> Iterator[Part]:
    """Yield the failures, in order of their places."""
    judged = disclosure.judged
    if judged is None or judged.verdict.passed:
        return
    rows = [
        (shown(place, _WORDS), each.cells, _REASONS.get(each.reason, each.reason))
        for place, each in zip(judged.places, judged.verdict.findings, strict=True)
    ]
    yield TextTable(("place", "cells", "why"), rows, "cells of 1 to 4 records, or that may be", most=_PLACES)


def disclosure_document(disclosure: Disclosure) -> dict[str, Any]:
    """Return the disclosure as JSON values."""
    attributes = [_attribute_document(attribute, disclosure.label) for attribute in disclosure.attributes]
    document = asdict(replace(disclosure, judged=None))
    del document["judged"]
    small = {"small_and_certain": dict(disclosure.small_and_certain)}
    return {"verdict": _verdict_document(disclosure.judged), **document, "attributes": attributes, **small}


def _verdict_document(judged: Judged | None) -> dict[str, Any] | None:
    if judged is None:
        return None
    findings = [
        {**each.model_dump(), "place": place}
        for each, place in zip(judged.verdict.findings, judged.places, strict=True)
    ]
    return {"passed": judged.verdict.passed, "findings": findings, "options": judged.options}


def _attribute_document(attribute: AttributeDisclosure, label: str) -> dict[str, Any]:
    return {
        "name": attribute.name,
        "label": label if attribute.other_label is None else attribute.other_label,
        "tables": [asdict(table) for table in attribute.tables],
        "together": asdict(attribute.linked),
        "compared": None if attribute.compared is None else asdict(attribute.compared),
        "given_away": None if attribute.given_away is None else asdict(attribute.given_away),
    }
