"""`aegis summarize` with controls, and the commands that use what it writes."""

import csv
import json
import sys
from collections import Counter
from pathlib import Path

import pytest

from aegis_sdk.wire import read_entry
from tests.for_each import for_each

EXAMPLE = Path(__file__).parents[3] / "examples" / "health"
TABLE, PLAN = EXAMPLE / "health.csv", EXAMPLE / "plan.yaml"


@pytest.fixture
def summarized(aegis, tmp_path):
    """Summarise the example with options; return exit code, stdout, stderr and the entry, if there is one."""

    def run(*options, table=TABLE, plan=PLAN):
        output = tmp_path / "entry.json"
        ran = aegis("summarize", table, "--plan", plan, "--name", "e", "--output", output, *options)
        return *ran, read_entry(output.read_bytes())[0] if output.exists() else None

    return run


def counts_of(entry):
    tables = [entry["label"], *entry["attributes"], *entry.get("pairs", [])]
    tables += [masking for attribute in entry["attributes"] for masking in attribute["maskings"]]
    for table in tables:
        yield from table.get("histogram", [])
        yield from (count for row in table.get("joint", []) for count in row)


def assert_refused(ran, *parts):
    code, out, error, entry = ran
    assert (code, out, error.count("\n"), entry) == (2, "", 1, None)
    for part in parts:
        assert part in error


def test_small_exact_counts_are_told_of_and_nothing_is_done(summarized):
    _, out, _, entry = summarized("--exact", "--json")
    small = [count for count in counts_of(entry) if 0 < count < 5]
    assert json.loads(out)["small_counts"] == {"below": 5, "counts": len(small), "smallest": min(small)}
    assert "disclosure_control" not in entry


@pytest.mark.long
def test_the_example_with_a_minimum_is_what_apply_makes(aegis, summarized, tmp_path):
    controlled, masked = tmp_path / "controlled.yaml", tmp_path / "masked.csv"
    code, out, error, entry = summarized("--min-cell", 5, "--pairs", "--plan-output", controlled)
    assert (code, error) == (0, "")
    assert min(count for count in counts_of(entry) if count) >= 5
    assert out.splitlines()[0] == "masked values merged: 27"
    assert "  and 17 more, which --json lists" in out.splitlines()
    assert len(entry["configurations"]) == 70
    first = entry["configurations"][0]
    code, out, error = aegis(
        "apply", TABLE, "--stays", "--plan", controlled, "--configuration", first["id"], "--output", masked
    )
    assert (code, error.count("\n")) == (0, 1)
    assert "the label of some people is certain" in error
    with masked.open(encoding="utf-8", newline="") as file:
        records = list(csv.DictReader(file))
    compared = 0
    for attribute in entry["attributes"]:
        name = attribute["name"]
        for masking in attribute["maskings"]:
            if first["maskings"][name] == masking["id"]:
                counts = Counter((record[name], record["health"]) for record in records)
                labels = entry["label"]["domain"]
                assert masking["joint"] == [[counts[text, label] for label in labels] for text in masking["domain"]]
                compared += 1
    assert compared > 3


ROWS = "1,u,n\n" * 9 + "2,u,m\n" * 9 + "2,u,n\n" * 5 + "3,u,n\n" * 2 + "2,v,m\n" + "1,w,n\n" * 9
SMALL_PLAN = (
    "label: y\nattributes:\n  a: {maskings: {one: {bucketize: {width: 1}}}}\n"
    "  b: {maskings: {coded: {mapping: {u: U, v: V, w: W}}}}\n"
    "configurations: {c: {a: one, b: drop}, d: {b: drop}, e: {a: one, b: coded}}\n"
)


@pytest.fixture
def small(tmp_path):
    """A small table and its plan."""
    table, plan = tmp_path / "t.csv", tmp_path / "plan.yaml"
    table.write_text("a,b,y\n" + ROWS, encoding="utf-8")
    plan.write_text(SMALL_PLAN, encoding="utf-8")
    return {"table": table, "plan": plan}


