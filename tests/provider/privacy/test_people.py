"""Privacy counts people if a plan says whose a record is, compared with sets of names in plain Python."""

import random
from collections import Counter
from contextlib import nullcontext
from dataclasses import replace
from itertools import product

import duckdb
import numpy as np
import psycopg
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegis_provider import PlanError, TableError, apply, assess, load_plan
from aegis_provider.check.masked_records import CheckedRecords, folds_of
from aegis_provider.counting.counted_table import CountedTable, DistinctRecords
from aegis_provider.counting.people import People
from aegis_provider.errors import NothingHoldsError, OutputError
from aegis_provider.plan.model import Roles
from aegis_provider.privacy import KnownRows, class_of_each, classes_of, known_rows, measure_privacy, measure_worst
from aegis_provider.privacy.cells import MaskedRecords, suppress
from aegis_provider.release.blocks import Release
from aegis_provider.release.promise import Promise
from aegis_provider.report.rendering import text_lines
from aegis_provider.report.risk import risk_document, risk_report
from aegis_provider.report.verdicts import risk_verdict
from aegis_provider.search import Requirement, find_configurations
from aegis_provider.table import open_table
from tests.for_each import for_each
from tests.postgres import create_database, drop_database
from tests.provider import oracle as files
from tests.provider.privacy import people_oracle as oracle
from tests.provider.privacy.privacy_tables import records_of, tables
from tests.provider.search.search_oracle import blocks, joint_utility

SAME = {value: value for value in "01234"}
NAMES = ["a", "b", "y"]
PROMISES = [{"k": 2}, {"k": 3}, {"k": 2, "l": 2}, {"alpha": 0.7}, {"t": 0.4}, {"k": 2, "beta": 1.5}]


def random_rows(rng, people, most):
    """Return rows of people with up to `most` records each, `(person, a, b, y)`."""
    return [
        (f"p{person}", rng.choice("012"), rng.choice("01"), rng.choice("0012"))
        for person in range(people)
        for _ in range(rng.randint(1, most))
    ]


def by_person(rows, names=NAMES):
    """Return the distinct records of rows that begin with a person."""
    counted = Counter(rows)
    plain = records_of([row[1:] for row in counted], names)  # in any order, so each row is coded by its texts
    codes = [[domain.places[text] for domain, text in zip(plain.domains, row[1:], strict=True)] for row in counted]
    people = {name: number for number, name in enumerate(sorted({row[0] for row in counted}))}
    return DistinctRecords(
        tuple(names),
        plain.domains,
        np.array(codes, dtype=np.intp),
        np.array(list(counted.values())),
        np.array([people[row[0]] for row in counted]),
    )


def test_five_hundred_tables_have_the_privacy_and_the_suppression_of_plain_python():
    rng = random.Random(1)
    for number in range(500):
        rows, promise = random_rows(rng, rng.randint(1, 12), rng.randint(1, 4)), PROMISES[number % len(PROMISES)]
        records = by_person(rows)
        found = measure_privacy(classes_of(records, {}, NAMES[:2], ["y"]))
        assert {name: found[name] for name in ("k", "l", "t", "alpha", "beta")} == pytest.approx(
            oracle.worst(rows, [SAME, SAME], rows)
        )
        left = oracle.released(rows, [SAME, SAME], promise)
        suppressed = suppress(MaskedRecords(records, {}, (Roles(("a", "b"), ("y",)),)), promise, {})
        assert (suppressed.records, suppressed.released[0].records) == (len(rows) - len(left), len(left))
        assert len(suppressed.people) == len({row[0] for row in rows}) - len({row[0] for row in left})
        there = measure_privacy(suppressed.released[0])
        assert {name: there[name] for name in ("k", "l", "t", "alpha", "beta") if there} == pytest.approx(
            oracle.worst(left, [SAME, SAME], rows)
        )


