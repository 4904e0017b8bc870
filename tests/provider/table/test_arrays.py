"""Arrays made without `pa.array`, against those that it makes, and the commands that thus load no pandas."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegis_provider.table.arrays import number_array, numbers_in, text_array
from aegis_provider.table.in_memory import combined
from tests.for_each import for_each

PLAN = "label: y\nattributes: {a: {maskings: {gone: {suppress: {}}}}, b: {}}\nconfigurations: {c: {a: gone}}\n"
RUN = """
import sys
from pathlib import Path
from aegis_provider import apply, load_plan, prepare_entry
plan = load_plan(Path("plan.yaml"))
prepare_entry("t.csv", plan, name="t").write(Path("entry.json"), None)
apply("t.csv", plan, "c", Path("masked.csv"))
sys.exit("pandas" in sys.modules)
"""


@given(st.lists(st.text(max_size=5)))
def test_texts_are_those_of_arrow(texts):
    assert text_array(texts).equals(pa.array(texts, pa.string()))


@for_each("kind", ["int8", "int32", "int64", "uint64", "float32", "float64"])
def test_numbers_are_those_of_arrow_and_come_back(kind):
    numbers = np.arange(9, dtype=kind)[::2]
    made = number_array(numbers)
    assert made.equals(pa.array(numbers))
    assert numbers_in(pa.chunked_array([made[1:3], made[3:]])).tolist() == [2, 4, 6, 8]
    assert numbers_in(made[:0]).tolist() == []


def test_missing_numbers_are_refused():
    with pytest.raises(ValueError, match="1 of 2 numbers are missing"):
        numbers_in(pa.array([1, None]))


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xy"), st.sampled_from(["", "1", "2"]))))
def test_every_combination_is_counted_once(rows):
    columns = list(zip(*rows, strict=True)) if rows else [[], [], []]
    table = pa.table([pa.array(each, pa.string()) for each in columns], ["p", "q", "r"])
    counted = combined(table).to_pylist()
    assert {tuple(each.values())[:3]: each["n"] for each in counted} == {row: rows.count(row) for row in rows}
    assert len(counted) == len(set(rows))


@pytest.mark.long
def test_an_entry_and_a_masked_table_of_a_small_file_load_no_pandas(tmp_path):
    (tmp_path / "plan.yaml").write_text(PLAN)
    (tmp_path / "t.csv").write_text("a,b,y\n" + "".join(f"{n % 4},{n % 3},{n % 2}\n" for n in range(240)))
    assert subprocess.run([sys.executable, "-c", RUN], cwd=tmp_path, check=False).returncode == 0
