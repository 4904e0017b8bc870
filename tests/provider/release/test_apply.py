import csv
import json
import random
from collections import Counter

import duckdb
import pytest

from aegis_provider import OutputError, PlanError, TableError, apply, load_plan
from aegis_provider.release import blocks, table_file
from aegis_provider.table import in_memory
from tests.for_each import for_each
from tests.provider import oracle

ATTRIBUTES = (
    "{a: {maskings: {tens: {bucketize: {width: 10}}, gone: {suppress: {}}}}, b: {maskings: {first: {blur: {keep: 1}}}}}"
)
CONFIGURATIONS = (
    "{fine: {}, some: {a: tens}, both: {a: tens, b: first}, label: {a: drop, b: drop}, gone: {a: gone, b: drop}}"
)


@pytest.fixture
def plan(plan_of):
    return plan_of(ATTRIBUTES, CONFIGURATIONS)


@pytest.fixture
def masked(plan, tmp_path):
    """Return a function that returns the lines of the masked table."""

    def lines_of(table, configuration, **options):
        output = tmp_path / "masked.csv"
        records = apply(table, plan, configuration, output, keep_order=True, **options).records
        lines = output.read_text(encoding="utf-8").splitlines()
        assert len(lines) == records + 1
        return lines

    return lines_of


def test_columns_keep_the_order_of_the_table_and_only_the_plan_is_published(write, masked):
    table = write("t.csv", "b,secret,y,a\nxyz,s,n,5\nuv,s,m,15\n")
    assert masked(table, "both") == ["b,y,a", "x**,n,0-9", "u*,m,10-19"]
    assert masked(table, "some") == ["b,y,a", "xyz,n,0-9", "uv,m,10-19"]
    assert masked(table, "gone") == ["y,a", "n,*", "m,*"]
    assert masked(table, "label") == ["y", "n", "m"]


def test_unmasked_values_keep_their_text_or_get_the_plainest_of_several(write, masked):
    assert masked(write("t.csv", 'a,b,y\n1.0,"x,""y""",n\n1.00,z,m\n2.50,z,m\n'), "fine") == [
        "a,b,y",
        '1.0,"x,""y""",n',
        "1.0,z,m",
        "2.50,z,m",
    ]


def test_a_missing_value_is_a_blank_unless_the_line_would_be_empty(write, masked):
    table = write("t.csv", 'a,b,y\n,"",n\n5,x,\n')
    assert masked(table, "both") == ["a,b,y", ",,n", "0-9,x,"]
    assert masked(table, "label") == ["y", "n", '""']


def test_the_delimiter_of_the_table_is_that_of_the_output(write, masked):
    for how in ({"delimiter": ";"}, {}):
        assert masked(write("t.csv", "a;b;y\n5;x,y;n\n"), "both", **how) == ["a;b;y", "0-9;x**;n"]


def test_columns_that_differ_in_case_stay_apart(write, plan_of, tmp_path):
    plan = plan_of("{a: {maskings: {gone: {suppress: {}}}}, A: {}}", "{c: {a: gone}}")
    apply(write("t.csv", "a,A,y\n1,2,n\n3,4,m\n"), plan, "c", tmp_path / "masked.csv", keep_order=True)
    assert (tmp_path / "masked.csv").read_text(encoding="utf-8") == "a,A,y\n*,2,n\n*,4,m\n"


def test_parquet_is_masked_as_csv_is(health_table, health_plan, tmp_path):
    parquet = tmp_path / "health.parquet"
    duckdb.read_csv(str(health_table), all_varchar=True).write_parquet(str(parquet))
    apply(parquet, health_plan, "c30", tmp_path / "from_parquet.csv", keep_order=True)
    apply(health_table, health_plan, "c30", tmp_path / "from_csv.csv", keep_order=True)
    assert (tmp_path / "from_parquet.csv").read_bytes() == (tmp_path / "from_csv.csv").read_bytes()


def test_every_record_stays_in_its_place_where_memory_is_short(plan, tmp_path):
    table = tmp_path / "large.csv"
    duckdb.sql("SELECT hash(i) % 5000 AS a, md5(i::VARCHAR) AS b, i AS y FROM range(15_000) AS t(i)").write_csv(
        str(table)
    )
    apply(table, plan, "both", tmp_path / "masked.csv", memory_limit="200MB", keep_order=True, accept_identifiers=True)
    with table.open(encoding="utf-8") as before, (tmp_path / "masked.csv").open(encoding="utf-8") as after:
        for record, masked in zip(csv.DictReader(before), csv.DictReader(after), strict=True):
            expected = {"a": oracle.integer_bucket(record["a"], 10), "b": oracle.blurred(record["b"], 1)}
            assert masked == {**expected, "y": record["y"]}


