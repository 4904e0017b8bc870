"""A table in memory is read like the same table in a file, whatever library holds it."""

import datetime as dt
from decimal import Decimal

import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

from aegis_provider import (
    TableError,
    apply,
    assess,
    find_configurations,
    load_plan,
    refuse_overwriting,
    table_name,
)
from aegis_provider.draft import start
from aegis_provider.search import Requirement
from aegis_provider.table import files_of, open_table
from tests.for_each import for_each
from tests.provider.documents import summarize
from tests.provider.table.engine_table import PLAN, write_parquet

TEXTS = {
    "age": ["31", "31", "45", "", "62"] * 4,
    "city": ["Wien", "", "Graz", "Wien", "Linz"] * 4,
    "y": ["a", "b"] * 10,
}
HOLDERS = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "a lazy frame of polars": pl.LazyFrame,
    "arrow": pa.table,
    "a batch of arrow": pa.record_batch,
    "ibis": lambda columns: ibis.memtable(pa.table(columns)),
}


@pytest.fixture(autouse=True)
def _backend():
    """The backend that Ibis uses for tables in memory, closed at the end."""
    backend = ibis.duckdb.connect()
    ibis.set_backend(backend)
    yield
    ibis.options.default_backend = None
    backend.disconnect()


@pytest.fixture
def held(plan_of, write):
    """The plan for the texts, and the CSV file that has them."""
    write("t.csv", "\n".join(map(",".join, [TEXTS, *zip(*TEXTS.values(), strict=True)])) + "\n")
    maskings = "{age: {maskings: {tens: {bucketize: {width: 10}}}}, city: {maskings: {gone: {suppress: {}}}}}"
    plan = plan_of(maskings, "{fine: {}, coarse: {age: tens, city: gone}}")
    return plan, plan.files[0].with_name("t.csv")


def privacy(table, plan):
    return {each.id: each.privacy for each in assess(table, plan).releases}


def searched(table, plan):
    return find_configurations(table, plan, Requirement({"k": 4})).configurations


def made_of(table, plan, folder):
    """What is counted, measured, searched and masked."""
    apply(table, plan, "coarse", folder / "masked.csv", keep_order=True)
    masked = (folder / "masked.csv").read_bytes()
    return summarize(table, plan, name="t", pairs=True), privacy(table, plan), searched(table, plan), masked


def test_whatever_holds_a_table_gives_the_entry_and_the_masked_table_of_the_csv_file(held, tmp_path):
    plan, path = held
    ages = [int(text) if text else None for text in TEXTS["age"]]
    made = {name: made_of(holder({**TEXTS, "age": ages}), plan, tmp_path) for name, holder in HOLDERS.items()}
    assert made == dict.fromkeys(HOLDERS, made_of(path, plan, tmp_path))


@pytest.mark.long
@for_each("holder", ["pandas", "polars", "arrow"])
def test_every_type_is_read_as_from_parquet(holder, tmp_path):
    path, plan = tmp_path / "t.parquet", tmp_path / "plan.yaml"
    write_parquet(path)
    plan.write_text(PLAN, encoding="utf-8")
    read = {"pandas": pd.read_parquet, "polars": pl.read_parquet, "arrow": pq.read_table}[holder]
    intended = load_plan(plan)
    assert summarize(read(path), intended, name="t", pairs=True) == summarize(path, intended, name="t", pairs=True)


def frames():
    """Yield frames with columns of every type that has its own missing values."""
    day = dt.date(2024, 2, 29)
    yield pd.DataFrame(
        {
            "whole": pd.array([1, None, 3, 3], "Int64"),
            "widened": [1, np.nan, 3, 3],
            "truth": [True, None, False, False],
            "kind": pd.Categorical(["x", None, "y", "y"]),
            "day": [day, None, day, day],
            "at": pd.to_datetime(["2024-02-29 00:00", None, "2024-03-01 12:30", "2024-03-01 12:30"]),
            "text": pd.array(["", None, "q", "q"], "string"),
            "nothing": [None] * 4,
            "y": ["a", "b", "a", "b"],
        },
        index=[7, 5, 3, 1],
    )
    yield pl.DataFrame(
        {
            "whole": [1, None, 3, 3],
            "widened": [1.0, float("nan"), None, 3],
            "truth": [True, None, False, False],
            "kind": pl.Series(["x", None, "y", "y"], dtype=pl.Categorical),
            "grade": pl.Series(["low", None, "high", "high"], dtype=pl.Enum(["low", "high"])),
            "day": [day, None, day, day],
            "at": [dt.datetime(2024, 2, 29), None, dt.datetime(2024, 3, 1, 12, 30), None],  # noqa: DTZ001 - without a time zone
            "price": [Decimal("1.50"), None, Decimal("2.00"), None],
            "nothing": [None] * 4,
            "y": ["a", "b", "a", "b"],
        }
    )


