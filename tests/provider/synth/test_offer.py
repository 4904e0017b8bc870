"""Generated tables in the entry of a plan, and handed out: through the command line, on a small table."""

import csv
import hashlib
import json
from collections import Counter

import numpy as np
import pytest

from aegis_advisor.transfer import information_transfer
from aegis_provider import load_plan
from aegis_provider.records import held_out_of, read_records
from aegis_provider.table import open_table
from aegis_sdk.wire import publishable
from tests.for_each import for_each

PLAN = """label: health
sensitive: [health]
attributes:
  age:
    type: integer
    maskings:
      decades: {bucketize: {width: 10}}
  smokes:
    maskings:
      drawn: {randomised_response: {keep: 0.9}}
seed: 5
configurations:
  c1: {age: decades}
  c2: {age: decades, smokes: drop}
  c3: {age: decades, smokes: drawn}
privacy:
  g1: {membership: 0.56}
holdout: 0.3
generated:
  g1:
    file: made.csv
    sha256: DIGEST
    method: trees
    weights: {privacy: 5}
    attacks: {membership: {value: 0.5, low: 0.46, high: 0.54, chance: 0.5}}
"""


def people(seed, count):
    random = np.random.default_rng(seed)
    age, smokes = random.integers(20, 80, count), random.random(count) < 0.4
    ill = random.random(count) < 0.1 + 0.008 * (age - 20) + 0.2 * smokes
    rows = zip(age, smokes, ill, strict=True)
    lines = [f"{years},{'yes' if smoke else 'no'},{'ill' if bad else 'well'}" for years, smoke, bad in rows]
    return "\n".join(["age,smokes,health", *lines]) + "\n"


@pytest.fixture
def table(write):
    return write("people.csv", people(1, 1_500))


@pytest.fixture
def made(write):
    return write("made.csv", people(2, 700))


@pytest.fixture
def plan(write, made):
    return write("plan.yaml", PLAN.replace("DIGEST", hashlib.sha256(made.read_bytes()).hexdigest()))


@pytest.fixture
def entry(aegis, table, plan, tmp_path):
    """The entry as `aegis summarize` writes it."""

    def summarize(*options):
        output = tmp_path / "entry.json"
        code, _, said = aegis("summarize", table, "--plan", plan, "--name", "people", "--output", output, *options)
        return (json.loads(output.read_text()) if output.exists() else None), code, said

    return summarize


def test_the_entry_offers_it_beside_masks(entry, made):
    document, code, _ = entry()
    assert code == 0
    publishable(document)
    configurations = {each["id"]: each for each in document["configurations"]}
    drawn = configurations["g1"]
    labels = Counter(row["health"] for row in csv.DictReader(made.read_text().splitlines()))
    assert (document["format"], drawn["kind"], drawn["records"], drawn["method"]) == (2, "generated", 700, "trees")
    assert dict(zip(document["label"]["domain"], drawn["histogram"], strict=True)) == labels
    assert drawn["privacy"] == {"membership": 0.56}
    assert drawn["weights"] == {"privacy": 5.0}
    assert drawn["attacks"]["membership"]["high"] == 0.54
    assert 0.02 < drawn["transfer"]["joint"]["value"] <= document["holdout"]["unmasked"]["joint"]["high"]
    assert ["transfer" in configurations[each] for each in ("c1", "c2", "c3")] == [True, True, False]


def test_a_generated_table_whose_formulas_are_escaped_is_counted_as_it_was_before(entry, aegis, table, plan, made):
    for path in (table, plan):
        path.write_text(path.read_text().replace("smokes", "'=smokes'" if path == plan else "=smokes"))
    table.write_text(table.read_text().replace("ill", "=ill"))
    escaped = made.read_text().replace("ill", "'=ill").replace("smokes", "'=smokes")
    digest = hashlib.sha256(made.read_bytes()).hexdigest()
    made.write_text(escaped)
    plan.write_text(plan.read_text().replace(digest, hashlib.sha256(made.read_bytes()).hexdigest()))
    document, code, said = entry("--exact")
    assert (code, document["label"]["domain"]) == (0, ["=ill", "well"]), said
    drawn = next(each for each in document["configurations"] if each["id"] == "g1")
    assert drawn["histogram"] == [escaped.count("'=ill"), escaped.count("well")]
    code, _, said = aegis(
        "apply", table, "--stays", "--plan", plan, "--configuration", "g1", "--output", made.with_name("o.csv")
    )
    assert (code, "spreadsheet" in said) == (0, False)


