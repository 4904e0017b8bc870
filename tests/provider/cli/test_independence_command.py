"""`aegis independence`: what it writes, prints and rejects."""

import csv
import json
import subprocess
import sys
from collections import Counter
from math import log2
from pathlib import Path

import pytest

from tests.for_each import for_each
from tests.provider.independence.example_1 import EXAMPLE_1

HEALTH = Path(__file__).parents[3] / "examples" / "health"


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(EXAMPLE_1)
    return path


def hidden(aegis, table, *more):
    asked = (
        "--hide",
        "Age,Occupation",
        "--from",
        "Income",
        "--clusters",
        "3",
        "--keep",
        "Food",
        "--ordered",
        "Income",
        *more,
    )
    return aegis("independence", table, *asked, *(() if "--output" in more else ("--output", table.parent / "m.csv")))


def information(path, first, second):
    """Return the mutual information in bits, by its definition."""
    with path.open(newline="") as file:
        pairs = [(tuple(row[name] for name in first), row[second]) for row in csv.DictReader(file)]
    both, ones, others = (Counter(each) for each in (pairs, [one for one, _ in pairs], [other for _, other in pairs]))
    n = len(pairs)
    return sum(k / n * log2(k * n / (ones[one] * others[other])) for (one, other), k in both.items())


def test_it_says_what_was_masked_and_what_it_cost(aegis, table):
    code, report, complaint = hidden(aegis, table)
    assert (code, complaint) == (0, "")
    lines = report.splitlines()
    assert lines[0].endswith("m.csv: 12 records")
    assert lines[1].endswith("m.clusters.csv: what each cluster holds, without exact values, of Income")
    assert lines[2] == "exactly independent of the clusters of Income, as checked in the file: Age, Occupation"
    assert "6 of 24 values masked (25 %), in 4 groups of 3" in lines
    assert "found by `best`; with these clusters, at least 6 must be masked" in lines
    words = [line.split() for line in lines]
    assert ["1", "4", "3", "values"] in words
    assert ["Age,", "Occupation", "Income", "2.054585", "0"] in words
    meaning = "mutual information in bits: how much each side tells about the other; 0 means nothing"
    assert meaning in lines


def test_formulas_in_the_masked_table_are_told_of(aegis, table):
    food = next(csv.DictReader(EXAMPLE_1.splitlines()))["Food"]
    many = sum(row["Food"] == food for row in csv.DictReader(EXAMPLE_1.splitlines()))
    table.write_text(EXAMPLE_1.replace(food, f"={food}"))
    code, _, said = hidden(aegis, table)
    cells = f"{many} cell{'s' * (many > 1)}"
    assert (code, said) == (0, f"aegis: warning: a spreadsheet would run {cells} ({many} in Food) as formulas\n")


def test_its_json_has_the_same_and_the_information_is_right(aegis, table):
    code, report, _ = hidden(aegis, table, "--json")
    printed = json.loads(report)
    assert code == 0
    sizes = [printed[name] for name in ("stars", "lower_bound", "values", "records", "groups")]
    assert sizes == [6, 6, 24, 12, 4]
    assert sum(printed["stars_by_attribute"].values()) == 6
    assert printed["clusters"][2] == {
        "number": 3,
        "records": 4,
        "values": [{"attribute": "Income", "distinct": 4}],
    }
    assert not printed["exact_values"]
    masked = table.parent / "m.csv"
    by_pair = {
        (*each["attributes"], *each["with"], each["in_clusters"]): each for each in printed["mutual_information"]
    }
    joint = by_pair["Age", "Occupation", "Income", False]
    assert joint["before"] == pytest.approx(information(table, ["Age", "Occupation"], "Income"))
    assert joint["after"] == 0 == information(masked, ["Age", "Occupation"], "Income")
    assert joint["before"] > by_pair["Age", "Occupation", "Income", True]["before"] > 0
    for name in ("Age", "Occupation", "Income"):
        pair = by_pair[name, "Food", False]
        assert pair["before"] == pytest.approx(information(table, [name], "Food"))
        assert pair["after"] == pytest.approx(information(masked, [name], "Food"))
    assert len(by_pair) == 5


def test_exact_values_are_printed_and_written_where_they_are_asked_for(aegis, table):
    code, report, _ = hidden(aegis, table, "--exact-values")
    lines = report.splitlines()
    assert code == 0
    assert lines[1].endswith("m.clusters.csv: the exact values of Income")
    assert ["1", "4", "[4,", "7]"] in [line.split() for line in lines]
    assert "1,4\n" in (table.parent / "m.clusters.csv").read_text()
    _, report, _ = hidden(aegis, table, "--exact-values", "--json")
    extent = {"attribute": "Income", "least": "15", "most": "25"}
    assert json.loads(report)["clusters"][2]["values"] == [extent]