@for_each("frame", list(frames()))
def test_missing_values_are_missing_and_types_stay(frame, plan_of, tmp_path):
    path = tmp_path / "t.parquet"
    frame.to_parquet(path) if isinstance(frame, pd.DataFrame) else frame.write_parquet(path)
    plan = plan_of({name: {} for name in frame.columns if name != "y"})
    entry = summarize(frame, plan, name="t")
    assert entry == summarize(path, plan, name="t")
    domains = {each["name"]: each["domain"] for each in entry["attributes"]}
    assert domains["whole"] == ["", "1", "3"]
    assert domains["widened"] == ["", "1", "3"]
    assert domains["truth"] == ["", "false", "true"]
    assert domains["kind"] == ["", "x", "y"]
    assert domains["day"] == ["", "2024-02-29"]
    assert domains["nothing"] == [""]


def test_dictionaries_that_differ_from_chunk_to_chunk_are_one_column(plan_of):
    chunks = [pa.array(texts).dictionary_encode() for texts in (["x", "y"], ["z", "x"])]
    table = pa.table({"a": pa.chunked_array(chunks), "y": ["1", "2", "1", "2"]})
    [attribute] = summarize(table, plan_of("{a: {}}"), name="t")["attributes"]
    assert (attribute["domain"], attribute["histogram"]) == (["x", "y", "z"], [2, 1, 1])


def test_records_keep_the_order_of_the_frame(plan_of, tmp_path):
    numbers = np.random.default_rng(7).permutation(300_000)
    table = pa.table({"a": numbers % 1000, "y": numbers % 2})
    apply(table, plan_of("{a: {}}"), "c", tmp_path / "masked.csv", keep_order=True)
    assert pacsv.read_csv(tmp_path / "masked.csv").equals(table)


def test_names_that_differ_in_case_only_are_two_columns(plan_of):
    entry = summarize(pl.DataFrame({"A": [1, 2], "a": [3, 3], "y": [0, 1]}), plan_of("{A: {}, a: {}}"), name="t")
    assert [each["domain"] for each in entry["attributes"]] == [["1", "2"], ["3"]]


def test_a_value_is_named_with_its_row(plan_of):
    with pytest.raises(TableError, match=r"^the DataFrame: row 2: a 'x' is not a number \(.*attributes\.a\.type\)$"):
        summarize(pd.DataFrame({"a": ["1", "x"], "y": [0, 1]}), plan_of("{a: {type: integer}}"), name="t")


@for_each(
    ("table", "message"),
    [
        (None, "a NoneType is not a table; give a path, a URL#table, a DataFrame"),
        ({"a": [1], "y": [2]}, "a dict is not a table; give a path"),
        (pd.Series([1], name="a"), "the Series: cannot be read as columns of one type each: "),
        (pd.DataFrame({"a": [1, ["x"]], "y": [0, 1]}), "the DataFrame: column 'a' has values of the type list among"),
        (pl.DataFrame({"a": [object()], "y": [0]}), "the DataFrame: cannot be read as columns of one type each: "),
        (pl.LazyFrame({"a": [object()], "y": [0]}), "the LazyFrame: cannot be read as columns of one type each: "),
        (pl.LazyFrame({"y": [0]}).select("a"), "the LazyFrame: cannot be read as columns of one type each: "),
        (pa.table([[1], [2]], ["y", "y"]), "the Arrow table: two columns are called 'y'"),
        (pa.table({"a": [], "y": []}), "the Arrow table: the table has no records"),
        (pa.table({"b": [1], "y": [2]}), "the Arrow table: no column 'a'; available: b, y"),
        (pa.table({"a": [1]}).to_reader(), "a RecordBatchReader can be read only once; give the table"),
    ],
)
def test_what_is_no_table_is_refused_in_one_line(plan_of, table, message):
    with pytest.raises(TableError) as raised:
        summarize(table, plan_of("{a: {}}"), name="t")
    assert "\n" not in str(raised.value)
    assert str(raised.value).startswith(message)


