"""`aegis synth generate` on a small table: what it writes and says, and what it refuses."""

import json
import sys

import numpy as np
import pyarrow.parquet as pq
import pytest

from aegis_provider.synth.generate.generating import DEFAULT_METHOD
from aegis_sdk.cli.signals import Interrupted
from tests.for_each import for_each, for_some

PLAN = """label: y
attributes:
  age: {type: integer}
  town: {}
  name: {identity: false}
"""


@pytest.fixture
def table(write):
    rng = np.random.default_rng(0)
    age, town = rng.integers(20, 60, 900), rng.integers(0, 3, 900)
    label = np.where(rng.random(900) < 0.2 + 0.3 * (town == 1), "yes", "no")
    rows = [f"{a},{'abc'[t]},n{n},{y}" for n, (a, t, y) in enumerate(zip(age, town, label, strict=True))]
    return write("table.csv", "\n".join(["age,town,name,y", *rows]) + "\n")


@pytest.fixture
def generate(table, write, aegis, tmp_path):
    """Generate by CART and without a card, unless told otherwise; return the exit code, stdout and stderr."""

    def run(*arguments, plan=PLAN, source=table, output="out.parquet"):
        options = [
            "--plan",
            write("plan.yaml", plan),
            "--output",
            tmp_path / output,
            "--method",
            "cart",
            "--no-card",
            *arguments,
        ]
        return aegis("synth", "generate", source, *options)

    return run


def test_it_writes_records_of_the_plan_s_columns_and_types(generate, tmp_path):
    code, printed, _ = generate("--records", 500, "--seed", 1, "--json")
    told, written = json.loads(printed), pq.read_table(tmp_path / "out.parquet")
    assert (code, told["records"], told["left_out"], told["guarantee"]) == (0, 500, ["name"], None)
    assert written.column_names == ["age", "town", "y"]
    assert str(written.schema.field("age").type) == "int64"
    assert set(written["town"].to_pylist()) == {"a", "b", "c"}
    assert told["learnt_from"] + told["validated"] + told["held_out"] == 900
    assert told["validated"] > 0


def test_what_was_accepted_is_said_and_gone_once_it_is_refused(generate, table, write, tmp_path):
    source = write("mails.csv", table.read_text().replace(",b,", ",b@clinic.example,"))
    code, printed, _ = generate("--accept-identifiers", source=source)
    line = "town has e-mail addresses, shared because that was accepted"
    assert (code, line in printed.splitlines(), (tmp_path / "out.parquet").exists()) == (0, True, True)
    code, _, said = generate(source=source)
    assert (code, "contains e-mail addresses" in said, (tmp_path / "out.parquet").exists()) == (1, True, False)
    told = json.loads(generate("--accept-identifiers", "--json", source=source)[1])
    assert told["accepted"] == {"town": "e-mail addresses"}


def test_formulas_are_told_of_or_escaped(generate, table, write, tmp_path):
    source = write("formulas.csv", table.read_text().replace(",b,", ",=b,"))
    for options, told in (((), True), (("--escape-formulas",), False)):
        code, _, said = generate("--records", 300, "--seed", 1, *options, source=source, output="out.csv")
        written = (tmp_path / "out.csv").read_text()
        assert (code, "a spreadsheet would run" in said, ",'=b," in written) == (0, told, not told)
    code, _, said = generate("--escape-formulas", source=source)
    assert (code, "omit --escape-formulas for Parquet" in said) == (2, True)


def test_json_has_every_look_for_a_curve(generate):
    told = json.loads(generate("--seed", 1, "--json")[1])
    [look] = told["looks"]
    assert set(look) == {"seconds", "number", "losses", "pair_total_variation", "auc", "r2", "frechet_distance"}
    assert told["best"] == 0
    for name in ("pair_total_variation", "auc", "frechet_distance"):
        assert told[name] == look[name]
    assert 0 < look["frechet_distance"] < 1


