"""Tables in which attributes are hidden from others, as read by Python's csv module."""

import csv
from collections import Counter
from datetime import date
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegis_provider import OutputError, ProviderError, TableError, open_table
from aegis_provider.errors import IdentifierError
from aegis_provider.independence import hide
from aegis_provider.independence.clustered_table import ClusteredTable
from aegis_provider.independence.hiding import refuse_dependent
from aegis_provider.independence.output_files import MaskedRecords
from tests.examples import at_most
from tests.for_each import for_each
from tests.provider import oracle
from tests.provider.independence.example_1 import EXAMPLE_1

in_order = partial(hide, keep_order=True)


def rows_of(path, delimiter=","):
    return oracle.records_of(path, delimiter)


def is_independent(rows, hidden, cluster):
    """Return whether they are independent by the definition, in fractions."""
    pairs = Counter((tuple(row[name] for name in hidden), row[cluster]) for row in rows)
    vectors, clusters = Counter(), Counter()
    for (vector, number), count in pairs.items():
        vectors[vector] += count
        clusters[number] += count
    n = len(rows)
    return all(
        Fraction(pairs[vector, number], n) == Fraction(vectors[vector], n) * Fraction(clusters[number], n)
        for vector in vectors
        for number in clusters
    )


def test_the_records_are_put_into_a_random_order(write, tmp_path):
    rows = "".join(f"{number % 3},{number % 4},{number}\n" for number in range(120))
    table, asked = write("t.csv", f"a,b,id\n{rows}"), {"hide": ["a"], "from_": ["b"], "clusters": 2}
    asked["accept_identifiers"] = True
    for name in ("one.csv", "two.csv", "kept.csv"):
        hide(table, **asked, output=tmp_path / name, keep_order=name == "kept.csv")
    one, two, kept = ([row["id"] for row in rows_of(tmp_path / name)] for name in ("one.csv", "two.csv", "kept.csv"))
    assert kept == sorted(kept, key=int)
    assert len({tuple(each) for each in (one, two, kept)}) == 3
    assert sorted(one) == sorted(two) == sorted(kept)


def test_the_papers_first_example_needs_six_stars(write, tmp_path):
    table, output = write("t.csv", EXAMPLE_1), tmp_path / "masked.csv"
    asked = {"ordered": ["Income"], "exact_values": True}
    hidden = in_order(table, hide=["Age", "Occupation"], from_=["Income"], clusters=3, output=output, **asked)
    assert (hidden.stars, hidden.lower_bound, hidden.records, hidden.dropped, hidden.groups) == (6, 6, 12, 0, 4)
    masked, rows = rows_of(output), rows_of(table)
    assert list(masked[0]) == ["Age", "Occupation", "Income", "Food"]
    assert [row["Income"] for row in masked] == list("312321321321")  # Figure 1c; 13 is in cluster 2, 18 in 3
    assert [row["Food"] for row in masked] == [row["Food"] for row in rows]
    assert sum(row[name] == "*" for row in masked for name in ("Age", "Occupation")) == 6
    assert is_independent(masked, ["Age", "Occupation"], "Income")
    values = rows_of(tmp_path / "masked.clusters.csv")
    of_cluster = [[int(row["Income"]) for row in values if row["cluster"] == number] for number in "123"]
    assert of_cluster == [[4, 6, 6, 7], [9, 10, 11, 13], [15, 18, 20, 25]]
    assert [extent.values for each in hidden.clusters for extent in each.extents] == [
        ("4", "7"),
        ("9", "13"),
        ("15", "25"),
    ]


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0*"), max_size=4)
numbers = st.one_of(st.just(""), st.integers(-3, 5).map(str), st.sampled_from(["1.0", "1.00", "-0.5"]))


def plain(text):
    """A value whatever its spelling: of numbers that are one value, one spelling is written."""
    try:
        return Decimal(text).normalize()
    except InvalidOperation:
        return text


@st.composite
def tables(draw):
    """Rows of two attributes to hide, two to hide them from, and an unchanged one; and a number of clusters."""
    small = st.sampled_from(draw(st.lists(texts, min_size=1, max_size=3)))
    rows = draw(st.lists(st.tuples(small, numbers, small, texts, numbers), min_size=1, max_size=14))
    return rows, draw(st.integers(1, len(rows)))


