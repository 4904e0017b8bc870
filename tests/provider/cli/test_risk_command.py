"""`aegis risk` as people run it, on the health example and on small tables."""

import json
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest

from aegis_sdk.cli import main
from tests.for_each import for_each

EXAMPLE = Path(__file__).parents[3] / "examples" / "health"
HEALTH = (EXAMPLE / "health.csv", "--plan", EXAMPLE / "plan.yaml")

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def aegis(capsys):
    """Run `aegis risk`; return its exit code, stdout and stderr."""

    def run(*arguments):
        with pytest.raises(SystemExit) as exited:
            main(["risk", *(str(argument) for argument in arguments)])
        printed = capsys.readouterr()
        return exited.value.code, printed.out, printed.err

    return run


@pytest.fixture
def people(tmp_path):
    """Seven records; by `age` alone two classes, of 4 (one yes) and of 3 (all no)."""
    table = tmp_path / "people.csv"
    table.write_text("age,zip,sick\n1,a,yes\n1,a,no\n1,b,no\n1,b,no\n2,a,no\n2,a,no\n2,c,no\n")
    return table


PLAN = """
label: sick
order: [no, yes]
attributes:
  age: {maskings: {gone: {suppress: {}}}}
  zip: {}
configurations:
  fine: {}
  coarse: {zip: drop}
  one: {age: gone, zip: drop}
privacy:
  fine: {k: 2}
  coarse: {k: 4, alpha: 0.75}
suppressed: {coarse: 3}
"""


@pytest.fixture
def plan(tmp_path):
    path = tmp_path / "plan.yaml"
    path.write_text(PLAN)
    return path


def rows_of(out):
    """Return the cells of the table of configurations, by the id in the first column."""
    lines = out[out.index("  configuration") :].splitlines()
    return {cells[0]: cells for line in lines if (cells := re.split(" {2,}", line.strip())) and line.startswith("  ")}


def test_every_configuration_has_a_line_in_the_order_of_the_plan(aegis, people, plan):
    code, out, error = aegis(people, "--plan", plan)
    assert (code, error) == (0, "")
    rows = rows_of(out)
    assert list(rows) == ["configuration", "(as it is)", "fine", "coarse", "one"]
    # k, l, t, alone, risk above 1 in 5, left out for k=5, suppressed, promise: of (1, a), (1, b), (2, a) and (2, c);
    # 1 of 7 is yes.
    assert rows["fine"][1:8] == ["1", "1", "0.357143", "14.3 %", "100 %", "100 %", "0"]
    assert rows["fine"][8] == "BROKEN: k is 1, not 2"
    # Age 2 is left out: its class has 3 records.
    assert rows["coarse"][1:8] == ["4", "2", "0.107143", "0 %", "100 %", "100 %", "3"]
    assert rows["coarse"][8] == "holds k = 4, alpha = 0.75; 3 records left out"
    assert rows["one"][1:] == ["7", "2", "0.000000", "0 %", "0 %", "0 %", "0", "promises nothing"]


def test_one_configuration_is_told_in_full(aegis, people, plan):
    code, out, _ = aegis(people, "--plan", plan, "--configuration", "coarse")
    assert code == 0
    lines = [" ".join(line.split()) for line in out.splitlines()]
    risk = "The highest risk of re-identification is 25 %."
    alone = "No record is alone on all shared columns in coarse, and 100 % in fine, the worst configuration offered"
    assert lines[:3] == [
        "PASS: coarse holds k = 4, alpha = 0.75; 3 records left out",
        f"{alone}; coarse shares 1 column besides sick, as it is.",
        f"{risk} 3 records are left out.",
    ]
    assert "k: k-anonymity 4 4, held every record is one of at least 4 alike" in lines
    assert any(line.startswith("alpha: (alpha, k)-anonymity 0.75 0.75, held") for line in lines)
    assert {"prosecutor, highest 100 % 25 %", "prosecutor, average; marketer 57.1 % 25 %", "3-4 1 4"} <= set(lines)
    assert {"k=3 0 0 %", "k=5 4 100 %"} <= set(lines)