@pytest.mark.long
def test_a_card_beside_the_output_says_what_attacks_achieve(generate, tmp_path):
    code, printed, _ = generate("--card", "--json", output="made.csv")
    told, card = json.loads(printed), json.loads((tmp_path / "made.csv.card.json").read_text())
    assert (told, told["records"]) == (card, len((tmp_path / "made.csv").read_text().splitlines()) - 1)
    assert code == (not told["attacked"]["headline"].startswith("PASS: "))
    assert told["attacked"]["headline"] in (tmp_path / "made.csv.card.md").read_text()
    files = {f"made.csv{ending}" for ending in ("", ".card.md", ".card.html", ".card.json")}
    assert {each.name for each in tmp_path.glob("made.*")} == files


def test_a_bar_is_shown_to_people_and_nothing_to_others(generate, monkeypatch):
    assert generate()[2] == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    _, _, said = generate("--seconds", 50)
    assert "learning from " in said
    assert "training, 50 s left" in said
    assert "pair total variation" in said


def test_a_run_replaces_the_card_of_its_output_and_not_that_of_another_output_of_the_same_name(
    generate, write, tmp_path
):
    parts = (".md", ".html", ".json")
    older = [write(f"made.{kind}.card{part}", "older") for kind in ("csv", "parquet") for part in parts]
    generate("--seed", 2, output="made.csv")
    assert {each.name for each in tmp_path.glob("made.*")} == {"made.csv", *(each.name for each in older[3:])}


def test_it_says_what_is_not_guaranteed_and_what_was_left_out(generate):
    _, printed, _ = generate("--holdout", 0.3)
    assert "nothing is guaranteed" in printed
    assert "--holdout 0.3" in printed
    assert "left out by the plan (identity: false): name" in printed


def test_whoever_stops_the_attacks_hears_that_there_is_no_card_and_what_makes_up_for_it(
    table, write, aegis, tmp_path, monkeypatch
):
    def stopped(*_, **__):
        raise Interrupted(130)

    monkeypatch.setattr("aegis_provider.synth.report.generated_card.judge_generated", stopped)
    output, plan = tmp_path / "out.parquet", write("plan.yaml", PLAN)
    code, printed, said = aegis("synth", "generate", table, "--plan", plan, "--output", output, "--method", "cart")
    assert (code, printed, output.exists()) == (130, "", True)
    assert f"aegis: warning: {output} is written, but has no card; aegis risk {output} --against {table}" in said


@for_some(
    3,
    ("holdout", "off", "instead"),
    [
        (0, "", ""),
        (0.05, "0 % of the records are held out, not 5 % as asked", "To hold out more, choose a larger --holdout"),
        (0.1, "20 % of the records are held out, not 10 % as asked", "To hold out fewer, choose a smaller --holdout"),
        (0.2, "", ""),
        (0.4, "", ""),
    ],
)
def test_a_share_far_from_the_one_to_hold_out_is_told_with_what_to_do(generate, write, holdout, off, instead):
    """The sides follow from the names of the towns alone: that of j is below 0.1, and that of h below 0.4."""
    rows = [f"{n % 40},{'cdfhj'[n % 5]},n,{'yes' if n % 3 else 'no'}" for n in range(900)]
    source = write("other.csv", "\n".join(["age,town,name,y", *rows]) + "\n")
    plan = PLAN.replace("  age: {type: integer}\n", "")
    code, printed, said = generate("--holdout", holdout, plan=plan, source=source)
    assert code == 0, said
    warnings = [line.removeprefix("warning: ") for line in printed.splitlines() if line.startswith("warning: ")]
    assert len(warnings) == bool(off)
    assert all(each.startswith(off) for each in warnings)
    assert all(f"there are 5 combinations of attributes. {instead}" in each for each in warnings)
    noted = json.loads(generate("--holdout", holdout, "--json", plan=plan, source=source)[1])["holdout_note"]
    assert noted == "".join(warnings)


def test_the_same_seed_makes_the_same_file_and_another_another(generate, tmp_path):
    for name, seed in (("a.csv", 1), ("b.csv", 1), ("c.csv", 2)):
        generate("--seed", seed, output=name)
    a, b, c = ((tmp_path / name).read_bytes() for name in ("a.csv", "b.csv", "c.csv"))
    assert a == b != c


