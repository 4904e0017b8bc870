"""A report as Markdown."""

import re
from collections.abc import Iterator, Sequence

from aegis_provider.report.model import Part, Report, Terms, TextTable, cell_text
from aegis_sdk.printable import one_line

_SPECIAL = re.compile(r"([\\`*_\[\]<>|#~])")


def markdown_lines(report: Report) -> Iterator[str]:
    """Yield the lines of the report, without figures and with every text escaped."""
    yield f"# {_escaped(report.title)}"
    for sentence in report.summary:
        yield from ("", _escaped(sentence))
    for section in report.sections:
        yield from ("", f"## {_escaped(section.heading)}")
        for part in section.parts:
            lines = list(_part_lines(part))
            if lines:
                yield from ("", *lines)


def _part_lines(part: Part) -> Iterator[str]:
    if isinstance(part, str):
        yield _escaped(part)
    elif isinstance(part, TextTable):
        yield from _table_lines(part)
    elif isinstance(part, Terms):
        yield from (f"* **{_escaped(term.word)}**: {_escaped(term.meaning)}" for term in part.pairs)


def _table_lines(table: TextTable) -> Iterator[str]:
    right = [bool(table.rows) and not isinstance(cell, str) for cell in (table.rows or [table.header])[0]]
    yield _row(table.header)
    yield _row(["---:" if each else "---" for each in right], raw=True)
    yield from (_row([cell_text(cell) for cell in row]) for row in table.rows)
    if table.caption:
        yield from ("", f"({_escaped(table.caption)})")


def _row(cells: Sequence[str], *, raw: bool = False) -> str:
    return f"| {' | '.join(cells if raw else map(_escaped, cells))} |"


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", one_line(text))