def test_an_unknown_configuration_is_refused(write, plan, tmp_path):
    with pytest.raises(PlanError, match=r"plan\.yaml: no configuration 'bath'; did you mean 'both'\?"):
        apply(write("t.csv", "a,b,y\n1,2,3\n"), plan, "bath", tmp_path / "masked.csv")


def test_an_output_without_directory_is_refused_before_reading(write, plan, tmp_path):
    with pytest.raises(OutputError, match=r"there is no directory .*nowhere; create it first"):
        apply(write("t.csv", ""), plan, "both", tmp_path / "nowhere" / "masked.csv")


def test_a_directory_is_no_output(write, plan, tmp_path):
    with pytest.raises(OutputError, match="is a directory"):
        apply(write("t.csv", "a,b,y\n1,2,3\n"), plan, "both", tmp_path)


def test_the_table_itself_is_never_overwritten(write, plan):
    table = write("t.csv", "a,b,y\n1,2,3\n")
    with pytest.raises(OutputError, match="is an input"):
        apply(table, plan, "both", table)
    assert table.read_text(encoding="utf-8") == "a,b,y\n1,2,3\n"


def test_a_failure_leaves_the_old_output_and_nothing_else(write, plan, tmp_path):
    old = write("masked.csv", "old\n")
    table = write("t.csv", "a,b,y\n1,2,3\nx,2,3\n")
    with pytest.raises(TableError, match="line 3: a 'x' is not a number"):
        apply(table, plan, "both", old)
    assert old.read_text(encoding="utf-8") == "old\n"
    assert {path.name for path in tmp_path.iterdir()} == {"masked.csv", "t.csv", "plan.yaml"}


ODD = ("", " x", "u,v", 'say "so"', "it's", "two\nlines", "NULL", "\u00e9\u2028", "=1+1", "*")
BY_RECORD = {
    "whole": ({"bucketize": {"width": 10}}, lambda text: f"{int(text) // 10 * 10}-{int(text) // 10 * 10 + 9}"),
    "decimal": (
        {"bucketize": {"edges": [0, 2.5, 10]}},
        lambda text: "" if not text else "[0,2.5)" if float(text) < 2.5 else "[2.5,10)",
    ),
    "kept": ({"blur": {"keep": 1}}, lambda text: text[:1] + "*" * (len(text) - 1)),
    "gone": ({"suppress": {}}, lambda _: "*"),
    "mapped": (
        {"mapping": {"u,v": 'a "b"', "NULL": ""}, "other": "x\ny"},
        lambda text: {"u,v": 'a "b"', "NULL": "", "": ""}.get(text, "x\ny"),
    ),
    "raw": (None, lambda text: text),
}


@pytest.fixture
def odd_table(tmp_path):
    """A table of odd texts, missing values and numbers, its plan, and the records as each is masked by itself."""
    chosen, path = random.Random(7), tmp_path / "odd.csv"
    values = dict.fromkeys(BY_RECORD, ODD) | {
        "whole": [str(each) for each in range(-20, 40)],
        "decimal": ["", "0.5", "1.0", "1.00", "2.5", "7"],
    }
    rows = [[chosen.choice(values[name]) for name in BY_RECORD] + [chosen.choice("ny")] for _ in range(300)]
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([[*BY_RECORD, "y"], *rows])
    types = {"decimal": "number", "whole": "integer"}
    stated = {
        name: {"type": types.get(name, "string")} | ({} if each is None else {"maskings": {"m": each}})
        for name, (each, _) in BY_RECORD.items()
    }
    plan = {
        "label": "y",
        "attributes": stated,
        "configurations": {"c": {name: "m" for name in stated if name != "raw"}},
    }
    (tmp_path / "odd.yaml").write_text(json.dumps(plan), encoding="utf-8")
    masks = [mask for _, mask in BY_RECORD.values()]
    by_record = [[*(mask(text) for mask, text in zip(masks, row, strict=False)), row[-1]] for row in rows]
    return path, load_plan(tmp_path / "odd.yaml"), by_record


@for_each(("small", "keep_order"), [(1 << 24, True), (0, True), (0, False)])
def test_every_record_is_masked_as_by_itself(odd_table, tmp_path, monkeypatch, small, keep_order):
    monkeypatch.setattr(in_memory, "SMALL", small)
    monkeypatch.setattr(table_file, "RECORDS_IN_MEMORY", 200)
    monkeypatch.setattr(blocks.blocks_of, "__defaults__", (64,))
    table, plan, expected = odd_table
    apply(table, plan, "c", tmp_path / "m.csv", keep_order=keep_order, accept_unique=True)
    with (tmp_path / "m.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == [*BY_RECORD, "y"]
    if keep_order:
        assert rows == expected
    else:
        assert Counter(map(tuple, rows)) == Counter(map(tuple, expected))
        assert rows != expected
