"""`aegis disclose` as people run it, on small tables and on the health example."""

import copy
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.for_each import for_each
from tests.provider.disclosure.small_entries import without_half_records, written
from tests.provider.report.html_page import Reader

EXAMPLE = Path(__file__).parents[3] / "examples" / "health"
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A table, its plan and its entry."""
    made = tmp_path_factory.mktemp("ages")
    _, _, entry = written(made)
    (made / "entry.json").write_text(json.dumps(entry))
    return made


@pytest.fixture(autouse=True)
def folder(files, tmp_path, monkeypatch):
    """A directory with a copy of the files, in which the command runs."""
    shutil.copytree(files, tmp_path, dirs_exist_ok=True)
    (tmp_path / "other.csv").write_text("age,ill\n1,yes\n2,no\n")
    (tmp_path / "broken.json").write_text("{")
    (tmp_path / "empty.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def entry_with(folder, change):
    """Write the changed entry to a file and return the file's name."""
    entry = json.loads((folder / "entry.json").read_text())
    change(entry)
    (folder / "changed.json").write_text(json.dumps(entry))
    return "changed.json"


def words(out):
    return [" ".join(line.split()) for line in out.splitlines()]


def test_an_attribute_has_a_line_and_what_differences_give_away_is_named(aegis):
    code, out, error = aegis("disclose", "entry.json")
    assert (code, error) == (0, "")
    lines = words(out)
    assert lines[:2] == [
        (
            "FAIL: the entry ages gives counts of 1 to 4 records away: 1 certain from several tables together. "
            "To mend it: aegis summarize TABLE --plan PLAN --name ages --output entry.json"
        ),
        "ages: 33 records, label ill",
    ]
    assert "age 1 small counts follow from several tables" in lines
    # Three tables, smallest count 5, none below 5. All 3 groups by 2 labels are exact, and one cell is a single record.
    assert "age 3 5 0 1 6 x yes 1" in lines
    assert "age 3 0 6 6 0 4 100 % 100 % 100 % 100 % in closed form" in lines
    assert "age 1 6 x yes smaller than any in its tables" in lines
    assert "ill histogram 33 2 2 13 yes 0" in lines


def test_an_attribute_that_is_named_is_reported_in_full_and_beside_the_truth(aegis):
    code, out, _ = aegis(
        "disclose", "entry.json", "--attribute", "age", "--below", "7", "--table", "table.csv", "--plan", "plan.yaml"
    )
    assert code == 0
    lines = words(out)
    assert {"age histogram 33 3 3 7 6 0", "age five 33 4 4 5 0-4 x no 2", "age seven 33 4 4 6 7-13 x yes 1"} <= set(
        lines
    )
    assert "age 3 0 6 6 0 4 100 % 100 % 100 % 100 % in closed form" in lines
    assert any(line.endswith("The smallest in no table: 1 record of age 6 x yes.") for line in lines)
    assert "age 0 % 10.7 % 0 % 10.7 %" in lines


def test_everything_is_among_the_json(aegis):
    code, out, _ = aegis("disclose", "entry.json", "--json", "--table", "table.csv", "--plan", "plan.yaml")
    printed = json.loads(out)
    assert (code, printed["entry"], printed["below"], printed["within"]) == (0, "ages", 5, 2)
    [age] = printed["attributes"]
    assert age["given_away"] == age["together"]["derived"] == {"count": 1, "place": ["6", "yes"]}
    assert age["together"]["within"] == {str(k): 6 for k in (0, 1, 2, 5, 10)}
    assert [each["smallest"]["count"] for each in age["tables"]] == [7, 5, 6]
    assert age["compared"]["pooled"] == {"atoms": 0.0, "values": 0.0}
    assert printed["small_and_certain"] == {"age": 1}
    [failed] = printed["verdict"]["findings"]
    assert failed == {"reason": "certain", "pointer": "/attributes/0", "cells": 1, "place": "age"}
    assert (printed["verdict"]["passed"], printed["verdict"]["options"]) == (False, "")


def test_the_command_that_mends_it_does(aegis):
    _, out, _ = aegis("disclose", "entry.json", "--table", "table.csv", "--plan", "plan.yaml")
    command = out.splitlines()[0].partition("To mend it: ")[2]
    assert command == "aegis summarize table.csv --plan plan.yaml --name ages --output entry.json"
    assert aegis(*command.split()[1:])[0] == 0
    code, out, _ = aegis("disclose", "entry.json", "--check")
    assert (code, out.splitlines()[0][:5]) == (0, "PASS:")


