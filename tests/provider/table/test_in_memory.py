"""A small table that is kept in memory says what its engine says."""

import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from itertools import product

import pandas as pd
import pytest

from aegis_provider.errors import TableError
from aegis_provider.identifiers import values_of
from aegis_provider.table import open_table
from tests.for_each import for_each

TEXTS = [
    "",
    "a",
    "A",
    "0",
    "7",
    "007",
    "+7.50",
    "1e299",
    "-.5",
    "NaN",
    "2024-02-29",
    "x@y.org",
    "ä\u0301",
    "5\n",
    "=1+1",
]
NUMBERS = [None, 0.0, -0.0, 1.5, 1e300, float("inf"), 1e-7, 3.0]
RECORDS = [
    (text, number, (1, 2**62, -5)[place % 3], place % 7 == 0)
    for place, (text, number) in enumerate(product(TEXTS, NUMBERS))
]


def asked(table):
    """What can be asked of a table, in no order where there is none."""
    names, label = list(table.columns), table.columns[-1]
    return {
        "batches": [row for batch in table.batches(names) for row in batch.to_pylist()],
        "combinations": Counter(tuple(row.values()) for row in table.combinations(names).to_pylist()),
        "counts": [
            Counter(tuple(row.values()) for row in each.to_pylist()) for each in table.counts_with(names, label)
        ],
        "values": values_of(table, names),
    }


@for_each("records", [RECORDS, RECORDS[-1:]])
def test_it_says_what_the_engine_says(tmp_path, records):
    frame = pd.DataFrame(records, columns=["text", "number", "integer", "truth"])
    frame.to_parquet(tmp_path / "t.parquet")
    frame.to_csv(tmp_path / "t.csv", index=False)
    for source in (tmp_path / "t.parquet", tmp_path / "t.csv", frame):
        with open_table(source) as opened:
            assert opened.memory is not None
            list(opened.batches(["number"]))  # the others are read later
            assert asked(opened) == asked(replace(opened, memory=None))


def test_another_version_of_the_file_is_read_again(write):
    path = write("t.csv", "a,b\n1,2\n")
    with open_table(path) as opened:
        assert opened.in_memory(["a"]).to_pylist() == [{"v0": "1"}]
        other = write("other.csv", "a,b\n3,4\n")
        other.replace(path)
        assert opened.in_memory(["b", "a"]).to_pylist() == [{"v0": "4", "v1": "3"}]
        path.unlink()
        assert opened.in_memory(["a"]) is None
        with pytest.raises(TableError, match=r"t\.csv"):
            list(opened.batches(["a"]))


def test_a_large_file_is_not_kept(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n", encoding="utf-8")
    os.truncate(path, 17 << 20)  # a sparse file, of which nothing is read
    with open_table(path) as opened:
        assert opened.memory is None


_WITHOUT_IBIS = """
import sys
from pathlib import Path
from aegis_provider import load_plan, prepare_entry
prepare_entry(sys.argv[1], load_plan(Path(sys.argv[2])), name="small")
print([each for each in ("ibis", "pandas", "sqlglot") if each in sys.modules])
"""


@pytest.mark.long
def test_a_small_csv_file_is_counted_without_ibis(write, plan_of):
    """A quarter of a second is more than all of the counting."""
    table = write("t.csv", "a,b,y\n" + "".join(f"{n % 7},{n % 5}.50,{n % 2}\n" for n in range(90)))
    plan_of("{a: {maskings: {m: {bucketize: {width: 2}}}}, b: {}}", "{raw: {}, m: {a: m}}")
    command = [sys.executable, "-c", _WITHOUT_IBIS, str(table), str(table.parent / "plan.yaml")]
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout == "[]\n"