def test_a_mask_of_seen_records_is_judged_by_held_out_ones(entry, table, plan):
    document, _, _ = entry()
    with open_table(table) as opened:
        held_out = held_out_of(read_records(opened, load_plan(plan).attributes, "health"), 0.3)
    assert document["holdout"]["records"] == held_out.sum()
    rows = list(csv.DictReader(table.read_text().splitlines()))
    tables = []
    for side in (False, True):
        chosen = [row for row, out in zip(rows, held_out, strict=True) if out == side]
        counts = Counter((row["age"][0], row["health"]) for row in chosen)
        tables.append(np.array([[float(counts[decade, label]) for label in ("ill", "well")] for decade in "234567"]))
    expected = information_transfer(*tables)
    told = document["configurations"][0]["transfer"]["attributes"]["age"]["mutual_information"]
    assert told["value"] == pytest.approx(expected.value, abs=document["holdout"]["rounded_to"] / 2 + 1e-9)
    assert told["low"] <= expected.low < expected.high <= told["high"]


def test_the_same_masks_are_published_without_it(entry, plan):
    with_it, _, _ = entry()
    plan.write_text(plan.read_text().partition("holdout")[0].replace("  g1: {membership: 0.56}", "  c1: {k: 1}"))
    without, _, _ = entry()
    assert without["format"] == 1
    assert [each["id"] for each in without["configurations"]] == ["c1", "c2", "c3"]
    assert not any("transfer" in each for each in without["configurations"])
    for name, part in without.items():
        if name not in {"format", "configurations", "label", "attributes", "records"}:  # counts are rounded at random
            assert with_it[name] == part


def test_another_file_is_neither_offered_nor_handed_out(entry, aegis, table, plan, made, tmp_path):
    made.write_text(people(3, 700))
    document, code, said = entry()
    assert (document, code) == (None, 2)
    assert "made.csv: is not the table that plan.yaml states: its SHA-256 is" in said
    code, _, said = aegis(
        "apply", table, "--stays", "--plan", plan, "--configuration", "g1", "--output", tmp_path / "out.csv"
    )
    assert code == 2
    assert "restore that file, or take g1 out of the plan" in said
    assert not (tmp_path / "out.csv").exists()


def test_it_is_handed_out_byte_for_byte(aegis, table, plan, made, tmp_path):
    output = tmp_path / "out.csv"
    code, said, _ = aegis("apply", table, "--stays", "--plan", plan, "--configuration", "g1", "--output", output)
    assert code == 0
    assert output.read_bytes() == made.read_bytes()
    assert f"SHA-256 {hashlib.sha256(made.read_bytes()).hexdigest()} as the plan states" in said
    assert "promised: membership at most 0.56" in said
    code, said, _ = aegis(
        "apply", table, "--stays", "--plan", plan, "--configuration", "g1", "--output", output, "--json"
    )
    assert json.loads(said)["promised"] == {"membership": 0.56}


@for_each(
    ("output", "message"),
    [
        ("out.parquet", "name an output that ends in .csv"),
        ("made.csv", "which is an input"),
        ("people.csv", "which is an input"),
    ],
)
def test_no_output_is_an_input_or_of_another_kind(aegis, table, plan, made, tmp_path, output, message):
    before = table.read_bytes(), made.read_bytes()
    code, _, said = aegis(
        "apply", table, "--stays", "--plan", plan, "--configuration", "g1", "--output", tmp_path / output
    )
    assert code == 2
    assert message in said
    assert (table.read_bytes(), made.read_bytes()) == before


@for_each(
    ("content", "message"),
    [
        (None, "made.csv: cannot be read: No such file or directory"),
        ("age,smokes\n30,yes\n", "no column 'health'"),
        ("age,smokes,health\n", "made.csv: has no records"),
        ("age,smokes,health,name\n30,yes,ill,Ann\n", "has the column 'name', which the plan does not let be shared"),
        (
            "age,smokes,health\n30,often,ill\n",
            "made.csv: 'smokes': 100 % of the cells are not values that the table has",
        ),
        ("age,smokes,health\n30,yes,fine\n", "has the label 'fine', which no record that the entry counts has"),
    ],
)
def test_a_table_that_cannot_be_offered_is_refused(entry, plan, made, content, message):
    if content is None:
        made.unlink()
    else:
        old = hashlib.sha256(made.read_bytes()).hexdigest()
        made.write_text(content)
        plan.write_text(plan.read_text().replace(old, hashlib.sha256(made.read_bytes()).hexdigest()))
    document, code, said = entry()
    assert (document, code) == (None, 2)
    assert message in said


