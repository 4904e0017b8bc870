"""Single cells are suppressed so that every class of the release keeps the promise, with `*` as a value of its own."""

import random
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegis_provider import PromiseError, apply, assess, load_plan
from aegis_provider.counting.counted_table import CountedTable
from aegis_provider.plan.model import Roles
from aegis_provider.privacy import breaks, cells
from aegis_provider.privacy.cells import MaskedRecords, costs_of, suppress
from aegis_provider.table import open_table
from tests.for_each import for_each
from tests.provider import oracle
from tests.provider.privacy.privacy_tables import groups_of, records_of, tables

NAMES = ("a", "b", "c")
PROMISES = st.sampled_from([{"k": 2}, {"k": 3}, {"k": 5}, {"k": 2, "l": 2}, {"k": 3, "alpha": 0.8}, {"t": 0.3}])


def released_by_hand(rows, costs, keeps):
    """Return the released rows: sets of columns are tried by number, then cost, one row at a time in plain Python."""
    done, left = [], list(rows)
    sets = [each for many in range(4) for each in combinations(sorted(range(3), key=lambda n: costs[NAMES[n]]), many)]
    for chosen in sorted(sets, key=lambda each: (len(each), sum(costs[NAMES[n]] for n in each))):
        masked = [tuple("*" if n in chosen else value for n, value in enumerate(row[:3])) + row[3:] for row in left]
        good = {key for key in {row[:3] for row in masked} if keeps([row[3] for row in masked if row[:3] == key])}
        done += [row for row in masked if row[:3] in good]
        left = [row for row, starred in zip(left, masked, strict=True) if starred[:3] not in good]
    return done, left


def kept_by(promise, rows):
    """Return a check of the sensitive values of one class."""
    whole = Counter(row[3] for row in rows)

    def keeps(values):
        counts, n = Counter(values), len(values)
        reached = {
            "k": n,
            "l": len(counts),
            "alpha": -max(counts.values()) / n,
            "t": -sum(abs(counts[value] / n - whole[value] / len(rows)) for value in whole) / 2,
        }
        signed = {name: limit if name in {"k", "l"} else -limit for name, limit in promise.items()}
        return all(reached[name] >= limit - 1e-9 for name, limit in signed.items())

    return keeps


def suppressed(rows, promise, costs):
    records = records_of(rows, [*NAMES, "y"])
    return records, suppress(MaskedRecords(records, {}, (Roles(NAMES, ("y",)),)), promise, costs)


def released_rows(records, found):
    """Return the released rows as the stars and the records left out say."""
    stars, left_out = dict(zip(found.places, found.stars, strict=True)), set(found.places[found.left_out])
    for place, (codes, count) in enumerate(zip(records.codes, records.counts, strict=True)):
        texts = [domain.texts[code] for domain, code in zip(records.domains, codes, strict=True)]
        cells = ["*" if star else text for text, star in zip(texts[:3], stars.get(place, [False] * 3), strict=True)]
        if place not in left_out:
            yield from [(*cells, texts[3])] * int(count)


@given(tables(4), PROMISES)
def test_the_release_is_that_of_plain_python_and_keeps_the_promise(rows, promise):
    costs = {"a": 0.5, "b": 0.125, "c": 0.25}
    records, found = suppressed(rows, promise, costs)
    by_hand, left = released_by_hand(rows, costs, kept_by(promise, rows))
    own = list(released_rows(records, found))
    assert Counter(own) == Counter(by_hand)
    assert (found.records, found.cells) == (len(left), sum(row.count("*") for row in own))
    assert not breaks(found.released[0], promise).any()
    assert sorted(found.released[0].sizes) == sorted(map(len, groups_of(own, (0, 1, 2), 3)))


@given(tables(4), PROMISES)
def test_no_more_records_are_left_out_and_fewer_than_k_where_only_k_is_promised(rows, promise):
    _, found = suppressed(rows, promise, {"a": 0.5, "b": 0.125, "c": 0.25})
    _, whole = suppressed(rows, promise, {})
    assert found.records <= whole.records
    assert (whole.cells, whole.stars.any()) == (0, False)
    if list(promise) == ["k"]:
        assert found.records < promise["k"]


@given(tables(4), PROMISES)
def test_records_of_one_class_stay_together(rows, promise):
    records, found = suppressed(rows, promise, {"a": 0.5, "b": 0.125, "c": 0.25})
    fate = {}
    for place, stars, left_out in zip(found.places, found.stars.tolist(), found.left_out.tolist(), strict=True):
        assert fate.setdefault(tuple(records.codes[place, :3]), (stars, left_out)) == (stars, left_out)


def test_a_cell_of_the_cheaper_attribute_is_suppressed():
    rows = [("1", "1", "0", "p"), ("1", "2", "0", "q"), ("2", "2", "0", "p")]
    _, found = suppressed(rows, {"k": 2}, {"a": 0.1, "b": 0.2, "c": 0.3})
    assert Counter(released_rows(*suppressed(rows, {"k": 2}, {"a": 0.1, "b": 0.2, "c": 0.3}))) == Counter(
        [("*", "2", "0", "q"), ("*", "2", "0", "p")]
    )
    assert (found.records, found.cells) == (1, 2)
    _, other = suppressed(rows, {"k": 2}, {"a": 0.2, "b": 0.1, "c": 0.3})
    assert other.stars.any(axis=0).tolist() == [False, True, False]


