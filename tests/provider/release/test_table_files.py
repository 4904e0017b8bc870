"""Masked tables as CSV and Parquet files, in many blocks, with every text that a table may hold."""

import csv
from datetime import date

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegis_provider import OutputError, apply, load_plan
from aegis_provider.release.blocks import RECORDS, blocks_of
from aegis_provider.release.table_file import ParquetColumn
from aegis_provider.table.values import Domain, ValueType
from tests.examples import at_most
from tests.for_each import for_each
from tests.provider import oracle

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6)


@st.composite
def cut(draw):
    """Numbers from 0, split at random places."""
    sizes = draw(st.lists(st.integers(0, 9), max_size=12))
    whole = pa.record_batch({"n": list(range(sum(sizes)))})
    return [whole.slice(sum(sizes[:place]), size) for place, size in enumerate(sizes)]


@given(cut(), st.integers(1, 7))
def test_blocks_do_not_depend_on_how_the_engine_cuts(batches, size):
    blocks = [block.column("n").to_pylist() for block in blocks_of(batches, size)]
    records = [n for batch in batches for n in batch.column("n").to_pylist()]
    assert blocks == [records[start : start + size] for start in range(0, len(records), size)]


@pytest.mark.long
@at_most(30)  # of up to 16 records: to open a file takes longer than to read them
@given(st.lists(st.tuples(texts, texts, texts), min_size=1, max_size=16), st.sampled_from([",", ";", "\t"]))
def test_csv_holds_every_text(tmp_path, plan_of, rows, delimiter):
    table = tmp_path / "t.csv"
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL)
        writer.writerows([("a", 'b,;"', "y"), *rows])
    masking = "{type: string, maskings: {m: {blur: {keep: 1}}}}"
    plan = plan_of(f"{{a: {masking}, 'b,;\"': {{type: string}}}}", "{c: {a: m}}")
    apply(table, plan, "c", tmp_path / "masked.csv", delimiter=delimiter, keep_order=True)
    found = oracle.records_of(tmp_path / "masked.csv", delimiter)
    assert [tuple(row.values()) for row in found] == [(oracle.blurred(a, 1), b, y) for a, b, y in rows]


@pytest.mark.long
@for_each("name", ["masked.csv", "masked.parquet"])
def test_many_blocks_keep_their_order(tmp_path, plan_of, name):
    records = 2 * RECORDS + 1000
    table, masked = tmp_path / "t.parquet", tmp_path / name
    duckdb.sql(f"SELECT i % 1000 AS a, i AS b, i % 3 AS y FROM range({records}) AS t(i)").write_parquet(str(table))
    plan = plan_of("{a: {maskings: {tens: {bucketize: {width: 10}}}}, b: {}}", "{c: {a: tens}}")
    assert apply(table, plan, "c", masked, keep_order=True, accept_identifiers=True).records == records
    expected = "row_number() OVER () - 1 AS n, a, b, y"
    wrong = "b <> n OR y <> n % 3 OR a <> format('{}-{}', n % 1000 // 10 * 10, n % 1000 // 10 * 10 + 9)"
    source = "read_csv" if name.endswith("csv") else "read_parquet"
    numbered = f"SELECT {expected} FROM {source}('{masked}')"
    found = duckdb.sql(f"SELECT count(*), count(*) FILTER ({wrong}) FROM ({numbered})")
    assert found.fetchall() == [(records, 0)]