def test_there_is_no_verdict_on_a_part(aegis, folder):
    entry_with(folder, lambda entry: entry["attributes"].append({**entry["attributes"][0], "name": "years"}))
    entry = json.loads((folder / "changed.json").read_text())
    for each in entry["configurations"]:
        each["maskings"]["years"] = "five"
    (folder / "changed.json").write_text(json.dumps(entry))
    code, out, _ = aegis("disclose", "changed.json", "--attribute", "age")
    assert (code, out.splitlines()[0]) == (
        0,
        "NOT JUDGED: ages was examined in part; leave out --attribute for a verdict",
    )


def test_check_fails_for_a_small_count_that_is_certain(aegis):
    complaint = "aegis: entry.json: counts below 5 are known for certain: 1 of age\n"
    code, out, error = aegis("disclose", "entry.json", "--check")
    assert (code, error) == (1, complaint)
    assert out  # the report is still printed


@for_each("name", ["the label", "pair counts"])
def test_check_fails_whatever_the_attribute_is_called(aegis, folder, name):
    def renamed(entry):
        entry["attributes"][0]["name"] = name
        entry["configurations"] = [{"id": "c", "maskings": {name: "five"}}]

    complaint = f"aegis: changed.json: counts below 5 are known for certain: 1 of {name}\n"
    assert aegis("disclose", entry_with(folder, renamed), "--check")[::2] == (1, complaint)


def test_check_holds_where_only_one_masking_is_published(aegis, folder):
    def without_seven(entry):
        entry["attributes"][0]["maskings"].pop()
        entry["configurations"].pop()

    assert aegis("disclose", entry_with(folder, without_seven), "--check")[::2] == (0, "")


def test_of_noise_and_rounding_it_says_what_is_declared(aegis, folder):
    def made_noisy(entry):
        [attribute] = entry["attributes"]
        attribute["maskings"][0]["noise"] = {"kind": "laplace", "scale": 2.5, "epsilon": 0.4}
        attribute["maskings"][1] |= {"rounded_to": 3, "joint": [[12, 6], [9, 6]]}

    code, out, _ = aegis("disclose", entry_with(folder, made_noisy), "--check")
    lines = words(out)
    assert code == 0
    assert "declared to differ from the counts of the provider's table: 2 of 4 tables" in lines
    for name, declared in (("five", "noise of scale 2.5 (epsilon 0.4)"), ("seven", "rounded to 3")):
        assert any(line.startswith(f"age {name} ") and line.endswith(declared) for line in lines)
    assert any(line.startswith("a table with noise determines nothing for certain") for line in lines)
    assert "none" in lines  # in no table, but known exactly


SUMMARIZED = ("summarize", "table.csv", "--plan", "plan.yaml", "--name", "ages", "--output", "controlled.json")
BESIDE_THE_TRUTH = ("disclose", "controlled.json", "--table", "table.csv", "--plan", "plan.yaml", "--check")


@for_each(
    ("controls", "declared"),
    [
        (("--epsilon", "1"), "noise of scale 3 (epsilon 0.333333)"),
        (("--round-to", "3"), "rounded to 3"),
    ],
)
def test_noise_and_rounding_leave_nothing_small_that_is_certain_and_do_not_hide_the_table(aegis, controls, declared):
    assert aegis(*SUMMARIZED, *controls)[0] == 0
    code, out, error = aegis(*BESIDE_THE_TRUTH)
    assert (code, error) == (0, "")
    assert any(line.endswith(declared) for line in words(out))


@for_each("plan", ["plan.yaml", "merged.yaml"])
def test_a_minimum_keeps_differences_from_being_smaller_and_does_not_hide_the_table(aegis, plan):
    assert aegis(*SUMMARIZED, "--min-cell", "5", "--plan-output", "merged.yaml")[0] == 0
    code, out, error = aegis("disclose", "controlled.json", "--table", "table.csv", "--plan", plan, "--check")
    assert (code, error) == (0, "")
    assert out.startswith("PASS")
    assert "none" in words(out)