def test_a_table_in_memory_is_no_file_and_has_a_name(tmp_path):
    (tmp_path / "masked.csv").touch()
    for table, name in ((pd.DataFrame(), "the DataFrame"), (pa.table({}), "the Arrow table")):
        assert (files_of(table), table_name(table)) == ([], name)
        refuse_overwriting(tmp_path / "masked.csv", table)
    assert table_name(ibis.table({"a": "int64"}, name="t").filter(ibis._.a > 0)) == "the table"
    assert table_name("postgresql://me:secret@h/db#t") == "postgresql://me@h/db#t"
    assert table_name(tmp_path) == str(tmp_path)


def test_the_memory_limit_holds_for_a_frame():
    with pytest.raises(TableError, match="'x' is not a memory size"), open_table(pa.table({}), memory_limit="x"):
        pass


def test_not_a_number_is_missing_in_parquet_too(tmp_path):
    frame = pa.table({"x": [float("nan") if place % 10 == 0 else place / 7 for place in range(2_000)]})
    pq.write_table(frame, tmp_path / "t.parquet")
    for source in (frame, tmp_path / "t.parquet"):
        with open_table(source) as table:
            counted = table.combinations(["x"])
        records = dict(zip(counted["v0"].to_pylist(), counted["n"].to_pylist(), strict=True))
        assert (records[""], "nan" in records) == (200, False)


def whole(table):
    """The columns and records of a table as texts."""
    with open_table(table) as opened:
        texts = pa.Table.from_batches(opened.batches(opened.columns))
        return dict(zip(opened.columns, texts.to_pydict().values(), strict=True))


DAYS = pd.to_datetime(["2024-01-31", "2024-02-01", None, "2023-12-31"])
TIMED = pd.DataFrame(
    {
        "day": DAYS,
        "moment": pd.to_datetime(["2024-01-31 10:30:00", "2024-02-01 00:00:00", None, "2023-12-31 00:00:00"]),
        "month": DAYS.to_period("M"),
        "quarter": DAYS.to_period("Q"),
        "year": DAYS.to_period("Y"),
        "by day": DAYS.to_period("D"),
        "span": pd.arrays.IntervalArray.from_tuples([(1, 2), (3.5, 4), None, (1, 2)], closed="left"),
        "rank": pd.Categorical(["low", "high", None, "mid"], ["low", "mid", "high"], ordered=True),
    }
)


def test_periods_intervals_and_days_are_as_in_csv(tmp_path):
    TIMED.to_csv(tmp_path / "t.csv", index=False)
    TIMED.to_parquet(tmp_path / "t.parquet")
    assert whole(TIMED) == whole(tmp_path / "t.parquet") == whole(tmp_path / "t.csv")


def test_what_only_frames_hold_is_as_in_csv(tmp_path):
    frame = pd.DataFrame({"cut": pd.cut(pd.Series([1, 5, None, 9]), [0, 3, 6, 10]), "week": DAYS.to_period("W")})
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert whole(frame) == whole(tmp_path / "t.csv")
    with open_table(frame) as opened:
        assert opened.orders == {"cut": ("(0, 3]", "(3, 6]", "(6, 10]")}
    frame[["week"]].to_parquet(tmp_path / "t.parquet")
    with pytest.raises(TableError, match=r"'week' has periods of pandas \(period\[W-SUN\]\); write texts or dates"):
        whole(tmp_path / "t.parquet")


