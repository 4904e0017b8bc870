"""Masked values dealt out record by record: random, reproducible, and in sum exactly the draw."""

from collections import Counter
from itertools import permutations

import duckdb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from aegis_provider import TableError, apply, load_plan
from aegis_provider.counting.counted_table import CountedTable
from aegis_provider.release.blocks import ExhaustedError, Release, Urns
from aegis_provider.table import open_table
from tests.for_each import for_each
from tests.provider import oracle
from tests.provider.documents import summarize

PLAN = """
label: sick
seed: 11
attributes:
  age: {maskings: {noisy: {noise: {kind: laplace, scale: 3}}}}
  smokes: {maskings: {answered: {randomised_response: {keep: 0.7}}, gone: {suppress: {}}}}
  zip: {maskings: {shuffled: {shuffle: {}}, short: {blur: {keep: 1}}}}
configurations:
  chance: {age: noisy, smokes: answered, zip: shuffled}
  answered: {age: drop, smokes: answered, zip: short}
  private: {age: drop, smokes: answered, zip: short}
privacy: {private: {k: 4}}
"""


@pytest.fixture
def plan(write):
    return load_plan(write("plan.yaml", PLAN))


@pytest.fixture
def table(write):
    random = np.random.default_rng(5)
    rows = zip(
        random.integers(18, 60, 400), random.choice(["yes", "no", ""], 400), random.integers(10, 40, 400), strict=True
    )
    labels = random.choice(["p", "q"], 400)
    lines = (f"{age},{smokes},{code},{label}\n" for (age, smokes, code), label in zip(rows, labels, strict=True))
    return write("t.csv", "age,smokes,zip,sick\n" + "".join(lines))


def joint_of(entry, attribute, masking):
    """Return the nonzero joint counts in an entry, by masked value and label."""
    [of] = [each for each in entry["attributes"] if each["name"] == attribute]
    [found] = [each for each in of["maskings"] if each["id"] == masking]
    labels = entry["label"]["domain"]
    cells = zip(found["domain"], found["joint"], strict=True)
    return {(text, label): n for text, row in cells for label, n in zip(labels, row, strict=True) if n}


class TestUrns:
    @given(st.data())
    def test_blocks_of_any_size_empty_every_urn(self, data):
        counts = np.array(data.draw(st.lists(st.integers(0, 5), min_size=24, max_size=24))).reshape(2, 3, 4)
        cells = np.repeat(np.arange(6), counts.sum(axis=2).ravel())
        cells = np.random.default_rng(data.draw(st.integers(0, 9))).permutation(cells)
        urns, found = Urns(counts, np.random.default_rng(1)), []
        size = data.draw(st.integers(1, 20))
        for start in range(0, len(cells), size):
            block = cells[start : start + size]
            found += zip(block // 3, block % 3, urns.draw(block // 3, block % 3), strict=True)
        assert Counter(found) == Counter({place: n for place, n in np.ndenumerate(counts) if n})

    def test_every_order_is_as_likely(self):
        random, orders = np.random.default_rng(3), list(permutations(range(4)))
        seen = Counter()
        for _ in range(4800):
            urns, cells = Urns(np.ones((1, 1, 4), dtype=np.int64), random), np.zeros(4, dtype=np.intp)
            seen[(*urns.draw(cells[:3], cells[:3]), *urns.draw(cells[3:], cells[3:]))] += 1
        assert chisquare([seen[order] for order in orders]).pvalue > 0.01

    def test_urns_may_hold_more_than_numpy_draws_from(self):
        counts = np.array([[[3 * 10**12, 10**12]]])
        urns, cells = Urns(counts, np.random.default_rng(2)), np.zeros(40_000, dtype=np.intp)
        found = np.bincount(urns.draw(cells, cells), minlength=2)
        assert chisquare(found, [30_000, 10_000]).pvalue > 0.01

    def test_where_the_value_does_not_matter_there_is_an_urn_for_each_label(self):
        urns = Urns(np.array([[[2, 0], [0, 1]]]), np.random.default_rng(0))
        assert urns.draw(np.array([4, 2, 7]), np.array([0, 1, 0])).tolist() == [0, 1, 0]

    def test_an_empty_urn_gives_nothing(self):
        urns, cells = Urns(np.array([[[1, 1]]]), np.random.default_rng(0)), np.zeros(2, dtype=np.intp)
        urns.draw(cells, cells)
        with pytest.raises(ExhaustedError):
            urns.draw(cells[:1], cells[:1])


def test_the_masked_table_has_the_counts_of_the_entry(table, plan, tmp_path):
    entry = summarize(table, plan, name="people")
    apply(table, plan, "chance", tmp_path / "masked.csv", keep_order=True)
    masked, records = oracle.records_of(tmp_path / "masked.csv"), oracle.records_of(table)
    labels = [record["sick"] for record in records]
    assert [record["sick"] for record in masked] == labels
    for attribute, masking in (("age", "noisy"), ("smokes", "answered"), ("zip", "shuffled")):
        values = [record[attribute] for record in masked]
        assert oracle.joint_counts(values, labels) == joint_of(entry, attribute, masking)
        assert values != [record[attribute] for record in records]


def test_the_same_seed_gives_the_same_table_in_any_format(table, plan, tmp_path, write):
    for name in ("a.csv", "b.csv", "c.parquet"):
        apply(table, plan, "chance", tmp_path / name, keep_order=True)
    other = load_plan(write("other.yaml", PLAN.replace("seed: 11", "seed: 12")))
    apply(table, other, "chance", tmp_path / "other.csv", keep_order=True)
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    assert (tmp_path / "a.csv").read_bytes() != (tmp_path / "other.csv").read_bytes()
    names = list(oracle.records_of(table)[0])
    texts = ", ".join(f"coalesce({name}::VARCHAR, '')" for name in names)
    rows = duckdb.sql(f"SELECT {texts} FROM '{tmp_path / 'c.parquet'}'").fetchall()
    assert rows == [tuple(record.values()) for record in oracle.records_of(tmp_path / "a.csv")]


def test_what_chance_made_is_checked_in_the_written_table(table, plan, tmp_path):
    apply(table, plan, "answered", tmp_path / "open.csv", keep_order=True)
    classes = Counter((record["smokes"], record["zip"]) for record in oracle.records_of(tmp_path / "open.csv"))
    applied = apply(table, plan, "private", tmp_path / "masked.csv", keep_order=True)
    assert applied.reached["k"] == min(classes.values()) >= 4


@for_each("more", ["18,yes,10,p\n" * 400, "18,maybe,10,p\n"])
def test_a_table_that_changed_since_the_draw_is_refused(table, plan, more):
    with open_table(table) as opened:
        release = Release.of(CountedTable.of(opened, plan), plan, plan.configurations[0])
        with table.open("a", encoding="utf-8") as file:
            file.write(more)
        with pytest.raises(TableError, match=r"t\.csv: changed while it was read; apply again"):
            list(release.blocks())


def test_a_table_that_lost_a_record_is_refused(table, plan):
    with open_table(table) as opened:
        release = Release.of(CountedTable.of(opened, plan), plan, plan.configurations[0])
        table.write_text("".join(table.read_text(encoding="utf-8").splitlines(keepends=True)[:-1]), encoding="utf-8")
        with pytest.raises(TableError, match="changed while it was read"):
            list(release.blocks())