def test_every_number_of_a_release_carries_a_sentence(aegis, people, plan):
    out = aegis(people, "--plan", plan, "--configuration", "coarse")[1]
    lines = [line.strip() for line in out.split("Privacy criteria:\n")[1].splitlines()[1:9]]
    # Age 1 only, 3 of 4 not sick; of the whole table 6 of 7.
    names = ["k", "l", "entropy_l", "t", "ordered_t", "alpha", "beta", "delta_disclosure"]
    assert [line.split(":")[0] for line in lines] == names
    assert lines[2].endswith("guessing a value is as hard as among 1.75 equally frequent ones")
    assert lines[6].endswith("once the class is known, a value can be 1.75 times as likely as in the whole table")
    assert lines[7].endswith("a value can be 1.75 times more or less likely in a class than in the whole table")


def test_the_page_says_the_same_and_what_each_number_is(aegis, people, plan, tmp_path):
    aegis(people, "--plan", plan, "--configuration", "fine", "--html", tmp_path / "risk.html")
    texts = Page(tmp_path / "risk.html").texts
    for said in (
        "some class leaves nothing to guess: all its records have one value",
        "once the class is known, a value can be 3.5 times as likely as in the whole table",
        "a value can be 3.5 times more or less likely in a class than in the whole table",
    ):
        assert said in texts
    assert any(
        text.startswith("how many equally frequent sensitive values would be as hard to guess") for text in texts
    )


def test_what_is_printed_as_json_is_what_was_measured(aegis, people, plan):
    code, out, _ = aegis(people, "--plan", plan, "--json")
    found = json.loads(out)
    assert code == 0
    assert (found["quasi_identifiers"], found["sensitive"]) == (["age", "zip"], ["sick"])
    assert (found["as_it_is"]["id"], found["as_it_is"]["risk"]["uniques"]) == (None, 1)
    fine, coarse, _ = found["configurations"]
    assert (fine["holds"], fine["broken"]) == (False, [{"name": "k", "promised": 2, "reached": 1}])
    assert "class_sizes" not in fine
    assert fine["suppression"] == {"2": 1, "3": 7, "5": 7, "10": 7, "20": 7, "50": 7}
    assert (coarse["holds"], coarse["suppressed"], coarse["privacy"]["entropy_l"]) == (True, 3, pytest.approx(1.754765))
    assert coarse["risk"]["above"] == {"0.05": 1, "0.2": 1}


def test_the_class_sizes_of_one_configuration_are_among_its_json(aegis, people, plan):
    found = json.loads(aegis(people, "--plan", plan, "--configuration", "fine", "--json")[1])
    assert [each["class_sizes"] for each in found["configurations"]] == [[[1, 1], [2, 3]]]


def test_a_table_without_plan_needs_its_columns_only(aegis, people):
    code, out, error = aegis(people, "--quasi-identifiers", "age, zip", "--sensitive", "sick", "--require", "k=2")
    assert (code, error) == (0, "")
    assert out.startswith("FAIL: the table as it is lacks what is required: k is 1, not 2. To mend it: aegis release ")
    assert re.search(r"age +quasi-identifier\n +zip +quasi-identifier\n +sick +sensitive\n", out)
    assert "t, beta, delta_disclosure: compared with this table." in out


@for_each(
    ("arguments", "code", "said"),
    [
        (["--configuration", "coarse"], 0, ""),
        ([], 1, "aegis: fine: BROKEN: k is 1, not 2\n"),
        (["--require", "l=2"], 1, "aegis: fine: BROKEN: k is 1, not 2; l is 1, not 2\n"),
        (["--require", "k=5"], 1, "aegis: fine: BROKEN: k is 1, not 5 (and 1 more)\n"),
        (["--configuration", "one", "--require", "epsilon=1"], 1, "aegis: NOT JUDGED: one promises nothing that can"),
    ],
)
def test_a_broken_promise_fails_the_check_and_nothing_else(aegis, people, plan, arguments, code, said):
    arguments = (people, "--plan", plan, *arguments)
    assert aegis(*arguments)[::2] == (0, "")
    checked, out, error = aegis(*arguments, "--check")
    assert (checked, out != "", error.startswith(said), error == "") == (code, True, True, not said)


