"""Thin tables: many masked values with few records, in pairs that nobody may read small counts from."""

import numpy as np
import pyarrow as pa
import pytest

from aegis_provider import document_of, prepare_entry
from aegis_provider.control import ControlError, LastingRandomness
from aegis_provider.control.counted_together import Pools, counted_together
from aegis_provider.control.dependent_rounding import rounded_once, rounded_up
from aegis_provider.disclosure import verdict_on
from tests.for_each import for_each
from tests.provider.control.drawing import drawn_by

CODES, PLACES, EACH = 100, 97, 7


def thin_table(seed):
    """Return a table of 100 codes with 7 records each, and of one with all others, in 97 places.

    Each code is two neighbouring numbers. So a masking by codes shows no number that few records have.
    """
    rng = np.random.default_rng(seed)
    code = np.concatenate([np.repeat(np.arange(CODES), EACH), np.full(2_800, CODES)])
    place, often = rng.integers(0, PLACES, code.size), rng.random(code.size) < 0.3 + 0.4 * (code == CODES)
    columns = {
        "code": 2 * code + np.arange(code.size) % 2,
        "place": 2 * place + np.arange(code.size) % 2,
        "y": often.astype(int),
    }
    return pa.table({name: pa.array(column.astype(str)) for name, column in columns.items()})


@pytest.fixture
def prepared(plan_of):
    """Return what is prepared, by default, of a thin table whose attributes are shared by their single values."""
    fine = "{{type: integer, maskings: {{fine: {{bucketize: {{width: {}}}}}}}}}"
    plan = plan_of(f"{{code: {fine.format(2)}, place: {fine.format(2)}}}", "{c: {code: fine, place: fine}}")
    return lambda seed: prepare_entry(thin_table(seed), plan, name="t", pairs=True)


@for_each("seed", range(3))
def test_a_thin_table_passes_by_default_and_loses_no_record(prepared, seed):
    held = prepared(seed)
    [exact], [pair] = held.counted.pairs, document_of(held.entry)["pairs"]
    joint, true, base = np.array(pair["joint"]), np.array(exact.joint), pair["rounded_to"]
    assert verdict_on(held.entry, 60).verdict.passed
    assert len(true) == CODES + 1
    assert joint.sum() == held.entry.records
    assert abs(joint.sum() - true.sum()) < 2 * base  # of two label values
    records = np.bincount(pair["counted_with"][0], true.sum(axis=1), CODES + 1)
    assert len(np.unique(pair["counted_with"][0])) > CODES / 6
    assert records[np.unique(pair["counted_with"][0])].min() >= 2 * EACH


A, B = ("a", "m"), ("b", "m")


def told_of(counts, rows, columns, partners, times=1):
    pools = Pools(3, int(counts.sum()), {A: rows, B: columns}, partners)
    pools.times[A] = times
    return counted_together(counts, (A, B), pools, drawn_by(np.random.default_rng(1)))


@for_each("times", [1, 2, 4])
def test_more_values_are_counted_together_where_a_reader_would_know_a_count(times):
    counts = np.full((63, 12), 2)
    told = told_of(counts, counts.sum(axis=1), counts.sum(axis=0), {A: 12, B: 63}, times)
    each = -(-times * (5 + 3 * 3) // 24)  # of 24 records
    assert len(set(told.get("counted_with", [range(63)])[0])) == 63 // each


def test_all_values_are_counted_together_if_no_records_are_published():
    told = told_of(np.full((4, 3), 51), None, np.full(3, 204), {A: 3, B: 4})
    assert told["counted_with"] == [[3, 3, 3, 3], [0, 1, 2]]
    assert told["joint"][3] == [204] * 3


def test_values_are_counted_together_alike_whatever_the_other_attribute_is():
    counts, many = np.full((6, 90), 1), np.full((6, 2), 45)
    places = [
        told_of(each, 90 * np.ones(6, int), each.sum(axis=0), {A: 2_000, B: 6})["counted_with"]
        for each in (counts, many)
    ]
    assert places[0][0] == places[1][0] == [1, 1, 3, 3, 5, 5]


def test_pairs_of_a_masking_that_leaves_records_out_are_refused():
    with pytest.raises(ControlError, match="'m' of 'a' does not count all records"):
        told_of(np.full((2, 2), 100), np.array([150, 150]), np.array([201, 198]), {A: 2, B: 2})


@for_each("seed", range(3))
def test_it_would_not_pass_if_its_pairs_were_rounded_as_they_are(prepared, seed):
    held = prepared(seed)
    [pair], exact = held.entry.pairs, np.array(held.counted.pairs[0].joint)
    up = rounded_up(np.array([exact.sum()]), pair.rounded_to, LastingRandomness())
    joint = rounded_once(exact.reshape(-1, 1), [], pair.rounded_to, up, LastingRandomness()).reshape(exact.shape)
    apart = pair.model_copy(update={"joint": joint.tolist(), "counted_with": None, "within": None})
    verdict = verdict_on(held.entry.model_copy(update={"pairs": [apart]}), 60).verdict
    assert {(each.reason, each.pointer) for each in verdict.findings} == {("likely", "/pairs/0/joint")}


@for_each("each", [1, 2, 5])
def test_a_reader_of_the_places_knows_no_number_of_records(plan_of, each):
    """Whoever knows how many records are enough has lower and upper limits for those of every run of values.

    The limits are of the published records. If they were of the true ones, they would tell the single records.
    """
    fine = "{{type: integer, maskings: {{fine: {{bucketize: {{width: {}}}}}}}}}"
    plan = plan_of(f"{{code: {fine.format(2)}, place: {fine.format(2)}}}", "{c: {code: fine, place: fine}}")
    rng = np.random.default_rng(each)
    code = np.concatenate([np.repeat(np.arange(CODES), each), np.full(2_800, CODES)])
    columns = {"code": 2 * code + np.arange(code.size) % 2, "place": rng.integers(0, 24, code.size)}
    columns["y"] = (rng.random(code.size) < 0.4).astype(int)
    table = pa.table({name: pa.array(column.astype(str)) for name, column in columns.items()})
    held = prepare_entry(table, plan, name="t", pairs=True)
    [pair] = held.entry.pairs
    true = np.array(held.counted.pairs[0].joint).sum(axis=1)
    enough = max(5, pair.rounded_to) + 3 * pair.rounded_to
    runs = [np.flatnonzero(np.array(pair.counted_with[0]) == place) for place in sorted(set(pair.counted_with[0]))]
    short = [int(true[run].sum()) < enough for run in runs[:-1]]
    early = [int(true[run[:-1]].sum()) >= enough for run in runs[:-1] if len(run) > 1]
    assert any(short) or any(early)
