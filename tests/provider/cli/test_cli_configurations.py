"""`aegis plan configurations`, and the commands that use the plan it writes."""

import csv
import json
import signal
from collections import Counter, defaultdict
from contextlib import contextmanager
from pathlib import Path

import pytest

from aegis_provider import load_plan
from aegis_provider.counting import published_domain, unmasked_trace
from tests.for_each import for_each
from tests.provider.report.html_page import Reader

EXAMPLE = Path(__file__).parents[3] / "examples" / "health"
TABLE, PLAN = EXAMPLE / "health.csv", EXAMPLE / "plan.yaml"
REQUIRED = ("--require", "k=5", "--require", "l=2", "--suppress-at-most", "0.01")


@pytest.fixture
def small(tmp_path, monkeypatch):
    """A table and a plan without configurations; its rare values count by themselves."""
    monkeypatch.setattr(published_domain, "least_records", lambda _records, _rows=1: 1)
    monkeypatch.setattr(unmasked_trace, "LEAST", 1)
    table, plan = tmp_path / "t.csv", tmp_path / "plan.yaml"
    table.write_text("a,y\n1,n\n1,n\n2,m\n2,m\n3,n\n", encoding="utf-8")
    plan.write_text("label: y\nattributes: {a: {maskings: {any: {bucketize: {width: 4}}}}}\n", encoding="utf-8")
    return table, "--plan", plan, "--output", tmp_path / "found.yaml"


def test_what_is_kept_costs_and_is_in_the_plan_that_is_written(aegis, small):
    table, *options = small
    how = ("plan", "configurations", table, *options, "--require", "k=2")
    assert aegis(*how, "--suppress-at-most", "0.2", "--keep", "a")[1].count("keeping a costs") == 1
    written = options[-1].read_text()
    assert "keep: [a]\n" in written
    assert "drop" not in written
    code, out, _ = aegis(*how, "--suppress-at-most", "0.2", "--keep", "a=any", "--json")
    document = json.loads(out)
    assert (code, set(document["limits"])) == (0, {"limits", "kept", "without", "proven"})
    assert document["limits"]["kept"] == document["frontier"][0]["share"] <= document["limits"]["without"]
    assert load_plan(options[-1]).attributes[0].limits.coarsest == "any"
    code, _, error = aegis(*how, "--keep", "a=identity")
    assert code == 1
    assert "with a kept, k=2 and at most 0 % left out cannot hold together; " in error


@for_each(
    ("options", "why"),
    [
        (("--keep", "b"), "keep: unknown attribute 'b'"),
        (("--keep", "a="), "--keep: expected NAME or NAME=MASKING, not 'a='"),
        (("--keep", "a", "--keep", "a=any"), "--keep: 'a' appears twice"),
        (("--weights", "b=2"), "weights: unknown attribute 'b'"),
    ],
)
def test_what_cannot_be_kept_is_an_error_of_one_line(aegis, small, options, why):
    code, out, error = aegis("plan", "configurations", *small, "--require", "k=2", *options)
    assert (code > 0, out, error.count("\n")) == (True, "", 1)
    assert why in error