def test_who_knows_two_rows_or_all_finds_as_many_people_as_dictionaries_do(monkeypatch):
    rng, differing = random.Random(8), 0
    for number in range(200):
        rows, k = random_rows(rng, rng.randint(1, 25), rng.randint(1, 5)), 1 + number % 4
        records = by_person(rows)
        found = KnownRows.of(records, class_of_each(records, {}, NAMES[:2])[0], k)
        numbers = (found.one, found.two, found.all)
        assert numbers == oracle.below(rows, [SAME, SAME], found.k)
        assert (found.people, found.k) == (len({row[0] for row in rows}), k if k > 1 else 5)
        assert numbers == tuple(sorted(numbers))
        differing += len(set(numbers)) == 3
    assert differing > 20
    monkeypatch.setattr(known_rows, "_MOST_PAIRS", 0)
    assert KnownRows.of(records, np.zeros(len(records.counts), dtype=np.intp)).two is None


def test_known_rows_are_counted_by_the_k_that_was_asked_for(tmp_path):
    rows = random_rows(random.Random(9), 60, 3)
    plan = a_plan(tmp_path, CHOSEN)
    plan = replace(plan, configurations=(replace(plan.configurations[0], privacy={"k": 9}, required={"k": 4}),))
    for require, k in (({}, 4), ({"k": 3}, 3)):
        [release] = assess(a_table(rows), plan, require=require).releases
        applied = apply(a_table(rows), plan, "c1", tmp_path / "m.csv", asked_k=require.get("k"), force=True)
        assert release.known.k == applied.checked.known.k == k


def test_shares_of_people_tell_no_small_number():
    for people in (3, 11, 26, 100, 399, 501, 2_600):
        told = [KnownRows(people, 5, 0, some, people).shares for some in range(people + 1)]
        assert {each.one for each in told} == {0.0}
        spread = Counter(each.two for each in told)
        assert spread.pop(0.0) == 1
        assert min(spread.values()) > 2


@given(tables(columns=3), st.sampled_from(PROMISES))
def test_with_one_record_a_person_every_number_is_that_of_records(rows, promise):
    whole = records_of(rows, NAMES)
    each = np.repeat(np.arange(len(whole.counts)), whole.counts)
    people = DistinctRecords(
        whole.columns,
        whole.domains,
        whole.codes[each],
        np.ones_like(each),
        np.random.default_rng(1).permutation(len(each)),
    )
    ours, theirs = (classes_of(some, {}, NAMES[:2], ["y"]) for some in (people, whole))
    assert measure_privacy(ours) == measure_privacy(theirs)  # to the last bit
    one, two = (
        suppress(MaskedRecords(some, {}, (Roles(("a", "b"), ("y",)),)), promise, {}) for some in (people, whole)
    )
    assert one.records == two.records
    assert measure_worst(one.released) == measure_worst(two.released)


PLAN = """
label: y
person: who
rows_per_person: 9
attributes:
  a: {type: string, identity: false, maskings: {a-0: {mapping: {0: x, 1: y, 2: z}}, a-1: {mapping: {0: x, 1: x, 2: z}}}}
  b: {type: string, identity: false, maskings: {b-0: {mapping: {0: x, 1: y}}}}
"""
A = {"a-0": SAME, "a-1": {"0": "0", "1": "0", "2": "2"}, "drop": dict.fromkeys("012", "0")}
B = {"b-0": SAME, "drop": dict.fromkeys("01", "0")}
CHOSEN = "configurations: {c1: {a: a-1, b: drop}}\n"


def a_table(rows):
    """Return an Arrow table of rows `(person, a, b, y)`."""
    return pa.table(dict(zip(("who", "a", "b", "y"), map(list, zip(*rows, strict=True)), strict=True)))


def a_plan(folder, more="", text=PLAN):
    (folder / "plan.yaml").write_text(text + more, encoding="utf-8")
    return load_plan(folder / "plan.yaml", configurations_needed="configurations" in more)