def test_columns_of_several_types_are_as_in_csv(tmp_path):
    mixed = [1, 2.5, np.float64(1e-7), np.int8(3), "n/a", None, float("nan"), pd.NA, "", "007", Decimal("4.50")]
    frame = pd.DataFrame(
        {
            "mixed": pd.Series([*mixed, 10.0], dtype=object),
            "days": pd.Series([pd.Timestamp("2024-01-31"), "unknown", dt.date(2024, 2, 1), None] * 3, dtype=object),
            "truth": pd.Series([True, "?", np.False_, None] * 3, dtype=object),
            7: pd.cut(pd.Series(range(12)), [-1, 3, 12]),
        }
    )
    (tmp_path / "t.csv").write_text(
        "mixed,days,truth\n1,2024-01-31,true\n2.5,unknown,?\n0.0000001,2024-02-01,false\n3,,\nn/a,2024-01-31,true\n"
        ",unknown,?\n,2024-02-01,false\n,,\n,2024-01-31,true\n007,unknown,?\n4.5,2024-02-01,false\n10,,\n"
    )
    assert whole(frame[["mixed", "days", "truth"]]) == whole(tmp_path / "t.csv")
    with pytest.warns(UserWarning, match="mixed type"):  # pandas warns of names that are not texts
        assert whole(frame)["7"] == ["(-1, 3]"] * 4 + ["(3, 12]"] * 8


@for_each("zone", ["Europe/Berlin", "America/New_York", "+05:30", "UTC"])
def test_a_zoned_moment_has_the_day_of_its_zone(zone, tmp_path):
    days = ["1980-01-01", "1980-07-01"]
    frame = pd.DataFrame({"day": pd.to_datetime(days).tz_localize(zone)})
    frame.to_parquet(tmp_path / "t.parquet")
    assert whole(frame) == whole(pa.table(frame)) == whole(tmp_path / "t.parquet") == {"day": days}
    if zone[0] != "+":
        assert whole(pl.DataFrame({"day": pl.Series(pd.to_datetime(days)).dt.replace_time_zone(zone)})) == {"day": days}


def indexed():
    """Yield frames that have an index, as Parquet and CSV would keep it."""
    frame = pd.DataFrame({"age": [31, 45, 62, 19] * 10, "y": ["a", "b"] * 20})
    yield "filtered", frame[frame["age"] > 20], ["__index_level_0__"]
    yield "sampled", frame.sample(20, random_state=1), ["__index_level_0__"]
    yield "twice", pd.concat([frame, frame]), ["__index_level_0__"]
    yield "named", frame.set_index(pd.Index([n * n for n in range(40)], name="row")), ["row"]
    yield (
        "levels",
        frame.set_index([(frame["age"] // 10).rename("decade"), frame["age"]]),
        ["decade", "__index_level_1__"],
    )


@for_each(("how", "frame", "index"), list(indexed()))
def test_the_index_of_a_frame_is_no_column_that_is_drafted(how, frame, index, tmp_path):
    path = tmp_path / "t.parquet"
    frame.to_parquet(path)
    for held in (frame, path):
        left_out = start(held, "y", tmp_path / f"{how}.yaml").left_out
        assert left_out == dict.fromkeys(index, "the index of a data frame, no column of the table; --index drafts it")
        (tmp_path / f"{how}.yaml").unlink()
    assert start(path, "y", tmp_path / f"{how}.yaml", index=True).described


def test_a_first_column_without_a_name_is_an_index_in_csv(tmp_path):
    path, plan = tmp_path / "t.csv", tmp_path / "plan.yaml"
    pd.DataFrame({"age": [31, 45, 62, 19] * 10, "y": ["a", "b"] * 20}).to_csv(path)
    assert list(start(path, "y", plan).left_out) == ["Unnamed: 0"]
    assert [each.name for each in load_plan(plan, configurations_needed=False).attributes] == ["age"]


@for_each("said", [b"not JSON", b"[]", b'{"columns": [{"name": "a"}, 3]}'])
def test_what_pandas_would_not_say_of_a_table_is_not_heeded(said, tmp_path):
    table = pa.table({"a": ["1", "2"]}).replace_schema_metadata({b"pandas": said})
    pq.write_table(table, tmp_path / "t.parquet")
    assert whole(table) == whole(tmp_path / "t.parquet") == {"a": ["1", "2"]}