def test_by_default_no_value_is_printed_or_written(aegis, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,y\n" + "".join(f"{n % 2},{1042 + 7 * n},{n % 2}\n" for n in range(20)))
    asked = ("--hide", "a", "--from", "b", "--ordered", "b", "--clusters", 2, "--keep", "y")
    for more in ((), ("--json",)):
        _, report, _ = aegis("independence", path, *asked, "--output", tmp_path / "m.csv", *more)
        told = report.replace(str(tmp_path), "") + (tmp_path / "m.clusters.csv").read_text()
        assert [1042 + 7 * n for n in range(20) if str(1042 + 7 * n) in told] == []
        assert "1108.5" in told


def test_what_must_stay_has_to_be_said(aegis, table):
    asked = ("--hide", "Age", "--from", "Income", "--clusters", "3", "--output", table.parent / "m.csv")
    code, output, complaint = aegis("independence", table, *asked)
    assert (code, output, complaint.count("\n")) == (2, "", 1)
    assert "name the columns to keep: give --plan with a label, or --keep NAME,NAME" in complaint
    assert aegis("independence", table, *asked, "--keep", "")[0] == 0


def test_the_label_of_the_plan_is_never_replaced(aegis, tmp_path):
    asked = ("--hide", "visits", "--from", "health", "--clusters", 4, "--output", tmp_path / "m.csv")
    code, output, complaint = aegis("independence", HEALTH / "health.csv", *asked, "--plan", HEALTH / "start.yaml")
    assert (code, output) == (2, "")
    assert complaint == (
        "aegis: 'health' is the label of start.yaml; it cannot be hidden, and nothing can be hidden from it\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_several_attributes_become_one_column(aegis, table):
    masked = table.parent / "masked.csv"
    code, report, _ = aegis(
        *("independence", table, "--hide", "Age", "--from", "Income,Occupation", "--clusters", 5, "--seed", 7),
        *("--keep", "Food", "--exact-values"),
        *("--output", masked),
    )
    assert code == 0
    assert report.splitlines()[0].endswith("masked.csv: 10 records, 2 dropped at random (seed 7)")
    assert masked.read_text().splitlines()[0] == "Age,cluster,Food"
    assert (table.parent / "masked.clusters.csv").read_text().splitlines()[0] == "cluster,Income,Occupation"


def test_a_column_of_too_many_values_is_said_not_to_be_measured(aegis, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,id\n" + "".join(f"{n % 3},{n % 4},{n}\n" for n in range(1500)))
    code, report, _ = aegis(
        *("independence", path, "--hide", "a", "--from", "b", "--clusters", 4, "--output", tmp_path / "m.csv"),
        *("--keep", "id", "--accept-identifiers"),
    )
    assert code == 0
    lines = [line.split() for line in report.splitlines()]
    assert "  not measured, because there are too many values: a with id, b with id" in report.splitlines()
    assert "id has other identifiers, shared because that was accepted" in report.splitlines()
    assert [line for line in lines if "-" in line or "-," in line] == []


def test_what_was_measured_on_one_side_only_says_so_on_the_other(aegis, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,y\n" + "".join(f"{n % 3},{n},{n % 5}\n" for n in range(1500)))
    asked = ("--hide", "a", "--from", "b", "--ordered", "b", "--clusters", 4, "--keep", "y")
    _, report, _ = aegis("independence", path, *asked, "--output", tmp_path / "m.csv")
    lines = [line.split() for line in report.splitlines()]
    assert [line[:4] for line in lines if line[:2] == ["b", "y"]] == [["b", "y", "not", "measured"]]
    assert [line for line in lines if "-" in line or "-," in line] == []


@for_each(
    ("more", "message"),
    [
        (("--clusters", "0"), "--clusters"),
        (("--clusters", "13"), "13 clusters need at least as many records, but there are 12"),
        (("--hide", "Age,"), "--hide: empty name in"),
        (("--hide", "Income"), "'Income' is named twice"),
        (("--keep", "Income"), "'Income' is to be kept"),
        (("--ordered", "Food"), "'Food' is named as ordered, but nothing is hidden from it"),
        (("--plan", "none.yaml"), "none.yaml"),
        (("--from", "Incom", "--ordered", "Incom"), "no column 'Incom'; did you mean 'Income'?"),
        (("--delimiter", ";"), "--delimiter"),
        (("--output", "."), ".: is a directory; name a file in it"),
        (("--output", "/"), "/: is a directory; name a file in it"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_written(aegis, table, more, message):
    code, output, complaint = hidden(aegis, table, *more)
    assert (code, output, complaint.count("\n")) == (2, "", 1)
    assert message in complaint
    assert [path.name for path in table.parent.iterdir()] == ["people.csv"]


def test_the_table_itself_is_never_written_over(aegis, table):
    code, _, complaint = hidden(aegis, table, "--output", table)
    assert (code, complaint.count("\n")) == (2, 1)
    assert table.read_text() == EXAMPLE_1


@pytest.mark.long
@for_each(
    ("library", "message"),
    [
        (
            "ortools",
            "is not installed: install 'aegis-masking-provider[independence]' from where you got Aegis",
        ),
        (
            "aegis_advisor",
            "but `aegis independence` needs it: install 'aegis-masking[provider]' from where you got Aegis",
        ),
    ],
)
def test_without_its_libraries_it_says_what_to_install_before_it_works(table, library, message):
    block = f"import sys; sys.modules[{library!r}] = None; from aegis_sdk.cli import main; main()"
    asked = ["--hide", "Age", "--from", "Income", "--clusters", "3", "--keep", "", "--output", table.parent / "m.csv"]
    run = [sys.executable, "-c", block, "independence", table, *asked]
    ran = subprocess.run(run, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr.startswith(f"aegis: {library}")
    assert ran.stderr.endswith(f"{message}\n")
    assert not (table.parent / "m.csv").exists()
