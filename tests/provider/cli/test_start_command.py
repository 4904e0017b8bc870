"""`aegis plan start`: what it prints, and the one line that it has for each unusable table."""

import json
from itertools import takewhile
from pathlib import Path

from aegis_provider import load_plan
from aegis_provider.errors import CONVERT
from tests.for_each import for_each

EXAMPLE = Path(__file__).parents[3] / "examples" / "health"


def test_the_profile_of_the_example(aegis, tmp_path):
    plan = tmp_path / "plan.yaml"
    code, out, error = aegis("plan", "start", EXAMPLE / "health.csv", "--label", "health", "--output", plan)
    assert (code, error) == (0, "")
    lines = [line.split() for line in out.splitlines()]
    assert out.startswith(f"{EXAMPLE / 'health.csv'}, CSV in UTF-8 separated by commas: 20,190 records\n")
    assert ["poor", "302", "1.5", "%"] in lines
    assert ["coinsurance", "integer", "5", "0", "0.0024", "0.0004", "4*:", "99", "%,", "2*:", "41", "%"] in lines
    assert f"{plan}: 7 attributes" in out
    assert len(load_plan(plan, configurations_needed=False).attributes) == 7


def test_json(aegis, tmp_path, write):
    table = write("t.csv", "id;a;y\n" + "".join(f"p{n};{n % 3};{n % 2}\n" for n in range(60)))
    plan = tmp_path / "plan.yaml"
    code, out, error = aegis("plan", "start", table, "--label", "y", "--output", plan, "--json")
    assert (code, error) == (0, "")
    document = json.loads(out)
    [attribute] = document.pop("attributes")
    assert document == {
        "output": str(plan),
        "table": f"{table}, CSV in UTF-8 separated by semicolons",
        "delimiter": ";",
        "records": 60,
        "label": {"name": "y", "records": {"0": 30, "1": 30}},
        "minimum": 5,
        "left_out": {"id": "its name and its values say that it identifies people"},
        "repeating": {},
        "people": None,
        "telling": {},
        "kept": [],
        "new": [],
    }
    assert (attribute["name"], attribute["type"], attribute["values"], attribute["missing"]) == ("a", "integer", 3, 0)


def test_the_person_column_is_named_where_it_repeats_and_counted_where_it_is_named(aegis, tmp_path, write):
    table = write("t.csv", "patient_id;a;y\n" + "".join(f"p{n // 2};{n % 3};{n % 2}\n" for n in range(60)))
    command = ("plan", "start", table, "--label", "y", "--output")
    assert "with --person patient_id it counts people" in aegis(*command, tmp_path / "asked.yaml")[1]
    code, out, error = aegis(*command, tmp_path / "plan.yaml", "--person", "patient_id", "--json")
    assert (code, error) == (0, "")
    people = json.loads(out)["people"]
    assert people == {"person": "patient_id", "people": 30, "rows_per_person": 2, "kept": 1.0}


def test_the_next_command_names_the_delimiter_and_works(aegis, tmp_path, write):
    table = write("t.csv", "a;y\n" + "".join(f"{n % 3};{n % 2}\n" for n in range(60)))
    out = aegis("plan", "start", table, "--label", "y", "--output", tmp_path / "plan.yaml")[1]
    found = tmp_path / "found.yaml"
    assert out.splitlines()[-1] == (
        f"next: aegis plan configurations {table} --plan {tmp_path / 'plan.yaml'} --require k=5 --output found.yaml "
        "--delimiter ';'"
    )
    options = ("--plan", tmp_path / "plan.yaml", "--require", "k=5", "--output", found, "--delimiter", ";")
    assert aegis("plan", "configurations", table, *options)[0] == 0


def test_the_line_that_lists_what_others_may_know_is_named(aegis, tmp_path, write):
    table = write("t.csv", "since,y\n" + "".join(f"2024-01-{n % 9 + 1:02},{n % 2}\n" for n in range(90)))
    plan = tmp_path / "plan.yaml"
    out = aegis("plan", "start", table, "--label", "y", "--output", plan)[1]
    [line] = [number for number, text in enumerate(plan.read_text().splitlines(), 1) if "quasi_identifiers: [" in text]
    assert f"perhaps known: judging by its values; {plan}, line {line}, lists what others know" in out
    assert "perhaps known (dates of events)" in out


def test_rare_label_values_are_a_warning(aegis, tmp_path, write):
    table = write("t.csv", "a,y\n" + "1,n\n2,m\n" * 9 + "2,odd\n")
    code, _, error = aegis("plan", "start", table, "--label", "y", "--output", tmp_path / "plan.yaml")
    assert code == 0
    assert "warning: label values with fewer than 5 records: odd; merge them" in error


def test_a_few_records_without_a_label_are_named_with_their_line(aegis, tmp_path, write):
    """An empty line of a spreadsheet is a record without a value, which every command then takes for a class."""
    table = write("t.csv", "a;y\n" + "1;n\n2;m\n" * 30 + ";\n" + "1;n\n2;m\n" * 30)
    plan, said = (
        tmp_path / "plan.yaml",
        f"aegis: warning: {table}: line 62: a few records (1 % at most) have no 'y', and make a label value",
    )
    code, _, error = aegis("plan", "start", table, "--label", "y", "--output", plan)
    assert (code, error) == (0, f"{said} of their own; remove such lines from the table if they are not records\n")
    plan.write_text(plan.read_text() + "configurations: {all: {}}\n")
    error = aegis("summarize", table, "--plan", plan, "--name", "t", "--output", tmp_path / "entry.json", "--exact")[2]
    assert said in error
    write("t.csv", "a;y\n" + "1;n\n2;m\n;\n" * 30)
    assert "label value" not in aegis("plan", "start", table, "--label", "y", "--output", tmp_path / "other.yaml")[2]