@pytest.mark.parametrize("promise", [{"k": 2}, {"k": 2, "l": 2}])
def test_a_search_finds_the_best_of_what_holds_for_people(tmp_path, promise):
    rng, plan, held = random.Random(2), a_plan(tmp_path), 0
    for _ in range(5):
        rows = random_rows(rng, rng.randint(8, 20), 3)
        records, holding = [row[1:] for row in rows], {}
        for (one, a), (two, b) in product(A.items(), B.items()):
            out = len(rows) - len(oracle.released(rows, [a, b], promise))
            if out <= 0.4 * len(rows):
                node = [blocks(mask, {record[at] for record in records}) for at, mask in enumerate((a, b))]
                holding[one, two] = out, joint_utility(records, node, label=2)
        try:
            result = find_configurations(a_table(rows), plan, Requirement(promise, 0.4))
        except NothingHoldsError:
            assert not holding
            continue
        for each in result.configurations:
            assert (each.suppressed or 0) == holding[each.maskings["a"], each.maskings["b"]][0]
        assert result.utilities[0] == pytest.approx(max(utility for _, utility in holding.values()))
        held += 1
    assert held > 2


def test_the_masked_table_is_of_those_who_may_stay(tmp_path):
    rng, promise = random.Random(3), {"k": 4}
    while True:  # until some people leave, one of them with a record in a class that others stay in
        rows = random_rows(rng, 14, 3)
        left = oracle.released(rows, [A["a-1"], B["drop"]], promise)
        gone = {row[0] for row in rows} - {row[0] for row in left}
        if left and gone and {row[1] for row in rows if row[0] in gone} & {row[1] for row in left}:
            break
    promised = f"privacy: {{c1: {{k: 4}}}}\nsuppressed: {{c1: {len(rows) - len(left)}}}\n"
    plan = a_plan(tmp_path, CHOSEN + promised)
    applied = apply(a_table(rows), plan, "c1", tmp_path / "masked.csv", accept_unique=True)
    written = [(row["a"], row["y"]) for row in files.records_of(tmp_path / "masked.csv")]
    names = {"0": "x", "2": "z"}
    assert Counter(written) == Counter((names[A["a-1"][row[1]]], row[3]) for row in left)
    assert applied.reached["k"] == oracle.worst(left, [A["a-1"], B["drop"]], rows)["k"]
    [release] = assess(a_table(rows), plan).releases
    assert (release.holds, release.privacy) == (True, applied.reached)


def test_people_are_of_a_written_table_only_with_the_records_that_were_written(tmp_path):
    rows, plan = random_rows(random.Random(6), 9, 3), a_plan(tmp_path, CHOSEN)
    written = [({"0": "x", "1": "x", "2": "z"}[row[1]], row[3]) for row in rows]
    with open_table(a_table(rows)) as table:
        chosen = plan.configuration("c1")
        promise = Promise.of(Release.of(CountedTable.of(table, plan), plan, chosen), plan, chosen)
        for other, said in ((written, nullcontext()), ([written[0], *written[:-1]], pytest.raises(OutputError))):
            with said, open_table(pa.table({"a": [a for a, _ in other], "y": [y for _, y in other]})) as masked:
                assert len(np.unique(promise.records(masked, None).people)) == 9


def test_at_most_so_many_rows_of_a_person_are_used_the_same_ones_in_any_order():
    rng = random.Random(4)
    rows = [*random_rows(rng, 30, 6), *((None, "0", "1", "0") for _ in range(5))]
    wide = [(person, f"{number}", *rest) for number, (person, *rest) in enumerate(rows)]
    names = ("who", "number", "a", "b", "y")
    used = []
    for _ in range(2):
        rng.shuffle(wide)
        given = pa.table(dict(zip(names, map(list, zip(*wide, strict=True)), strict=True)))
        with open_table(given) as table:
            people = People.of(table, "who", 2)
            texts = [batch.to_pylist() for batch in people.bounded(table).batches(["who", "number"])]
        kept = [(each["v0"], each["v1"]) for batch in texts for each in batch]
        assert kept == [both for row in wide if (both := (row[0] or "", row[1])) in {*kept}]  # in the table's order
        used.append(sorted(kept))
    assert used[0] == used[1]
    wanted = Counter(row[0] or "" for row in rows)
    assert Counter(who for who, _ in used[0]) == {who: n if not who else min(2, n) for who, n in wanted.items()}
    assert (people.number, people.unknown) == (30 + 5, 5)


