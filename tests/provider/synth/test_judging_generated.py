"""A generated table with its card: what it says is counted again in plain Python, from the files."""

import csv
import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from aegis_provider import load_plan
from aegis_provider.check import Interval
from aegis_provider.files import digest_of
from aegis_provider.report.rendering import markdown_lines
from aegis_provider.synth.attacks.attack import Outcome
from aegis_provider.synth.attacks.judging import Judgement
from aegis_provider.synth.generate.generating import generate
from aegis_provider.synth.generate.methods.method import Knobs
from aegis_provider.synth.generate.prepared import Wish
from aegis_provider.synth.report.generated_card import generated_report, judge_generated

PLAN = """label: y
attributes:
  age: {type: integer}
  town: {}
  name: {identity: false}
quasi_identifiers: [age, town]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a table in which the town tells the label, and a plan."""
    path, rng = tmp_path_factory.mktemp("generated"), np.random.default_rng(0)
    age, town = rng.integers(20, 60, 900), rng.integers(0, 3, 900)
    label = np.where(rng.random(900) < 0.2 + 0.3 * (town == 1), "yes", "no")
    rows = [f"{a},{'abc'[t]},n{n},{y}" for n, (a, t, y) in enumerate(zip(age, town, label, strict=True))]
    (path / "table.csv").write_text("\n".join(["age,town,name,y", *rows]) + "\n")
    (path / "plan.yaml").write_text(PLAN)
    return path


@pytest.fixture(scope="module")
def card(folder):
    return made(folder, "out.csv", "cart")


def made(folder, output, method, knobs=Knobs(), holdout=0.2):  # noqa: B008 - immutable
    table, plan_file = folder / "table.csv", folder / "plan.yaml"
    plan, wish = load_plan(plan_file, configurations_needed=False), Wish(holdout=holdout, seed=1)
    generated = generate(table, plan, folder / output, method=method, knobs=knobs, wish=wish)
    return judge_generated(generated, table, plan, digest_of(plan_file))


def rows_of(path):
    with path.open(newline="") as file:
        return [(row["age"], row["town"], row["y"]) for row in csv.DictReader(file)]


def summary_of(card):
    return "\n".join(generated_report(card).summary)


def test_the_card_stands_beside_the_table_in_three_forms(card, folder):
    assert {each.name for each in folder.glob("out.*")} == {
        f"out.csv{each}" for each in ("", ".card.md", ".card.html", ".card.json")
    }
    assert {each.stat().st_mode & 0o777 for each in folder.glob("out.csv.card.*")} == {0o600}
    assert "for the provider only" in (folder / "out.csv.card.html").read_text()
    lines = "\n".join(markdown_lines(generated_report(card)))
    assert (folder / "out.csv.card.md").read_text() == f"{lines}\n"


def test_it_counts_the_records_that_equal_a_real_one(card, folder):
    told = json.loads((folder / "out.csv.card.json").read_text())
    [copies] = [each for each in told["attacked"]["attacks"] if each["name"] == "exact copies"]
    # Neither side of the table is known here, so the real records that the card counts are among all of them.
    real = set(rows_of(folder / "table.csv"))
    assert 0 < copies["details"]["copies"] <= sum(row in real for row in rows_of(folder / "out.csv"))
    assert (
        f"{copies['details']['copies']:,} of {told['records']:,} released records equal a real one that"
        in told["copies"]
    )
    assert told["copies"] in summary_of(card)


@pytest.mark.long
def test_without_a_holdout_all_copies_are_counted(folder):
    card = made(folder, "all.csv", "cart", holdout=0.0)
    real = set(rows_of(folder / "table.csv"))
    copies = sum(row in real for row in rows_of(folder / "all.csv"))
    assert card.copies.startswith(f"{copies:,} of {len(rows_of(folder / 'all.csv')):,} released records equal a real")


@pytest.mark.long
def test_nothing_is_guaranteed_unless_it_is(card, folder):
    assert "No formal guarantee follows" in summary_of(card)
    private = made(folder, "private.csv", "mbi", Knobs(epsilon=1.0))
    assert "No formal guarantee" not in summary_of(private)
    assert "Differential privacy with epsilon 1 and delta" in summary_of(private)
    told = json.loads((folder / "private.csv.card.json").read_text())
    guarantee = told["guarantee"]
    assert (guarantee["epsilon"], guarantee["delta"]) == (1.0, 1e-9)
    assert sum(guarantee["budget"].values()) == pytest.approx(1)
    # Each member is covered, or counted exactly, or nobody had to look at a record for it.
    asked = {"table", "label", "plan_sha256", "output", "method", "privacy", "value", "holdout", "left_out", "made"}
    asked |= {"guarantee", "guaranteed", "versions"}
    assert sorted([*guarantee["covers"], *guarantee["does_not_cover"], *asked]) == sorted(told)
    [covered] = [each for each in generated_report(private).sections if "differential privacy" in each.heading]
    assert "Not covered are all other numbers of this card" in "\n".join(map(str, covered.parts))
    assert "differential privacy" not in str([each.heading for each in generated_report(card).sections])


