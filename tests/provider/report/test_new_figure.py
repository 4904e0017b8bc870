"""The command draws any figure that has a record in the registry, as an image and on the page."""

import json
import subprocess
import sys

import pytest

from aegis_provider.report.figures import FIGURES
from aegis_sdk.wire import EXAMPLE_ENTRY

WITHOUT_ADVICE = [name for name, figure in FIGURES.items() if not figure.needs_advice]

REGISTERED = """
from aegis_provider.report.figures import FIGURES, EntryFigure
from aegis_sdk.charts import category_bars


def histogram(subject):
    label = subject.entry.label
    return category_bars("labels", "Records by label value", list(zip(label.domain, label.histogram, strict=True)))


def words(subject):
    yield "So many records have each label value."


FIGURES["labels"] = EntryFigure("labels", "How many records have which label", histogram, words)
from aegis_sdk.cli import main
main()
"""


@pytest.fixture
def plot(tmp_path):
    """Run `aegis disclose --plot` with one more figure; return its exit code, stdout and stderr."""
    (tmp_path / "entry.json").write_text(json.dumps(EXAMPLE_ENTRY))

    def run(*arguments):
        command = [sys.executable, "-c", REGISTERED, "disclose", "entry.json", *arguments]
        ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        return ran.returncode, ran.stdout, ran.stderr

    return run


@pytest.mark.long
def test_it_is_drawn_as_an_image_by_its_name(plot, tmp_path):
    code, out, error = plot("--figure", "labels", "--plot", "p.svg", "--json")
    assert (code, error, json.loads(out)["figures"]) == (0, "", ["labels"])
    assert "Records by label value" in (tmp_path / "p.svg").read_text(encoding="utf-8")
    assert plot("--figure", "label", "--plot", "p.svg")[0] == 2


@pytest.mark.long
def test_it_has_a_section_on_the_page(plot, tmp_path):
    code, out, error = plot("--plot", "p.html", "--json")
    assert (code, error, json.loads(out)["figures"]) == (0, "", [*WITHOUT_ADVICE, "labels"])
    page = (tmp_path / "p.html").read_text()
    assert "<h2>How many records have which label</h2>" in page
    assert "Records by label value" in page
    assert page.count("<figure") == len(WITHOUT_ADVICE) + 1


@pytest.mark.long
def test_who_names_no_figure_is_told_all_of_them(plot):
    assert f"{', '.join(FIGURES)}, labels, not 'pie'" in plot("--figure", "pie", "--plot", "p.svg")[2]