def test_columns_without_a_cost_stay_as_they_are():
    rows = [("1", "1", "0", "p"), ("1", "2", "0", "q"), ("2", "2", "0", "p"), ("2", "1", "0", "p")]
    _, found = suppressed(rows, {"k": 2}, {"a": 0.1})
    assert found.stars.any(axis=0).tolist() == [True, False, False]


def test_of_very_many_sets_only_those_that_grow_are_tried(monkeypatch):
    rows = [(str(n), str(n % 7), str(n % 3), "p") for n in range(21)]
    costs = {"a": 0.5, "b": 0.125, "c": 0.25}
    _, found = suppressed(rows, {"k": 7}, costs)
    assert (np.unique(found.stars, axis=0).tolist(), found.released[0].sizes.tolist()) == (
        [[True, True, False]],
        [7] * 3,
    )
    monkeypatch.setattr(cells, "MOST_SETS", 4)
    _, found = suppressed(rows, {"k": 7}, costs)
    assert (found.stars.all(), found.released[0].sizes.tolist()) == (True, [21])


def test_an_attribute_with_a_star_of_its_own_is_not_suppressed(write):
    rows = [("1", "*", "u", "p"), ("1", "x", "u", "q"), ("2", "x", "u", "p"), ("3", "*", "v", "q")]
    table, plan = promised(write, rows, k=2, configuration="gone")
    with open_table(table) as opened:
        costs = costs_of(CountedTable.of(opened, plan), plan.configurations[1])
    assert set(costs) == set()
    with open_table(write("t.csv", table.read_text(encoding="utf-8").replace("*", "z"))) as opened:
        counted = CountedTable.of(opened, plan)
        assert set(costs_of(counted, plan.configurations[1])) == {"b"}
        assert costs_of(counted, plan.configurations[0]) == {}


PLAN = """
label: y
attributes:
  a: {type: integer, maskings: {tens: {bucketize: {width: 10}}}}
  b: {}
  c: {maskings: {gone: {suppress: {}}}}
configurations: {one: {a: tens}, gone: {a: tens, c: gone}}
"""

TEXTS = ("1", "2", "13", "14", "25", "")


def promised(write, rows, *, k, records=0, cells_suppressed=0, configuration="one"):
    table = write("t.csv", "a,b,c,y\n" + "".join(",".join(row) + "\n" for row in rows))
    stated = {"privacy": {"k": k}, "suppressed": records, "suppressed_cells": cells_suppressed}
    lines = "".join(f"{key}: {{{configuration}: {str(value).replace(chr(39), '')}}}\n" for key, value in stated.items())
    return table, load_plan(write("plan.yaml", PLAN + lines))


@for_each(("seed", "name"), [(1, "masked.csv"), (2, "masked.parquet"), (3, "masked.csv")])
def test_the_written_file_keeps_the_promise_and_has_the_cells_that_assess_counts(write, tmp_path, seed, name):
    chance = random.Random(seed)
    rows = [tuple(chance.choice(values) for values in (TEXTS, TEXTS, "uv", "pq")) for _ in range(40)]
    table, plan = promised(write, rows, k=3)
    [release, _] = assess(table, plan).releases
    assert release.suppressed_cells > 0
    counted = promised(write, rows, k=3, records=release.suppressed, cells_suppressed=release.suppressed_cells)
    applied = apply(*counted, "one", tmp_path / name)
    assert (applied.records, applied.suppressed) == (len(rows) - release.suppressed, release.suppressed)
    assert (applied.suppressed_cells, applied.reached["k"]) == (release.suppressed_cells, release.privacy["k"])
    with open_table(tmp_path / name) as written:
        read = written.combinations(["a", "b", "c"]).to_pylist()
    classes = {(each["v0"], each["v1"], each["v2"]): each["n"] for each in read}
    assert (sum(classes.values()), min(classes.values())) == (applied.records, applied.reached["k"])
    assert sum(n * values.count("*") for values, n in classes.items()) == applied.suppressed_cells
    before = Counter((oracle.integer_bucket(a, 10), b, c) for a, b, c, _ in rows)
    assert all(before[values] == n for values, n in classes.items() if "*" not in values)


def test_other_numbers_than_declared_are_refused(write, tmp_path):
    rows = [("1", "1", "u", "p"), ("1", "2", "u", "q"), ("13", "2", "u", "p"), ("13", "2", "u", "p")]
    with pytest.raises(PromiseError, match="one declares 1 cells suppressed, but its promise needs 2"):
        apply(*promised(write, rows, k=2, cells_suppressed=1), "one", tmp_path / "masked.csv")
    with pytest.raises(PromiseError, match="one declares 3 records suppressed, but 0 break its promise whatever cells"):
        apply(*promised(write, rows, k=2, records=3, cells_suppressed=2), "one", tmp_path / "masked.csv")
    assert not (tmp_path / "masked.csv").exists()
