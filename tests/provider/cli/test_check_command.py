"""`aegis check` on a small table: what it prints, and what it writes into an entry."""

import json
import subprocess
import sys

import pytest

from aegis_provider import load_plan, prepare_entry
from aegis_provider.check import check
from aegis_sdk.cli import main
from tests.for_each import for_each
from tests.provider.check.checked_tables import PLAN, as_csv, records

CONFIGURATIONS = "configurations: {fine: {age: decades}, coarse: {age: decades, town: drop}}\n"


@pytest.fixture
def plan(write):
    return write("plan.yaml", f"label: y\n{PLAN}{CONFIGURATIONS}")


@pytest.fixture
def table(write):
    return write("table.csv", as_csv(records()))


@pytest.fixture
def entry(table, plan, tmp_path):
    path = tmp_path / "entry.json"
    prepare_entry(table, load_plan(plan), name="checked").write(path)
    return path


@pytest.fixture
def run(table, plan, capsys):
    """Run `aegis check` on the table; return its exit code, stdout and stderr."""

    def check_with(*arguments):
        with pytest.raises(SystemExit) as exited:
            main(["check", str(table), "--plan", str(plan), *map(str, arguments)])
        printed = capsys.readouterr()
        return exited.value.code, printed.out, printed.err

    return check_with


def test_it_prints_the_verdict_then_a_table_for_each_model(run):
    code, output, _ = run("--configurations", "fine,coarse", "--seconds", 600)
    lines = output.splitlines()
    assert code == 0
    assert lines[0].startswith("the advice held: fine has the highest AUC")
    assert lines[1].startswith("fine keeps ")
    assert [line for line in lines if line.endswith(":")] == ["logistic regression:", "gradient boosting:"]
    assert [line.split("  ")[1] for line in lines if line.startswith("  ")] == 2 * [
        "table", "(as it is)", "fine", "coarse", "(nothing shared)",
    ]  # fmt: skip
    assert "240 records, in 5 folds, the same for every table" in lines


@pytest.mark.long
def test_json_has_the_numbers(run, table, plan):
    code, output, _ = run("--configurations", "fine,coarse", "--seconds", 600, "--json")
    found, expected = json.loads(output), check(table, load_plan(plan), ["fine", "coarse"], seconds=600)
    assert (code, found["held"], found["verdict"]) == (0, True, expected.verdict)
    assert found["kept"] == {name: expected.share(name) for name in ("fine", "coarse")}
    assert [each["auc"]["value"] for each in found["performances"]] == [e.auc.value for e in expected.performances]


def test_without_time_it_names_what_is_missing(run):
    code, output, _ = run("--configurations", "fine,coarse", "--seconds", 0)
    assert code == 0
    assert output.splitlines()[0].startswith("whether the advice held is not known")
    assert "not finished within 0 seconds: gradient boosting of (as it is), fine, coarse" in output


@pytest.mark.long
def test_the_auc_goes_into_the_entry(run, entry, table, plan):
    before = json.loads(entry.read_text())
    assert run("--configurations", "fine", "--seconds", 600, "--entry", entry)[0] == 0
    after = json.loads(entry.read_text())
    result = check(table, load_plan(plan), ["fine"], seconds=600)
    one, raw = (result.of(name, result.best_model).auc for name in ("fine", "(as it is)"))
    assert after["configurations"][0].pop("measured") == {
        "model": result.best_model,
        "auc": round(one.value, 3),
        "low": round(one.low, 3),
        "high": round(one.high, 3),
        "raw_auc": round(raw.value, 3),
    }
    assert after == before


@for_each(
    ("change", "told"),
    [
        (lambda entry: entry["label"].update(name="z"), "the entry's label is 'z'"),
        (lambda entry: entry["configurations"].pop(0), "does not list the configuration 'fine'"),
        (lambda entry: entry["configurations"][0]["maskings"].update(town="drop"), "masks 'fine' differently"),
        (lambda entry: entry["configurations"][0].update(measured={}), "/configurations/0/measured"),
        (lambda entry: entry["label"].update(noise={"kind": "laplace", "scale": 2.0}), "have noise"),
    ],
)
def test_an_entry_that_the_figures_do_not_belong_in_is_left_alone(run, entry, change, told):
    document = json.loads(entry.read_text())
    change(document)
    entry.write_text(json.dumps(document))
    code, output, complaint = run("--configurations", "fine", "--entry", entry)
    assert (code, output, complaint.count("\n")) == (2, "", 1)
    assert told in complaint
    assert json.loads(entry.read_text()) == document


def test_an_entry_gets_nothing_if_nothing_is_finished(run, entry):
    before = entry.read_bytes()
    code, _, complaint = run("--configurations", "fine", "--seconds", 0, "--entry", entry)
    assert (code, "allow more --seconds" in complaint) == (2, True)
    assert entry.read_bytes() == before


@for_each("name", ["table", "plan"])
def test_another_input_is_never_overwritten(run, request, name):
    code, _, complaint = run("--configurations", "fine", "--entry", request.getfixturevalue(name))
    assert (code, "which is an input" in complaint) == (2, True)


@for_each(
    ("arguments", "told"),
    [
        (("--configurations", "fien"), "did you mean 'fine'?"),
        (("--configurations", "fine,"), "empty name in"),
        ((), "--configurations"),
    ],
)
def test_bad_arguments_are_refused(run, arguments, told):
    code, output, complaint = run(*arguments)
    assert (code, output, told in complaint) == (2, "", True)


@pytest.mark.long
def test_without_the_extra_it_says_what_to_install(table, plan):
    hidden = "import sys; sys.modules['sklearn'] = None; from aegis_sdk.cli import main; main(sys.argv[1:])"
    arguments = ("check", table, "--plan", plan, "--configurations", "fine")
    ran = subprocess.run(
        [sys.executable, "-c", hidden, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stdout, ran.stderr.startswith("aegis: sklearn")) == (1, "", True)
    assert ran.stderr.endswith("is not installed: install 'aegis-masking-provider[check]' from where you got Aegis\n")