class TestParquet:
    TABLE = "whole,real,flag,day,word,age,y\n1,1.50,yes,2024-02-29,01,7,a\n-2,0.1,no,0001-01-01,,12,b\n,,,,x,,a\n"
    ATTRIBUTES = (
        "{whole: {}, real: {}, flag: {type: boolean}, day: {}, word: {}, "
        "age: {maskings: {tens: {bucketize: {width: 10}}}}}"
    )

    def test_unmasked_columns_have_their_type_and_masked_ones_are_text(self, write, plan_of, tmp_path):
        plan = plan_of(self.ATTRIBUTES, "{c: {age: tens}}")
        apply(write("t.csv", self.TABLE), plan, "c", tmp_path / "m.parquet", keep_order=True)
        found = pq.read_table(tmp_path / "m.parquet")
        assert [str(kind) for kind in found.schema.types] == [
            "int64",
            "double",
            "bool",
            "date32[day]",
            "string",
            "string",
            "string",
        ]
        assert [tuple(row.values()) for row in found.to_pylist()] == [
            (1, 1.5, True, date(2024, 2, 29), "01", "0-9", "a"),
            (-2, 0.1, False, date(1, 1, 1), None, "10-19", "b"),
            (None, None, None, None, "x", None, "a"),
        ]

    def test_it_is_compressed_and_masks_again_as_csv_does(self, write, plan_of, tmp_path):
        plan = plan_of(self.ATTRIBUTES, "{c: {age: tens}, fine: {}}")
        apply(write("t.csv", self.TABLE), plan, "fine", tmp_path / "fine.parquet", keep_order=True)
        assert pq.ParquetFile(tmp_path / "fine.parquet").metadata.row_group(0).column(0).compression == "ZSTD"
        apply(tmp_path / "fine.parquet", plan, "c", tmp_path / "again.csv", keep_order=True)
        ages = [row["age"] for row in oracle.records_of(tmp_path / "again.csv")]
        assert ages == ["0-9", "10-19", ""]

    @for_each(("k", "holds"), [(1, True), (2, False)])
    def test_privacy_is_measured_in_typed_columns(self, write, tmp_path, k, holds):
        promised = f"configurations: {{c: {{age: tens}}}}\nprivacy: {{c: {{k: {k}}}}}\n"
        plan = load_plan(write("plan.yaml", f"label: y\nattributes: {self.ATTRIBUTES}\n{promised}"))
        applied = apply(write("t.csv", self.TABLE), plan, "c", tmp_path / "m.parquet", force=True)
        assert (applied.reached["k"], not applied.faults) == (1, holds)

    @for_each(
        ("value_type", "values", "expected"),
        [
            (ValueType.INTEGER, ["9223372036854775807", "-9223372036854775808", "+1"], pa.int64()),
            (ValueType.INTEGER, ["9223372036854775808"], pa.string()),
            (ValueType.NUMBER, ["0.1", "1e300", "5.0", ".25"], pa.float64()),
            (ValueType.NUMBER, ["0.1234567890123456789"], pa.string()),
            (ValueType.NUMBER, ["1e400"], pa.string()),
            (ValueType.BOOLEAN, ["yes", "0"], pa.bool_()),
            (ValueType.STRING, ["1", "2"], pa.string()),
        ],
    )
    def test_a_type_is_taken_only_where_it_holds_every_value(self, value_type, values, expected):
        domain = Domain.of([*values, ""], value_type)
        column = ParquetColumn.of(domain)
        assert column.type == expected
        assert column.written(pa.array(["", values[0]])).is_null().to_pylist() == [True, False]

    def test_columns_that_differ_in_case_stay_apart(self, write, plan_of, tmp_path):
        apply(write("t.csv", "a,A,y\n1,2,n\n"), plan_of("{a: {}, A: {}}"), "c", tmp_path / "m.parquet")
        assert pq.read_table(tmp_path / "m.parquet").to_pylist() == [{"a": 1, "A": 2, "y": "n"}]


@for_each("name", ["masked.csv", "masked.parquet"])
def test_what_cannot_be_written_is_one_line(write, plan_of, tmp_path, name, monkeypatch):
    monkeypatch.setattr("aegis_sdk._files.token_hex", lambda _: "drawn")
    (tmp_path / f".{name}.drawn.part").mkdir()  # blocks the path of the temporary file
    with pytest.raises(OutputError, match=rf"{name}: cannot be written: .") as raised:
        apply(write("t.csv", "a,y\n1,p\n2,q\n"), plan_of("{a: {}}"), "c", tmp_path / name)
    assert "\n" not in str(raised.value)
    assert not (tmp_path / name).exists()


def test_a_name_may_be_as_long_as_names_can_be(write, plan_of, tmp_path):
    longest = tmp_path / ("é" * 120 + "masked.csv")
    assert apply(write("t.csv", "a,y\n1,p\n2,q\n"), plan_of("{a: {}}"), "c", longest).records == 2