def test_noise_in_all_counts_excludes_figures_of_records(entry, plan):
    plan.write_text(plan.read_text().replace("  c3: {age: decades, smokes: drawn}\n", ""))
    document, code, said = entry("--epsilon", "1")
    assert (document, code) == (None, 2)
    assert "noise covers all counts" in said
    assert "round the counts instead, or take `generated` out of the plan" in said


def test_a_holdout_needs_records_on_both_sides(entry, plan):
    plan.write_text(plan.read_text().replace("holdout: 0.3", "holdout: 0.001"))
    document, code, said = entry()
    assert (document, code) == (None, 2)
    assert "both sides need some" in said


def test_a_minimum_merges_masks_before_they_are_judged(entry, plan, table):
    """What is judged is the mask that the plan of the entry makes, which `--plan-output` writes."""
    document, code, _ = entry("--min-cell", "100")
    assert code == 0
    with open_table(table) as opened:
        held_out = held_out_of(read_records(opened, load_plan(plan).attributes, "health"), 0.3)
    rows = list(csv.DictReader(table.read_text().splitlines()))
    [age] = [each for each in document["attributes"] if each["name"] == "age"]
    [masking] = age["maskings"]
    size = len(masking["domain"])
    assert size < 6
    groups = dict(zip(age["domain"], masking["mapping"], strict=True))
    tables = []
    for side in (False, True):
        counts = Counter(
            (merged(groups, row["age"]), row["health"]) for row, out in zip(rows, held_out, strict=True) if out == side
        )
        tables.append(
            np.array(
                [[float(counts[group, label]) for label in ("ill", "well")] for group in range(len(masking["domain"]))]
            )
        )
    told = document["configurations"][0]["transfer"]["attributes"]["age"]["mutual_information"]
    expected = information_transfer(*tables)
    assert told["value"] == pytest.approx(expected.value, abs=document["holdout"]["rounded_to"] / 2 + 1e-9)


def merged(groups, age):
    """The group of an age, by the listed intervals, such as `[40,50)`."""
    for listed, group in groups.items():
        low, high = listed[1:-1].split(",")
        if float(low) <= int(age) < float(high):
            return group
    raise AssertionError(age)


@for_each(("ending", "delimiter"), [(".parquet", ","), (".csv", ";")])
def test_parquet_and_other_delimiters(write, aegis, tmp_path, ending, delimiter):
    """The label is a boolean, which Parquet spells in its own way."""
    columns = people(1, 600).replace("ill", "True").replace("well", "False").replace(",", delimiter)
    table, plan = write("people.csv", columns), write("bare.yaml", PLAN.partition("holdout")[0].partition("  c3")[0])
    made = tmp_path / f"made{ending}"
    options = ("--delimiter", delimiter)
    code, said, _ = aegis(
        "synth",
        "generate",
        table,
        "--plan",
        plan,
        "--output",
        made,
        "--holdout",
        0.3,
        "--no-card",
        "--seed",
        1,
        *options,
    )
    digest = hashlib.sha256(made.read_bytes()).hexdigest()
    assert (code, f"SHA-256, by which a plan can offer it: {digest}" in said) == (0, True)
    stated = f"holdout: 0.3\ngenerated:\n  g1: {{file: {made.name}, sha256: {digest}, method: trees}}\n"
    plan = write(
        "plan.yaml", PLAN.partition("privacy")[0].replace("  c3: {age: decades, smokes: drawn}\n", "") + stated
    )
    output = tmp_path / "entry.json"
    code, _, said = aegis("summarize", table, "--plan", plan, "--name", "people", "--output", output, *options)
    assert (code, said) == (0, "")
    drawn = next(each for each in json.loads(output.read_text())["configurations"] if each["id"] == "g1")
    assert sum(drawn["histogram"]) == drawn["records"] > 300
    handed = tmp_path / f"out{ending}"
    code, _, _ = aegis("apply", table, "--stays", "--plan", plan, "--configuration", "g1", "--output", handed, *options)
    assert (code, handed.read_bytes()) == (0, made.read_bytes())


def test_masks_that_show_nobody_have_no_figures(entry, plan):
    """Every record breaks so much privacy, so a release would have none."""
    text = plan.read_text().replace("privacy:\n", "privacy:\n  c1: {k: 400}\n")
    plan.write_text(f"{text}suppressed: {{c1: 1500}}\n")
    document, code, _ = entry()
    assert code == 0
    first = document["configurations"][0]
    assert (first["id"], "transfer" in first) == ("c1", False)
