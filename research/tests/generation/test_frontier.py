"""The frontier of worth and attacks: its runs, what is kept of them, and what the page says of made-up results."""

import csv
import re
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from pyarrow.csv import write_csv
from scipy import stats

from aegis_provider.check import Interval
from aegis_provider.synth.generate.training import STOPPED
from research.generation.frontier import page, runs
from research.generation.frontier.__main__ import evaluate
from research.generation.frontier.runs import (
    TWO_LABELS,
    Result,
    Run,
    made_elsewhere,
    planned,
    result_of,
    two_labels,
)
from tests import example

RUN = Run("cart", 0.0, 1, 9.0)


def made_up(method="trees", privacy=0.0, seed=1, auc=0.7):
    wide = Interval(0.6, 0.5, 0.7)
    run = Run(method, privacy, seed, 9.0)
    return Result(run, 100, 50, Interval(auc, 0.5, 0.9), Interval(0.8, 0.7, 0.9), wide, wide, wide, wide, 1.5)


def rows_of(file):
    with file.open(encoding="utf-8", newline="") as opened:
        return [tuple(row) for row in csv.reader(opened)][1:]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return two_labels(tmp_path_factory.mktemp("frontier"), 1_000)


def test_there_is_a_run_for_each_method_level_and_seed():
    names = [each.name for each in planned(["trees", "cart"], [0.0, 2.5], [1, 2], 9.0)]
    expected = [("trees", 0), ("trees", 2.5), ("cart", 0), ("cart", 2.5)]
    assert names == [f"{method}, privacy {level}, seed {seed}, 9 s" for method, level in expected for seed in (1, 2)]


@pytest.mark.long
def test_a_release_made_elsewhere_is_measured_like_others(table, tmp_path):
    made = [runs._made(Run("cart", 0.0, 1, 9.0), table)[0]]
    file = tmp_path / "release.csv"
    write_csv(made[0], file)
    [run] = made_elsewhere("another", [file])
    found, expected = (runs.measured(each, table) for each in (run, Run("cart", 0.0, 1, 9.0)))
    assert (found.took, found.membership, found.auc) == (None, expected.membership, expected.auc)
    assert "| `another` | - | 1 |" in page.section([found], TWO_LABELS).markdown


def test_labels_are_excellent_or_other_and_persons_are_on_one_side(table, tmp_path):
    whole = two_labels(tmp_path, 30_000)
    labels, real = (Counter(row[-1] for row in rows_of(file)) for file in (whole.table, example.TABLE))
    assert labels == {"excellent": real["excellent"], "other": real.total() - real["excellent"]}
    everyone, training = (Counter(row[:-1] for row in rows_of(file)) for file in (table.table, table.training))
    assert all(everyone[person] == number for person, number in training.items())
    assert len(training) == pytest.approx(len(everyone) / 2, rel=0.2)


def test_what_is_kept_is_not_made_again_unless_it_cannot_be_read(monkeypatch, tmp_path):
    made = []
    monkeypatch.setattr(runs, "measured", lambda run, _: made.append(run) or made_up())
    first, again = (result_of(RUN, None, tmp_path) for _ in range(2))
    assert (first, again) == ((made_up(), False), (made_up(), True))
    result_of(Run("cart", 0.0, 2, 9.0), None, tmp_path)
    (tmp_path / f"{RUN.name}.json").write_text('{"run": ')
    assert result_of(RUN, None, tmp_path) == first
    assert [each.seed for each in made] == [1, 2, 1]


def test_of_a_run_that_is_stopped_nothing_is_kept(monkeypatch, table, tmp_path):
    stopped = SimpleNamespace(training=SimpleNamespace(ended=STOPPED))
    monkeypatch.setattr(runs, "generate", lambda *_, **__: stopped)
    with pytest.raises(KeyboardInterrupt):
        result_of(RUN, table, tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_row_has_the_mean_over_the_seeds_with_the_interval_of_student_s_t():
    aucs = [0.6, 0.65, 0.61]
    several = [made_up(privacy=5.0, seed=seed, auc=auc) for seed, auc in enumerate(aucs)]
    section = page.section([made_up("cart"), *several], TWO_LABELS)
    low, high = stats.t.interval(0.95, 2, np.mean(aucs), stats.sem(aucs))
    assert f"| `trees` | 5 | 3 | 0.620 ({low:.3f} to {high:.3f}) | 0.600" in section.markdown
    assert "| `cart` | 0 | 1 | 0.700 | 0.600 | 0.600 |" in section.markdown
    assert "| real records | - | 1 | 0.800 |" in section.markdown
    assert len(section.details[page.DETAILS]) == 5


def test_a_method_is_a_line_through_its_levels_from_the_lowest():
    results = [made_up(privacy=privacy, auc=auc) for privacy, auc in ((5.0, 0.6), (0.0, 0.7))]
    figure = page.section([*results, made_up("cart")], TWO_LABELS).figures[page.FIGURE]
    lines = {line.get_label(): line for line in figure.axes[0].containers}
    assert list(lines) == ["trees", "cart"]
    assert list(lines["trees"][0].get_ydata()) == [0.7, 0.6]
    assert [each.get_text() for each in figure.axes[0].texts] == ["0", "5"]


@pytest.mark.long
def test_a_small_frontier_is_measured_once_and_goes_on(tmp_path, capsys):
    two = planned(["trees", "cart"], [0.0], [1], 9.0)
    evaluate(two[1:], tmp_path / "kept", tmp_path / "page.md", most=1_000)
    evaluate(two, tmp_path / "kept", tmp_path / "page.md", most=1_000)
    assert re.findall(r"\d of \d: (\w+),.* \(?(\w+)\)\n", capsys.readouterr().err) == [
        ("cart", "make"),
        ("trees", "make"),
        ("cart", "kept"),
    ]
    table = two_labels(tmp_path / "again", 1_000)
    [result] = [result_of(each, table, tmp_path / "kept")[0] for each in two[1:]]
    assert result.persons == len({row[:-1] for row in rows_of(table.table)})
    assert result.not_held_out == len(rows_of(table.training))
    assert 0.5 < result.auc.value <= result.real_auc.value + 0.1
    assert result.membership.low > 0.5  # the trees of CART repeat records
    text = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert "nan" not in text
    assert {each.name for each in (tmp_path / "evaluation").iterdir()} == {page.FIGURE, page.DETAILS}
