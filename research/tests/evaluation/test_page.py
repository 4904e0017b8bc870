"""The page of the evaluation: its short form from end to end."""

import csv
import hashlib
import re
import subprocess
import sys
from collections import Counter
from itertools import product

import numpy as np
import pytest

from docs.generate import ROOT
from research.evaluation.__main__ import evaluate
from research.evaluation.sections import costs, tables
from research.report import Section, figure_of, table, write

pytestmark = pytest.mark.long


def test_figures_have_no_negative_zero():
    assert figure_of(-0.00001) == "0.0000"
    assert figure_of(-0.25, 2) == "-0.25"


def test_figures_of_arrays_are_rounded_as_numpy_does():
    numbers = np.arange(1, 1000, 2) / 2000  # each halfway between two figures
    assert [figure_of(number, 3) for number in numbers] == [f"{number:.3f}" for number in np.round(numbers, 3)]


def test_a_page_has_what_its_sections_found_first(tmp_path):
    page = tmp_path / "evaluation.md"
    sections = [
        Section("One", table(["a", "b", "c"], [["x", "-1", "y"]]), findings=["Found."], shown="Shown."),
        Section("Two", "Text."),
    ]
    write(page, "# Title", sections)
    assert page.read_text().split("\n\n") == [
        *("# Title", "## Results", "* Found.", "Shown.", "## One"),
        "| a | b | c |\n| --- | ---: | --- |\n| x | -1 | y |",
        *("## Two", "Text.\n"),
    ]


def test_a_long_table_is_a_file_beside_the_page(tmp_path):
    page, long = tmp_path / "page.md", [[str(number), "x, y"] for number in range(9)]
    write(page, "# Title", [Section("One", f"{table(['a', 'b'], long[:8])}\n\n{table(['a', 'b'], long)}\n\nEnd.")])
    text = page.read_text()
    assert table(["a", "b"], long[:8]) in text
    assert text.endswith("\n\n[A table of 9 rows](evaluation/page-1.csv)\n\nEnd.\n")
    with (tmp_path / "evaluation" / "page-1.csv").open(newline="") as file:
        assert list(csv.reader(file)) == [["a", "b"], *long]


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Run the short form twice: here, and in a separate process, where text has other hashes."""
    folders = [tmp_path_factory.mktemp(name) for name in ("here", "there")]
    command = [sys.executable, "-W", "error", "-m", "research.evaluation", "--short", "--output"]
    there = subprocess.Popen([*command, folders[1] / "evaluation.md"], cwd=ROOT, stderr=subprocess.PIPE)
    evaluate(folders[0] / "evaluation.md", short=True)
    _, said = there.communicate()
    assert there.returncode == 0, said.decode()
    return folders


def lasting(path):
    """Return the content that does not depend on how long anything took."""
    if path.suffix != ".md":
        return path.read_bytes()
    text = re.sub(rf"\n\* {re.escape(costs.ONE_RUN)}.*", "", path.read_text(encoding="utf-8"))
    return re.sub(r"\n## What it costs to choose\n.*?(?=\n## )", "", text, flags=re.DOTALL).encode()


def test_the_short_form_writes_the_same_twice(pages):
    digests = [
        {
            str(path.relative_to(folder)): hashlib.sha256(lasting(path)).hexdigest()
            for path in folder.rglob("*")
            if path.is_file() and path.name != costs.FIGURE
        }
        for folder in pages
    ]
    assert digests[0] == digests[1]
    assert {"evaluation.md", "evaluation/losses.svg", "evaluation/spearman.svg"} <= set(digests[0])


def test_every_plot_is_shown_and_every_entrant_listed(pages, by_id):
    text = (pages[0] / "evaluation.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"\]\(evaluation/(\S+\.svg)\)", text))
    assert shown == {path.name for path in (pages[0] / "evaluation").glob("*.svg")}
    linked = set(re.findall(r"\]\(evaluation/(\S+\.csv)\)", text))
    assert linked == {path.name for path in (pages[0] / "evaluation").glob("*.csv")}
    with (pages[0] / "evaluation" / tables.EVERY_TABLE).open(encoding="utf-8", newline="") as file:
        rankers = Counter((row["table"], row["ranker"]) for row in csv.DictReader(file))
    titles = {entrant.title for entrant in by_id.values()}
    assert rankers == Counter(product({table for table, _ in rankers}, titles))
    assert len(rankers) == 3 * len(titles)
    assert "nan" not in text.replace("finance", "")
    assert text.split("\n\n")[1].startswith("**This is the short form (3 tables, 2 splits)")
    assert "the same shares of the classes,\n2 times.\nAll configurations" in text


def test_plots_are_drawn_with_paths_and_no_date(pages):
    for path in (pages[0] / "evaluation").glob("*.svg"):
        text = path.read_text(encoding="utf-8")
        assert "<path" in text
        assert "<text" not in text
        assert "dc:date" not in text
