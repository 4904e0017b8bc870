"""The same table gives the same entry, whatever holds it."""

import datetime as dt
import random

import duckdb
import polars as pl
import pytest

from aegis_provider import load_plan
from tests.for_each import for_each
from tests.provider.documents import summarize

DAY = dt.date(1950, 1, 1)
KINDS = (
    (pl.Int64, lambda rng: rng.randint(-9, 99)),
    (pl.Float64, lambda rng: (rng.randint(-99, 99) + 0.5) / 2),
    (pl.Boolean, lambda rng: rng.random() < 0.5),
    (pl.Date, lambda rng: DAY + dt.timedelta(rng.randrange(30_000))),
    (pl.Datetime, lambda rng: dt.datetime.combine(DAY + dt.timedelta(rng.randrange(99)), dt.time())),
    (pl.String, lambda rng: rng.choice(["red", "green", "a, b", 'say "x"', "ß"])),
    (pl.Categorical, lambda rng: rng.choice(["low", "mid", "high"])),
)


def table_of(seed):
    """A column of each kind, with missing values, and a label."""
    rng = random.Random(seed)
    rows = rng.randint(2, 60)
    columns = {"y": pl.Series([*"ab", *rng.choices("ab", k=rows - 2)])}
    for place, (dtype, drawn) in enumerate(KINDS):
        missing = rng.choice([0, 0.1, 0.9, 1])
        cells = [None if rng.random() < missing else drawn(rng) for _ in range(rows)]
        columns[f"c{place}"] = pl.Series(cells, dtype=dtype)
    return pl.DataFrame(columns)


def held(table, folder):
    """Yield the table in every form."""
    yield table
    yield table.to_arrow()
    yield table.to_pandas()
    yield table.to_pandas(use_pyarrow_extension_array=True)
    table.with_columns(pl.col("c4").dt.date()).write_csv(folder / "t.csv")
    yield folder / "t.csv"
    table.write_parquet(folder / "t.parquet")
    yield folder / "t.parquet"
    (folder / "t.duckdb").unlink(missing_ok=True)
    with duckdb.connect(folder / "t.duckdb") as connection:
        connection.register("held", table.to_arrow())
        connection.execute("CREATE TABLE t AS SELECT * FROM held")
    yield f"duckdb://{folder / 't.duckdb'}#t"


@for_each("seed", range(1))
def test_an_entry_does_not_depend_on_what_holds_the_table(seed, tmp_path):
    _refuse_differences(seed, tmp_path)


@pytest.mark.long
@for_each("seed", range(1, 9))
def test_no_entry_depends_on_what_holds_the_table(seed, tmp_path):
    _refuse_differences(seed, tmp_path)


def _refuse_differences(seed, folder):
    plan = folder / "plan.yaml"
    plan.write_text(
        "label: y\nattributes: {"
        + ", ".join(f"c{place}: {{}}" for place in range(len(KINDS)))
        + "}\nconfigurations: {c: {}}\n"
    )
    intended = load_plan(plan)
    made = [(str(each), summarize(each, intended, name="t", pairs=True)) for each in held(table_of(seed), folder)]
    for how, entry in made:
        assert entry == made[0][1], how