def test_label_shares_are_kept_or_as_asked(generate, tmp_path, table):
    generate("--records", 400, "--label-shares", "yes=0.25,no=0.75")
    labels = pq.read_table(tmp_path / "out.parquet")["y"].to_pylist()
    assert (labels.count("yes"), labels.count("no")) == (100, 300)
    generate("--records", 400)
    labels = pq.read_table(tmp_path / "out.parquet")["y"].to_pylist()
    whole = [line.rpartition(",")[2] for line in table.read_text().splitlines()[1:]]
    # Labels are drawn: their share has a standard error of 0.025 at most.
    assert abs(labels.count("yes") / 400 - whole.count("yes") / 900) < 6 * 0.025


@pytest.mark.long
@for_each(
    ("arguments", "words"),
    [
        (["--method", "gan"], "unknown method 'gan'; did you mean 'wgan-gp'?"),
        (["--epsilon", "1"], "the method cart does not support epsilon; omit it, or choose another method"),
        (["--value", "1"], "the method cart does not support value"),
        (["--method", "mbi", "--epsilon", "1", "--value", "1"], "importance depends on the records"),
        (["--method", "wgan-gp", "--epsilon", "1"], "the method wgan-gp does not support epsilon"),
        (["--label-shares", "yes"], "'yes' is not VALUE=SHARE"),
        (["--label-shares", "yes=0"], "the shares add up to 0, not to 1"),
        (["--label-shares", "maybe=1"], "the label has no value 'maybe' with 5 records; available: no, yes"),
        (["--label-shares", "yes=0.5,yes=0.5"], "'yes' appears twice; state each value once"),
        (["--label-shares", "yes=nan"], "'yes=nan' is not VALUE=SHARE"),
        (["--label-shares", "yes=-1,no=2"], "'yes=-1' is not VALUE=SHARE"),
        *((["--holdout", each], "'--holdout': Input should be") for each in ("1", "-1", "nan")),
        *((["--records", each], "'--records': Input should be") for each in ("0", "-5", "1000000000")),
        *((["--seconds", each], "'--seconds': Input should be") for each in ("0", "nan")),
        *((["--method", "mbi", "--epsilon", each], "epsilon") for each in ("0", "-1", "nan", "inf", "1e-9")),
        *((["--method", "wgan-gp", "--privacy", each], "privacy") for each in ("-1", "nan")),
        *(
            (["--method", "wgan-gp", "--value", each], f"value is {each}; choose a number from 0 to 1e+06")
            for each in ("inf", "1e+300")
        ),
        (["--seed", "-1"], "'--seed': Input should be"),
        (["--label-shares", "yes=0.5,no=0.6"], "the shares add up to 1.1, not to 1"),
        (["--holdout", "0.9"], "are too few; 100 are needed"),
    ],
)
def test_a_wrong_option_is_one_line_and_nothing_is_written(generate, tmp_path, arguments, words):
    code, printed, said = generate(*arguments)
    assert code
    assert words in said
    assert printed == ""
    assert len(said.splitlines()) == 1
    assert not [each for each in tmp_path.iterdir() if "out" in each.name]


@for_each(
    ("plan", "words"),
    [
        (
            PLAN.replace("town: {}", "town: {privacy_weight: 2}"),
            "attributes.town.privacy_weight: a weight must be from 0",
        ),
        (PLAN.replace("town: {}", "town: {importance: a}"), "attributes.town.importance: 'a' is not a number"),
        (PLAN + "saliency: yes\n", "saliency: expected auto or none"),
        ("label: y\nattributes:\n  name: {}\n", "would point to somebody; leave the column out of the plan"),
        ("label: y\nattributes:\n  name: {identity: false}\n", "no attribute may be shared unmasked"),
        ("label: name\nattributes:\n  age: {}\n", "would point to somebody"),
    ],
)
def test_a_plan_that_cannot_be_used_is_one_line(generate, plan, words):
    code, _, said = generate(plan=plan)
    assert code
    assert words in " ".join(said.split())