@pytest.mark.long
@at_most(40)
@given(
    tables(),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["best", "matching", "identical"]),
    st.sampled_from([",", ";", "\t"]),
)
def test_every_table_is_independent_and_otherwise_as_it_was(tmp_path, table, several, ordered, solver, delimiter):
    rows, clusters = table
    path, output = tmp_path / "t.csv", tmp_path / "masked.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL)
        writer.writerow(["A", "b", "a", "c", "B", "n"])
        writer.writerows([*row, number] for number, row in enumerate(rows))
    from_ = ["B", "b"] if several else ["B"]
    hidden = in_order(
        path,
        hide=["a", "A"],
        from_=from_,
        clusters=clusters,
        output=output,
        exact_values=True,
        # A column without values has no order.
        ordered=["b"] if ordered and several and any(row[1] for row in rows) else [],
        solver=solver,
        delimiter=delimiter,
    )
    masked, before = rows_of(output, delimiter), rows_of(path, delimiter)
    cluster = "cluster" if several else "B"
    assert list(masked[0]) == ["A", "a", "c", "cluster", "n"] if several else ["A", "b", "a", "c", "B", "n"]
    assert len(masked) == len(rows) - hidden.dropped == len(rows) // clusters * clusters
    kept = [before[int(row["n"])] for row in masked]
    assert kept == sorted(kept, key=lambda row: int(row["n"]))
    for name in ("c", "n", *(() if several else ("b",))):
        assert [plain(row[name]) for row in masked] == [plain(row[name]) for row in kept]
    for name in ("a", "A"):
        stars = [row[name] == "*" for row in masked]
        assert all(
            star or plain(row[name]) == plain(was[name]) for star, row, was in zip(stars, masked, kept, strict=True)
        )
        assert sum(stars) == hidden.stars_by_attribute[name]
    assert Counter(row[cluster] for row in masked) == {str(n + 1): len(masked) // clusters for n in range(clusters)}
    assert is_independent(masked, ["a", "A"], cluster)
    assert hidden.lower_bound <= hidden.stars
    values = Counter(
        (row["cluster"], *(plain(row[name]) for name in from_)) for row in rows_of(hidden.clusters_output, delimiter)
    )
    assert values == Counter(
        (row[cluster], *(plain(was[name]) for name in from_)) for row, was in zip(masked, kept, strict=True)
    )


def test_clusters_of_a_number_are_intervals_and_what_is_missing_comes_first(write, tmp_path):
    table = write("t.csv", "a,b\n" + "".join(f"x,{b}\n" for b in ["10", "9", "", "-1", "", "100"]))
    hidden = in_order(table, hide=["a"], from_=["b"], clusters=3, output=tmp_path / "m.csv", ordered=["b"])
    assert [row["b"] for row in rows_of(tmp_path / "m.csv")] == list("321213")
    extents = [extent for each in hidden.clusters for extent in each.extents]
    assert [(each.values, each.missing) for each in extents] == [((), 2), (("-1", "9"), 0), (("10", "100"), 0)]


def test_clusters_of_words_and_numbers_put_together_what_is_alike(write, tmp_path):
    rows = [(word, number) for word, number in [("red", 1), ("blue", 90)] for _ in range(6)]
    table = write(
        "t.csv", "a,colour,size\n" + "".join(f"x,{word},{number + n % 2}\n" for n, (word, number) in enumerate(rows))
    )
    in_order(table, hide=["a"], from_=["colour", "size"], clusters=2, output=tmp_path / "m.csv", ordered=["size"])
    clusters = [row["cluster"] for row in rows_of(tmp_path / "m.csv")]
    assert len(set(clusters[:6])) == len(set(clusters[6:])) == 1 != len(set(clusters))


class TestDegenerateTables:
    @staticmethod
    def hidden(write, tmp_path, rows, clusters):
        table = write("t.csv", "a,b\n" + "".join(f"{a},{b}\n" for a, b in rows))
        return hide(table, hide=["a"], from_=["b"], clusters=clusters, output=tmp_path / "m.csv")

    def test_one_cluster_needs_no_star(self, write, tmp_path):
        assert self.hidden(write, tmp_path, [("x", 1), ("y", 2), ("z", 3)], 1).stars == 0

    def test_an_attribute_of_one_value_needs_no_star(self, write, tmp_path):
        assert self.hidden(write, tmp_path, [("x", n) for n in range(6)], 3).stars == 0

    def test_where_all_values_differ_all_are_masked(self, write, tmp_path):
        assert self.hidden(write, tmp_path, [(f"x{n}", n) for n in range(6)], 3).stars == 6

    def test_as_many_clusters_as_records_are_one_group(self, write, tmp_path):
        hidden = self.hidden(write, tmp_path, [("x", 1), ("x", 2), ("y", 3)], 3)
        assert (hidden.groups, hidden.stars) == (1, 3)

    def test_more_clusters_than_records_are_refused(self, write, tmp_path):
        with pytest.raises(TableError, match=r"t\.csv: 3 clusters need at least as many records, but there are 2"):
            self.hidden(write, tmp_path, [("x", 1), ("y", 2)], 3)
        assert sorted(path.name for path in tmp_path.iterdir()) == ["t.csv"]


def test_parquet_keeps_the_types_of_the_columns_that_stay(tmp_path):
    table, output = tmp_path / "t.parquet", tmp_path / "masked.parquet"
    stay = {
        "day": pa.array([date(2024, 2, 29), None] * 3, pa.date32()),
        "price": pa.array([Decimal("0.10"), Decimal("1.00"), None] * 2, pa.decimal128(9, 2)),
        "tags": pa.array([["x"], [], None] * 2, pa.list_(pa.string())),
        "small": pa.array([1, 2, 3] * 2, pa.int16()),
        "real": pa.array([0.1, float("nan"), None] * 2, pa.float32()),
        "word": pa.array(["", None, "x"] * 2),
    }
    hidden = {"a": pa.array([1, None, 1, 1, None, 2]), "b": pa.array([1.5, 2.5, 3.5, 4.5, 5.5, 6.5])}
    pq.write_table(pa.table({**stay, **hidden}), table)
    hidden = in_order(table, hide=["a"], from_=["b"], clusters=2, output=output, ordered=["b"], exact_values=True)
    masked = pq.read_table(output)
    kept = pa.table(stay)
    assert masked.select(list(stay)).schema.types == kept.schema.types
    assert str(masked.select(list(stay)).to_pylist()) == str(kept.to_pylist())  # NaN is not equal to itself
    assert masked.column("a").to_pylist() == ["1", None, "*", "1", None, "*"]
    assert masked.column("b").to_pylist() == [1, 1, 1, 2, 2, 2]
    assert hidden.clusters_output == tmp_path / "masked.clusters.parquet"
    assert pq.read_table(hidden.clusters_output).to_pydict() == {
        "cluster": [1, 1, 1, 2, 2, 2],
        "b": [1.5, 2.5, 3.5, 4.5, 5.5, 6.5],
    }


def test_the_seed_says_which_records_are_dropped(write, tmp_path):
    table = write("t.csv", "a,b,n\n" + "".join(f"{n % 3},{n % 7},{n}\n" for n in range(50)))
    made, asked = [], {"hide": ["a"], "from_": ["b"], "clusters": 7, "accept_identifiers": True}
    with pytest.raises(IdentifierError, match="shares 'n' as it is: numbers the records"):
        hide(table, **asked | {"accept_identifiers": False}, output=tmp_path / "one.csv")
    for name, seed in (("one.csv", 1), ("again.csv", 1), ("two.csv", 2)):
        hidden = in_order(table, **asked, output=tmp_path / name, seed=seed)
        assert (hidden.dropped, hidden.records, hidden.seed) == (1, 49, seed)
        made.append((tmp_path / name).read_bytes() + hidden.clusters_output.read_bytes())
    assert made[0] == made[1] != made[2]


class TestWhatIsRefused:
    TABLE = "a,b,cluster,d\n1,1,1,*\n2,2,2,x\n"

    @for_each(
        ("asked", "message"),
        [
            ({"hide": ["a"], "from_": ["a"]}, "'a' is named twice; name each attribute once"),
            ({"hide": ["a", "a"], "from_": ["b"]}, "'a' is named twice"),
            ({"hide": [], "from_": ["b"]}, "name at least one attribute to hide"),
            ({"hide": ["a"], "from_": []}, "name at least one attribute to hide"),
            ({"hide": ["A"], "from_": ["b"]}, "t.csv: no column 'A'; available: a, b, cluster, d"),
            ({"hide": ["a"], "from_": ["b"], "clusters": 0}, "the number of clusters must be 1 or more, not 0"),
            ({"hide": ["a"], "from_": ["b"], "seed": -1}, "the seed must be 0 or more, not -1"),
            ({"hide": ["a"], "from_": ["b"], "solver": "fast"}, "unknown solver 'fast'; available: matching"),
            ({"hide": ["d"], "from_": ["b"]}, "t.csv: line 2: d is '*', which marks masked values; choose another"),
            ({"hide": ["a"], "from_": ["b", "d"]}, "t.csv: a column is already called 'cluster'; rename it"),
            ({"hide": ["a"], "from_": ["cluster"]}, "t.csv: a column is already called 'cluster'; rename it"),
        ],
    )
    def test_what_makes_no_sense_is_said_in_a_line(self, write, tmp_path, monkeypatch, asked, message):
        write("t.csv", self.TABLE)
        monkeypatch.chdir(tmp_path)
        with pytest.raises(ProviderError) as raised:
            hide("t.csv", **{"clusters": 2, "output": tmp_path / "m.csv", **asked})
        assert str(raised.value).startswith(message)
        assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]

    def test_another_star_makes_a_value_that_is_one_plain(self, write, tmp_path):
        table = write("t.csv", self.TABLE)
        hide(table, hide=["d"], from_=["b"], clusters=2, output=tmp_path / "m.csv", star="hidden")
        assert [row["d"] for row in rows_of(tmp_path / "m.csv")] == ["hidden", "hidden"]

    def test_no_output_is_an_input_or_the_other_one(self, write, tmp_path):
        table = write("t.csv", self.TABLE)
        asked = {"hide": ["a"], "from_": ["b"], "clusters": 2}
        with pytest.raises(OutputError, match="which is an input"):
            hide(table, **asked, output=table)
        with pytest.raises(OutputError, match="which is an input"):
            hide(table, **asked, output=tmp_path / "m.csv", clusters_output=table)
        with pytest.raises(OutputError, match="need separate files"):
            hide(table, **asked, output=tmp_path / "m.csv", clusters_output=tmp_path / "m.csv")
        with pytest.raises(OutputError, match="create it first"):
            hide(table, **asked, output=tmp_path / "m.csv", clusters_output=tmp_path / "none" / "m.csv")
        assert table.read_text() == self.TABLE
        assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


