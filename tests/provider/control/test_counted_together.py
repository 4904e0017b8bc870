"""Thin tables: many masked values with few records, in pairs that nobody may read small counts from."""

import secrets

import numpy as np
import pyarrow as pa
import pytest

from aegis_provider import RandomRounding, document_of, prepare_entry
from aegis_provider.control.counted_together import counted_together
from aegis_provider.control.dependent_rounding import rounded_once, rounded_up
from aegis_provider.disclosure import verdict_on

CODES, PLACES, EACH = 100, 97, 7


def thin_table(seed):
    """Return a table of 100 codes with 7 records each, and of one with all others, in 97 places."""
    rng = np.random.default_rng(seed)
    code = np.concatenate([np.repeat(np.arange(CODES), EACH), np.full(2_800, CODES)])
    place, often = rng.integers(0, PLACES, code.size), rng.random(code.size) < 0.3 + 0.4 * (code == CODES)
    columns = {"code": code, "place": place, "y": often.astype(int)}
    return pa.table({name: pa.array(column.astype(str)) for name, column in columns.items()})


@pytest.fixture
def prepared(plan_of):
    """Return what is prepared, by default, of a thin table whose attributes are shared by their single values."""
    fine = "{type: integer, maskings: {fine: {bucketize: {width: 1}}}}"
    plan = plan_of(f"{{code: {fine}, place: {fine}}}", "{c: {code: fine, place: fine}}")
    return lambda seed, *controls: prepare_entry(thin_table(seed), plan, *controls, name="t", pairs=True)


@pytest.mark.parametrize("seed", range(3))
def test_a_thin_table_passes_by_default_and_loses_no_record(prepared, seed):
    held = prepared(seed)
    [exact], [pair] = held.counted.pairs, document_of(held.entry)["pairs"]
    joint, true, base = np.array(pair["joint"]), np.array(exact.joint), pair["rounded_to"]
    assert verdict_on(held.entry, 60).verdict.passed
    assert true.shape == (CODES + 1, PLACES)
    assert abs(joint.sum() - true.sum()) < base
    rows, _ = pair.get("counted_with", [[*range(CODES + 1)], []])
    records = np.bincount(rows, true.sum(axis=1), CODES + 1)
    assert records[np.unique(rows)].min() >= EACH  # more than one for every 14 of the 97 places
    thin = records < 4 * EACH
    assert np.all(abs(joint.sum(axis=1) - records)[thin] < base)


@pytest.mark.parametrize("seed", range(3))
def test_what_a_reader_would_know_is_rounded_again_with_twice_as_many_counted_together(prepared, seed):
    """With 7 records in 97 places, each code is counted by itself at first."""
    held = prepared(seed, [RandomRounding(3, np.random.default_rng(seed).bytes)])
    [pair], exact = held.entry.pairs, np.array(held.counted.pairs[0].joint)
    alone = counted_together(exact, [], 3, np.random.default_rng(seed).bytes)
    assert "counted_with" not in alone
    first = pair.model_copy(update={"joint": alone["joint"], "counted_with": None})
    assert not verdict_on(held.entry.model_copy(update={"pairs": [first]}), 60).verdict.passed
    assert pair.counted_with[0] == [*np.repeat(np.arange(1, CODES, 2), 2).tolist(), CODES]
    assert verdict_on(held.entry, 60).verdict.passed


@pytest.mark.parametrize("seed", range(3))
def test_it_would_not_pass_if_its_pairs_were_rounded_as_they_are(prepared, seed):
    held = prepared(seed)
    [pair], exact = held.entry.pairs, np.array(held.counted.pairs[0].joint)
    up = rounded_up(np.array([exact.sum()]), pair.rounded_to, secrets.token_bytes)
    joint = rounded_once(exact.reshape(-1, 1), [], pair.rounded_to, up, secrets.token_bytes).reshape(exact.shape)
    apart = pair.model_copy(update={"joint": joint.tolist(), "counted_with": None})
    verdict = verdict_on(held.entry.model_copy(update={"pairs": [apart]}), 60).verdict
    assert {(each.reason, each.pointer) for each in verdict.findings} == {("likely", "/pairs/0/joint")}
