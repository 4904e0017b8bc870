"""Records that are held back are in no masked table, whatever its form, and all others are."""

import csv
import random

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from aegis_provider import PromiseError, apply, load_plan

PLAN = """
label: y
%s
attributes: {a: {type: integer, maskings: {tens: {bucketize: {width: 10}}}}}
quasi_identifiers: [a]
configurations: {c: {a: tens}}
privacy: {c: {k: 3}}
suppressed: {c: %d}
"""
MANY = 65_600
"""More than a block of records."""


def plan_of(path, person, suppressed):
    path.write_text(PLAN % ("person: p\nrows_per_person: 2\nleft_out: {p: an id}" if person else "", suppressed))
    return load_plan(path)


def csv_of(path):
    with path.open(newline="") as file:
        return [(row["a"], row["y"]) for row in csv.DictReader(file)]


@pytest.mark.parametrize(("person", "many"), [(False, 2_000), (True, MANY)])
def test_the_others_stay_in_their_order_in_csv_and_parquet_of_a_file_and_of_a_database(tmp_path, person, many):
    draw = random.Random(3)
    rows = [(f"p{n // 2}", draw.randrange(90), draw.choice(["no", "yes"])) for n in range(many)]
    rows[5], rows[6] = (rows[5][0], 95, "no"), (rows[6][0], 97, "no")  # a class of two, of p2 and p3
    alone = [n for n, row in enumerate(rows) if row[0] in {"p2", "p3"}] if person else [5, 6]
    held = np.zeros(many, dtype=np.bool_)
    held[[n for n in draw.sample(range(many), many // 100) if n not in alone]] = True
    table = pa.table(dict(zip("pay", map(list, zip(*rows, strict=True)), strict=True)))
    pq.write_table(table, tmp_path / "t.parquet")
    with duckdb.connect(str(tmp_path / "t.duckdb")) as connection:
        connection.register("given", table)
        connection.execute("CREATE TABLE t AS FROM given")
    plan = plan_of(tmp_path / "plan.yaml", person, len(alone))
    stay = [row for n, row in enumerate(rows) if n not in alone and not held[n]]
    expected = [(f"{row[1] // 10 * 10}-{row[1] // 10 * 10 + 9}", row[2]) for row in stay]
    for source in (str(tmp_path / "t.parquet"), f"duckdb://{tmp_path}/t.duckdb#t"):
        applied = apply(source, plan, "c", tmp_path / "out.csv", keep_order=True, held=held)
        assert csv_of(tmp_path / "out.csv") == expected
        assert (applied.records, applied.suppressed, applied.held_back) == (len(stay), len(alone), int(held.sum()))
    apply(tmp_path / "t.parquet", plan, "c", tmp_path / "out.parquet", held=held)
    written = pq.read_table(tmp_path / "out.parquet").to_pylist()
    assert sorted((row["a"], row["y"]) for row in written) == sorted(expected)


def test_too_few_who_stay_break_the_promise(tmp_path):
    rows = pa.table({"a": [1, 2, 3, 4, 11, 12, 13], "y": ["no", "yes", "no", "yes", "no", "yes", "no"]})
    plan, held = plan_of(tmp_path / "plan.yaml", False, 0), np.array([True, True] + [False] * 5)
    with pytest.raises(PromiseError, match="promises k >= 3, but reaches 2"):
        apply(rows, plan, "c", tmp_path / "out.csv", held=held)
    assert not (tmp_path / "out.csv").exists()
    applied = apply(rows, plan, "c", tmp_path / "out.csv", held=np.array([True] + [False] * 6))
    assert (applied.records, applied.reached["k"]) == (6, 3)
