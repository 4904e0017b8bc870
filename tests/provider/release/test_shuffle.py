"""A random order of records, in memory and on disk: all records, every order alike, and nothing left behind."""

from collections import Counter
from itertools import permutations
from math import sqrt

import pyarrow as pa
import pyarrow.parquet
import pytest

from aegis_provider import apply
from aegis_provider.release import table_file
from aegis_provider.release.blocks import block_schema
from aegis_provider.release.table_file import shuffled
from tests.for_each import for_each

SCHEMA = block_schema(1)


def blocks_of(texts, size):
    for start in range(0, len(texts), size):
        yield pa.record_batch([pa.array(texts[start : start + size])], schema=SCHEMA)


def order_of(texts, folder, size=3):
    blocks = shuffled(blocks_of(texts, size), len(texts), SCHEMA, folder)
    return [text for block in blocks for text in block.column(0).to_pylist()]


@pytest.mark.long
@for_each("in_memory", [1 << 18, 2])
def test_every_order_is_as_likely_as_another(tmp_path, monkeypatch, in_memory):
    monkeypatch.setattr(table_file, "RECORDS_IN_MEMORY", in_memory)
    draws = 1_200 if in_memory == 2 else 6_000
    counts = Counter(tuple(order_of("abc", tmp_path, 2)) for _ in range(draws))
    assert set(counts) == set(permutations("abc"))
    # Seven standard errors: a chance of less than 3e-12 for each of the orders.
    assert all(abs(each - draws / 6) < 7 * sqrt(draws * 5 / 36) for each in counts.values())


def test_many_parts_have_every_record_once_and_leave_no_file(tmp_path, monkeypatch):
    monkeypatch.setattr(table_file, "RECORDS_IN_MEMORY", 50)
    texts = [str(number) for number in range(1_000)]
    found = order_of(texts, tmp_path, 64)
    assert sorted(found) == sorted(texts)
    assert found != texts
    assert list(tmp_path.iterdir()) == []


def test_no_record_is_no_block(tmp_path):
    assert order_of([], tmp_path) == []


def test_a_failure_leaves_no_file(tmp_path, monkeypatch):
    monkeypatch.setattr(table_file, "RECORDS_IN_MEMORY", 2)

    def failing():
        yield from blocks_of("abcdef", 2)
        raise ValueError("gone")

    with pytest.raises(ValueError, match="gone"):
        list(shuffled(failing(), 6, SCHEMA, tmp_path))
    assert list(tmp_path.iterdir()) == []


@for_each("name", ["masked.csv", "masked.parquet"])
def test_masked_records_are_the_same_in_another_order(write, plan_of, tmp_path, name):
    table = write("t.csv", "a,y\n" + "".join(f"{number},{number % 2}\n" for number in range(300)))
    plan = plan_of("{a: {maskings: {tens: {bucketize: {width: 10}}}}}", "{c: {a: tens}}")
    kept, output = tmp_path / f"kept-{name}", tmp_path / name
    apply(table, plan, "c", kept, keep_order=True)
    apply(table, plan, "c", output)
    read = [_rows(kept), _rows(output)]
    assert read[0] != read[1]
    assert sorted(read[0]) == sorted(read[1])


def _rows(path):
    if path.suffix == ".parquet":
        return [tuple(each.values()) for each in pa.parquet.read_table(path).to_pylist()]
    return path.read_text(encoding="utf-8").splitlines()[1:]