@pytest.mark.long
@pytest.mark.usefixtures("card")
def test_with_a_guarantee_the_label_has_no_exact_counts(folder):
    """Two draws that differ in nothing but their noise hardly ever both have the exact numbers of each label value."""
    for name in ("private.csv", "one.csv"):
        made(folder, name, "mbi", Knobs(epsilon=1.0))
    one, other, exact = (
        Counter(label for *_, label in rows_of(folder / name)) for name in ("private.csv", "one.csv", "out.csv")
    )
    assert not one == other == exact


def test_the_weights_that_were_used_are_shown_and_no_others(card):
    unused = table_of(card, "column")
    assert [row[2:] for row in unused.rows] == [("-", "-")] * 3
    assert "no weights were used" in unused.caption
    weighed = replace(
        card.generated, knobs=Knobs(privacy=5.0, value=1.0), weights={"age": (1.0, 0.25), "town": (0.0, 1.0)}
    )
    used = table_of(replace(card, generated=weighed), "column")
    assert [row[2:] for row in used.rows] == [("1", "0.25"), ("0", "1"), ("-", "-")]
    assert "the terms for privacy 5 and value 1" in used.caption


def test_each_attack_has_a_row_and_the_held_out_records_are_known(card):
    names = {row[0] for row in table_of(card, "attack").rows}
    assert {"exact copies", "membership by nearest record", "inference", "singling out"} <= names
    text = "\n".join(markdown_lines(generated_report(card)))
    assert "say --holdout 0" not in text
    assert "Left out, as the plan asks (identity: false): name." in text


def table_of(card, first):
    tables = [part for section in generated_report(card).sections for part in section.parts]
    return next(each for each in tables if getattr(each, "header", ("",))[0] == first)


def test_it_says_if_far_more_records_are_held_out_than_was_asked(card):
    def told(**changed):
        return "\n".join(markdown_lines(generated_report(replace(card, generated=replace(card.generated, **changed)))))

    off = {"learnt_from": 500, "validated": 100, "held_out": 200, "combinations": 1_200}
    assert "as asked" not in told(**off, holdout=0.2)
    assert "as asked" not in told(**off, holdout=0.375)
    assert "25 % of the records are held out, not 38 % as asked (--holdout)" in told(**off, holdout=0.38).replace(
        "\\", ""
    )
    assert "there are 1,200 combinations of attributes. To hold out fewer" in told(**off, holdout=0.18)


def headline_of(card, **attacks):
    """The first sentence on attacks, of each the success, the baseline and the success on held-out records."""
    outcomes = [
        Outcome(name, "all", 1_000, "persons", *(each and Interval(*each) for each in reached), f"{name} was tried.")
        for name, reached in attacks.items()
    ]
    return replace(card, judgement=Judgement(outcomes)).findings[1]


NEXT_TO_NOTHING = ((0.001, 0.0002, 0.0056), (0.0001, 0.0, 0.0005), (0.001, 0.0002, 0.0056))
ABOVE_CHANCE = ((0.3, 0.27, 0.33), (0.1, 0.08, 0.12), (0.31, 0.26, 0.36))
BELOW_CHANCE = ((0.09, 0.08, 0.11), (0.1, 0.08, 0.12), (0.05, 0.01, 0.09))
WORKING = ((0.2, 0.18, 0.22), (0.1, 0.08, 0.12), (0.12, 0.1, 0.14))


def test_the_headline_names_the_attack_that_achieves_most_beyond_chance_if_that_is_certain(card):
    nothing = "PASS: No attack clearly achieved more than chance."
    assert headline_of(card, linkability=NEXT_TO_NOTHING, inference=BELOW_CHANCE) == nothing
    assert headline_of(card, linkability=((0.2, 0.05, 0.5), (0.1, 0.1, 0.1), None)) == nothing
    assert headline_of(card, linkability=NEXT_TO_NOTHING, inference=ABOVE_CHANCE, copies=BELOW_CHANCE) == (
        "PASS: No attack does clearly better on records that the release was made of than on others. The one that "
        "achieves most beyond chance, inference (all), reaches 30 %, beside 10 % without the release and 31 % on "
        "held-out records."
    )
    assert headline_of(card, inference=ABOVE_CHANCE, copies=WORKING).startswith(
        "FAIL: The strongest attack works: copies (all) reaches 20 %, beside 10 %"
    )
    assert headline_of(card).startswith("NOT JUDGED: no attack was tried")


def test_an_attack_may_be_above_chance_by_luck_if_many_are_tried(card):
    lucky = ((0.14, 0.115, 0.165), (0.1, 0.1, 0.1), None)
    assert headline_of(card, inference=lucky).startswith("FAIL: The strongest attack works: inference")
    others = {f"attack{place}": BELOW_CHANCE for place in range(40)}
    assert headline_of(card, inference=lucky, **others) == "PASS: No attack clearly achieved more than chance."


def test_it_says_what_the_records_are_worth_or_why_that_is_not_known(card):
    assert "trained on the release keeps" in summary_of(card) or "nothing certain about y" in summary_of(card)
    assert {row[0] for row in table_of(card, "model").rows} >= {"logistic regression", "random forest"}
    unknown = generated_report(replace(card, fidelity="3 real records to test on are too few"))
    assert "Not measured: 3 real records to test on are too few." in "\n".join(markdown_lines(unknown))