def test_what_is_required_of_a_table_without_plan_can_be_checked(aegis, people):
    arguments = (people, "--quasi-identifiers", "age", "--check")
    assert aegis(*arguments, "--require", "k=4")[::2] == (1, "aegis: the table: BROKEN: k is 3, not 4\n")
    assert aegis(*arguments, "--require", "l=1")[::2] == (1, "aegis: the table: l not measured\n")
    code, out, said = aegis(*arguments, "--require", "k=3")
    assert (code, said) == (1, f"aegis: {out.splitlines()[0]}\n")
    assert said.startswith("aegis: private only against attackers who know no more than: age")
    people.write_text("age\n1\n1\n1\n1\n2\n2\n2\n")
    assert aegis(*arguments, "--require", "k=3")[::2] == (0, "")


@for_each(
    ("arguments", "message"),
    [
        ([], "give --plan, or name columns with --quasi-identifiers and --sensitive"),
        (["--plan", "{plan}", "--sensitive", "sick"], "change them there, or omit --plan"),
        (["--sensitive", "sick", "--configuration", "c"], "--configuration names a configuration of a plan"),
        (["--sensitive", ""], "no column is named"),
        (["--quasi-identifiers", "age,sick", "--sensitive", "sick"], "'sick' is named twice"),
        (["--quasi-identifiers", "agee", "--sensitive", "sick"], "no column 'agee'; did you mean 'age'?"),
        (["--plan", "{plan}", "--configuration", "fines"], "no configuration 'fines'; did you mean 'fine'?"),
        (["--plan", "{plan}", "--require", "kk=5"], "unknown privacy criterion 'kk'"),
        (["--plan", "{plan}", "--require", "k"], "--require must be NAME=NUMBER"),
        (["--plan", "{plan}", "--require", "k=5,l=2"], "not 'k=5,l=2'; repeat --require for another"),
        (["--plan", "{plan}", "--html", "{plan}"], "which is an input"),
        (["--plan", "{plan}", "--html", "nowhere/risk.html"], "there is no directory"),
    ],
)
def test_bad_input_is_one_line(aegis, people, plan, arguments, message):
    before = plan.read_text()
    code, out, error = aegis(people, *(each.format(plan=plan) for each in arguments))
    assert (code, out) == (2, "")
    assert error.startswith("aegis: ")
    assert error.count("\n") == 1
    assert message in error
    assert plan.read_text() == before


def test_a_column_whose_name_holds_a_comma_stands_in_quotes(aegis, tmp_path):
    table = tmp_path / "t.csv"
    table.write_text('"a,b",s\n1,x\n1,y\n')
    assert "  a,b     quasi-identifier\n" in aegis(table, "--quasi-identifiers", '"a,b"', "--sensitive", "s")[1]


def test_the_help_has_an_example(aegis):
    code, out, _ = aegis("--help")
    assert code == 0
    assert "Example: aegis risk health.csv --plan plan.yaml" in out


class Page(HTMLParser):
    """The elements of a page, and the text of each cell, heading and paragraph."""

    def __init__(self, path):
        super().__init__()
        self.elements, self.texts = Counter(), []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, _attributes):
        self.elements[tag] += 1

    def handle_data(self, data):
        if data.strip():
            self.texts.append(data.strip())


@pytest.mark.long
def test_the_page_of_a_plan_shows_every_configuration(aegis, tmp_path):
    code, out, error = aegis(*HEALTH, "--html", tmp_path / "risk.html")
    page = Page(tmp_path / "risk.html")
    assert (code, error) == (0, "")
    assert page.elements["figure"] == 2
    assert {f"c{number:02}" for number in range(1, 71)} <= set(page.texts)
    kept = "56 of 70 configurations keep their promise; 14 promise nothing that can be measured"
    assert any(kept in text for text in page.texts)
    # The page is written in addition to the printed report, not instead of it.
    assert rows_of(out)["c15"][1] == "2"


@pytest.mark.long
def test_the_page_of_a_configuration_compares_it_with_the_table_as_it_is(aegis, tmp_path):
    aegis(*HEALTH, "--configuration", "c40", "--require", "l=2", "--html", tmp_path / "risk.html")
    page = Page(tmp_path / "risk.html")
    assert page.texts.count("Privacy of health.csv, as c40 masks it") == 2
    assert page.elements["figure"] == 3
    assert {"7, held", "2, BROKEN", "24.1 %", "0 %"} <= set(page.texts)
    assert any(
        text.startswith("FAIL: c40 breaks its promise: l is 1, not 2. To mend it: aegis plan configurations ")
        for text in page.texts
    )
    assert any("before and after masking" in text for text in page.texts)


