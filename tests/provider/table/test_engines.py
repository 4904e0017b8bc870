"""One table on several engines: the entries are identical, byte for byte, and engines return only counts."""

import json
import sqlite3
from contextlib import closing
from urllib.parse import unquote, urlsplit

import duckdb
import ibis
import psycopg
import pytest

from aegis_provider import TableError, apply, load_plan
from aegis_provider.counting.counted_table import CountedTable, DistinctRecords
from aegis_provider.table import open_table
from aegis_provider.table.databases import Address
from tests.for_each import for_each
from tests.postgres import create_database, drop_database
from tests.provider.documents import summarize
from tests.provider.table.engine_table import COLUMNS, PLAN, definition, records, write_parquet


@pytest.fixture(scope="module")
def plan(tmp_path_factory):
    path = tmp_path_factory.mktemp("engines") / "plan.yaml"
    path.write_text(PLAN, encoding="utf-8")
    return load_plan(path)


@pytest.fixture(scope="module")
def parquet(tmp_path_factory):
    path = tmp_path_factory.mktemp("engines") / "t.parquet"
    write_parquet(path)
    return path


@pytest.fixture(scope="module")
def database(postgres):
    """The URL of a PostgreSQL database that holds the table in its own schema."""
    url = create_database(postgres.url, "engines")
    with psycopg.connect(url) as connection:
        connection.execute("CREATE SCHEMA health")
        connection.execute(f"CREATE TABLE health.visits ({definition()})")
        with connection.cursor() as cursor:
            marks = ", ".join(["%s"] * len(COLUMNS))
            cursor.executemany(f"INSERT INTO health.visits VALUES ({marks})", list(records()))
    yield url
    drop_database(postgres.url, "engines")


@pytest.fixture(scope="module")
def duckdb_file(parquet):
    path = parquet.with_name("t.duckdb")
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"CREATE TABLE visits AS FROM '{parquet}'")
    return path


@pytest.mark.long
def test_postgresql_parquet_and_a_duckdb_file_give_the_same_entry(parquet, database, duckdb_file, plan):
    entry = summarize(parquet, plan, name="t", pairs=True)
    assert entry["records"] == 60
    assert sum("joint" in pair for pair in entry["pairs"]) == 36
    assert sum("with_label" in pair for pair in entry["pairs"]) == len(entry["pairs"]) == 61
    assert json.dumps(summarize(f"{database}#health.visits", plan, name="t", pairs=True)) == json.dumps(entry)
    assert summarize(f"duckdb://{duckdb_file}#visits", plan, name="t", pairs=True) == entry


def test_values_are_written_alike(parquet, database, plan):
    expected = {
        "Income": ["", "[-0.2,-0.1)", "[0.1,0.2)", "[0.3,0.4)", "[1.0,1.1)", "[2.5,2.6)", "[10.0,10.1)"],
        "ratio": ["", "-1.5e-07", "0.1", "2"],
        "member": ["", "false", "true"],
        "since": ["", "1999-12-31", "2024-02-29"],
        "seen": ["1999-12-31 00:00:00.5", "2024-02-29 12:30:00"],
        "city": ["", "'", "Wien", "a,b", "wien", "Łódź"],
        'it\'s "odd"': ["", "NULL", "true"],  # spaces alone are missing
    }
    for source in (parquet, f"{database}#health.visits"):
        domains = {each["name"]: each["domain"] for each in summarize(source, plan, name="t")["attributes"]}
        assert {name: domains[name] for name in expected} == expected


def test_the_order_of_an_enum_of_postgresql_is_kept(database):
    with psycopg.connect(database) as connection:
        connection.execute("CREATE TYPE health.\"Grade %\" AS ENUM ('low', 'mid', 'high')")
        connection.execute('CREATE TABLE health.grades ("q%" text, grade health."Grade %", plain text)')
        connection.execute("INSERT INTO health.grades VALUES ('u', 'low', 'high'), ('v', 'high', 'low')")
    with closing(ibis.connect(database).con) as connection:
        expression = ibis.postgres.from_connection(connection).table("grades", database="health")
        for source in (f"{database}#health.grades", expression):
            with open_table(source) as opened:
                assert opened.orders == {"grade": ("low", "mid", "high")}
                assert opened.counts_of_values("grade") == {"high": 1, "low": 1}


@pytest.mark.long
def test_a_csv_file_of_the_texts_gives_the_same_counts(parquet, plan, tmp_path):
    path = tmp_path / "t.csv"
    with open_table(parquet) as opened:
        names = opened.columns
        [batch] = opened.batches(names)
    batch.rename_columns(list(names)).to_pandas().to_csv(path, index=False)
    assert summarize(path, plan, name="t", pairs=True) == summarize(parquet, plan, name="t", pairs=True)


def test_masked_tables_and_distinct_records_are_the_same(parquet, database, plan, tmp_path):
    found = []
    for source in (parquet, f"{database}#health.visits"):
        apply(source, plan, "coarse", tmp_path / "masked.csv", keep_order=True)
        with open_table(source) as opened:
            distinct = DistinctRecords.of(CountedTable.of(opened, plan), ["age", "Income", "price", "y"])
        counted = sorted(zip(map(tuple, distinct.codes.tolist()), distinct.counts.tolist(), strict=True))
        found.append(((tmp_path / "masked.csv").read_text(encoding="utf-8"), counted))
    assert found[0] == found[1]
    assert sum(count for _, count in found[0][1]) == 60


