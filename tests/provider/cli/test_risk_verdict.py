"""The verdict at the top of `aegis risk`, and that the command that mends what fails does so."""

import json
import shlex
from itertools import pairwise

import pytest

from tests.for_each import for_each

#: By age alone, classes of 4 (one yes) and of 3 (all no); with the town, classes of 2, 2, 2 and 1.
ALONE = "not private against anyone who knows all shared columns"
TABLE = "age,town,sick\n1,a,yes\n1,a,no\n1,b,no\n1,b,no\n2,a,no\n2,a,no\n2,c,no\n"
PLAN = """
label: sick
attributes:
  age: {maskings: {gone: {suppress: {}}}}
  town: {default: gone, maskings: {gone: {suppress: {}}}}
configurations:
  fine: {town: identity}
  coarse: {}
  none: {age: gone, town: drop}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    (tmp_path / "t.csv").write_text(TABLE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def first_line(aegis, folder):
    """Write a plan with what configurations promise, and return the first line of the report."""

    def read(promised, *options):
        (folder / "plan.yaml").write_text(PLAN + promised)
        code, out, error = aegis("risk", "t.csv", "--plan", "plan.yaml", *options)
        assert (code, error) == (0, "")
        return out.splitlines()[0]

    return read


@for_each(
    ("promised", "options", "line"),
    [
        ("privacy: {coarse: {k: 3}, none: {k: 7}}", [], f"{ALONE}: 2 of 3 configurations keep their promise; 1"),
        ("privacy: {coarse: {k: 3}}", ["--configuration", "coarse"], "PASS: coarse holds k = 3"),
        ("privacy: {fine: {k: 2}, none: {k: 7}}", [], "FAIL: 1 of 3 configurations keeps its promise; 1 breaks it: f"),
        ("privacy: {fine: {k: 1, l: 1}}", [], "NOT JUDGED: 0 of 3 configurations keep their promise; 3 promise not"),
        (
            "",
            ["--configuration", "coarse"],
            "NOT JUDGED: coarse promises nothing. For a verdict: aegis risk t.csv --plan",
        ),
        ("privacy: {none: {epsilon: 1}}", ["--configuration", "none"], "NOT JUDGED: none promises nothing that can be"),
    ],
)
def test_it_says_what_became_of_all_promises(aegis, first_line, promised, options, line):
    told = first_line(promised, *options)
    assert told.startswith(line)
    document = json.loads(aegis("risk", "t.csv", "--plan", "plan.yaml", *options, "--json")[1])["verdict"]
    assert document["line"] == told
    assert told.startswith({True: "PASS: ", False: ("FAIL: ", f"{ALONE}: "), None: "NOT JUDGED: "}[document["passed"]])
    assert told.endswith(document["mend"])


def test_a_label_that_is_certain_is_a_warning_and_never_a_promise(aegis, first_line):
    assert first_line("privacy: {coarse: {k: 3, l: 1}}", "--configuration", "coarse") == "PASS: coarse holds k = 3"
    lines = aegis("risk", "t.csv", "--plan", "plan.yaml", "--configuration", "coarse")[1].splitlines()
    [warning] = [line for line in lines if line.startswith("Warning: ")]
    assert warning.startswith("Warning: the label of some people is certain: ")
    assert warning.endswith(" (l = 1). Require l=2 if nobody should learn it.")


@for_each(
    ("promised", "options"),
    [
        ("privacy: {fine: {k: 2}, coarse: {l: 2}}", []),
        ("privacy: {coarse: {k: 3}}", ["--require", "k=5", "--require", "l=2"]),
        ("privacy: {fine: {k: 2, l: 1}}", ["--configuration", "fine"]),
    ],
)
def test_the_command_that_mends_it_does(aegis, first_line, promised, options):
    line = first_line(promised, *options)
    program, *command = shlex.split(line.partition("To mend it: ")[2])
    assert (program, aegis(*command)[0]) == ("aegis", 0)
    required = [word for pair in pairwise(command) if pair[0] == "--require" for word in pair]
    again = aegis("risk", "t.csv", "--plan", "FOUND", *required, "--check")
    assert (again[0], again[1][:5]) == (0, "PASS:")


def test_a_wrong_number_in_the_plan_is_mended_there(first_line):
    promised = "privacy: {fine: {k: 2}}\nsuppressed: {fine: 2}"
    line = first_line(promised, "--configuration", "fine")
    broken = "FAIL: fine breaks its promise: suppressed is 1, not 2. To mend it: "
    assert line == f"{broken}write suppressed: {{fine: 1}} into plan.yaml"
    right = promised.replace("suppressed: {fine: 2}", line.partition("write ")[2].partition(" into")[0])
    assert first_line(right, "--configuration", "fine") == "PASS: fine holds k = 2; 1 records left out"


def test_a_table_without_plan_is_mended_by_a_release(aegis):
    out = aegis("risk", "t.csv", "--quasi-identifiers", "age,town", "--sensitive", "sick", "--require", "k=2")[1]
    assert out.splitlines()[0] == (
        "FAIL: the table as it is lacks what is required: k is 1, not 2. "
        "To mend it: aegis release t.csv --label sick --require k=2 --output DIR"
    )


def test_without_a_sensitive_column_the_command_names_one(aegis):
    known = ("risk", "t.csv", "--quasi-identifiers", "age,town", "--require", "l=1.5")
    line = aegis(*known)[1].splitlines()[0]
    assert line.startswith(
        "NOT JUDGED: the table as it is has no sensitive column, so l cannot be measured. For a verdict:"
    )
    command = shlex.split(line.partition("For a verdict: aegis ")[2].replace("NAME", "sick"))
    assert aegis(*command)[1].startswith("FAIL: the table as it is lacks what is required: l is 1, not 1.5")


def test_what_is_masked_at_random_is_measured_in_the_masked_table(aegis, folder):
    plan = PLAN.replace("age: {maskings: {", "age: {maskings: {noisy: {shuffle: {}}, ").replace(
        "{}\n  none", "{age: noisy}\n  none"
    )
    (folder / "plan.yaml").write_text(f"{plan}privacy: {{coarse: {{k: 3}}}}\nseed: 3\n")
    line = aegis("risk", "t.csv", "--plan", "plan.yaml", "--configuration", "coarse")[1].splitlines()[0]
    assert line == (
        "NOT JUDGED: coarse is masked at random (age): measure the masked table. "
        "For a verdict: aegis risk MASKED --quasi-identifiers age,town --sensitive sick --require k=3"
    )