@pytest.mark.long
def test_the_health_example_from_requirement_to_masked_table(aegis, tmp_path):
    found, entry, masked = (tmp_path / name for name in ("found.yaml", "entry.json", "masked.csv"))
    code, out, error = aegis(
        "plan", "configurations", TABLE, "--plan", PLAN, *REQUIRED, "--most", 40, "--output", found
    )
    assert (code, error) == (0, "")
    lines = out.splitlines()
    assert lines[0] == f"{found}: 40 configurations"
    assert " alone on all shared columns" in lines[1]
    assert lines[2].startswith("84,672 combinations of maskings, ")
    assert lines[3].startswith("utility: joint, relative to the unmasked attributes, about health ")
    assert lines[5].split() == ["configuration", "k", "l", "suppressed", "utility", "in", "words"]
    assert lines[6].split()[4:6] == ["70.7", "%"]
    assert lines[-3:] == ["  and 30 more", "", "No combination keeps more."]
    assert "c58" not in found.read_text(encoding="utf-8")

    assert aegis("summarize", TABLE, "--plan", found, "--name", "health", "--output", entry)[0] == 0
    published = json.loads(entry.read_text(encoding="utf-8"))["configurations"]
    assert len(published) == 40
    first = published[0]
    assert first["privacy"]["k"] >= 5

    assert aegis("apply", TABLE, "--stays", "--plan", found, "--configuration", first["id"], "--output", masked)[0] == 0
    with TABLE.open(encoding="utf-8", newline="") as file:
        records = sum(1 for _ in csv.DictReader(file))
    with masked.open(encoding="utf-8", newline="") as file:
        released = list(csv.DictReader(file))
    labels = defaultdict(Counter)
    for record in released:
        labels[tuple(value for name, value in record.items() if name != "health")][record["health"]] += 1
    keeps = {key: each for key, each in labels.items() if each.total() >= 5 and len(each) >= 2}
    assert min(each.total() for each in keeps.values()) // 5 * 5 == first["privacy"]["k"]  # published by the base
    assert min(len(each) for each in keeps.values()) == first["privacy"]["l"]
    assert records - sum(each.total() for each in keeps.values()) == load_plan(found).configurations[0].suppressed


def test_json(aegis, small):
    code, out, error = aegis("plan", "configurations", *small, "--require", "k=2", "--json")
    assert (code, error) == (0, "")
    assert json.loads(out) == {
        "output": str(small[-1]),
        "not_searched": {},
        "records": 5,
        "combinations": 2,
        "evaluated": 3,
        "complete": True,
        "interrupted": False,
        "cut": "",
        "limits": None,
        "measure": "joint",
        "unmasked_utility": pytest.approx(1),
        "ignored": {},
        "frontier": [
            {
                "require": {"k": 2},
                "suppress_at_most": 0.0,
                "configuration": "c0001",
                "privacy": {"k": 5, "l": 2},
                "suppressed": 0,
                "utility": 0.0,
                "share": 0.0,
                "minimal": 1,
                "complete": True,
                "unmet": "",
                "at_most_more": 0.0,
            }
        ],
        "configurations": [
            {
                "id": "c0001",
                "about": "a as one value",
                "maskings": {"a": "any"},
                "privacy": {"k": 5, "l": 2},
                "suppressed": 0,
                "alone": 0.0,
                "utility": 0.0,
                "share": 0.0,
            }
        ],
        "alone": {
            "share": 0.0,
            "most": 0.0,
            "worst": "c0001",
            "shared": 1,
            "as_they_are": 0,
            "quasi_identifiers": None,
        },
    }


def test_a_share_of_the_records_may_be_left_out(aegis, small):
    code, out, _ = aegis("plan", "configurations", *small, "--require", "k=2", "--suppress-at-most", "0.2", "--json")
    [only] = json.loads(out)["configurations"]
    assert code == 0
    assert only == {
        "id": "c0001",
        "about": "a as it is",
        "maskings": {"a": "identity"},
        "privacy": {"k": 2, "l": 1},
        "suppressed": 1,
        "alone": 0.0,
        "utility": pytest.approx(1.0),
        "share": 1.0,
    }
    assert small[-1].read_text(encoding="utf-8").endswith("suppressed:\n  c0001: 1\n")


def test_several_requirements_make_a_frontier(aegis, small):
    code, out, error = aegis("plan", "configurations", *small, "--require", "k=2, 6", "--suppress-at-most", "0,0.2")
    assert (code, error) == (0, "")
    assert out.splitlines()[5:10] == [
        "  required  suppressed at most  best   k  l  suppressed  utility",
        "  k=2       0                   c0002  5  2  0           0 %      no combination keeps more",
        "  k=2       0.2                 c0001  2  1  1           100 %    no combination keeps more",
        "  k=6       0                   none                              no combination meets it",
        "  k=6       0.2                 none                              no combination meets it",
    ]
    assert out.splitlines()[-2:] == [
        "k=6 and at most 0 % left out cannot hold together; only k can give way: k=5 holds with 0 %",
        "k=6 and at most 20 % left out cannot hold together; only k can give way: k=5 holds with 0 %",
    ]
    _, out, _ = aegis("plan", "configurations", *small, "--require", "k=2,6", "--require", "l=1,2", "--json")
    required = [each["require"] for each in json.loads(out)["frontier"]]
    assert required == [{"k": k, "l": distinct} for k in (2, 6) for distinct in (1, 2)]


