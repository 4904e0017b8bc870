"""Joint counts of pairs, compared with records masked and counted one by one."""

import csv
import json
from collections import Counter
from fractions import Fraction
from functools import partial
from itertools import combinations, pairwise

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency

from aegis_provider import TableError, load_plan
from aegis_provider.counting import coded_table
from aegis_provider.counting.coded_table import CodedTable
from aegis_provider.counting.counted_table import CountedTable
from aegis_provider.counting.counts import Partition
from aegis_provider.counting.pair_tables import pair_tables
from aegis_provider.counting.published_domain import PublishedDomain
from aegis_provider.table import open_table
from tests.examples import at_most
from tests.for_each import for_each
from tests.provider.documents import summarize

NAMES = ("a", "b c", "it's")
TEXTS = ("", "x", " x", "u,v", 'say "so"', "it's", "two\nlines", "NULL", "\u00e9\u2028")

groupings = st.lists(st.sampled_from("PQR"), min_size=len(TEXTS), max_size=len(TEXTS))
maskings = st.lists(groupings, max_size=4)
rows = st.lists(st.tuples(*[st.sampled_from(TEXTS)] * len(NAMES)), min_size=1, max_size=30)


@st.composite
def plans(draw):
    """Draw maskings of each attribute, as one text per value, and configurations that choose among them."""
    tables = [
        {f"m{place}": dict(zip(TEXTS, each, strict=True)) for place, each in enumerate(draw(maskings))} for _ in NAMES
    ]
    choices = st.fixed_dictionaries(
        {name: st.sampled_from(["identity", "drop", *table, *table]) for name, table in zip(NAMES, tables, strict=True)}
    )
    return dict(zip(NAMES, tables, strict=True)), draw(st.lists(choices, min_size=1, max_size=6))


def written_plan(tables, configurations):
    """Return the text of a plan file; JSON is YAML."""
    attributes = {
        name: {"type": "string", "maskings": {each: {"mapping": table} for each, table in own.items()}}
        for name, own in tables.items()
    }
    chosen = {f"c{place}": each for place, each in enumerate(configurations)}
    return json.dumps({"label": "y", "attributes": attributes, "configurations": chosen})


def csv_of(write, header, lines):
    path = write("t.csv", "")
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows([header, *lines])
    return path


def function_of(column, finer):
    """Return the mapping from the finer column's texts to those of the other column; `None` if it is not a function."""
    found = dict(zip(finer, column, strict=True))
    return found if [found[text] for text in finer] == list(column) else None


def folds(pair, finer):
    """Return for both sides the mapping from the columns of one pair to those of another, if it exists."""
    found = [function_of(*sides) for sides in zip(pair, finer, strict=True)]
    return None if None in found else found


def counted(entry, pair):
    """Return the cells of a table that are not 0, by their masked texts."""
    domains = []
    for name, masking in zip(pair["attributes"], pair["maskings"], strict=True):
        attribute = next(each for each in entry["attributes"] if each["name"] == name)
        domains.append(next((each for each in attribute["maskings"] if each["id"] == masking), attribute)["domain"])
    assert [len(pair["joint"]), *{len(row) for row in pair["joint"]}] == [len(domain) for domain in domains]
    cells = zip(domains[0], pair["joint"], strict=True)
    return {(row, text): n for row, line in cells for text, n in zip(domains[1], line, strict=True) if n}


def exact_chi_square(combinations_of_values, classes):
    """Pearson's chi-square of the label and the combinations that occur, as a fraction."""
    n, held = len(classes), Counter(combinations_of_values)
    labels, cells = Counter(classes), Counter(zip(combinations_of_values, classes, strict=True))
    return sum(
        (cells[combination, label] - Fraction(c * y, n)) ** 2 / Fraction(c * y, n)
        for combination, c in held.items()
        for label, y in labels.items()
    )