def test_the_page_of_a_table_without_plan(aegis, people, tmp_path):
    aegis(people, "--quasi-identifiers", "age", "--html", tmp_path / "risk.html")
    page = Page(tmp_path / "risk.html")
    assert page.elements["figure"] == 3
    assert "every record is one of at least 3 alike" in page.texts
    assert any("re-identified, as the table is" in text for text in page.texts)


def test_hostile_names_are_text_on_the_page(aegis, tmp_path):
    table, plan = tmp_path / "t.csv", tmp_path / "plan.yaml"
    table.write_text(f'"{HOSTILE}",$y$\n1,a\n1,b\n')
    plan.write_text(f'label: $y$\nattributes: {{"{HOSTILE}": {{}}}}\nconfigurations: {{"{HOSTILE}": {{}}, _b: {{}}}}\n')
    for arguments in ([], ["--configuration", HOSTILE], ["--configuration", "_b"]):
        assert aegis(table, "--plan", plan, *arguments, "--html", tmp_path / "risk.html")[0] == 0
        page = Page(tmp_path / "risk.html")
        assert page.elements["script"] == 0
        assert HOSTILE in page.texts
        assert "$y$" in page.texts


def test_a_release_without_records_has_a_page(aegis, people, plan, tmp_path):
    plan.write_text(PLAN.replace("coarse: {k: 4, alpha: 0.75}", "coarse: {k: 9}").replace("coarse: 3", "coarse: 7"))
    code, out, _ = aegis(people, "--plan", plan, "--configuration", "coarse", "--html", tmp_path / "risk.html")
    told = ["PASS: coarse has no record left", "7 records are left out."]
    assert (code, out.splitlines()[:3:2]) == (0, told)
    assert set(told) <= set(Page(tmp_path / "risk.html").texts)
    assert aegis(people, "--plan", plan, "--html", tmp_path / "risk.html")[0] == 0


STAYS = """
label: sick
quasi_identifiers: [age, zip]
attributes:
  age: {discretize: {rule: edges, edges: [0, 2, .inf]}, maskings: {gone: {suppress: {}}}}
  zip: {maskings: {first: {blur: {keep: 0}}, gone: {suppress: {}}}}
  ward: {maskings: {noisy: {shuffle: {}}}}
  bed: {}
seed: 7
configurations:
  fine: {age: gone, ward: noisy}
  coarse: {zip: drop, bed: drop}
  one: {zip: first, ward: drop, bed: drop}
"""


@pytest.fixture
def stays(tmp_path):
    """A table and a plan with two columns that are neither quasi-identifiers nor sensitive, and one in bins."""
    (tmp_path / "stays.yaml").write_text(STAYS)
    (tmp_path / "stays.csv").write_text(
        "age,zip,ward,bed,sick\n0.5,a,n,1,yes\n0.7,a,s,2,no\n1.5,b,n,3,no\n1.9,b,n,4,no\n"
    )
    return tmp_path / "stays.csv", "--plan", tmp_path / "stays.yaml"


def test_it_is_told_how_a_configuration_masks_every_column(aegis, stays):
    out = aegis(*stays, "--configuration", "fine")[1]
    lines = [" ".join(line.split()) for line in out.split("\n\n")[1].splitlines()]
    assert lines[2:] == [
        "column role masking the values become",
        "age quasi-identifier gone one masked value, *, for all",
        "zip quasi-identifier identity as it is",
        "sick sensitive as it is",
        "ward neither: shared noisy masked at random: the same values, permuted over the records",
        "bed neither: shared identity as it is",
    ]
    out = aegis(*stays, "--configuration", "coarse")[1]
    assert re.search(r"zip +quasi-identifier +drop +not in the release\n", out)
    assert re.search(r"bed +neither: not shared +drop +not in the release\n", out)
    assert re.search(r"age +quasi-identifier +identity +as it is, in the plan's bins\n", out)


def test_columns_that_are_neither_stand_among_those_of_all_configurations(aegis, stays):
    assert re.search(r"ward +neither: shared in 2 of 3\n +bed +neither: shared in 1 of 3\n", aegis(*stays)[1])
    found = json.loads(aegis(*stays, "--json")[1])
    assert (found["neither"], found["binned"]) == (["ward", "bed"], ["age"])
    chosen = {"age": "identity", "zip": "drop", "ward": "identity", "bed": "drop"}
    assert found["configurations"][1]["maskings"] == chosen


