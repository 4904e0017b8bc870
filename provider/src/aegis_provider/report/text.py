"""A report as text for a terminal, without figures and long explanations."""

from collections.abc import Iterator

from aegis_provider.report.model import Part, Report, TextTable
from aegis_sdk.cli.terminal import aligned


def text_lines(report: Report) -> Iterator[str]:
    """Yield the summary, then each section that has more than figures and terms, after an empty line."""
    yield from report.summary
    for section in report.sections:
        lines = [line for part in section.parts for line in _part_lines(part)]
        if lines:
            yield from ("", f"{section.heading}:", *lines)


def _part_lines(part: Part) -> Iterator[str]:
    if isinstance(part, str):
        yield part
    elif isinstance(part, TextTable):
        yield from _table_lines(part)


def _table_lines(table: TextTable) -> Iterator[str]:
    columns = len(table.header) - table.wide
    yield from aligned(table.header[:columns], [row[:columns] for row in table.rows[: table.most]])
    if table.most is not None and len(table.rows) > table.most:
        yield f"  and {len(table.rows) - table.most} more"
    if table.caption:
        yield table.caption
