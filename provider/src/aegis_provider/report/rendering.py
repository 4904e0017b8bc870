"""A report as text for a terminal, as Markdown, and as plain HTML: no scripts, no external resources, escaped texts."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Final

from aegis_provider.files import written_whole
from aegis_provider.report.model import Light, Part, Report, Section, Terms, TextTable, Tone, cell_text
from aegis_sdk.charts import rendered, style
from aegis_sdk.charts.drawing import Markup, joined, tag
from aegis_sdk.printable import one_line


def text_lines(report: Report) -> Iterator[str]:
    """Yield the summary, then each section that has more than figures and terms, after an empty line."""
    yield from (line for part in report.summary for line in _plain_part(part))
    for section in report.sections:
        lines = [line for part in section.parts for line in _plain_part(part)]
        if lines:
            yield from ("", f"{section.heading}:", *lines)


def _plain_part(part: Part) -> Iterator[str]:
    if isinstance(part, str):
        yield part
    elif isinstance(part, Light):
        yield f"{part.subject}: {part.tone.upper()}. {part.text}"
    elif isinstance(part, TextTable):
        yield from _plain_table(part)


def _plain_table(table: TextTable) -> Iterator[str]:
    from aegis_sdk.cli.terminal import aligned  # noqa: PLC0415 - pages need no terminal

    columns = len(table.header) - table.wide
    yield from aligned(table.header[:columns], [row[:columns] for row in table.rows[: table.most]])
    if table.most is not None and len(table.rows) > table.most:
        yield f"  and {len(table.rows) - table.most} more"
    if table.caption:
        yield table.caption


_SPECIAL = re.compile(r"([\\`*_\[\]<>|#~])")


def markdown_lines(report: Report) -> Iterator[str]:
    """Yield the lines of the report, without figures and with every text escaped."""
    yield f"# {_escaped(report.title)}"
    for part in report.summary:
        yield from ("", *markdown_part(part))
    for section in report.sections:
        yield from ("", f"## {_escaped(section.heading)}")
        for part in section.parts:
            lines = list(markdown_part(part))
            if lines:
                yield from ("", *lines)


def markdown_part(part: Part) -> Iterator[str]:
    """Yield the lines of a part; none of a figure."""
    if isinstance(part, str):
        yield _escaped(part)
    elif isinstance(part, Light):
        yield f"{_COLOURS[part.tone]} **{_escaped(part.subject)}: {part.tone}.** {_escaped(part.text)}"
    elif isinstance(part, TextTable):
        yield from _markdown_table(part)
    elif isinstance(part, Terms):
        yield from (f"* **{_escaped(term.word)}**: {_escaped(term.meaning)}" for term in part.pairs)


def _markdown_table(table: TextTable) -> Iterator[str]:
    right = [bool(table.rows) and not isinstance(cell, str) for cell in (table.rows or [table.header])[0]]
    yield _markdown_row(table.header)
    yield _markdown_row(["---:" if each else "---" for each in right], raw=True)
    yield from (_markdown_row([cell_text(cell) for cell in row]) for row in table.rows)
    if table.caption:
        yield from ("", f"({_escaped(table.caption)})")


def _markdown_row(cells: Sequence[str], *, raw: bool = False) -> str:
    return f"| {' | '.join(cells if raw else map(_escaped, cells))} |"


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", one_line(text))


_COLOURS: Final[Mapping[Tone, str]] = {
    "fine": "\N{LARGE GREEN CIRCLE}",
    "look": "\N{LARGE YELLOW CIRCLE}",
    "stop": "\N{LARGE RED CIRCLE}",
}
_SHORT: Final = 12
_BREAK: Final = Markup("\n")
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_STYLE: Final = """
:root { color-scheme: light dark; }
body { background: var(--chart-surface); color: var(--chart-ink); font: 16px/1.5 system-ui, sans-serif; }
body { margin: 2rem auto; max-width: 56rem; padding: 0 1rem; }
h1 { font-size: 1.6rem; line-height: 1.25; }
h2 { border-top: 1px solid var(--chart-grid); font-size: 1.2rem; margin-top: 2.2rem; padding-top: .8rem; }
h1, h2, p, td, dt, dd { overflow-wrap: anywhere; }
table { border-collapse: collapse; font-size: .875rem; margin: 1rem 0; width: 100%; }
caption { color: var(--chart-soft); padding-bottom: .3rem; text-align: left; }
th, td { border-bottom: 1px solid var(--chart-grid); padding: .25rem .6rem .25rem 0; text-align: left; }
th, td { vertical-align: top; }
.number, .short { white-space: nowrap; }
.number { font-variant-numeric: tabular-nums; text-align: right; }
dt { font-weight: 600; margin-top: .6rem; }
dd { margin: 0 0 0 1.2rem; }
.chart { margin: 1.2rem 0; }
.light { border-left: .6rem solid; margin: .6rem 0; padding: .2rem 0 .2rem .8rem; }
.fine { border-color: #00875f; }
.look { border-color: #d99a00; }
.stop { border-color: #d02b2b; }
summary { border-top: 1px solid var(--chart-grid); cursor: pointer; padding: .6rem 0; }
summary h2 { border: 0; display: inline; margin: 0; padding: 0; }
@media print {
  body { font-size: 10pt; margin: 0; max-width: none; padding: 0; }
  h2 { break-after: avoid; }
  figure, tr, dt { break-inside: avoid; }
  thead { display: table-header-group; }
  details::details-content { content-visibility: visible; }
}
"""


def write_page(path: Path, report: Report) -> None:
    """Write the report as one HTML file, whole or not at all.

    Raises:
        OutputError: The file cannot be written.
    """
    with written_whole(path) as part:
        part.write_text(render_page(report), encoding="utf-8")


def render_page(report: Report) -> str:
    """Return the page as one self-contained HTML document in UTF-8; fractions have up to four significant digits."""
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        Markup(f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'),
        tag("title", report.title),
        Markup(f"<style>{style()}{_STYLE}</style>"),
    )
    return f"<!DOCTYPE html>\n{tag('html', head, tag('body', render_fragment(report)), lang='en')}\n"


def render_fragment(report: Report) -> Markup:
    """Return the body of the page, which needs the style sheet of charts."""
    numbers = count(1)
    summary = (_part(part, numbers) for part in report.summary)
    first = tag("section", tag("h2", "At a glance"), *summary) if report.summary else None
    return joined(tag("h1", report.title), _BREAK, first, *(_section(each, numbers) for each in report.sections))


def _section(section: Section, numbers: Iterator[int]) -> Markup:
    heading, parts = tag("h2", section.heading), [_part(part, numbers) for part in section.parts]
    if section.folded:
        return tag("section", tag("details", tag("summary", heading), _BREAK, *parts))
    return tag("section", heading, _BREAK, *parts)


def _part(part: Part, numbers: Iterator[int]) -> Markup:
    if isinstance(part, str):
        return tag("p", part)
    if isinstance(part, Light):
        said = tag("strong", f"{part.subject}: {part.tone}."), " ", part.text
        return tag("p", *said, class_=f"light {part.tone}")
    if isinstance(part, TextTable):
        return _table(part)
    if isinstance(part, Terms):
        return tag("dl", *(joined(tag("dt", word), tag("dd", meaning)) for word, meaning in part.pairs))
    # A page may have several charts, whose ids must differ.
    return rendered(replace(part, id=f"chart-{next(numbers)}"))


def _table(table: TextTable) -> Markup:
    first = table.rows[0] if table.rows else table.header
    heads = (
        tag("th", name, scope="col", class_=None if isinstance(cell, str) else "number")
        for name, cell in zip(table.header, first, strict=True)
    )
    rows = (tag("tr", *map(_cell, row)) for row in table.rows)
    caption = tag("caption", table.caption) if table.caption else None
    return tag("table", caption, tag("thead", tag("tr", *heads)), tag("tbody", *(joined(row, _BREAK) for row in rows)))


def _cell(cell: str | float) -> Markup:
    is_short = isinstance(cell, str) and len(cell) < _SHORT
    return tag("td", cell_text(cell), class_="short" if is_short else None if isinstance(cell, str) else "number")
