"""Records are suppressed as declared, and no table is written that breaks its promise."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegis_provider import PromiseError, TableError, apply, load_plan
from aegis_provider.counting.counted_table import CountedTable
from aegis_provider.release.blocks import Release
from aegis_provider.release.promise import Promise
from aegis_provider.table import open_table
from tests.examples import at_most
from tests.for_each import for_each
from tests.provider import oracle

# Classes by (age, zip): 3 of (10-19, a), 2 of (20-29, a), 1 of (20-29, b).
TABLE = "age,zip,extra,sick\n11,a,1,yes\n21,a,2,no\n12,a,3,no\n25,a,4,no\n13,a,5,yes\n22,b,6,yes\n"
PLAN = """
label: sick
attributes:
  age: {maskings: {tens: {bucketize: {width: 10}}, gone: {suppress: {}}}}
  zip: {maskings: {gone: {suppress: {}}}}
configurations: {c: {age: tens}, all: {age: gone, zip: gone}, bare: {age: drop, zip: drop}}
"""


@pytest.fixture
def masked(write, tmp_path):
    """Return a function that returns the lines written by a plan with these promises, and the result of `apply`."""
    table = write("t.csv", TABLE)

    def lines_of(promises, configuration="c", **options):
        output = tmp_path / "masked.csv"
        applied = apply(
            table, load_plan(write("plan.yaml", PLAN + promises)), configuration, output, keep_order=True, **options
        )
        return output.read_text(encoding="utf-8").splitlines(), applied

    return lines_of


def nothing_written(directory):
    return {path.name for path in directory.iterdir()} == {"t.csv", "plan.yaml"}


def test_the_records_of_small_classes_are_left_out(masked):
    lines, applied = masked("privacy: {c: {k: 2}}\nsuppressed: {c: 1}\n")
    assert lines == ["age,zip,sick", "10-19,a,yes", "20-29,a,no", "10-19,a,no", "20-29,a,no", "10-19,a,yes"]
    assert (applied.records, applied.suppressed, applied.reached["k"], applied.faults) == (5, 1, 2, ())


def test_classes_that_break_any_of_several_promises_are_left_out(masked):
    lines, applied = masked("privacy: {c: {k: 2, l: 2}}\nsuppressed: {c: 3}\n")
    assert lines[1:] == ["10-19,a,yes", "10-19,a,no", "10-19,a,yes"]
    assert (applied.reached["k"], applied.reached["l"]) == (3, 2)


def test_a_class_is_compared_with_the_whole_table(masked):
    # 4 of 6 records are sick or well in the ratio 3 : 3; (10-19, a) has 2 : 1, so t = 2/3 - 1/2; the others have 1/2.
    _, applied = masked("privacy: {c: {t: 0.2}}\nsuppressed: {c: 3}\n")
    assert applied.reached["t"] == pytest.approx(1 / 6)


@for_each("declared", [0, 2])
def test_another_number_than_declared_is_refused(masked, tmp_path, declared):
    with pytest.raises(PromiseError, match=rf"plan.yaml: c declares {declared} records suppressed, but 1 break its"):
        masked(f"privacy: {{c: {{k: 2}}}}\nsuppressed: {{c: {declared}}}\n")
    assert nothing_written(tmp_path)


def test_a_broken_promise_is_said_and_nothing_is_written(masked, tmp_path):
    with pytest.raises(
        PromiseError, match=r"c promises k >= 3, but reaches 1; c promises t <= 0\.1, but reaches 0\.5;"
    ):
        masked("privacy: {c: {k: 3, t: 0.1}}\n")
    assert nothing_written(tmp_path)


def test_a_broken_promise_leaves_no_older_output_that_looks_like_what_was_refused(masked, write, tmp_path):
    write("masked.csv", "old\n")
    with pytest.raises(PromiseError):
        masked("privacy: {c: {k: 3}}\n")
    assert nothing_written(tmp_path)


def test_by_force_it_is_written_and_the_faults_are_told(masked):
    lines, applied = masked("privacy: {c: {k: 3}}\n", force=True)
    assert len(lines) == 7
    assert (applied.faults, applied.reached["k"]) == (("c promises k >= 3, but reaches 1",), 1)
    lines, applied = masked("privacy: {c: {k: 3}}\nsuppressed: {c: 2}\n", force=True)
    assert len(lines) == 4
    assert applied.faults == ("c declares 2 records suppressed, but 3 break its promise",)


def test_a_table_of_no_record_is_never_written(masked, tmp_path):
    for force in (False, True):
        with pytest.raises(PromiseError, match="c: every record breaks its promise; there is nothing to write"):
            masked("privacy: {c: {k: 9}}\nsuppressed: {c: 6}\n", force=force)
    assert nothing_written(tmp_path)


def test_without_a_quasi_identifier_all_records_are_one_class(masked):
    for configuration in ("all", "bare"):
        _, applied = masked(f"privacy: {{{configuration}: {{k: 6, l: 2}}}}\n", configuration)
        assert applied.reached["k"] == 6


def test_without_any_role_k_is_the_number_of_records(masked):
    roles = "sensitive: [zip]\nquasi_identifiers: [age]\n"
    _, applied = masked("privacy: {bare: {k: 6, epsilon: 1}}\n" + roles, "bare")
    assert (applied.reached, applied.unchecked) == ({"k": 6}, ("epsilon",))
    with pytest.raises(PromiseError, match="bare promises l, but shares no sensitive attribute to measure it on"):
        masked("privacy: {bare: {k: 6, l: 2}}\n" + roles, "bare")


def test_a_dropped_class_of_all_records_is_left_out_as_one(masked, tmp_path):
    with pytest.raises(PromiseError, match="nothing to write"):
        masked("privacy: {bare: {k: 7}}\nsuppressed: {bare: 6}\n", "bare")
    assert nothing_written(tmp_path)


def test_a_table_that_has_other_classes_when_it_is_read_again_is_refused(write):
    table, plan = write("t.csv", TABLE), load_plan(write("plan.yaml", PLAN + "privacy: {c: {k: 2}}\n"))
    with open_table(table) as opened:
        release = Release.of(CountedTable.of(opened, plan), plan, plan.configurations[0])
        promise = Promise.of(release, plan, plan.configurations[0])
        suppression = promise.suppression(promise.judged.blocks())
        table.write_text(TABLE.replace("25,a", "22,b"), encoding="utf-8")
        with pytest.raises(TableError, match=r"t\.csv: changed while it was read"):
            list(suppression.applied(release.blocks()))


def test_what_a_table_cannot_show_is_named(masked):
    _, applied = masked("privacy: {c: {epsilon: 1, k: 1}}\n")
    assert applied.unchecked == ("epsilon",)
    assert applied.promised == {"epsilon": 1, "k": 1}


def test_nothing_is_measured_where_nothing_is_promised(masked):
    _, applied = masked("")
    assert (applied.reached, applied.unchecked, applied.suppressed) == ({}, (), 0)


def test_two_texts_of_one_number_are_one_value_of_a_quasi_identifier(write, tmp_path):
    table = write("t.csv", "a,y\n1.0,p\n1.00,q\n2.5,p\n2.50,p\n")
    plan = write("plan.yaml", "label: y\nattributes: {a: {}}\nconfigurations: {c: {}}\nprivacy: {c: {k: 2}}\n")
    for name in ("masked.csv", "masked.parquet"):
        assert apply(table, load_plan(plan), "c", tmp_path / name).reached["k"] == 2


def test_two_masked_texts_of_one_number_are_two_masked_values(write, tmp_path):
    table = write("t.csv", "a,y\nx,p\nx,q\nz,p\n")
    masking = "{maskings: {m: {mapping: {x: '1.0', z: '1'}}}}"
    plan = f"label: y\nattributes: {{a: {masking}}}\nconfigurations: {{c: {{a: m}}}}\nprivacy: {{c: {{k: 2}}}}\n"
    with pytest.raises(PromiseError, match="reaches 1"):
        apply(table, load_plan(write("plan.yaml", plan)), "c", tmp_path / "masked.parquet")


def test_every_record_is_told_of_and_twice_where_some_are_left_out(masked):
    told = []
    masked("privacy: {c: {k: 2}}\n", force=True, progress=lambda done, total: told.append((done, total)))
    assert told == [(6, 6)]
    masked("privacy: {c: {k: 2}}\nsuppressed: {c: 1}\n", progress=lambda done, total: told.append((done, total)))
    assert told[1:] == [(6, 12), (12, 12)]


values = st.sampled_from(["1", "2", "13", "14", "25", ""])


@pytest.mark.long
@at_most(30)  # of up to 30 records each
@given(st.lists(st.tuples(values, values, st.sampled_from(["p", "q"])), min_size=1, max_size=30), st.integers(1, 4))
def test_what_is_left_out_is_what_plain_counting_leaves_out(write, tmp_path, rows, k):
    table = write("t.csv", "a,b,y\n" + "".join(f"{a},{b},{y}\n" for a, b, y in rows))
    attributes = "{a: {type: integer, maskings: {tens: {bucketize: {width: 10}}}}, b: {}}"
    masked = [(oracle.integer_bucket(a, 10), b, y) for a, b, y in rows]
    classes = Counter((a, b) for a, b, _ in masked)
    kept = [row for row in masked if classes[row[:2]] >= k]
    promises = f"privacy: {{c: {{k: {k}}}}}\nsuppressed: {{c: {len(rows) - len(kept)}}}\n"
    plan = write("p.yaml", f"label: y\nattributes: {attributes}\nconfigurations: {{c: {{a: tens}}}}\n{promises}")
    output = tmp_path / "masked.csv"
    if not kept:
        with pytest.raises(PromiseError, match="nothing to write"):
            apply(table, load_plan(plan), "c", output)
        return
    applied = apply(table, load_plan(plan), "c", output, keep_order=True)
    assert [tuple(record.values()) for record in oracle.records_of(output)] == kept
    assert applied.reached["k"] == min(Counter(row[:2] for row in kept).values())