def test_what_was_merged_and_rounded_is_listed(summarized, small):
    code, out, error, entry = summarized("--min-cell", 5, "--pairs", "--json", **small)
    assert code == 0
    assert error.count("\n") == 2
    assert "b, coded has names that tell values of fewer than 20 records: W; write `others`" in error
    assert "write the matching plan with --plan-output" in error
    assert len(entry["configurations"]) == 3
    assert json.loads(out)["controls"] == {
        "min_cell": 5,
        "merged": [
            {"attribute": "a", "masking": "one", "groups": [{"values": ["2", "3"], "became": "2 to 3"}]},
            {"attribute": "b", "masking": "coded", "groups": [{"values": ["U", "V"], "became": "U or others"}]},
        ],
        "merged_labels": [],
        "tables_left_out": [],
        "tables_rounded": [],
        "privacy_left_out": {},
        "noise": [],
    }
    code, out, _, _ = summarized("--min-cell", 5, **small)
    assert out.splitlines() == [
        "masked values merged: 2",
        "  a, one: '2', '3' became '2 to 3'",
        "  b, coded: 'U', 'V' became 'U or others'",
    ]


def test_the_plan_of_an_entry_with_a_minimum_goes_all_the_way(aegis, summarized, small, tmp_path):
    controlled, masked, entry = (tmp_path / name for name in ("controlled.yaml", "masked.csv", "entry.json"))
    assert summarized("--min-cell", 5, "--pairs", "--plan-output", controlled, **small)[0] == 0
    released = aegis(
        "apply", small["table"], "--stays", "--plan", controlled, "--configuration", "e", "--output", masked
    )
    assert released[0] == 0
    with masked.open(encoding="utf-8", newline="") as file:
        assert {record["b"] for record in csv.DictReader(file)} == {"U or others", "W"}
    for plan in (small["plan"], controlled):
        code, out, error = aegis("disclose", entry, "--table", small["table"], "--plan", plan, "--check")
        assert (code, error) == (0, "")
        assert out.startswith("PASS")


def test_rare_label_values_are_refused_or_merged(aegis, summarized, small, tmp_path):
    small["table"].write_text("a,b,y\n" + ROWS + "1,u,p\n" * 3 + "1,u,q\n" * 3, encoding="utf-8")
    assert_refused(
        summarized("--min-cell", 5, **small), "values with fewer records", "'p' only 3", "--merge-rare-labels"
    )
    code, out, error, entry = summarized("--min-cell", 5, "--merge-rare-labels", "--pairs", **small)
    assert code == 0
    assert entry["label"] == {"name": "y", "domain": ["m", "n", "rare values"], "histogram": [10, 25, 6]}
    assert "  'p', 'q' became 'rare values'" in out.splitlines()
    assert "only the entry counts 2 values of the label as 'rare values'" in error
    beside = ("--table", small["table"], "--plan", small["plan"], "--check")
    assert aegis("disclose", tmp_path / "entry.json", *beside)[::2] == (0, "")


def test_rounded_counts_are_multiples_and_declared(summarized):
    code, out, error, entry = summarized("--round-to", 7)
    assert (code, out, error) == (0, "", "")
    assert all(count % 7 == 0 for count in counts_of(entry))
    assert entry["disclosure_control"] == {"rounded_to": 7, "rounding": "once"}
    assert entry["records"] == sum(entry["label"]["histogram"])


def test_noise_declares_its_budget_and_says_what_that_does_not_cover(summarized):
    code, out, error, entry = summarized("--epsilon", 2, "--split", "cube_root", "--json")
    assert code == 0
    assert error.startswith("aegis: warning: epsilon covers only the counts, which are of all records")
    told = json.loads(out)["controls"]
    assert (told["epsilon"], told["split"]) == (2, "cube_root")
    assert sum(table["epsilon"] for table in told["noise"]) == pytest.approx(2)
    assert entry["disclosure_control"] == {"epsilon": 2, "split": "cube_root"}

    assert [table["scale"] for table in told["noise"]] == [
        entry["label"]["noise"]["scale"],
        *(masking["noise"]["scale"] for each in entry["attributes"] for masking in each["maskings"]),
    ]


def leaves_of(value, path=()):
    """Yield each number or text of an entry with the names on its way, and counts with noise as one."""
    if isinstance(value, dict):
        covered = "noise" in value
        for name, each in value.items():
            hidden = covered and name in {"histogram", "joint", "chi_square", "combinations", "noise"}
            yield from [] if hidden else leaves_of(each, (*path, name))
    elif isinstance(value, list):
        for each in value:
            yield from leaves_of(each, path)
    else:
        yield path, value


def test_one_record_changes_nothing_that_epsilon_should_cover_but_by_its_noise(summarized, small):
    """Of neighbouring tables, all that differs is noisy, computed from that, or named by the warning."""
    seen = []
    for more in ("", "2,v,n\n"):
        small["table"].write_text("a,b,y\n" + ROWS + more, encoding="utf-8")
        code, _, error, entry = summarized("--epsilon", 1, "--pairs", **small)
        assert code == 0
        seen.append(list(leaves_of(entry)))
    differing = {path[0] for one, other in zip(*seen, strict=True) for path in [one[0]] if one != other}
    assert differing <= {"records", "configurations"}  # the noisy sum of the label, and privacy numbers
    assert all(each in error for each in ("privacy numbers", "the share of records that are alone"))


