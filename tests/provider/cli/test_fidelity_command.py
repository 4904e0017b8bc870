"""`aegis synth fidelity RELEASE --against TABLE` as people run it: generated, masked and odd tables, and bad input."""

import json

import numpy as np
import pytest

from tests.for_each import for_each
from tests.provider.report.html_page import Reader

PLAN = """
label: sick
attributes:
  age: {maskings: {tens: {bucketize: {width: 10}}}}
  town: {maskings: {parts: {mapping: {north: A, south: A, east: B, west: B}}}}
  plan: {}
quasi_identifiers: [age, town]
configurations:
  coarse: {age: tens, town: parts}
  coarser: {age: tens, town: parts, plan: drop}
"""


WORDS = (
    *("logistic regression", "random forest", "gradient boosting", "By chance: AUC 0.5", "clustering agreement, k = "),
    *(
        "mean difference of associations",
        "pair total variation",
        "Fréchet distance",
        "aegis risk RELEASE --against TABLE",
    ),
)


@pytest.fixture
def people(tmp_path):
    rng = np.random.default_rng(0)
    lines = []
    for age in rng.integers(18, 90, 300):
        sick = "yes" if rng.random() < 0.1 + 0.7 * (age > 60) else "no"
        lines.append(f"{age},{rng.choice(['north', 'south', 'east', 'west'])},{rng.integers(100)},{sick}")
    path = tmp_path / "people.csv"
    path.write_text("\n".join(["age,town,plan,sick", *lines]) + "\n")
    return path


@pytest.fixture
def plan(write):
    return write("plan.yaml", PLAN)


@pytest.mark.long
def test_a_generated_table_is_measured_in_one_line_tables_and_a_page(aegis, people, plan, tmp_path):
    release, page = tmp_path / "made.csv", tmp_path / "fidelity.html"
    code, out, _ = aegis(
        "synth", "generate", people, "--plan", plan, "--output", release, "--method", "cart", "--seed", 1
    )
    judged = [line.split(":")[0] for line in out.splitlines() if line.startswith(("PASS", "FAIL", "NOT JUDGED"))]
    assert judged
    assert code == (0 if set(judged) == {"PASS"} else 1)
    code, out, err = aegis("synth", "fidelity", release, "--against", people, "--plan", plan, "--html", page)
    assert (code, err) == (0, "")
    first, *_ = out.splitlines()
    assert first.startswith("A model trained on the release keeps ")
    assert "of what the table tells about sick (" in first
    assert first.endswith("records that the release never saw).")
    assert all(words in out for words in WORDS)
    html = Reader(page.read_text())
    assert html.elements["figure"] == 2
    assert html.elements["script"] == 0
    assert {"real records", "released records", "chance", first} <= set(html.texts)
    assert max(html.ids.values(), default=1) == 1


def test_json_has_every_number_beside_what_is_possible_and_chance(aegis, people):
    code, out, _ = aegis("synth", "fidelity", people, "--against", people, "--label", "sick", "--holdout", 0, "--json")
    told = json.loads(out)
    assert code == 0
    assert (told["tested_on"], told["label"]) == ("taken out", "sick")
    assert [each["model"] for each in told["models"]] == ["logistic regression", "random forest", "gradient boosting"]
    for each in told["models"]:
        assert each["auc"]["low"] <= each["auc"]["value"] <= each["auc"]["high"]
        assert each["auc"]["value"] == pytest.approx(each["real_auc"]["value"], abs=0.03)
    for name in ("agreement", "mean_difference", "largest_difference", "pair_total_variation", "frechet_distance"):
        assert set(told[name]) == {"released", "real", "shuffled"}
    assert told["pair_total_variation"]["released"] < told["pair_total_variation"]["shuffled"]
    assert len(told["associations"]) == 6
    assert told["trained"] + told["tested"] == 300


@pytest.mark.long
def test_a_masked_table_is_read_as_its_plan_masked_it(aegis, people, plan, tmp_path):
    masked = tmp_path / "masked.csv"
    told = ("--plan", plan, "--configuration", "coarser")
    assert aegis("apply", people, "--stays", *told, "--output", masked)[0] == 0
    code, out, _ = aegis("synth", "fidelity", masked, "--against", people, *told, "--json")
    found = json.loads(out)
    assert code == 0
    assert (found["is_masked"], found["tested_on"], found["not_understood"]) == (True, "taken out", {})
    assert found["lacking"] == ["plan"]
    assert found["models"][0]["kept"]["value"] > 0.8
    _, out, _ = aegis("synth", "fidelity", masked, "--against", people, *told)
    assert "whose rows were taken out of the release first" in out
    assert "Models read real records as the release masks them" in out
    assert "where a masked value stands for several" in out
    assert "Not in the release: plan." in out


