"""The order of sensitive texts: that of a plan or of the type of a column, kept everywhere; never the alphabet's."""

from fractions import Fraction
from itertools import accumulate

import duckdb
import ibis
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from aegis_provider import (
    MinimumCell,
    PlanError,
    Requirement,
    TableError,
    apply,
    assess,
    find_configurations,
    load_plan,
    prepare_entry,
)
from aegis_provider.privacy import plan_of_roles
from aegis_provider.privacy.privacy_table import suppress_cells
from tests.for_each import for_each
from tests.provider.receiving.delivering import Provider

#: Two classes of 50: with low, mid and high as 1, 2 and 3, the ordered distance is 0.275; in alphabetical order, 0.175.
ROWS = [("u", "low")] * 25 + [("u", "mid")] * 25 + [("v", "high")] * 30 + [("v", "mid")] * 20
ORDER = ("low", "mid", "high")
COLUMNS = {"q": [q for q, _ in ROWS], "s": [s for _, s in ROWS]}
PLAN = "label: s\nattributes: {q: {}}\nconfigurations: {c: {}}\n"
STATED = f"order: [{', '.join(ORDER)}, never]\n"


def distance(order):
    """Return the ordered distance of the worst class, as a fraction (Li et al. 2007)."""

    def shares(rows):
        return [Fraction(sum(s == value for _, s in rows), len(rows)) for value in order]

    whole = shares(ROWS)
    of_class = (shares([row for row in ROWS if row[0] == q]) for q in "uv")
    differences = ([q - p for q, p in zip(each, whole, strict=True)] for each in of_class)
    return max(sum(map(abs, accumulate(each))) / (len(order) - 1) for each in differences)


def measured(table, plan=None):
    return assess(table, plan or plan_of_roles(["q"], ["s"])).as_it_is.privacy.get("ordered_t")


@pytest.fixture
def csv(write):
    return write("t.csv", "q,s\n" + "".join(f"{q},{s}\n" for q, s in ROWS))


def pandas_frame(*, ordered):
    categories = [*ORDER, "never"] if ordered else None
    return pd.DataFrame(COLUMNS).assign(s=pd.Categorical(COLUMNS["s"], categories, ordered=ordered))


def polars_frame(kind):
    return pl.DataFrame(COLUMNS, schema={"q": pl.String, "s": kind})


def duckdb_file(path):
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TYPE grade AS ENUM ('low', 'mid', 'high')")
        connection.execute("CREATE TABLE t (q VARCHAR, s grade)")
        connection.executemany("INSERT INTO t VALUES (?, ?)", ROWS)
    return path


@pytest.mark.long
def test_an_order_that_the_type_of_a_column_states_is_kept(tmp_path):
    frame, enum = pandas_frame(ordered=True), polars_frame(pl.Enum([*ORDER, "never"]))
    frame.to_parquet(tmp_path / "pandas.parquet")
    enum.write_parquet(tmp_path / "polars.parquet")
    pq.write_table(pa.table(frame), tmp_path / "arrow.parquet", row_group_size=30)
    backend = ibis.duckdb.connect()
    backend.con.execute(f"ATTACH '{duckdb_file(tmp_path / 't.duckdb')}' AS held (READ_ONLY)")
    enums = backend.sql("SELECT * FROM held.t", schema={"q": "string", "s": "string"})
    tables = {
        "pandas": frame,
        "Polars": enum,
        "lazy": enum.lazy(),
        "Arrow": pa.table(frame),
        **{f"Parquet by {path.stem}": path for path in tmp_path.glob("*.parquet")},
        "glob": str(tmp_path / "*.parquet"),
        "DuckDB": f"duckdb://{tmp_path / 't.duckdb'}#t",
        "Ibis": enums.mutate(more=1),
    }
    expected = float(distance(ORDER))
    assert expected == 0.275
    assert {name: measured(table) for name, table in tables.items()} == pytest.approx(dict.fromkeys(tables, expected))


def test_no_order_is_that_of_the_alphabet(csv, tmp_path):
    pq.write_table(pa.table(pandas_frame(ordered=True)), tmp_path / "plain.parquet", use_dictionary=False)
    first, second = (pandas_frame(ordered=True) for _ in range(2))
    second["s"] = second["s"].cat.reorder_categories(["high", "mid", "low", "never"])
    unlike = [pa.table(each) for each in (first[:50], second[50:])]
    batches = [batch for each in unlike for batch in each.replace_schema_metadata().to_batches()]
    tables = [
        csv,
        pd.DataFrame(COLUMNS),
        pandas_frame(ordered=False),
        polars_frame(pl.Categorical),
        tmp_path / "plain.parquet",
        pa.Table.from_batches(batches),
    ]
    assert [measured(table) for table in tables] == [None] * len(tables)