def test_bounds_that_have_no_time_say_so(aegis, folder):
    def crossed(entry):
        [attribute] = entry["attributes"]
        del attribute["histogram"]
        attribute["domain"] = list("abcdefgh")
        bits = [[(value >> bit) & 1 for value in range(8)] for bit in range(3)]
        attribute["type"] = "string"
        attribute["maskings"] = [
            {"id": f"m{bit}", "domain": ["x", "y"], "mapping": bits[bit], "joint": [[7 + bit, 5], [13 - bit, 8]]}
            for bit in range(3)
        ]
        entry["configurations"] = [{"id": "c", "maskings": {"age": "m0"}}]

    changed = entry_with(folder, crossed)
    out = aegis("disclose", changed, "--seconds", "0")[1]
    assert "bounds stopped early, so more cells may be determined exactly (see --seconds): age" in words(out)
    assert "stopped early" not in aegis("disclose", changed)[1]
    complaint = (
        f"aegis: {changed}: bounds stopped early, so small counts may be known for certain (see --seconds): age\n"
    )
    assert aegis("disclose", changed, "--seconds", "0", "--check")[::2] == (1, complaint)


def test_what_only_whole_numbers_give_away_is_named_as_such(aegis, folder):
    (folder / "halves.json").write_text(json.dumps(without_half_records()))
    code, out, error = aegis("disclose", "halves.json")
    assert (code, error) == (0, "")
    assert "u 1 1 d x m" in words(out)
    assert "exact cells that follow only because counts are whole numbers" in words(out)
    [attribute] = json.loads(aegis("disclose", "halves.json", "--json")[1])["attributes"]
    assert attribute["together"]["by_whole_numbers"] == 1
    assert attribute["together"]["smallest_by_whole_numbers"] == {"count": 1, "place": ["d", "m"]}
    out = aegis("disclose", "halves.json", "--seconds", "0")[1]
    assert "Not decided whether they follow because counts are whole numbers:" in " ".join(words(out))
    assert "only whole numbers" not in out


@for_each(
    ("arguments", "complaint"),
    [
        (("none.json",), "none.json: cannot be read: No such file or directory"),
        (("broken.json",), "broken.json: not JSON: "),
        (("empty.json",), "empty.json: /format: This field is required"),
        (("entry.json", "--attribute", "agee"), "entry.json: no attribute 'agee'; did you mean 'age'?"),
        (("entry.json", "--table", "table.csv"), "table and plan go together"),
        (("entry.json", "--plan", "plan.yaml"), "table and plan go together"),
        (("entry.json", "--table", "other.csv", "--plan", "plan.yaml"), "other.csv: age has the value '2', which the"),
        (("entry.json", "--table", "no.csv", "--plan", "plan.yaml"), "no.csv: "),
        (("entry.json", "--html", "entry.json"), "entry.json: is entry.json, which is an input"),
        (("entry.json", "--html", "no/page.html"), "no/page.html: there is no directory"),
        (("entry.json", "--plot", "p.png", "--table", "table.csv"), "--table cannot be combined with --plot"),
        (("entry.json", "--plot", "p.png", "--check"), "--check cannot be combined with --plot"),
        (("entry.json", "--below", "1"), "Invalid value for '--below'"),
        (("entry.json", "--figure", "costs"), "--advice, --figure and --privacy need a file to draw"),
    ],
)
def test_bad_input_is_one_line(aegis, arguments, complaint):
    code, _, error = aegis("disclose", *arguments)
    assert (code, error.count("\n")) == (2, 1)
    assert error.startswith(f"aegis: {complaint}")


def test_the_page_and_its_inputs_are_never_the_same_file(aegis, folder):
    before = (folder / "table.csv").read_bytes()
    for name in ("table.csv", "plan.yaml"):
        code, _, error = aegis("disclose", "entry.json", "--table", "table.csv", "--plan", "plan.yaml", "--html", name)
        assert (code, "which is an input" in error) == (2, True)
    assert (folder / "table.csv").read_bytes() == before


def test_counts_that_contradict_each_other_are_an_error_with_their_place(aegis, folder):
    def contradict(entry):
        joint = entry["attributes"][0]["maskings"][1]["joint"]
        joint[0][0], joint[1][0] = joint[0][0] + 1, joint[1][0] - 1

    code, _, error = aegis("disclose", entry_with(folder, contradict))
    assert code == 2
    assert error.startswith("aegis: changed.json: /attributes/0/maskings/1/joint/0: adds up to 19, ")