@for_each("place", ["t.duckdb#t", "t.duckdb#seen", "t.csv"])
def test_of_a_large_table_of_duckdb_the_same_rows_are_used_in_each_reading_in_its_order(tmp_path, place):
    with duckdb.connect(tmp_path / "t.duckdb") as connection:  # blocks enough for several threads
        connection.execute("CREATE TABLE t AS SELECT 'p' || hash(range) % 90000 AS who, range AS n FROM range(300000)")
        connection.execute("CREATE VIEW seen AS SELECT who, n FROM t GROUP BY who, n")  # each time in another order
        connection.execute(f"COPY (SELECT *, repeat('x', 50) FROM t) TO '{tmp_path}/t.csv'")
        bound = "SELECT sum(least(n, 2)) FROM (SELECT count(*) AS n FROM t GROUP BY who)"
        [(most,)] = connection.execute(bound).fetchall()
    with open_table(f"duckdb://{tmp_path}/{place}" if "#" in place else tmp_path / place) as table:
        bounded = People.of(table, "who", 2).bounded(table)
        both = pa.Table.from_batches(bounded.batches(["who", "n"]))
        one, again = (pa.Table.from_batches(bounded.batches([name]))["v0"] for name in ("who", "n"))
    numbers = both["v1"].cast("int64").to_numpy()
    assert len(numbers) == most
    assert max(Counter(both["v0"].to_pylist()).values()) == 2
    assert place == "t.duckdb#seen" or (np.diff(numbers) > 0).all()
    assert (both["v0"], both["v1"]) == (one, again)


def test_of_a_table_of_postgresql_the_same_rows_are_used_in_any_order(postgres):
    rng = random.Random(4)
    rows = [*random_rows(rng, 30, 6), *((None, "0", "1", "0") for _ in range(5))]
    wide, found = [(f"{number}", *row) for number, row in enumerate(rows)], []
    url = create_database(postgres.url, "people")
    for name in ("one", "two"):
        rng.shuffle(wide)
        with psycopg.connect(url) as connection, connection.cursor() as cursor:
            cursor.execute(f"CREATE TABLE {name} (number text, who text, a text, b text, y text)")
            cursor.executemany(f"INSERT INTO {name} VALUES (%s, %s, %s, %s, %s)", wide)
        with open_table(f"{url}#{name}") as table:
            people = People.of(table, "who", 2)
            found.append(people.bounded(table).combinations(["who", "number"]))
    drop_database(postgres.url, "people")
    used = [sorted(zip(each["v0"].to_pylist(), each["v1"].to_pylist(), strict=True)) for each in found]
    assert used[0] == used[1]
    wanted = Counter(row[0] or "" for row in rows)
    assert Counter(who for who, _ in used[0]) == {who: n if not who else min(2, n) for who, n in wanted.items()}
    assert (people.number, people.unknown) == (30 + 5, 5)


def test_people_of_postgresql_are_those_of_the_same_table_here(tmp_path, postgres):
    rows, plan = random_rows(random.Random(5), 40, 4), a_plan(tmp_path)
    url = create_database(postgres.url, "people")
    with psycopg.connect(url) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE t (who text, a text, b text, y text)")
        cursor.executemany("INSERT INTO t VALUES (%s, %s, %s, %s)", rows)
    found = [find_configurations(source, plan, Requirement({"k": 3}, 0.4)) for source in (a_table(rows), f"{url}#t")]
    drop_database(postgres.url, "people")
    assert found[0] == found[1]