def test_an_order_that_the_plan_states_is_kept(csv, write, tmp_path):
    """In the entry, in a Parquet file that is written, and by whoever measures that without the plan."""
    plan = load_plan(write("plan.yaml", f"{PLAN}{STATED}privacy: {{c: {{k: 50, ordered_t: 0.275}}}}\n"))
    assert measured(csv, plan) == pytest.approx(0.275)
    other = load_plan(write("o.yaml", f"{PLAN}order: [mid, low, high]"))
    assert measured(pandas_frame(ordered=True), other) == pytest.approx(float(distance(("mid", "low", "high"))))
    for controls in ([], [MinimumCell(20)]):
        assert prepare_entry(csv, plan, controls, name="e").entry.label.domain == list(ORDER)
    assert apply(csv, plan, "c", tmp_path / "m.parquet").reached["ordered_t"] == pytest.approx(0.275)
    assert measured(tmp_path / "m.parquet") == pytest.approx(0.275)
    provider = Provider(tmp_path, csv, plan, exact=True)
    for ending in ("csv", "parquet"):
        received = provider.verified("c", ending).privacy
        assert received.kept["ordered_t"] == pytest.approx(0.275)
        assert not received.broken


def test_numbers_have_their_order(write):
    numbers = {"low": "1", "mid": "2", "high": "10"}
    table = write("n.csv", "q,s\n" + "".join(f"{q},{numbers[s]}\n" for q, s in ROWS))
    assert measured(table) == pytest.approx(0.275)


@for_each("what", ["risk", "promise", "search", "entry", "apply", "cells"])
def test_what_needs_an_order_is_refused_without_one(csv, write, tmp_path, what):
    plan = load_plan(write("plan.yaml", PLAN))
    promising = load_plan(write("p.yaml", f"{PLAN}privacy: {{c: {{ordered_t: 0.2}}}}\nsuppressed: {{c: 0}}\n"))
    output = tmp_path / "out.csv"
    demanded = {
        "risk": lambda: assess(csv, plan_of_roles(["q"], ["s"]), require={"ordered_t": 0.2}),
        "promise": lambda: assess(csv, promising),
        "search": lambda: find_configurations(csv, plan, Requirement({"ordered_t": 0.2})),
        "entry": lambda: prepare_entry(csv, promising, name="e"),
        "apply": lambda: apply(csv, promising, "c", output),
        "cells": lambda: suppress_cells(csv, promising),
    }
    with pytest.raises(PlanError) as refused:
        demanded[what]()
    message = str(refused.value)
    assert "ordered_t needs an order of 's', and the alphabet is not one: state `order: [LOWEST" in message
    assert "\n" not in message
    assert not output.exists()


MASKED = """label: q
sensitive: [s]
quasi_identifiers: []
attributes:
  s:
    order: [low, mid, high]
    maskings:
      up: {mapping: {low: less, mid: more, high: more}}
      ends: {mapping: {low: e, mid: m, high: e}}
configurations: {up: {s: up}, ends: {s: ends}}
"""


def test_a_masked_attribute_keeps_its_order_if_only_neighbours_come_together(write, csv):
    releases = assess(csv, load_plan(write("plan.yaml", MASKED))).releases
    assert [each.privacy.get("ordered_t") for each in releases] == [0, None]
    promising = load_plan(write("p.yaml", f"{MASKED}privacy: {{ends: {{ordered_t: 1}}}}\n"))
    with pytest.raises(PlanError, match=r"attributes.s.maskings.ends: merges values that are not neighbours"):
        prepare_entry(csv, promising, name="e")
    without = load_plan(write("w.yaml", MASKED.replace("    order: [low, mid, high]\n", "")))
    with pytest.raises(PlanError, match=r"w.yaml: ordered_t needs an order of 's'.* in a plan under attributes.s$"):
        assess(csv, without, require={"ordered_t": 1})


@for_each(
    ("order", "message"),
    [
        ("[low, mid]", r"t.csv: line 52: s 'high' is not in the stated `order`"),
        ("[low, mid, high, low]", "plan.yaml: order: 'low' appears twice"),
        ("[low]", "plan.yaml: order: states two values or more, from the lowest to the highest"),
        ("low", "plan.yaml: order: "),
        ("[low, [mid], high]", "plan.yaml: order"),
    ],
)
def test_a_faulty_order_is_refused_in_one_line(csv, write, order, message):
    with pytest.raises((PlanError, TableError), match=message) as refused:
        assess(csv, load_plan(write("plan.yaml", f"{PLAN}order: {order}\n")))
    assert "\n" not in str(refused.value)


def test_bins_are_in_order_without_a_stated_one(write):
    text = "label: y\nattributes: {a: {order: [x, y], discretize: {rule: equal_width, width: 2}}}\n"
    with pytest.raises(PlanError, match=r"attributes.a.order: belongs to values, but `discretize` makes bins"):
        load_plan(write("plan.yaml", text), configurations_needed=False)
