"""Tables in several files, named by a glob."""

import sqlite3
from contextlib import closing

import duckdb
import pytest

from aegis_provider import OutputError, TableError, apply, refuse_overwriting
from tests.for_each import for_each
from tests.provider.documents import summarize

SMALL = "{a: {maskings: {tens: {bucketize: {width: 10}}}}}"


@pytest.fixture
def plan(plan_of):
    return plan_of(SMALL, "{c: {a: tens}}")


@pytest.fixture
def parts(write, tmp_path):
    """A glob of two CSV files."""
    write("part-1.csv", "a,y\n1,n\n12,m\n")
    write("part-2.csv", "a,y\n3,m\n12,n\n")
    return str(tmp_path / "part-*.csv")


def test_files_of_a_glob_are_one_table_in_the_order_of_their_names(write, parts, plan, tmp_path):
    whole = write("whole.csv", "a,y\n1,n\n12,m\n3,m\n12,n\n")
    assert summarize(parts, plan, name="t", pairs=True) == summarize(whole, plan, name="t", pairs=True)
    assert apply(parts, plan, "c", tmp_path / "masked.csv", keep_order=True).records == 4
    assert (tmp_path / "masked.csv").read_text(encoding="utf-8") == "a,y\n0-9,n\n10-19,m\n0-9,m\n10-19,n\n"


def test_parquet_files_of_a_glob_are_one_table(parts, plan, tmp_path):
    for place in (1, 2):
        csv = duckdb.read_csv(str(tmp_path / f"part-{place}.csv"), all_varchar=True)
        csv.write_parquet(str(tmp_path / f"part-{place}.parquet"))
    assert summarize(str(tmp_path / "*.parquet"), plan, name="t") == summarize(parts, plan, name="t")


def test_a_file_that_has_the_name_itself_is_taken(write, parts, plan):
    path = write("part-*.csv", "a,y\n5,n\n6,m\n")
    assert summarize(parts, plan, name="t")["records"] == 2
    assert summarize(path, plan, name="t")["records"] == 2


@for_each(
    ("content", "message"),
    [
        ("a,z\n1,n\n", "part-3.csv: has the columns a, z, but {there}part-1.csv has a, y; all files need the same"),
        ("", "part-3.csv: the file is empty"),
        ("a,y\n1,n\n2\n", "part-*.csv: {there}part-3.csv: line 3: 1 fields where the header has 2"),
        ("a,y\n1,n\nx,m\n", "part-*.csv: {there}part-3.csv: line 3: a 'x' is not a number"),
        (b"PAR1 and so on", "part-3.csv: is Parquet, but {there}part-1.csv is not; name files of one kind"),
    ],
)
def test_a_fault_names_the_file(write, parts, plan, tmp_path, content, message):
    write("part-3.csv", content)
    with pytest.raises(TableError) as raised:
        summarize(parts, plan, name="t")
    assert message.format(there=f"{tmp_path}/") in str(raised.value)
    assert "\n" not in str(raised.value)


def test_the_row_of_a_parquet_file_is_named_with_the_file(plan, tmp_path):
    for place, value in enumerate(["1", "x"]):
        path = tmp_path / f"part-{place}.parquet"
        duckdb.sql(f"SELECT unnest(['2', '{value}']) AS a, unnest(['n', 'm']) AS y").write_parquet(str(path))
    with pytest.raises(TableError, match=r"part-1\.parquet: row 2: a 'x' is not a number"):
        summarize(str(tmp_path / "part-*.parquet"), plan, name="t")


def test_a_glob_that_matches_nothing_is_said_to(plan, tmp_path):
    with pytest.raises(TableError, match=r"none-\*\.csv: no file matches this pattern"):
        summarize(str(tmp_path / "none-*.csv"), plan, name="t")


def test_no_output_is_one_of_the_files(parts, plan, tmp_path):
    with pytest.raises(OutputError, match=r"part-2\.csv: is .*part-2\.csv, which is an input"):
        apply(parts, plan, "c", tmp_path / "part-2.csv")
    refuse_overwriting(tmp_path / "masked.csv", parts)


def test_no_output_is_the_database_itself(tmp_path):
    path = tmp_path / "t.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t AS SELECT 1 AS a, 2 AS y")
    with pytest.raises(OutputError, match="is an input"):
        refuse_overwriting(path, f"duckdb://{path}#t")


def test_views_of_a_duckdb_file_are_tables_too(plan, tmp_path):
    path = tmp_path / "t.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute('CREATE SCHEMA "odd one"')
        connection.execute("CREATE VIEW \"odd one\".v AS SELECT unnest([1, 12]) AS a, unnest(['n', 'm']) AS y")
    assert summarize(f"duckdb://{path}#odd%20one.v", plan, name="t")["records"] == 2
    with pytest.raises(TableError, match="no table 'w'; available: v"):
        summarize(f"duckdb://{path}#odd one.w", plan, name="t")


def test_a_view_of_a_duckdb_file_reads_no_other_file(write, plan, tmp_path):
    secret = write("secret.csv", "a,y\n1,n\n2,m\n")
    path = tmp_path / "t.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"CREATE VIEW v AS FROM read_csv('{secret}')")
    with pytest.raises(TableError, match=r"#v: Cannot access file .*secret\.csv"):
        summarize(f"duckdb://{path}#v", plan, name="t")


def test_what_is_no_duckdb_file_is_said_to_be_none(write, plan, tmp_path):
    with closing(sqlite3.connect(tmp_path / "t.db")) as connection:
        connection.execute("CREATE TABLE t (a INT, y INT)")
    write("t.csv", "a,y\n1,n\n")
    for name in ("t.csv", "t.db"):
        with pytest.raises(TableError, match=rf"{name}#t: is not a DuckDB database$"):
            summarize(f"duckdb://{tmp_path / name}#t", plan, name="t")