@pytest.mark.long
def test_what_is_not_understood_is_said_first(aegis, people, write):
    header, *lines = people.read_text().splitlines()
    odd = [line.replace(f",{line.split(',')[1]},", ",some id,") for line in lines[:6]]
    release = write("release.csv", "\n".join([header, *odd, *lines[6:]]) + "\n")
    code, out, _ = aegis("synth", "fidelity", release, "--against", people, "--label", "sick", "--holdout", 0)
    assert code == 1
    assert out.startswith("NOT JUDGED: 2 % of the cells in town (such as aaaa aa) are not understood; state what ")
    assert "Not understood in town, so taken to tell nothing: 2 % of the cells, such as aaaa aa." in out


@pytest.mark.long
def test_a_release_that_has_the_held_out_records_is_found_out(aegis, people):
    _, out, _ = aegis("synth", "fidelity", people, "--against", people, "--label", "sick")
    assert out.startswith("The release has 100 % of the held-out records, so it was probably made of them")


def test_records_that_the_release_was_made_of_are_said_to_be_known(aegis, people, write):
    """Each age is moved, so no row masks a record."""
    header, *lines = people.read_text().splitlines()
    rows = [f"{int(age) + 0.5},{rest}" for age, _, rest in (each.partition(",") for each in lines)]
    release = write("other.csv", "\n".join([header, *rows]) + "\n")
    _, out, _ = aegis("synth", "fidelity", release, "--against", people, "--label", "sick", "--holdout", 0)
    assert "that the release was made of" in out
    assert "may seem better than they are" in out


def test_a_label_that_nothing_tells_leaves_nothing_to_keep(aegis, write):
    rng = np.random.default_rng(2)
    rows = [f"{rng.integers(40)},{rng.integers(40)},{rng.choice(['u', 'v'])}" for _ in range(300)]
    table = write("t.csv", "\n".join(["a,b,y", *rows]) + "\n")
    _, out, _ = aegis("synth", "fidelity", table, "--against", table, "--label", "y", "--holdout", 0)
    assert out.startswith("The table itself tells nothing certain about y")


BAD = {
    "no label named": ("age,sick\n1,yes\n", (), "give --plan, or name it with --label"),
    "label not released": ("age,town\n1,north\n", ("--label", "sick"), "no column 'sick'"),
    "unknown label": ("age,town\n1,north\n", ("--label", "ill"), "no column 'ill'"),
    "no common column": ("a,b\n1,2\n", ("--label", "a"), "no column 'a'"),
    "label only": ("sick\nyes\nno\n", ("--label", "sick"), "but the label is in it"),
    "no record": ("age,town,plan,sick\n", ("--label", "sick"), "no record"),
    "three records": ("age,sick\n" + "30,yes\n" * 3, ("--label", "sick"), "3 records; a comparison needs at least 10"),
    "a huge number": (
        "age,sick\n" + "1e200,yes\n" + "30,yes\n31,no\n" * 20,
        ("--label", "sick"),
        "'age' has numbers beyond 1e+100",
    ),
    "configuration alone": ("age\n1\n", ("--label", "sick", "--configuration", "coarse"), "give --plan too"),
    "all held out": ("age,sick\n1,yes\n", ("--label", "sick", "--holdout", "0.95"), "less than or equal to 0.9"),
}


@for_each("name", BAD)
def test_bad_input_is_one_line_and_no_page_is_written(aegis, people, write, tmp_path, name):
    content, options, expected = BAD[name]
    page = tmp_path / "page.html"
    code, out, err = aegis(
        "synth", "fidelity", write("release.csv", content), "--against", people, *options, "--html", page
    )
    assert code != 0
    assert out == ""
    assert len(err.strip().splitlines()) == 1
    assert expected in err
    assert not page.exists()


ODD = {
    "constant": lambda _: [f"1,x,{n % 2}" for n in range(100)],
    "one class": lambda rng: [f"{rng.integers(9)},{rng.integers(9)},yes" for _ in range(100)],
    "all missing": lambda rng: [f",{rng.integers(9)},{rng.integers(2)}" for _ in range(100)],
    "nothing at all": lambda _: [",,"] * 100,
    "identifiers": lambda rng: [f"n{n},{n},{rng.integers(2)}" for n in range(100)],
    "missing labels": lambda rng: [f"{rng.integers(9)},{rng.integers(9)},{'' if n % 3 else 7}" for n in range(100)],
}


@pytest.mark.long
@for_each("name", ODD)
@for_each("masked", [False, True])
def test_odd_tables_are_measured_or_refused_in_one_line(aegis, write, name, masked):
    rows = ODD[name](np.random.default_rng(0))
    table = write("odd.csv", "\n".join(["a,b,c", *rows]) + "\n")
    hidden = [f"*,*,{each.rpartition(',')[2]}" if n % 4 else each for n, each in enumerate(rows)]
    release = write("release.csv", "\n".join(["a,b,c", *(hidden if masked else rows)]) + "\n")
    code, out, err = aegis("synth", "fidelity", release, "--against", table, "--label", "c", "--holdout", 0)
    if name in {"one class", "nothing at all"}:
        assert "has one value, so there is nothing to predict" in err
        assert len(err.strip().splitlines()) == 1
    else:
        assert (code, err) == (0, "")
        assert "nan" not in out