def test_the_page_says_how_every_column_is_masked(aegis, stays, tmp_path):
    aegis(*stays, "--html", tmp_path / "risk.html")
    all_of_them = Page(tmp_path / "risk.html").texts
    assert {"neither: shared in 2 of 3", "neither: shared in 1 of 3"} <= set(all_of_them)
    # Two attributes have a masking called `gone`, so the attribute is named.
    assert {"age: gone, noisy", "without zip, bed", "first; without ward, bed"} <= set(all_of_them)
    aegis(*stays, "--configuration", "fine", "--html", tmp_path / "risk.html")
    one = Page(tmp_path / "risk.html").texts
    assert {"neither: shared", "noisy", "one masked value, *, for all"} <= set(one)
    said = [text for text in one if "all records of a class can belong to one person" in text]
    assert len(said) == 1


def test_a_table_in_bins_is_called_so(aegis, stays, people, plan, tmp_path):
    out = aegis(*stays, "--html", tmp_path / "risk.html")[1]
    assert rows_of(out)["(as it is, in bins)"][1] == "2"
    assert "in bins: the numbers of age are in the plan's bins\n" in out
    assert "(as it is, in bins)" in Page(tmp_path / "risk.html").texts
    aegis(*stays, "--configuration", "coarse", "--html", tmp_path / "risk.html")
    assert Page(tmp_path / "risk.html").texts.count("table as it is, numbers in the plan's bins") == 4
    (tmp_path / "stays.yaml").write_text(STAYS[: STAYS.index("configurations:")])
    assert aegis(*stays)[1].startswith("NOT JUDGED: the table as it is, numbers in the plan's bins, promises nothing. ")
    assert "plan's bins" not in aegis(people, "--plan", plan, "--html", tmp_path / "risk.html")[1]
    assert not any("in bins" in text for text in Page(tmp_path / "risk.html").texts)


def test_a_share_above_zero_is_never_printed_as_zero(aegis, tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("age\n2\n" + "1\n" * 1999)
    out = aegis(table, "--quasi-identifiers", "age")[1]
    assert re.search(r"records alone in their class +< 0\.1 %\n", out)


def test_a_table_without_plan_is_said_to_be_compared_with_itself(aegis, people, plan):
    said = "t, beta, delta_disclosure: compared with this table."
    assert said in aegis(people, "--quasi-identifiers", "age", "--sensitive", "sick")[1]
    assert said not in aegis(people, "--quasi-identifiers", "age")[1]
    assert said not in aegis(people, "--plan", plan, "--configuration", "fine")[1]


def test_the_plot_of_all_configurations_begins_with_what_is_most_at_risk(aegis, people, plan, tmp_path):
    plan.write_text(PLAN.replace("  fine: {}\n", "").replace("zip: drop}\nprivacy", "zip: drop}\n  fine: {}\nprivacy"))
    assert list(rows_of(aegis(people, "--plan", plan)[1]))[2:] == ["coarse", "one", "fine"]
    aegis(people, "--plan", plan, "--html", tmp_path / "risk.html")
    texts = Page(tmp_path / "risk.html").texts
    # `fine` has a record that is alone, `coarse` a class of 4, and `one` no class below 7.
    assert sorted(["(as it is)", "one", "coarse", "fine"], key=texts.index) == ["(as it is)", "fine", "coarse", "one"]


def test_the_salt_of_a_token_changes_nothing_that_is_measured(aegis, people, plan, monkeypatch):
    token = "zip: {maskings: {key: {token: {salt_variable: AEGIS_TEST_SALT}}}}"
    plan.write_text(PLAN.replace("zip: {}", token).replace("fine: {}", "fine: {zip: key}"))
    printed = set()
    for salt in ("sixteen bytes or more of salt", "any sixteen of them"):
        monkeypatch.setenv("AEGIS_TEST_SALT", salt)
        printed.add(aegis(people, "--plan", plan, "--configuration", "fine")[1])
    assert len(printed) == 1
    assert re.search(r"\n  k: k-anonymity +1 +2, BROKEN", *printed)
