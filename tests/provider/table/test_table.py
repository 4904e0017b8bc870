"""Reading of tables: error messages for every way in which a table can be unreadable or not fit its plan."""

import os
import re

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from aegis_provider import TableError
from aegis_provider.table import open_table
from tests.for_each import for_each
from tests.provider.documents import summarize

PLAN = "{a: {maskings: {gone: {suppress: {}}}}}"


@pytest.fixture
def refusal(write, plan_of):
    """Return a function that returns the error message for a table."""

    def said_of(content, attributes=PLAN, **options):
        path = write("table.csv", content)
        with pytest.raises(TableError) as raised:
            summarize(path, plan_of(attributes), name="t", **{"delimiter": ",", **options})
        message = str(raised.value)
        assert "\n" not in message
        assert message.startswith(f"{path}: ")
        return message.removeprefix(f"{path}: ")

    return said_of


@for_each(
    ("content", "message"),
    [
        ("", "the file is empty"),
        ("a,y\n", "the table has no records"),
        ("\n\n", "line 1: is blank; a header is needed"),
        ("a,a,y\n1,2,3\n", "line 1: two columns are called 'a'"),
        ("a,,y\n1,2,3\n", "line 2: column 2 has the value '2', but no name"),
        ("ages,y\n1,2\n", "no column 'a'; available: ages, y"),
        ("a;y\n1;2\n", "looks separated by semicolons; add --delimiter ';'"),
        ("a;b, c;y\n1;2,5;3\n", "looks separated by semicolons; add --delimiter ';'"),
        ("a\ty\n1\t2\n", "looks separated by tabs; add --delimiter tab"),
        ("a|y\n1|2\n", "looks separated by vertical bars; add --delimiter '|'"),
        ("b;c,y\n1,2\n", "no column 'a'; available: b;c, y"),
        ("a\n1\n", "no column 'y'; available: a"),
        ("b\n1\n", "one column found ('b') with delimiter ','; name the right one with --delimiter"),
        ("a,y\n1,n\n2,n\n", "the label 'y' is 'n' in every record"),
        ("a,y\n1,n\n2\n", "line 3: 1 fields where the header has 2"),
        ("a,y\n1,n\n2,m,3\n", "line 3: 3 fields where the header has 2"),
        ('a,y\n1,n\n"2,m\n', "line 3: a quoted field ends in the wrong place"),
        (
            "a,y\né,n\n".encode() + b"\xe9,m\n",
            "line 3: not UTF-8; convert the file first, from Windows by `iconv -f WINDOWS-1252 -t UTF-8 FILE > NEW`",
        ),
        ("a,y\né,n\n".encode() + b"\xe9,n\n", "line 3: not UTF-8; convert the file first"),
        ("a,y\n1,n\n\0,m\n", "line 3: a '\\x00' contains a NUL character"),
        (b"PAR1 not quite", "not a readable Parquet file; was it written to its end?"),
        (b"\0" * (3 << 20), "line 1: longer than 2 MB; is it a text file with line breaks?"),
        (f"{'a' * 99}b,y\n1,2\n", f"no column 'a'; available: {'a' * 60}..., y"),
        (f"{'a' * 99},{'a' * 99},y\n1,2,3\n", f"line 1: two columns are called '{'a' * 60}...'"),
    ],
)
def test_an_unusable_table_is_refused_in_one_line(refusal, content, message):
    assert refusal(content).startswith(message)


def test_a_column_that_is_nearly_there_is_suggested(refusal):
    said = refusal("visit,y\n1,2\n", attributes="{visits: {}}")
    assert said == "no column 'visits'; did you mean 'visit'?"


def test_a_value_that_a_hierarchy_lacks_is_named_with_its_line(refusal, write):
    write("h.csv", "1;low\n2;low\n")
    attributes = "{a: {maskings: {low: {hierarchy: {file: h.csv, level: 1}}}}}"
    said = refusal('a,y\n1,"two\nlines"\n2,m\n\n5,m\n', attributes=attributes)
    assert said == "line 6: a '5' is not in h.csv (plan.yaml: attributes.a.maskings.low)"


def test_a_value_of_another_type_is_named_with_its_line(refusal):
    said = refusal("a,y\n1,n\nx,m\n", attributes="{a: {type: integer}}")
    assert said == "line 3: a 'x' is not a number (plan.yaml: attributes.a.type)"