def test_an_ibis_table_is_a_table(parquet, database, plan):
    entry = summarize(parquet, plan, name="t", pairs=True)
    backend = ibis.connect(database)
    try:
        assert summarize(backend.table("visits", database="health"), plan, name="t", pairs=True) == entry
    finally:
        backend.disconnect()


def test_rows_that_ibis_leaves_out_are_not_counted(parquet, plan_of):
    backend = ibis.duckdb.connect()
    table = backend.sql(f"SELECT city, y FROM '{parquet}'", schema={"city": "string", "y": "string"})
    entry = summarize(table.filter(table["city"] == "Wien"), plan_of("{city: {}}"), name="t")
    assert entry["records"] == sum(record[7] == "Wien" for record in records())
    assert [each["domain"] for each in entry["attributes"]] == [["Wien"]]


@for_each(
    ("fragment", "message"),
    [
        ("", "name the table after the URL: {url}#table, or #schema.table"),
        ("#health.visit", "no table 'visit'; did you mean 'visits'?"),
        ("#nowhere.visits", "no table 'visits'; available: none"),
        ("#a.b.c.d", "name the table after the URL"),
    ],
)
def test_a_table_that_a_database_lacks_is_named(database, plan, fragment, message):
    with pytest.raises(TableError) as raised:
        summarize(database + fragment, plan, name="t")
    assert "\n" not in str(raised.value)
    assert message.format(url=database.partition("?")[0]) in str(raised.value)


def test_a_value_of_another_type_is_named_without_a_line(database, plan_of):
    with pytest.raises(
        TableError, match=r"#health\.visits: city \"'\" is not a number \(.*plan\.yaml: attributes\.city\.type\)$"
    ):
        summarize(f"{database}#health.visits", plan_of("{city: {type: integer}}"), name="t")


def test_a_password_is_never_shown(plan):
    url = "postgresql://me:s%23cret@127.0.0.1:1/db?options=s%23cret#t"
    with pytest.raises(TableError, match=r"^postgresql://me@127\.0\.0\.1:1/db#t: cannot connect: ") as raised:
        summarize(url, plan, name="t")
    assert "cret" not in str(raised.value)


@for_each(
    ("url", "message"),
    [
        ("postgresql://me:hunter2#x@127.0.0.1:1/db#t", "postgresql://me@127.0.0.1:1/db#t: cannot connect: "),
        ("postgresql://me:#hunter2@127.0.0.1:1/db#t", "postgresql://me@127.0.0.1:1/db#t: cannot connect: "),
        ("postgresql://me:/hunter2@127.0.0.1:1/db#t", "postgresql://me@127.0.0.1:1/db#t: cannot connect: "),
        ("postgresql://:hunter2#@127.0.0.1:1/db", "postgresql://127.0.0.1:1/db: name the table after the URL"),
        ("postgresql://me:hunter2@[::1/db#t", "postgresql://me@[::1/db#t: not a valid URL; write engine://"),
        ("postgresql://me:hunter2@℀/#t", "postgresql://me@℀/#t: not a valid URL; write engine://"),
        ("postgresql://me:hunter2@h:port/db#t", "postgresql://me@h:port/db#t: not a valid URL; write engine://"),
        ("postgresql://me@h/db?password=un@hunter2#t", "postgresql://***: write a '?' in a password as %3F"),
    ],
)
def test_no_mark_in_a_password_gives_it_away(plan, url, message):
    with pytest.raises(TableError) as raised:
        summarize(url, plan, name="t")
    assert str(raised.value).startswith(message)
    assert "hunter2" not in str(raised.value)


def test_marks_in_a_password_reach_the_database_encoded():
    # libpq and Ibis also end the account at the last "@".
    address = Address.of("postgresql://me:a#b/c@d%23@h:5432/db#s.t")
    found = urlsplit(address.url)
    assert (found.username, found.hostname, found.port, found.path) == ("me", "h", 5432, "/db")
    assert unquote(found.password) == "a#b/c@d#"
    assert (address.database, address.table, address.name) == ("s", "t", "postgresql://me@h:5432/db#s.t")


def test_a_sqlite_file_is_read_and_never_made(plan_of, tmp_path):
    path = tmp_path / "a b@c.db"
    with pytest.raises(TableError, match=r"sqlite://.*#t: cannot be read: no such file: "):
        summarize(f"sqlite://{path}#t", plan_of("{a: {}}"), name="t")
    assert not path.exists()
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript("CREATE TABLE t (a INT, y INT); INSERT INTO t VALUES (1, 0), (2, 1)")
    with open_table(f"sqlite://{path}#t") as opened:
        assert opened.columns == ("a", "y")


@for_each(
    ("url", "message"),
    [
        ("postgrs://me:secret@h/db#t", "postgrs://me@h/db#t: no engine is called 'postgrs'; did you mean 'postgres'?"),
        ("snowflake://me:secret@h/db#t", "snowflake is not installed: pip install 'ibis-framework[snowflake]'"),
        ("pyspark://#t", "pyspark is not installed: install 'aegis-masking-provider[spark]' from where you got Aegis"),
        ("duckdb://nowhere.duckdb#t", "duckdb://nowhere.duckdb#t: cannot be read: no such file: nowhere.duckdb"),
    ],
)
def test_an_engine_that_is_not_there_is_named(plan, url, message):
    with pytest.raises(TableError) as raised:
        summarize(url, plan, name="t")
    assert message in str(raised.value)
    assert "secret" not in str(raised.value)