@for_each(
    ("content", "words"),
    [
        ("age,town,name,y\n1,a,n,yes\n2,b,m,no\n3,c,o,no\n", "are too few; 100 are needed"),
        (
            "age,town,name,y\n" + "".join(f"{n % 40},a,n,yes\n" for n in range(900)),
            "nothing to predict; choose another label, or --holdout 0",
        ),
        ("age,town,name,y\n", "no records"),
    ],
)
def test_a_table_that_cannot_be_learnt_from_is_one_line(generate, write, content, words):
    code, _, said = generate(source=write("other.csv", content))
    assert code
    assert words in said


@for_each("age", ["", "7"])
def test_a_column_that_is_constant_or_missing_comes_back_as_it_is(generate, write, tmp_path, age):
    rows = "".join(f"{age},t{n % 50},n,{'yes' if n % 3 else 'no'}\n" for n in range(900))
    code, _, said = generate(source=write("other.csv", "age,town,name,y\n" + rows), output="out.csv")
    assert code == 0, said
    body = (tmp_path / "out.csv").read_text().splitlines()[1:]
    assert {line.partition(",")[0] for line in body} == {age}


@for_each("output", ["table.csv", "plan.yaml", "none/out.csv"])
def test_an_output_that_is_an_input_or_in_no_folder_is_one_line(generate, table, tmp_path, output):
    before = table.read_bytes()
    code, _, said = generate("--seed", 1, output=output)
    assert code
    assert len(said.splitlines()) == 1
    assert output in said
    assert table.read_bytes() == before
    assert {each.name for each in tmp_path.iterdir()} == {"table.csv", "plan.yaml"}


def test_numbers_of_which_each_is_different_are_learnt_and_drawn_between_their_limits(generate, write, tmp_path):
    rows = "".join(f"{10 * n},t{n % 3},n,{'yes' if n % 3 else 'no'}\n" for n in range(20_000))
    code, _, said = generate("--records", 500, source=write("other.csv", "age,town,name,y\n" + rows), output="out.csv")
    assert code == 0, said
    ages = [int(line.partition(",")[0]) for line in (tmp_path / "out.csv").read_text().splitlines()[1:]]
    assert len(set(ages)) > 400
    assert min(ages) >= 40
    assert max(ages) <= 199_950


def test_the_default_is_trees_with_privacy(generate, tmp_path):
    """Without options, the safe method is used, and privacy is asked of it."""
    usual = ("--holdout", "0.2", "--seed", "1", "--json")
    code, out, _ = generate(*usual, "--method", "trees", output="a.csv")
    assert (code, json.loads(out)["method"], json.loads(out)["privacy"]) == (0, "trees", 5.0)
    generate(*usual, "--method", "trees", "--privacy", "5", output="b.csv")
    generate(*usual, "--method", "trees", "--privacy", "0", output="c.csv")
    made = [(tmp_path / f"{name}.csv").read_bytes() for name in "abc"]
    assert made[0] == made[1] != made[2]
    assert DEFAULT_METHOD == "trees"


def test_the_holdout_is_that_of_the_plan(generate):
    """Tables that learn from other records could not be compared."""
    plan = PLAN + "holdout: 0.4\n"
    code, out, _ = generate("--json", plan=plan)
    assert (code, json.loads(out)["holdout"]) == (0, 0.4)
    assert 250 < json.loads(out)["held_out"] < 450
    code, _, said = generate("--holdout", "0.2", plan=plan)
    assert code == 2
    assert "plan.yaml: states the holdout 0.4, not 0.2: tables that learn from other records cannot be compared" in said


def test_exact_numbers_of_labels_are_not_repeated(generate, tmp_path):
    """By default each label is drawn, so that nobody learns how many of the records that were learnt from have it."""
    counts = set()
    for seed in range(4):
        generate("--seed", str(seed), output=f"{seed}.csv")
        counts.add((tmp_path / f"{seed}.csv").read_text().count("yes\n"))
    assert len(counts) > 1