def test_the_page_shows_what_was_found_and_hostile_names_as_text(aegis, folder):
    def rename(entry):
        entry["attributes"][0]["name"] = entry["label"]["name"] = HOSTILE
        entry["attributes"][0]["domain"][1] = f"{HOSTILE}\x1b[31m"
        for each in entry["configurations"]:
            each["maskings"] = {HOSTILE: each["maskings"]["age"]}

    code, out, _ = aegis("disclose", entry_with(folder, rename), "--html", "page.html")
    assert code == 0
    assert "\x1b" not in out
    read = Reader((folder / "page.html").read_text(encoding="utf-8"))
    assert (read.elements["script"], read.elements["figure"]) == (0, 2)
    assert {"At a glance", "Small counts", "What all tables say together", "What the numbers mean"} <= set(read.texts)
    assert any(
        text.endswith(f"The smallest in no table: 1 record of {HOSTILE} {HOSTILE}\\x1b[31m x yes.")
        for text in read.texts
    )


def test_the_page_of_the_health_example_has_the_truth_beside_it(aegis, tmp_path):
    entry, page = tmp_path / "health.json", tmp_path / "page.html"
    table, plan = EXAMPLE / "health.csv", EXAMPLE / "plan.yaml"
    assert aegis("summarize", table, "--plan", plan, "--name", "health", "--output", entry, "--exact")[0] == 0
    code, out, _ = aegis("disclose", entry, "--table", table, "--plan", plan, "--html", page)
    assert code == 0
    lines = words(out)
    assert {"visits 6 1 60 1 25, 26 x poor 17", "deductible_plan 3 77 0 77 yes x poor 0"} <= set(lines)
    assert "visits 36 6 144 144 39 51 100 % 100 % 100 % 100 % in closed form" in lines
    assert "deductible_plan 0 % 1.1 % 0 % 1.1 %" in lines
    read = Reader(page.read_text(encoding="utf-8"))
    assert read.elements["figure"] == 3
    assert "Compared with the truth" in read.texts


def test_many_attributes_make_one_page_of_the_worst(aegis, folder):
    def multiply(entry):
        [attribute] = entry["attributes"]
        entry["attributes"] = [{**copy.deepcopy(attribute), "name": f"age{number}"} for number in range(40)]
        for each in entry["configurations"]:
            each["maskings"] = {f"age{number}": each["maskings"]["age"] for number in range(40)}

    assert aegis("disclose", entry_with(folder, multiply), "--html", "page.html")[0] == 0
    assert "These are the worst 30 of 40." in (folder / "page.html").read_text()


def test_a_large_domain_is_not_too_much(aegis, folder):
    def enlarge(entry):
        [attribute] = entry["attributes"]
        attribute["domain"] = [str(value) for value in range(50_000)]
        attribute["type"] = "integer"
        attribute["histogram"] = [2] * 50_000
        entry["records"], entry["label"]["histogram"] = 100_000, [50_000, 50_000]
        for each, width in zip(attribute["maskings"], (500, 700), strict=True):
            each["mapping"] = [value // width for value in range(50_000)]
            each["domain"] = [str(number) for number in range(each["mapping"][-1] + 1)]
            sizes = [each["mapping"].count(number) for number in range(len(each["domain"]))]
            each["joint"] = [[size, size] for size in sizes]

    out = aegis("disclose", entry_with(folder, enlarge))[1]
    atoms = len({(value // 500, value // 700) for value in range(50_000)})
    lines = words(out)
    assert any(line.startswith("age 3 2 50000 100 ") and line.endswith(" 0") for line in lines)
    assert any(line.startswith(f"age {atoms} 0 {2 * atoms} {2 * atoms} 0 ") for line in lines)


@pytest.mark.long
def test_without_the_advisor_it_says_what_to_install():
    code = (
        "import sys; sys.modules['aegis_advisor'] = None\n"
        "from aegis_sdk.cli import main; main(['disclose', 'entry.json'])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (1, "")
    how = "install 'aegis-masking[provider]' from where you got Aegis"
    said = f"aegis: aegis_advisor is not installed, but `aegis disclose` needs it: {how}"
    assert ran.stderr == f"{said}\n"


def test_help_has_an_example(aegis):
    code, out, _ = aegis("disclose", "--help")
    assert (code, "Example: aegis disclose entry.json" in " ".join(out.split())) == (0, True)