def test_the_page_has_a_line_for_each_share_left_out(aegis, small, tmp_path):
    page = tmp_path / "frontier.html"
    required = ("--require", "k=2,6", "--suppress-at-most", "0,0.2", "--html", page)
    assert aegis("plan", "configurations", *small, *required)[0] == 0
    read = Reader(page.read_text(encoding="utf-8"))
    assert read.elements["figure"] == 1
    for text in ("k = 2", "k = 6", "at most 0 % of the records left out", "at most 20 % of the records left out"):
        assert text in read.texts
    cells = [cell for cell in read.texts if cell in ("c0001", "c0002", "no combination meets it")]
    assert cells == ["c0002", "c0001", "no combination meets it", "no combination meets it"]


@for_each(
    ("options", "code", "message"),
    [
        (["--require", "k=2", "--html", "no/page.html"], 2, "there is no directory"),
        ([], 2, "nothing is required; require k=5, for example"),
        (
            ["--require", "k=6"],
            1,
            "plan.yaml: no configuration meets k=6, at most 0 of the records suppressed; with the coarsest masking",
        ),
        (["--require", "k=5", "--suppress-at-most", "1"], 2, "at least 0 and below 1, not 1.0"),
        (["--require", "epsilon=1"], 2, "'epsilon' cannot be required of a table"),
        (["--require", "k=2", "--most", "0"], 2, "--most"),
        (["--require", "k=2,"], 2, "--require must be NAME=NUMBER, for example k=5, not 'k='"),
        (["--require", "k=2", "--require", "k=3,4"], 2, "k has two values, 2 and 3"),
        (["--require", "k=2", "--suppress-at-most", "0,few"], 2, "--suppress-at-most must be a share such as 0.01"),
        (["--require", "k=2", "--measure", "g3"], 2, "the search does not support the measure 'g3'"),
        (
            ["--require", "k=6,7"],
            1,
            "no configuration meets k=6, at most 0 of the records suppressed, nor any of the 1",
        ),
    ],
)
def test_a_line_says_why_there_is_no_plan(aegis, small, options, code, message):
    exit_code, out, error = aegis("plan", "configurations", *small, *options)
    assert (exit_code, out) == (code, "")
    assert error.startswith("aegis: ")
    assert error.count("\n") == 1
    assert message in error
    assert not small[-1].exists()


def test_the_plan_is_not_overwritten(aegis, small):
    code, _, error = aegis("plan", "configurations", *small[:-1], small[2], "--require", "k=2")
    assert code == 2
    assert "choose another output" in error


def test_other_commands_say_where_configurations_come_from(aegis, small):
    code, _, error = aegis("summarize", *small[:-1], small[-1], "--name", "n")
    assert code == 2
    assert "plan.yaml: `configurations` is missing; `aegis plan configurations` finds some" in error
    small[-1].with_name("configurations.yaml").touch()
    _, _, error = aegis("summarize", *small, "--name", "n")
    assert "`configurations` is missing; use the configurations.yaml that `aegis release` wrote" in error


def test_ctrl_c_ends_the_search_and_not_the_command(aegis, tmp_path, monkeypatch):
    @contextmanager
    def interrupting(_task):
        calls = iter(range(10**9))
        yield lambda _done, _all: next(calls) == 3 and signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("aegis_provider.cli.configurations.progress_bar", interrupting)
    plan, found = EXAMPLE / "plan.yaml", tmp_path / "found.yaml"
    code, out, error = aegis("plan", "configurations", TABLE, "--plan", plan, *REQUIRED, "--output", found, "--json")
    assert (code, error.count("\n")) == (0, 1)
    assert "Ctrl-C ended the search; the best configurations so far are kept" in error
    assert json.loads(out)["interrupted"] is True
    assert load_plan(found).configurations
