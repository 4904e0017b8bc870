"""The releases of a table are made of half of its records, and a result that is kept is not worked for again."""

import csv
from collections import Counter

import pytest

from research.generation import releases
from research.generation.store import Store
from research.generation.tables import split, the_example


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    return the_example(tmp_path_factory.mktemp("example"), 1_000)


def rows_of(file):
    with file.open(encoding="utf-8", newline="") as opened:
        return list(csv.DictReader(opened))


def test_releases_are_made_of_half_of_the_distinct_records(example):
    whole, training = (
        Counter(tuple(row.values()) for row in rows_of(file)) for file in (example.table, example.training)
    )
    assert whole.total() == example.records == 1_000
    assert training.total() == example.learnt_from
    assert all(whole[each] == number for each, number in training.items())
    assert len(training) == pytest.approx(len(whole) / 2, rel=0.2)


def test_the_masked_release_has_no_class_below_five(example, tmp_path):
    release = releases.masked(example, releases.K_ANONYMOUS, tmp_path)
    rows = rows_of(release.file)
    names = [each for each in example.plan.quasi_identifiers if each in rows[0]]
    assert names
    assert min(Counter(tuple(row[name] for name in names) for row in rows).values()) >= 5
    assert len(rows) >= (1 - releases.SUPPRESSED_AT_MOST) * example.learnt_from


def test_if_only_nothing_holds_there_is_no_release_and_the_reason_is_told(tmp_path):
    file = tmp_path / "distinct.csv"
    file.write_text("a,b\n" + "".join(f"{place},{place % 2}\n" for place in range(60)), encoding="utf-8")
    table = split("distinct", file, "label: b\nattributes:\n  a: {}\n", tmp_path)
    release = releases.masked(table, releases.K_ANONYMOUS, tmp_path)
    assert release.file is None
    assert release.about == "only without all attributes"


def test_a_result_is_worked_for_once(tmp_path, capsys):
    worked = []
    for _ in range(2):
        assert Store(tmp_path).of("a/b", lambda: worked.append(1) or 7) == 7
    assert worked == [1]
    assert capsys.readouterr().err.count("a/b") == 1