def test_a_value_that_cannot_be_bucketized_is_named_with_its_line(refusal):
    said = refusal("y,a\nn,1\nm,x\n", attributes="{a: {maskings: {five: {bucketize: {width: 5}}}}}")
    assert said == "line 3: a 'x' is not a number (plan.yaml: attributes.a.maskings.five)"


def test_the_line_is_found_where_fields_are_longer_than_python_reads(refusal):
    said = refusal(f"a,y,b\n1,n,{'b' * 200_000}\nx,m,\n", attributes="{a: {type: integer}}")
    assert said == "row 2: a 'x' is not a number (plan.yaml: attributes.a.type)"


def test_a_parquet_file_names_the_row(plan_of, tmp_path):
    path = tmp_path / "table.parquet"
    duckdb.sql("SELECT unnest(['1', 'x', 'x']) AS a, unnest([1, 2, 2]) AS y").write_parquet(str(path))
    with pytest.raises(TableError, match="row 2: a 'x' is not a number"):
        summarize(path, plan_of("{a: {type: number}}"), name="t")


def parquet_of(path, names):
    columns = [pa.array(values) for values in (["1", "2"], ["n", "m"], ["x", "y"])]
    pq.write_table(pa.Table.from_arrays(columns[: len(names)], names), path)
    return path


def test_columns_of_parquet_that_differ_in_case_keep_their_names(plan_of, tmp_path):
    path = parquet_of(tmp_path / "t.parquet", ["A", "a", "y"])
    entry = summarize(path, plan_of("{A: {}, a: {}}"), name="t")
    assert [(each["name"], each["domain"]) for each in entry["attributes"]] == [("A", ["1", "2"]), ("a", ["m", "n"])]


def test_two_columns_of_parquet_with_one_name_are_refused(plan_of, tmp_path):
    path = parquet_of(tmp_path / "t.parquet", ["a", "a", "y"])
    with pytest.raises(TableError, match=r"t\.parquet: two columns are called 'a'; rename one$"):
        summarize(path, plan_of("{a: {}}"), name="t")


@pytest.mark.long
def test_a_broken_parquet_file_is_refused_with_a_reason(plan_of, tmp_path):
    sound = parquet_of(tmp_path / "t.parquet", ["a", "y"]).read_bytes()
    broken = tmp_path / "broken.parquet"
    for place in range(4, len(sound), 15):
        broken.write_bytes(sound[:place] + bytes(5) + sound[place + 5 :])
        try:
            summarize(broken, plan_of("{a: {}}"), name="t")
        except TableError as error:
            assert re.search(r"\w{5}", str(error).partition("broken.parquet: ")[2]), place  # noqa: PT017 - some files are valid


def test_columns_that_no_one_asks_for_are_not_in_the_query(write):
    path = write("t.csv", ",".join(f"a{place}" for place in range(2000)) + "\n" + ",".join(["x"] * 2000) + "\n")
    with open_table(path) as opened:
        keys = opened.keys(["a7", "a1999"])
        assert len(str(opened.engine.backend.compile(keys))) < 400
        assert opened.engine.fetch(keys).to_pylist() == [{"v0": "x", "v1": "x"}]


def test_what_is_no_file_is_refused_unread(plan_of, tmp_path):
    os.mkfifo(tmp_path / "t.csv")
    with pytest.raises(TableError, match=r"t\.csv: cannot be read: is not a regular file$"):
        summarize(tmp_path / "t.csv", plan_of(PLAN), name="t")
    with pytest.raises(TableError, match=r"cannot be read: is a directory$"):
        summarize(tmp_path, plan_of(PLAN), name="t")


def test_an_absent_table_is_named(plan_of, tmp_path):
    with pytest.raises(TableError, match=r"nowhere\.csv: cannot be read: No such file or directory"):
        summarize(tmp_path / "nowhere.csv", plan_of(PLAN), name="t")


@for_each(
    ("options", "message"),
    [
        ({"delimiter": ",,"}, "a delimiter must be one"),
        *(({"memory_limit": size}, f"'{size}' is not a memory size") for size in ("x", "-1GB", "-1", "none", "0GB")),
    ],
)
def test_unusable_options_are_refused(write, plan_of, options, message):
    with pytest.raises(TableError, match=message):
        summarize(write("t.csv", "a,y\n1,2\n"), plan_of(PLAN), name="t", **options)
