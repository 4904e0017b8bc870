"""The table from the tests of other engines, on Spark in local mode: the same entry and masked table."""

import ibis
import pytest
from pyspark.sql import SparkSession

from aegis_provider import TableError, apply, load_plan
from aegis_provider.counting.counted_table import CountedTable, DistinctRecords
from aegis_provider.table import open_table
from tests.provider.documents import summarize
from tests.provider.table.engine_table import PLAN, write_parquet

# Ibis uses features that Spark and pandas have deprecated, and Spark leaves sockets open.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def parquet(tmp_path_factory):
    path = tmp_path_factory.mktemp("spark") / "t.parquet"
    write_parquet(path)
    return path


@pytest.fixture(scope="module")
def plan(tmp_path_factory):
    path = tmp_path_factory.mktemp("spark") / "plan.yaml"
    path.write_text(PLAN, encoding="utf-8")
    return load_plan(path)


@pytest.fixture(scope="module")
def spark(parquet):
    """A session that has the table as `visits`."""
    options = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "2", "spark.sql.session.timeZone": "UTC"}
    session = SparkSession.builder.master("local[2]").config(map=options).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    session.read.parquet(str(parquet)).createOrReplaceTempView("visits")
    yield ibis.pyspark.connect(session)
    session.stop()


def test_spark_and_duckdb_give_the_same_entry(spark, parquet, plan):
    entry = summarize(spark.table("visits"), plan, name="t", pairs=True)
    assert entry == summarize(parquet, plan, name="t", pairs=True)


def test_masked_tables_and_distinct_records_are_the_same(spark, parquet, plan, tmp_path):
    found = []
    for source in (spark.table("visits"), parquet):
        apply(source, plan, "coarse", tmp_path / "masked.csv", keep_order=True)
        with open_table(source) as opened:
            distinct = DistinctRecords.of(CountedTable.of(opened, plan), ["age", "Income", "price", "y"])
        counted = sorted(zip(map(tuple, distinct.codes.tolist()), distinct.counts.tolist(), strict=True))
        found.append(((tmp_path / "masked.csv").read_text(encoding="utf-8"), counted))
    assert found[0] == found[1]


def test_what_spark_complains_of_is_one_line(spark, plan):
    table = spark.table("visits")
    broken = table.mutate(age=(table["city"] + "x").cast("int64"))
    with pytest.raises(TableError) as raised:
        summarize(broken, plan, name="t")
    assert "\n" not in str(raised.value)
    assert str(raised.value).startswith("the table: ")