@pytest.mark.long
@at_most(40)
@given(rows, plans())
def test_what_configurations_use_together_is_written_or_follows_and_nothing_else_is_written(write, records, plan):
    tables, configurations = plan
    records = [*records, records[0]]
    classes = [("n", "", "m")[place * place % 3] for place in range(len(records))]
    table = csv_of(write, [*NAMES, "y"], [[*each, label] for each, label in zip(records, classes, strict=True)])
    entry = summarize(table, load_plan(write("plan.yaml", written_plan(*plan))), name="t", pairs=True)

    def masked(name, masking):
        texts = [each[NAMES.index(name)] for each in records]
        return texts if masking == "identity" else [tables[name][masking][text] for text in texts]

    shared = [[(name, each[name]) for name in NAMES if each[name] != "drop"] for each in configurations]
    used = {two for each in shared for two in combinations(each, 2)}
    columns = {two: [masked(*each) for each in two] for two in used}
    telling = {two for two in used if all(len(set(column)) > 1 for column in columns[two])}
    every = {tuple(zip(each["attributes"], each["maskings"], strict=True)): each for each in entry["pairs"]}
    assert len(every) == len(entry["pairs"])
    assert set(every) == telling
    for two, pair in every.items():
        told, both = pair["with_label"], list(zip(*columns[two], strict=True))
        assert told["combinations"] == len(set(both))
        assert told["chi_square"] == pytest.approx(float(exact_chi_square(both, classes)), rel=1e-12, abs=1e-300)
    written = {two: pair for two, pair in every.items() if "joint" in pair}
    alike = {two: [other for other in written if dict(other).keys() == dict(two).keys()] for two in telling}
    for two, pair in written.items():
        assert counted(entry, pair) == Counter(zip(*columns[two], strict=True))
        assert not any(folds(columns[two], columns[other]) for other in alike[two] if other != two)
    for two in telling:
        finer = next(other for other in alike[two] if folds(columns[two], columns[other]))
        first, second = folds(columns[two], columns[finer])
        folded = Counter()
        for (row, column), count in counted(entry, written[finer]).items():
            folded[first[row], second[column]] += count
        assert folded == Counter(zip(*columns[two], strict=True))


@pytest.mark.long
def test_pairs_of_the_example_are_those_of_its_records(health_table, health_plan):
    entry = summarize(health_table, health_plan, name="t", pairs=True)
    records = pd.read_csv(health_table, dtype=str, keep_default_na=False)
    attributes = {each["name"]: each for each in entry["attributes"]}
    assert {tuple(each["attributes"]) for each in entry["pairs"]} == set(combinations(attributes, 2))
    for pair in entry["pairs"]:
        masked = [
            records[name].map(texts_of(attributes[name], masking))
            for name, masking in zip(pair["attributes"], pair["maskings"], strict=True)
        ]
        both = list(zip(*masked, strict=True))
        assert "joint" not in pair or counted(entry, pair) == Counter(both)
        label = records[entry["label"]["name"]].tolist()
        assert pair["with_label"]["combinations"] == len(set(both))
        assert pair["with_label"]["chi_square"] == pytest.approx(float(exact_chi_square(both, label)), rel=1e-12)


def texts_of(attribute, masking):
    """Return the masked text of each value."""
    found = next(each for each in attribute["maskings"] if each["id"] == masking)
    return {value: found["domain"][place] for value, place in zip(attribute["domain"], found["mapping"], strict=True)}


def test_without_pairs_the_entry_is_the_same_but_for_them(health_table, health_plan):
    entry = summarize(health_table, health_plan, name="t", pairs=True)
    keys = list(entry)
    assert keys[keys.index("attributes") :] == ["attributes", "pairs", "joint_trace", "configurations"]
    del entry["pairs"], entry["joint_trace"]
    assert json.dumps(summarize(health_table, health_plan, name="t")) == json.dumps(entry)


