"""`aegis independence`: what it writes, says and refuses."""

import csv
import json
import subprocess
import sys
from collections import Counter
from math import log2

import pytest

from tests.provider.independence.example_1 import EXAMPLE_1


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(EXAMPLE_1)
    return path


def hidden(aegis, table, *more):
    asked = ("--hide", "Age,Occupation", "--from", "Income", "--clusters", "3", *more)
    return aegis("independence", table, *asked, *(() if "--output" in more else ("--output", table.parent / "m.csv")))


def information(path, first, second):
    """In bits, by the definition."""
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
    assert lines[1].endswith("m.clusters.csv: what Income is in each cluster")
    assert lines[2] == "exactly independent of the clusters of Income, as the file was checked: Age, Occupation"
    assert "6 of 24 values masked (25.0%), in 4 groups of 3" in lines
    assert "by `best`; no independent table of these clusters has fewer than 6" in lines
    words = [line.split() for line in lines]
    assert ["1", "4", "[4,", "7]"] in words
    assert ["Age,", "Occupation", "Income", "2.054585", "0"] in words


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
        "values": [{"attribute": "Income", "least": "15", "most": "25"}],
    }
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


def test_several_attributes_become_one_column(aegis, table):
    masked = table.parent / "masked.csv"
    code, report, _ = aegis(
        *("independence", table, "--hide", "Age", "--from", "Income,Occupation", "--clusters", 5, "--seed", 7),
        *("--output", masked, "--clusters-output", table.parent / "values.csv", "--solver", "matching"),
    )
    assert code == 0
    assert report.splitlines()[0].endswith("masked.csv: 10 records, 2 dropped by a draw of seed 7")
    assert masked.read_text().splitlines()[0] == "Age,cluster,Food"
    assert (table.parent / "values.csv").read_text().splitlines()[0] == "cluster,Income,Occupation"


def test_a_column_of_too_many_values_is_said_not_to_be_measured(aegis, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,id\n" + "".join(f"{n % 3},{n % 4},{n}\n" for n in range(1500)))
    code, report, _ = aegis(
        "independence", path, "--hide", "a", "--from", "b", "--clusters", 4, "--output", tmp_path / "m.csv"
    )
    assert code == 0
    assert "not measured: too many values (a with id, b with id)" in report


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--clusters", "0"), "--clusters"),
        (("--clusters", "13"), "13 clusters need as many records, and there are 12"),
        (("--hide", "Age,"), "--hide: a name is missing beside a comma"),
        (("--hide", "Income"), "'Income' is named twice"),
        (("--from", "Incom"), "no column 'Incom'; did you mean 'Income'?"),
        (("--solver", "exact"), "exact"),
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


@pytest.mark.parametrize(
    ("library", "message"),
    [
        ("ortools", "is not installed: install the extra, pip install './provider[independence]'"),
        ("aegis_advisor", "is not installed, which `aegis independence` needs: pip install ./advisor ./provider"),
    ],
)
def test_without_its_libraries_it_says_what_to_install_before_it_works(table, library, message):
    block = f"import sys; sys.modules[{library!r}] = None; from aegis_sdk.cli import main; main()"
    asked = ["--hide", "Age", "--from", "Income", "--clusters", "3", "--output", table.parent / "m.csv"]
    run = [sys.executable, "-c", block, "independence", table, *asked]
    ran = subprocess.run(run, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr.startswith(f"aegis: {library}")
    assert ran.stderr.endswith(f"{message}\n")
    assert not (table.parent / "m.csv").exists()