@pytest.mark.long
def test_noise_covers_pairs_and_what_they_tell_of_the_label(summarized):
    code, out, _, entry = summarized("--epsilon", 2, "--pairs", "--json")
    assert code == 0
    listed = [table["table"] for table in json.loads(out)["controls"]["noise"]]
    assert sum(table.endswith(", with the label") for table in listed) == len(entry["pairs"]) > 0
    declaring = [entry["label"], *(one for each in entry["attributes"] for one in each["maskings"])]
    declaring += [pair for pair in entry["pairs"] if "joint" in pair] + [pair["with_label"] for pair in entry["pairs"]]
    assert sum(each["noise"]["epsilon"] for each in declaring) == pytest.approx(2)


def test_answers_about_noisy_counts_are_opened_where_that_is_said(summarized):
    *_, entry = summarized("--epsilon", 2, "--open-answers")
    assert entry["disclosure_control"] == {"epsilon": 2, "split": "equal", "open_answers": True}


@for_each(
    ("options", "part"),
    [
        (("--min-cell", "1"), "the minimum cell count is 1; choose a number from 2"),
        (("--round-to", "0"), "the base is 0; choose a number from 2"),
        (("--epsilon", "-1"), "epsilon is -1; choose a number from"),
        (("--epsilon", "nan"), "epsilon is nan; choose a number from"),
        (("--epsilon", "1", "--min-cell", "5"), "choose one of the two"),
        (("--epsilon", "1", "--round-to", "5"), "choose an epsilon or a base, not both"),
        (("--split", "equal"), "--split says how epsilon is split; give --epsilon too"),
        (("--open-answers",), "--open-answers needs noisy counts; give --epsilon too"),
        (("--open-answers", "--min-cell", "5"), "--open-answers needs noisy counts; give --epsilon too"),
        (("--exact", "--round-to", "5"), "cannot be combined with a disclosure control"),
        (("--round-to", "1000000"), "rounding to multiples of 1000000 leaves none"),
        (("--min-cell", "2000"), "fewer records than the minimum cell count of 2000"),
        (("--min-cell", "30000", "--merge-rare-labels"), "has 20190 records, fewer than the minimum"),
        (("--min-cell", "12000", "--merge-rare-labels"), "leaves only one; choose a smaller minimum"),
        (("--merge-rare-labels",), "give that too"),
        (("--min-cell", "5", "--round-to", "4"), "choose a base of 5 or more, or leave it out"),
        (("--min-cell", "5", "--round-to", "5", "--epsilon", "1"), "choose one of the two"),
        (("--plan-output", "p.yaml"), "give --min-cell too"),
        (("--min-cell", "5", "--plan-output", PLAN), "which is an input; choose another output"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_no_entry(summarized, options, part):
    assert_refused(summarized(*options), part)


def test_the_entry_and_the_plan_go_to_two_files(summarized, tmp_path):
    ran = summarized("--min-cell", 5, "--plan-output", tmp_path / "entry.json")
    assert_refused(ran, "--output and --plan-output name the same file; choose another output")


def test_an_entry_of_a_plan_that_cannot_be_written_is_not_written(summarized, tmp_path):
    ran = summarized("--min-cell", 5, "--plan-output", tmp_path / "no" / "plan.yaml")
    assert_refused(ran, "there is no directory")


def test_a_plan_of_an_entry_that_cannot_be_written_is_not_written(summarized, tmp_path):
    plan, nowhere = tmp_path / "plan.yaml", tmp_path / "no" / "entry.json"
    assert_refused(summarized("--min-cell", 5, "--plan-output", plan, "--output", nowhere), "there is no directory")
    assert not plan.exists()


def test_noise_names_the_extra_that_it_needs(summarized, monkeypatch):
    monkeypatch.setitem(sys.modules, "opendp.prelude", None)
    monkeypatch.setitem(sys.modules, "opendp", None)
    for name in [name for name in sys.modules if name == "aegis_provider.control.noise"]:
        monkeypatch.delitem(sys.modules, name)
    code, out, error, entry = summarized("--epsilon", 1)
    assert (code, out, entry) == (1, "", None)
    assert "install 'aegis-masking-provider[noise]' from where you got Aegis" in error
