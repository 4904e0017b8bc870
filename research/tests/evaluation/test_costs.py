"""The cost comparison: it times what it says, on tables that are as described."""

from collections import Counter
from dataclasses import replace

import duckdb
import numpy as np
import pytest

from research.evaluation.choosing_costs import Costs, extrapolated, measure_costs
from research.evaluation.large_tables import LABELS, LARGEST, WIDTHS, Size, made, plan, records_of
from research.evaluation.sections import costs as costs_section
from research.evaluation.sections.costs import FIGURE, ONE_RUN, as_long, duration, ratio
from tests.provider.documents import summarize

pytestmark = pytest.mark.long

SMALL = Size(attributes=3, configurations=5, records=500)


def costs(records, training, **others):
    return Costs(Size(records=records), summary=1.0, training=training, **others)


def test_a_made_up_table_is_of_its_size_and_the_same_each_time():
    with made(SMALL) as path, made(SMALL) as again:
        rows = duckdb.read_parquet(str(path)).fetchall()
        assert rows == duckdb.read_parquet(str(again)).fetchall()
    assert not path.exists()
    assert len(rows) == SMALL.records
    assert {len(row) for row in rows} == {SMALL.attributes + 1}
    assert all(0 <= value < LARGEST for row in rows for value in row[:-1])
    assert len({row[-1] for row in rows}) == LABELS


def test_the_label_depends_on_the_attributes():
    with made(replace(SMALL, records=20_000)) as path:
        label = np.array([int(label.split()[1]) for *_, label in duckdb.read_parquet(str(path)).fetchall()])
        column = np.array([row[2] for row in duckdb.read_parquet(str(path)).fetchall()])
    means = [column[label == each].mean() for each in range(LABELS)]
    assert means[0] < means[1] < means[2]


def test_records_are_places_in_the_domains_of_the_entry():
    with made(SMALL) as path:
        entry = summarize(path, plan(SMALL), name="made-up")
        codes, classes = records_of(path, entry)
        rows = duckdb.read_parquet(str(path)).fetchall()
    for place, attribute in enumerate(entry["attributes"]):
        counted = Counter(str(row[place]) for row in rows)
        assert dict(zip(attribute["domain"], attribute["histogram"], strict=True)) == counted
        assert [attribute["domain"][code] for code in codes[:, place]] == [str(row[place]) for row in rows]
        assert [masking["id"] for masking in attribute["maskings"]] == [f"w{width}" for width in WIDTHS]
    assert [entry["label"]["domain"][each] for each in classes] == [row[-1] for row in rows]
    assert len(entry["configurations"]) == SMALL.configurations


def test_all_is_timed_and_training_only_where_it_is_affordable(monkeypatch):
    monkeypatch.setattr("research.evaluation.choosing_costs.MOST_TRAINED", 300)
    small, large = measure_costs([replace(SMALL, records=300), SMALL])
    for one in (small, large):
        parts = (one.summary, one.references, one.question, one.pair_summary, one.joint, one.mascara, one.sampling)
        assert min(parts) > 0
        assert one.advice == one.references + one.question
        assert one.joint_advice == one.references + one.joint
    assert small.training > 0
    assert large.training is None


def test_extrapolation_is_the_line_through_the_two_largest():
    listed = [costs(100, 50.0), costs(1_000, 3.0), costs(2_000, 5.0), costs(10_000, None), costs(100_000, None)]
    grown = extrapolated(listed)
    assert [one.training for one in grown] == pytest.approx([50.0, 3.0, 5.0, 21.0, 201.0])
    assert [one.extrapolated for one in grown] == [False, False, False, True, True]


def test_figures_have_two_digits_and_no_exponent():
    assert [ratio(number) for number in (0.0123, 1.0, 9.96, 123.4, 1234.5, 1.5e7)] == [
        "0.012",
        "1",
        "10",
        "120",
        "1,200",
        "15,000,000",
    ]
    assert [duration(seconds) for seconds in (0.0005, 0.25, 1.5, 119, 120, 7200, 1e6)] == [
        "0.5 ms",
        "250 ms",
        "1.5 s",
        "120 s",
        "2 min",
        "2 h",
        "12 d",
    ]


@pytest.mark.parametrize(
    ("times", "told"),
    [(0.89, "0.89 times as long"), (0.9, "no longer"), (1.1, "no longer"), (1.11, "1.1 times as long")],
)
def test_a_tenth_more_or_less_is_no_longer(times, told):
    assert as_long(times) == told


def test_the_section_has_a_row_for_every_size_and_marks_what_is_extrapolated(monkeypatch):
    monkeypatch.setattr("research.evaluation.choosing_costs.MOST_TRAINED", 300)
    monkeypatch.setattr(costs_section, "SHORT_BASE", Size(attributes=2, configurations=3, records=200))
    monkeypatch.setattr(costs_section, "SHORT", {"attributes": (2, 3), "records": (100, 200, 400)})
    section = costs_section.section(short=True)
    lines = section.markdown.splitlines()
    grown = [line for line in lines if line.split("|")[1:2] and line.split("|")[1].strip().isdecimal()]
    assert [int(line.split("|")[1]) for line in grown] == [2, 3, 100, 200, 400]
    assert [r"\*" in line for line in grown] == [False, False, False, False, True]
    assert "With\n4 times as many records" in section.markdown
    assert [sentence.startswith(ONE_RUN) for sentence in section.findings] == [True]
    assert [axes.get_xlabel() for axes in section.figures[FIGURE].axes] == ["attributes", "records"]
