"""Records masked in memory are those that `apply` writes."""

import csv
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from aegis_provider import apply, load_plan
from aegis_provider.errors import TableError
from aegis_provider.privacy.privacy_table import suppress_cells
from aegis_provider.records import rows_of
from aegis_provider.synth.released import opening
from aegis_provider.synth.released.opening import MaskedRecords, meanings_by_plan
from aegis_provider.synth.released.released import Released
from aegis_provider.synth.transfer import transfer_of
from aegis_provider.table import open_table
from tests.for_each import for_each

PLAN = """label: health
seed: 7
sensitive: [health]
attributes:
  age:
    type: integer
    discretize: {rule: equal_width, width: 5}
    maskings:
      wide: {bucketize: {width: 20}}
  visits:
    type: integer
    maskings:
      few: {bucketize: {edges: [-.inf, 1, 4, .inf]}}
  sex:
    maskings:
      drawn: {randomised_response: {keep: 0.8}}
configurations:
  fine: {}
  coarse: {age: wide, visits: few, sex: drop}
  fitting: {age: wide, visits: few}
  drawn: {sex: drawn}
privacy: {fitting: {k: 15}}
suppressed: {fitting: 0}
"""


@pytest.fixture
def table(write):
    """300 people."""
    random = np.random.default_rng(5)
    rows = zip(random.integers(20, 80, 300), random.poisson(2, 300), random.choice(["f", "m"], 300), strict=True)
    lines = [f"{age},{visits},{sex},{'ill' if age + 9 * visits > 70 else 'well'}" for age, visits, sex in rows]
    return write("people.csv", "\n".join(["age,visits,sex,health", *lines]) + "\n")


def shown(released):
    """How often each record of a release appears."""
    columns = {each.name: [each.texts[code] for code in each.codes] for each in released.columns}
    names = sorted(columns)
    return Counter(zip(*(columns[name] for name in names), strict=True))


def written(table, plan, configuration, output):
    apply(table, plan, configuration, output, force=True)
    with output.open(newline="") as file:
        header, *rows = csv.reader(file)
    order = sorted(range(len(header)), key=header.__getitem__)
    return Counter(tuple(row[place] for place in order) for row in rows)


def everyone(masked):
    return np.ones(len(masked.records), dtype=bool)


@for_each("configuration", ["fine", "coarse", "fitting"])
def test_they_are_what_apply_writes(write, table, tmp_path, configuration):
    plan = load_plan(write("plan.yaml", PLAN))
    with open_table(table) as opened:
        masked = MaskedRecords.read(opened, plan)
    released = masked.released(plan.configuration(configuration), everyone(masked))
    assert shown(released) == written(table, plan, configuration, tmp_path / "out.csv")
    assert (len(released) < 300) == (configuration == "fitting")


def test_suppressed_cells_are_stars_that_may_be_anything(write, table, tmp_path):
    plan = suppress_cells(table, load_plan(write("plan.yaml", PLAN))).plan
    configuration = plan.configuration("fitting")
    assert configuration.suppressed_cells > 0
    with open_table(table) as opened:
        masked = MaskedRecords.read(opened, plan)
    released = masked.released(configuration, everyone(masked))
    assert shown(released) == written(table, plan, "fitting", tmp_path / "out.csv")
    starred = next(each for each in released.columns if "*" in each.texts)
    assert starred.meanings[starred.texts.index("*")].tolist() == list(range(len(starred.original.domain)))


def test_a_masked_value_stands_for_all_values_that_are_masked_so(write, table):
    plan = load_plan(write("plan.yaml", PLAN))
    with open_table(table) as opened:
        masked = MaskedRecords.read(opened, plan)
        meanings = meanings_by_plan(opened, plan, plan.configuration("coarse"), masked.records)
    column = masked.released(plan.configuration("coarse"), everyone(masked)).column("visits")
    known = {text: meaning.tolist() for text, meaning in zip(column.texts, column.meanings, strict=True)}
    assert known == {text: members.tolist() for text, members in meanings["visits"].items()}


def test_only_the_chosen_records_are_released(write, table):
    plan = load_plan(write("plan.yaml", PLAN))
    with open_table(table) as opened:
        masked = MaskedRecords.read(opened, plan)
    rows = np.arange(300) % 3 == 0
    assert len(masked.released(plan.configuration("coarse"), rows)) == 100
    both = [shown(masked.released(plan.configuration("fine"), each)) for each in (rows, ~rows)]
    assert both[0] + both[1] == shown(masked.released(plan.configuration("fine"), everyone(masked)))


def test_other_records_cannot_be_masked_alike_at_random(write, table):
    plan = load_plan(write("plan.yaml", PLAN))
    with open_table(table) as opened:
        masked = MaskedRecords.read(opened, plan)
    assert [each.id for each in plan.configurations if not masked.can_release(each)] == ["drawn"]


@for_each("configuration", ["coarse", "fitting"])
def test_figures_are_those_of_the_release_read_back(write, table, tmp_path, configuration):
    """Values that no released record has must not decide which text stands for a held-out value."""
    plan = suppress_cells(table, load_plan(write("plan.yaml", PLAN))).plan
    with open_table(table) as opened:
        masked = MaskedRecords.read(opened, plan)
        known = meanings_by_plan(opened, plan, plan.configuration(configuration), masked.records)
    apply(table, plan, configuration, tmp_path / "out.csv", force=True)
    with open_table(tmp_path / "out.csv") as opened:
        texts = pa.Table.from_batches(opened.batches(opened.columns)).rename_columns(opened.columns)
    everything = np.arange(300)
    read_back = Released.of(masked.records, texts, known)
    held_out = masked.records.take(everything[::7])
    figures = (
        transfer_of(each, masked.records, held_out, "health")
        for each in (masked.released(plan.configuration(configuration), everyone(masked)), read_back)
    )
    assert next(figures) == next(figures)


def test_a_table_that_comes_in_another_order_each_time_is_refused(write, table, monkeypatch):
    plan = load_plan(write("plan.yaml", PLAN))

    def backwards(batches, chosen):
        rows = rows_of(batches, chosen)
        return rows.take(np.arange(rows.num_rows)[::-1])

    monkeypatch.setattr(opening, "rows_of", backwards)
    with open_table(table) as opened, pytest.raises(TableError, match="returns its records in another order"):
        MaskedRecords.read(opened, plan)
