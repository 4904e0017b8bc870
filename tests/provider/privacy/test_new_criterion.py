"""Every command knows a criterion that has a name in the contract and a record among the criteria."""

import json

import numpy as np
import pytest

from aegis_provider.privacy import CRITERIA, Criterion
from aegis_sdk.cli import main
from aegis_sdk.wire import EXAMPLE_ADVICE, PRIVACY_CRITERIA

RARE = Criterion(
    name="rare",
    word="rarest value",
    meaning="the fewest records that have the rarest sensitive value of a class.",
    axis="rare: records with the rarest sensitive value of a class",
    consequence=lambda reached: f"no value is of fewer than {reached:g} records",
    of_values=lambda classes, cells: np.minimum.reduceat(
        cells.counts, np.searchsorted(cells.classes, np.arange(len(classes)))
    ),
    is_whole=True,
)

PLAN = """
label: sick
attributes:
  age: {maskings: {gone: {suppress: {}}}}
  zip: {maskings: {gone: {suppress: {}}}}
"""


@pytest.fixture(autouse=True)
def rare(monkeypatch):
    monkeypatch.setitem(PRIVACY_CRITERIA, "rare", "higher")
    monkeypatch.setitem(CRITERIA, "rare", RARE)


@pytest.fixture
def aegis(capsys, tmp_path, monkeypatch):
    """Run a command beside a table of seven records and a plan; return its exit code and stdout."""
    monkeypatch.chdir(tmp_path)
    # By age alone two classes, of 4 (one yes) and of 3 (all no).
    (tmp_path / "people.csv").write_text("age,zip,sick\n1,a,yes\n1,a,no\n1,b,no\n1,b,no\n2,a,no\n2,a,no\n2,c,no\n")
    (tmp_path / "plan.yaml").write_text(PLAN)

    def run(*arguments):
        with pytest.raises(SystemExit) as exited:
            main([*map(str, arguments)])
        return exited.value.code, capsys.readouterr().out

    return run


def test_it_is_measured_required_and_reported_as_text_as_json_and_as_a_page(aegis, tmp_path):
    risk = ("risk", "people.csv", "--quasi-identifiers", "age", "--sensitive", "sick")
    code, out = aegis(*risk, "--require", "rare=2", "--html", "risk.html")
    assert (code, out.startswith("FAIL: the table as it is lacks what is required: rare is 1, not 2.")) == (0, True)
    assert ["rare:", "rarest", "value", "1", "2,", "BROKEN"] in [line.split()[:6] for line in out.splitlines()]
    page = (tmp_path / "risk.html").read_text()
    assert "rare: rarest value" in page
    assert "no value is of fewer than 1 records" in page
    assert RARE.meaning in page
    assert aegis(*risk, "--require", "rare=2", "--check")[0] == 1
    measured = json.loads(aegis(*risk, "--json")[1])["as_it_is"]["privacy"]
    assert (list(measured)[-1], measured["rare"]) == ("rare", 1)


@pytest.mark.long
def test_it_is_searched_for_written_to_the_plan_and_to_the_entry_and_drawn(aegis, tmp_path):
    search = ("plan", "configurations", "people.csv", "--plan", "plan.yaml", "--output", "found.yaml", "--json")
    # Some who are alike are one sick and several well, unless the only one who is sick is suppressed.
    code, out = aegis(*search, "--require", "rare=2", "--suppress-at-most", "0.6")
    configurations = json.loads(out)["configurations"]
    assert code == 0
    assert all(each["privacy"]["rare"] >= 2 for each in configurations)
    assert aegis("risk", "people.csv", "--plan", "found.yaml", "--check")[0] == 0

    summarize = (
        "summarize",
        "people.csv",
        "--plan",
        "found.yaml",
        "--name",
        "people",
        "--output",
        "entry.json",
        "--exact",
    )
    assert aegis(*summarize)[0] == 0
    entry = json.loads((tmp_path / "entry.json").read_text())
    assert all("rare" in each["privacy"] for each in entry["configurations"])
    assert "rare" in aegis("entries", "show", "entry.json")[1]

    ranking = [{"configuration": each["id"], "utility": 0.5, "deviation": 0.0} for each in configurations]
    advice = {**EXAMPLE_ADVICE, "configuration": ranking[0]["configuration"], "ranking": ranking}
    (tmp_path / "advice.json").write_text(json.dumps(advice))
    plot = ("disclose", "entry.json", "--advice", "advice.json", "--privacy", "rare", "--plot")
    assert aegis(*plot, "plot.html")[0] == 0
    assert RARE.meaning in (tmp_path / "plot.html").read_text()