def test_parquet_and_csv_give_the_same_pairs(health_table, health_plan, tmp_path):
    parquet = tmp_path / "health.parquet"
    duckdb.read_csv(str(health_table), all_varchar=True).write_parquet(str(parquet))
    pairs_of = partial(summarize, plan=health_plan, name="t", pairs=True)
    assert pairs_of(parquet)["pairs"] == pairs_of(health_table)["pairs"]


def pairs_of_numbers(load, write, columns, attributes, configurations, **options):
    """Return the pairs of a table of integers, by their masking ids."""
    path = write("t.csv", "")
    pd.DataFrame(columns).assign(y=np.arange(len(columns["a"])) % 2).to_csv(path, index=False)
    entry = summarize(path, load(attributes, configurations), name="t", pairs=True, **options)
    return {tuple(each["maskings"]): each["joint"] for each in entry["pairs"] if "joint" in each}


def test_texts_of_one_number_are_one_value(write, plan_of):
    path = write("t.csv", "a,b,y\n1.0,p,n\n1.00,q,m\n2.5,q,m\n,q,m\n")
    [pair] = summarize(path, plan_of("{a: {}, b: {}}"), name="t", pairs=True)["pairs"]
    assert pair.pop("with_label") == {"chi_square": 4.0, "combinations": 4}
    assert pair == {"attributes": ["a", "b"], "maskings": ["identity"] * 2, "joint": [[0, 1], [1, 1], [0, 1]]}


@pytest.mark.parametrize(
    "values", [256, 257, *(pytest.param(each, marks=pytest.mark.long) for each in (65_536, 65_537))]
)
def test_however_many_values_there_are_each_has_its_row(write, plan_of, values):
    places = np.r_[np.arange(values), values - 1]
    joints = pairs_of_numbers(plan_of, write, {"a": places, "b": places % 3}, "{a: {}, b: {}}", "{c: {}}")
    expected = np.zeros((values, 3), dtype=int)
    np.add.at(expected, (places, places % 3), 1)
    assert np.array_equal(joints["identity", "identity"], expected)


