"""Reports as Markdown: every part has its form, and no text of a table becomes markup."""

from aegis_provider.report.model import Report, Section, Term, Terms, TextTable
from aegis_provider.report.rendering import markdown_lines
from aegis_sdk.charts import BAD, Axis, Lengths, SeriesBars
from aegis_sdk.reading import Share


def test_every_part_has_its_form():
    table = TextTable(("value", "share"), [("a", Share(0.5)), ("b", 1234)], "below")
    terms = Terms([Term("k", "the smallest class")])
    figure = SeriesBars("Kept", Axis("share", "share"), ["a"], [Lengths("kept", BAD, [1.0])])
    lines = list(markdown_lines(Report("Title", ["Summary."], [Section("Part", ["Words.", table, terms, figure])])))
    assert lines == [
        "# Title",
        "",
        "Summary.",
        "",
        "## Part",
        "",
        "Words.",
        "",
        "| value | share |",
        "| --- | ---: |",
        "| a | 50 % |",
        "| b | 1,234 |",
        "",
        "(below)",
        "",
        "* **k**: the smallest class",
    ]


def test_hostile_texts_stay_texts():
    name = "<script>|[a](b) *x* _y_ `z`\n# title"
    lines = list(markdown_lines(Report(name, [name], [Section(name, [TextTable(("a",), [(name,)])])])))
    assert not any("\n" in line for line in lines)
    assert "\\<script\\>\\|\\[a\\](b) \\*x\\* \\_y\\_ \\`z\\`" in lines[0]
    assert [line.replace("\\|", "").count("|") for line in lines if line.startswith("|")] == [2, 2, 2]