def test_what_a_second_run_says(aegis, tmp_path, write):
    rows = "".join(f"{n},{n % 3},{n % 2}\n" for n in range(60))
    table, plan = write("t.csv", f"row,a,y\n{rows}"), tmp_path / "plan.yaml"
    aegis("plan", "start", table, "--label", "y", "--output", plan)
    assert (
        f"{plan}: unchanged; it keeps what it said before\n"
        in aegis("plan", "start", table, "--label", "y", "--output", plan)[1]
    )
    code, _, error = aegis("plan", "start", table, "--label", "y", "--output", plan, "--add", "row")
    assert (code, error.count("\n")) == (1, 1)
    assert "'row': numbers the records. --accept-identifiers" in error
    more = aegis("plan", "start", table, "--label", "y", "--output", plan, "--add", "row", "--accept-identifiers")[1]
    assert f"{plan}: added row; it keeps what it said before\n" in more
    wider = write("u.csv", f"row,a,y,b\n{rows.replace(chr(10), ',7' + chr(10))}")
    assert (
        "not in the plan, so not shared: b; draft one with --add NAME\n"
        in aegis("plan", "start", wider, "--label", "y", "--output", plan)[1]
    )


WIDE = ",".join(f"c{place}" for place in range(100_000))


@for_each(
    ("content", "said"),
    [
        ("a,health\n1,x\n2,z\n", "no column 'helth'; did you mean 'health'?"),
        (
            "a,helth\n1,x\n2,x\n",
            "the label 'helth' has only one value, 'x', so there is nothing to tell about it; name another",
        ),
        ("a,helth\n1,\n2,\n", "the label 'helth' has no value, so there is nothing to tell about it; name another"),
        ("", "the file is empty"),
        ("a,helth\n", "the table has no records"),
        ("a,a,helth\n1,2,x\n", "line 1: two columns are called 'a'; rename one"),
        (
            f"{WIDE},helth\n",
            "has 100,001 columns, more than 2,000; keep those that you want to share in a table of their own",
        ),
        ("a,helth\nä,x\n".encode() + "ö,z\n".encode("latin-1"), f"line 3: not UTF-8; {CONVERT}"),
        ('a,helth\n1,x\n"2,z\n', "line 3: a quoted field ends in the wrong place"),
        ("a,helth\n1,x\n2\n", "line 3: 1 fields where the header has 2"),
        (
            "a,helth\n" + "".join(f"1,v{n}\n" for n in range(201)),
            (
                "the label 'helth' has 201 different values, more than 200; "
                "name one of classes, or write numbers plainly: 1248.77, not € 1,248.77"
            ),
        ),
        (
            "id,helth\n" + "".join(f"p{n},{n % 2}\n" for n in range(30)),
            "no column can be shared: 'id' its name and its values say that it identifies people",
        ),
    ],
)
def test_an_unusable_table_is_one_line_and_no_plan(aegis, write, tmp_path, content, said):
    table, plan = write("t.csv", content), tmp_path / "plan.yaml"
    assert aegis("plan", "start", table, "--label", "helth", "--output", plan) == (2, "", f"aegis: {table}: {said}\n")
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


def test_a_quoted_line_break_is_part_of_its_value(aegis, write, tmp_path):
    table = write("t.csv", "a,y\n" + '"one\ntwo",n\nthree,m\n' * 9 + '"four\nfive",n\n' * 9)
    code, out, _ = aegis("plan", "start", table, "--label", "y", "--output", tmp_path / "plan.yaml", "--json")
    assert code == 0
    assert [each["values"] for each in json.loads(out)["attributes"]] == [3]


def test_too_little_memory_is_one_line(aegis, write, tmp_path, monkeypatch):
    monkeypatch.setenv("AEGIS_MEMORY_LIMIT", "4MB")
    table = write("t.csv", "a,y\n" + "".join(f"{n * 7919}.5,{n % 2}\n" for n in range(300_000)))
    plan = tmp_path / "plan.yaml"
    result = aegis("plan", "start", table, "--label", "y", "--output", plan)
    assert result == (
        2,
        "",
        f"aegis: {table}: needs more memory than allowed; raise the memory limit (AEGIS_MEMORY_LIMIT)\n",
    )
    assert not plan.exists()


@for_each(
    "command",
    [
        ("plan", "start", "--label", "y", "--output", "drafted.yaml"),
        ("summarize", "--plan", "plan.yaml", "--name", "t", "--output", "entry.json"),
        ("plan", "configurations", "--plan", "plan.yaml", "--require", "k=5", "--output", "found.yaml"),
        ("apply", "--plan", "plan.yaml", "--configuration", "c", "--output", "masked.csv"),
        ("risk", "--plan", "plan.yaml"),
        ("risk", "--quasi-identifiers", "a,b"),
        (
            "independence",
            "--keep",
            "y",
            "--hide",
            "a",
            "--from",
            "b",
            "--output",
            "i.csv",
            "--clusters",
            2,
        ),
    ],
)
def test_every_command_finds_the_delimiter_in_the_header(aegis, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    rows = [f"{n % 3};{n % 2};{'yn'[n % 5 > 1]}" for n in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["a;b;y", *rows]) + "\n")
    (tmp_path / "plan.yaml").write_text(
        "label: y\nattributes: {a: {maskings: {m: {round: {to: 2}}}}, b: {}}\n"
        "configurations: {c: {a: m}}\nprivacy: {c: {k: 2}}\n"
    )
    words = list(takewhile(lambda word: not str(word).startswith("-"), command))
    code, _, err = aegis(*words, "t.csv", *command[len(words) :])
    assert (code, "column" in err) == (0, False), err