@pytest.mark.long
def test_tables_with_few_cells_in_common_are_counted_each_by_itself(write, plan_of):
    rng = np.random.default_rng(7)
    columns = {name: rng.integers(0, 3_000, 70_000) for name in "ab"}
    maskings = "maskings: {w7: {bucketize: {width: 7}}, w11: {bucketize: {width: 11}}}"
    joints = pairs_of_numbers(
        plan_of,
        write,
        columns,
        f"{{a: {{type: integer, {maskings}}}, b: {{type: integer, {maskings}}}}}",
        "{c: {a: w7, b: w7}, d: {a: w11, b: w11}}",
    )
    assert set(joints) == {("w7", "w7"), ("w11", "w11")}
    for width in (7, 11):
        expected = pd.crosstab(columns["a"] // width, columns["b"] // width)
        assert np.array_equal(joints[f"w{width}", f"w{width}"], expected)


@for_each("cells", [1 << 23, 40, 1])
def test_more_attributes_than_are_looked_up_at_once_are_counted_here_or_by_the_engine(
    write, plan_of, monkeypatch, cells
):
    monkeypatch.setattr(coded_table, "_LOOKUPS_PER_STEP", 3)
    monkeypatch.setattr(coded_table, "_CELLS_PER_READING", cells)  # of all pairs, of one to three, of none
    monkeypatch.setattr(coded_table, "_RECORDS_PER_BATCH", 16)
    names = [f"a{place}" for place in range(8)]  # two more than are looked up in two turns
    records = [[place * row % 5 // 3 for place in range(1, 9)] for row in range(40)]
    table = csv_of(write, [*names, "y"], [[*each, place % 2] for place, each in enumerate(records)])
    entry = summarize(table, plan_of(json.dumps({name: {} for name in names})), name="t", pairs=True)
    columns = {name: [str(each[place]) for each in records] for place, name in enumerate(names)}
    two_valued = [name for name in names if len(set(columns[name])) > 1]
    assert [tuple(each["attributes"]) for each in entry["pairs"]] == list(combinations(two_valued, 2))
    labels = [place % 2 for place in range(40)]
    for pair in entry["pairs"]:
        both = list(zip(*(columns[name] for name in pair["attributes"]), strict=True))
        assert counted(entry, pair) == Counter(both)
        expected = chi2_contingency(pd.crosstab(["".join(each) for each in both], labels), correction=False).statistic
        assert pair["with_label"]["chi_square"] == pytest.approx(expected)


@pytest.mark.long
def test_a_table_larger_than_the_memory_allowed_is_counted(plan_of, tmp_path):
    path = tmp_path / "large.csv"
    duckdb.sql("SELECT i % 1000 AS a, md5(i::VARCHAR) AS b, i % 3 AS y FROM range(100_000) AS t(i)").write_csv(
        str(path)
    )
    plan = plan_of(
        "{a: {maskings: {tens: {bucketize: {width: 10}}}}, b: {maskings: {hex: {blur: {keep: 1}}}}}",
        "{c: {a: tens, b: hex}}",
    )
    [pair] = summarize(path, plan, name="t", memory_limit="200MB", pairs=True)["pairs"]
    records = pd.read_csv(path)
    assert np.array_equal(pair["joint"], pd.crosstab(records["a"] // 10, records["b"].str[0]))


def test_progress_goes_from_pair_to_pair_to_all_records(write, plan_of):
    told = []
    columns = {name: np.arange(700) % (place + 2) for place, name in enumerate("abcd")}
    attributes = "{a: {}, b: {}, c: {}, d: {}}"
    pairs_of_numbers(plan_of, write, columns, attributes, "{c: {}}", progress=lambda *each: told.append(each))
    assert len(told) == 6
    assert all(earlier < later for (earlier, _), (later, _) in pairwise(told))
    assert told[-1] == (700, 700)
    assert {records for _, records in told} == {700}


@for_each("attributes", ["{a: {}}", "{a: {}, b: {maskings: {gone: {suppress: {}}}}}"])
def test_where_nothing_goes_together_there_are_no_pairs(write, plan_of, attributes):
    configurations = "{c: {b: gone}, d: {b: drop}}" if "b" in attributes else "{c: {}}"
    path = write("t.csv", "a,b,y\n1,2,n\n3,4,m\n")
    assert summarize(path, plan_of(attributes, configurations), name="t", pairs=True)["pairs"] == []


def test_more_cells_than_an_entry_holds_are_refused_with_the_largest_pair(write, plan_of):
    columns = {"a": np.arange(3_200), "b": np.arange(3_200), "c": np.arange(3_200) % 2}
    with pytest.raises(TableError, match=r"the pairs have 10252800 cells.* 'a' \(identity\) with 'b' \(identity\), 32"):
        pairs_of_numbers(plan_of, write, columns, "{a: {}, b: {}, c: {}}", "{c: {}}")


@for_each("line", ["1,2,n\n", "1,5,n\n"])
def test_a_table_that_grows_while_it_is_read_is_refused(write, plan_of, line):
    path, plan = write("t.csv", "a,b,y\n1,2,n\n3,4,m\n"), plan_of("{a: {}, b: {}}")
    with open_table(path) as opened:
        counts = CountedTable.of(opened, plan)
        with path.open("a", encoding="utf-8") as file:
            file.write(line)
        coded = CodedTable.of(counts, "y", {0: [Partition.identity(2)], 1: [Partition.identity(2)]})
        with pytest.raises(TableError, match=r"t\.csv: changed while it was read; summarize again"):
            list(coded.joints([((0, 0), (1, 0))] * 31))  # more than the engine counts at once
        every = [PublishedDomain.exact(each.domain) for each in counts.attributes]
        with pytest.raises(TableError, match=r"t\.csv: changed while it was read; summarize again"):
            pair_tables(counts, plan, [{}, {}], every, print)
