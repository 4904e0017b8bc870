"""The figures of generated tables: their parts against hand-made numbers, and a small page from end to end."""

import csv
import io
import re
from types import SimpleNamespace

import numpy as np
import pytest

from aegis_provider.check import Interval
from aegis_provider.synth.fidelity import ColumnAssociation, Embedding
from research.generation import knobs, page, releases
from research.generation.__main__ import FIGURES, evaluate
from research.generation.associated import matrix
from research.generation.converging import normalised, stable_after
from research.generation.embedded import mixed
from research.generation.measured import Budget
from research.generation.tables import ADULT, ADULT_PLAN, EXAMPLE, adult
from research.report import write
from research.suppression import plan_of

RACES = {"White": 170, "Black": 20, "Other": 10}


@pytest.fixture
def made_up(tmp_path):
    """Write a table with the columns of Adult, in which one of ten records lacks its workclass."""
    plan = plan_of(ADULT_PLAN, tmp_path, means=False)
    rng = np.random.default_rng(1)
    races = [race for race, number in RACES.items() for _ in range(number)]
    rows = []
    for place, race in enumerate(races):
        row = {each: str(rng.integers(20, 60)) for each in plan.columns}
        row |= {
            "workclass": "?" if place % 10 == 0 else "Private",
            "race": race,
            "income": rng.choice([">50K", "<=50K"]),
        }
        rows.append(row)
    file = tmp_path / "adult.csv"
    with file.open("w", encoding="utf-8", newline="") as opened:
        writer = csv.DictWriter(opened, plan.columns)
        writer.writeheader()
        writer.writerows(rows)
    return file


def test_adult_has_the_roles_of_the_plan_and_numbers_that_conflict(made_up, tmp_path):
    table = adult(made_up, tmp_path / "split")
    assert (table.plan.label, table.secret) == ("income", "race")
    assert table.weighted == table.plan.quasi_identifiers
    assert not {"race", "income", "hours_per_week"} & set(table.weighted)
    text = page.conflicts(made_up).markdown
    by_frequency = sum((number / 200) ** 2 for number in RACES.values())
    for said in (
        "200 records",
        "are 2.0",
        "180 of them",
        "85.0%",
        "10.0% Black",
        f"{by_frequency:.1%}",
        "33%",
        "47.5%",
    ):
        assert said in text


def test_points_are_mixed_by_half_and_apart_not_at_all():
    rng = np.random.default_rng(3)
    real, released = rng.normal(size=(2, 1_000, 2))
    assert mixed(Embedding(real, released)).value == pytest.approx(0.5, abs=0.06)
    assert mixed(Embedding(real, released + 100)).value == 0


def test_points_of_equal_records_are_not_their_own_nearest():
    point = np.zeros((1, 2))
    assert mixed(Embedding(point, point)).value == 1


def test_associations_become_a_symmetric_matrix():
    given = [ColumnAssociation("a", "b", 0.2, 0.1, 0.3), ColumnAssociation("c", "a", 0.5, 0.4, 0.6)]
    expected = [[1, 0.5, 0.2], [0.5, 1, 0], [0.2, 0, 1]]
    np.testing.assert_array_equal(matrix(given, ["a", "c", "b"], lambda each: each.real), expected)


@pytest.mark.parametrize(
    ("distances", "place"), [([4, 2, 1, 1.1, 1.2], 2), ([4, 4, 4], 0), ([4, 1, 4, 1], 3), ([4], 0)]
)
def test_a_distance_is_stable_from_where_it_stays(distances, place):
    assert stable_after(np.array(distances, dtype=np.float64)) == place


def test_distances_are_shares_of_the_first():
    looks = [SimpleNamespace(quality=SimpleNamespace(frechet_distance=each)) for each in (4.0, 1.0)]
    np.testing.assert_array_equal(normalised(looks), [1, 0.25])


def turned(shift):
    """Positions of both knobs whose AUC falls with privacy."""
    number = Interval(0.1, 0.05, 0.2)
    attack = SimpleNamespace(success=number, baseline=number, beyond_chance=number, variant="knowing 1 of 2")
    return [
        SimpleNamespace(
            privacy=privacy,
            value=value,
            fidelity=SimpleNamespace(best=SimpleNamespace(auc=Interval(shift - privacy / 100, 0.5, 0.9))),
            reidentified=attack,
            copies=SimpleNamespace(success=number, held_out=None),
        )
        for privacy in (0.0, 5.0)
        for value in (0.0, 1.0)
    ]


def test_the_knobs_are_drawn_for_each_table_and_for_the_example_as_if_it_were_alone(tmp_path):
    budget, both = Budget(seconds=1), {EXAMPLE: turned(0.6), ADULT: turned(0.8)}
    alone, together = (knobs.section({name: both[name] for name in names}, budget) for names in ([EXAMPLE], both))
    for name, section in (("alone", alone), ("together", together)):
        (tmp_path / name).mkdir()
        write(tmp_path / name / "page.md", "", [section])
    plots = {each.name: each.read_bytes() for each in (tmp_path / "together" / "evaluation").iterdir()}
    assert set(plots) == set(knobs.FIGURES.values())
    assert (tmp_path / "alone" / "evaluation" / knobs.FIGURES[EXAMPLE]).read_bytes() == plots[knobs.FIGURES[EXAMPLE]]
    assert len(set(plots.values())) == 2
    assert [each.partition(":")[0] for each in together.findings] == ["**Knobs** (example)", "**Knobs** (Adult)"]
    assert together.markdown.count("| 5 | 1 |") == 2
    assert "| 5 | 0 | 0.750 (0.500 to 0.900) |" in together.markdown


@pytest.mark.long
def test_a_small_page_has_every_figure_and_table(tmp_path):
    budget = Budget(seconds=0.5, seeds=1, privacy=(0.0, 5.0), value=(0.0,))
    evaluate(tmp_path / "page.md", tmp_path / "kept", budget, most=4000)
    text = (tmp_path / "page.md").read_text(encoding="utf-8")
    drawn = {each.name for each in (tmp_path / "evaluation").glob("*.svg")}
    assert set(re.findall(r"\]\(evaluation/(\S+\.svg)\)", text)) == drawn
    assert len(drawn) == len(FIGURES) + 1
    assert page.WITHOUT_ADULT in text
    assert "nan" not in text
    tables = (csv.reader(io.StringIO(file.read_text())) for file in (tmp_path / "evaluation").glob("*.csv"))
    listed = {row[0] for rows in tables for row in rows}
    assert listed >= {releases.ORIGINAL, *releases.WGAN, *releases.QUICK, *releases.MASKED}
    assert text.count("\n## ") == len(FIGURES) + 5
    assert all(file.stat().st_size <= 300_000 for file in (tmp_path / "evaluation").iterdir())
    assert f"**Worth** ({EXAMPLE})" in text