def test_by_default_the_fewest_rows_that_keep_nearly_all():
    sizes = [1] * 60 + [2] * 30 + [3] * 9 + [40]
    rows = [(f"p{n}", "0", "0", "0") for n, size in enumerate(sizes) for _ in range(size)]
    twice = [(f"q{n}", "0", "0", "0") for n in range(500)] * 2
    for most, more in ((10, []), (2, twice)):
        with open_table(a_table([*rows, *more])) as table:
            assert People.of(table, "who").rows == most


def test_the_records_of_a_person_are_in_one_fold_of_a_check(tmp_path):
    rows = [*random_rows(random.Random(7), 40, 4), *[(None, "0", "1", "2")] * 5]
    with open_table(a_table(rows)) as table:
        checked = CheckedRecords.read(table, a_plan(tmp_path), 3, 0)
    folds = folds_of(checked.labels, 3, 0, checked.people)
    assert sorted(np.concatenate([fold.test for fold in folds]).tolist()) == list(range(len(rows)))
    assert len(np.unique(checked.people)) == len({row[0] for row in rows} - {None}) + 5
    for fold in folds:
        assert not {*checked.people[fold.train]} & {*checked.people[fold.test]}


def said_of(folder, rows, text=PLAN):
    with open_table(a_table(rows)) as table:
        return [*CountedTable.of(table, plan := a_plan(folder, text=text)).doubtful_types(plan)]


def test_what_is_counted_is_said(tmp_path):
    rows = random_rows(random.Random(5), 20, 3)
    assert said_of(tmp_path, rows)[0].startswith("at most 9 rows of each of 20 people ('who'): 100 % of the rows")
    once = [(f"{n}", *row[1:]) for n, row in enumerate(rows)]
    assert "'who' is different in each record, so records are people" in said_of(tmp_path, once)
    some = [(None, *row[1:]) if n < 3 else row for n, row in enumerate(rows)]
    assert "some records have no 'who'; each of them counts as one person" in said_of(tmp_path, some)


@for_each(
    ("was", "now", "said"),
    [
        ("person: who", "person: y", "person: 'y' is the label"),
        ("person: who", "person: a", "person: 'a' is shared"),
        ("person: who", "person: whom", "no column 'whom'"),
        ("person: who\n", "", "rows_per_person: of no column"),
        ("rows_per_person: 9", "rows_per_person: 0", "rows_per_person"),
    ],
)
def test_a_wrong_person_column_is_refused_in_a_line(tmp_path, was, now, said):
    with pytest.raises((PlanError, TableError), match=said) as error:
        said_of(tmp_path, random_rows(random.Random(6), 20, 3), PLAN.replace(was, now))
    assert "\n" not in str(error.value)


def test_a_person_column_of_one_value_is_refused(tmp_path):
    rows = random_rows(random.Random(6), 20, 3)
    with pytest.raises(PlanError, match="'who' has one value"):
        said_of(tmp_path, [("p", *row[1:]) for row in rows])


def test_a_report_says_people_where_it_counts_them(tmp_path):
    rows = [*[("p", "0", "0", "0")] * 5, *[("q", "0", "0", "1")] * 2, ("r", "1", "0", "0")]
    plan = a_plan(tmp_path)
    for table, unit, in_one in (
        (rows, "people", 2),
        ([(f"{n}", *row[1:]) for n, row in enumerate(rows)], "records", 7),
    ):
        found = assess(a_table(table), plan)
        verdict = risk_verdict(found, "t", None)
        text, document = (
            "\n".join(text_lines(risk_report(found, "t", verdict))),
            risk_document(found, verdict, in_full=True),
        )
        assert f"{unit} alone in their class" in text
        assert ("The table has 8 records" in text) == (unit == "records")
        assert document["as_it_is"]["class_sizes"] == [[1, 1], [in_one, 1]]
        assert (document.get("unit"), bool(document["as_it_is"]["suppression"])) == (
            ("person", False) if unit == "people" else (None, True)
        )