class TestWhatIsCheckedAfterwards:
    @pytest.fixture
    def unmasked(self, write):
        """Records in clusters with no masked value, although the attribute reveals the cluster."""
        with open_table(write("t.csv", "a,b\nx,1\nx,2\ny,3\ny,4\n")) as table:
            random = np.random.default_rng(0)
            clustered = ClusteredTable.of(table, ["a"], ["b"], 2, random, lambda _done, _all: None, {"b": None})
            columns, basis = clustered.columns, tuple(each.column for each in clustered.basis)
            stars, clusters = np.zeros((4, 1), dtype=bool), clustered.cluster_of_record + 1
            yield MaskedRecords(table, columns, basis, clustered.kept, stars, clusters, "*")

    def test_a_table_that_is_not_independent_is_found_out(self, unmasked, tmp_path):
        unmasked.write(tmp_path / "m.csv", lambda _done, _all: None, parquet=False, keep_order=True)
        with open_table(tmp_path / "m.csv") as written, pytest.raises(OutputError, match="is not independent"):
            refuse_dependent(written, unmasked, tmp_path / "m.csv")

    def test_so_is_one_that_lacks_a_record(self, unmasked, write):
        path = write("m.csv", "a,b\nx,1\nx,2\n")
        with open_table(path) as written, pytest.raises(OutputError, match="differs from what was written"):
            refuse_dependent(written, unmasked, path)

    def test_a_table_that_changes_between_two_readings_is_not_masked(self, unmasked, write, tmp_path):
        write("t.csv", "a,b\nx,1\nx,2\ny,4\ny,3\n")
        with pytest.raises(TableError, match="its records or their order changed"):
            unmasked.write(tmp_path / "m.csv", lambda _done, _all: None, parquet=False, keep_order=True)


def test_names_that_begin_alike_are_two_files_however_long_they_are(write, tmp_path):
    output = tmp_path / ("m" * 60 + ".csv")
    hidden = hide(write("t.csv", EXAMPLE_1), hide=["Age"], from_=["Income"], clusters=3, output=output)
    assert list(rows_of(output)[0]) == ["Age", "Occupation", "Income", "Food"]
    assert list(rows_of(hidden.clusters_output)[0]) == ["cluster", "Income"]


def test_a_number_without_a_distance_from_others_is_refused_in_one_line(write, tmp_path):
    table = write("t.csv", "a,b,c\nx,1,1\ny,1e+400,2\nx,2,3\ny,3,4\n")
    with pytest.raises(TableError, match=r"^column 'b': '1e.400' is too large for clusters of several columns$"):
        hide(table, hide=["a"], from_=["b", "c"], clusters=2, output=tmp_path / "m.csv", ordered=["b", "c"])
    assert hide(table, hide=["a"], from_=["b"], clusters=2, output=tmp_path / "m.csv", ordered=["b"]).records == 4
