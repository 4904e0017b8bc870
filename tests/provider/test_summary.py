from collections import Counter

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegis_provider import PlanError
from aegis_sdk.wire import EntryDocument
from tests.examples import at_most
from tests.for_each import for_each
from tests.provider import oracle
from tests.provider.documents import summarize

KINDS = "{type: %s, maskings: {tens: {bucketize: {width: 10}}, first: {blur: {keep: 1}}, gone: {suppress: {}}}}"


def attribute_of(path, plan, name="a", **options):
    entry = summarize(path, plan, name="t", **options)
    EntryDocument.model_validate(entry)
    return next(each for each in entry["attributes"] if each["name"] == name)


def test_missing_values_come_first_and_keep_a_masked_value_of_their_own(write, plan_of):
    path = write("t.csv", 'a,y\n5,n\n,m\n15,m\n"",n\n')
    attribute = attribute_of(path, plan_of("{a: {maskings: {tens: {bucketize: {width: 10}}}}}"))
    assert (attribute["type"], attribute["domain"], attribute["histogram"]) == ("integer", ["", "5", "15"], [2, 1, 1])
    [tens] = attribute["maskings"]
    assert (tens["domain"], tens["mapping"]) == (["", "0-9", "10-19"], [0, 1, 2])
    assert tens["joint"] == [[1, 1], [0, 1], [1, 0]]  # m, n


def test_texts_of_one_number_are_counted_as_one_value(write, plan_of):
    path = write("t.csv", "a,y\n1.0,n\n1.00,m\n2.5,m\n")
    attribute = attribute_of(path, plan_of("{a: {maskings: {gone: {suppress: {}}}}}"))
    assert (attribute["domain"], attribute["histogram"]) == (["1.0", "2.5"], [2, 1])


def test_a_missing_label_is_a_label_value(write, plan_of):
    entry = summarize(write("t.csv", "a,y\n1,\n2,n\n3,\n"), plan_of("{a: {}}"), name="t")
    assert entry["label"] == {"name": "y", "domain": ["", "n"], "histogram": [2, 1]}


def test_columns_outside_the_plan_are_not_published(write, plan_of):
    entry = summarize(write("t.csv", "secret,a,y\ns1,1,n\ns2,2,m\n"), plan_of("{a: {}}"), name="t")
    assert "s1" not in str(entry)
    assert "secret" not in str(entry)


def test_names_that_sql_would_choke_on_are_columns_like_others(write, plan_of):
    path = write("we'ird [1]*.csv", '"a""b; --",A,a,y\n1,2,3,n\n4,5,6,m\n')
    entry = summarize(path, plan_of("{'a\"b; --': {}, A: {}, a: {}}"), name="t")
    assert [each["domain"] for each in entry["attributes"]] == [["1", "4"], ["2", "5"], ["3", "6"]]


def test_the_entry_says_what_the_plan_says_of_the_table(write, plan_of):
    entry = summarize(write("t.csv", "a,y\n1,n\n2,m\n"), plan_of("{a: {}}\ntitle: T\nkeywords: [k]"), name="t")
    assert (entry["title"], entry["keywords"], entry["format"], entry["records"]) == ("T", ["k"], 1, 2)
    assert entry["configurations"] == [{"id": "c", "maskings": {"a": "identity"}}]


@for_each("name", ["", "Health", "-x", "a" * 101, "a b"])
def test_an_unusable_name_is_refused(write, plan_of, name):
    with pytest.raises(PlanError, match="the name "):
        summarize(write("t.csv", "a,y\n1,n\n2,m\n"), plan_of("{a: {}}"), name=name)


@for_each(("delimiter", "end"), [(";", "\n"), ("\t", "\r\n"), ("|", "\n")])
def test_delimiters_line_ends_and_a_byte_order_mark_change_nothing(write, plan_of, delimiter, end):
    rows = [["a", "y"], ["1", "n"], ["2", "m"], ["2", "n"]]
    text = "\ufeff" + "".join(delimiter.join(row) + end for row in rows)
    for how in ({"delimiter": delimiter}, {}):  # it is found in the header, too
        attribute = attribute_of(write("t.csv", text), plan_of("{a: {}}"), **how)
        assert (attribute["domain"], attribute["histogram"]) == (["1", "2"], [1, 2])


def test_parquet_and_csv_give_the_same_entry(health_table, health_plan, tmp_path):
    parquet = tmp_path / "health.parquet"
    duckdb.read_csv(str(health_table), all_varchar=True).write_parquet(str(parquet))
    assert summarize(parquet, health_plan, name="t") == summarize(health_table, health_plan, name="t")


def test_typed_parquet_columns_are_read_as_their_text(plan_of, tmp_path):
    path = tmp_path / "t.parquet"
    columns = "1.5::DOUBLE AS a, true AS b, DATE '2024-05-01' AS c, 7::BIGINT AS d, NULL::INTEGER AS e"
    duckdb.sql(f"SELECT {columns}, unnest(['m', 'n']) AS y").write_parquet(str(path))
    entry = summarize(path, plan_of("{a: {}, b: {}, c: {}, d: {}, e: {}}"), name="t")
    assert [each["type"] for each in entry["attributes"]] == ["number", "boolean", "date", "integer", "string"]
    assert [each["domain"] for each in entry["attributes"]] == [["1.5"], ["true"], ["2024-05-01"], ["7"], [""]]


@pytest.mark.long
def test_more_attributes_than_one_scan_takes_are_counted_each_by_itself(write, plan_of):
    names = [f"a{place}" for place in range(130)]
    rows = [[str((place * row) % 7) for place in range(130)] for row in range(20)]
    lines = [",".join([*names, "y"]), *(",".join([*row, str(place % 2)]) for place, row in enumerate(rows))]
    entry = summarize(
        write("t.csv", "\n".join(lines)), plan_of(f"{{{', '.join(f'{n}: {{}}' for n in names)}}}"), name="t"
    )
    for place, attribute in enumerate(entry["attributes"]):
        counted = dict(zip(attribute["domain"], attribute["histogram"], strict=True))
        assert counted == Counter(row[place] for row in rows)


@pytest.mark.long
def test_a_table_larger_than_the_memory_allowed_is_read(plan_of, tmp_path):
    path = tmp_path / "large.csv"
    duckdb.sql("SELECT i % 1000 AS a, md5(i::VARCHAR) AS b, i % 3 AS y FROM range(100_000) AS t(i)").write_csv(
        str(path)
    )
    plan = plan_of("{a: {maskings: {tens: {bucketize: {width: 10}}}}, b: {maskings: {hex: {blur: {keep: 1}}}}}")
    entry = summarize(path, plan, name="t", memory_limit="200MB")
    assert entry["records"] == 100_000
    tens, hexadecimal = (attribute["maskings"][0] for attribute in entry["attributes"])
    assert [sum(row) for row in tens["joint"]] == [1_000] * 100
    assert len(hexadecimal["domain"]) == 16


texts = st.one_of(st.integers(-99, 99).map(str), st.just(""))


@pytest.mark.long
@at_most(40)
@given(st.lists(st.tuples(texts, st.sampled_from(["p", "q", ""])), min_size=1, max_size=30))
def test_every_joint_table_is_that_of_a_row_by_row_count(write, plan_of, rows):
    rows = [*rows, ("1", "p"), ("1", "q")]
    path = write("t.csv", "a,y\n" + "".join(f'"{value}",{label}\n' for value, label in rows))
    entry = summarize(path, plan_of(f"{{a: {KINDS % 'integer'}}}"), name="t")
    labels = [label for _, label in rows]
    tens, first, gone = entry["attributes"][0]["maskings"]
    by_hand = (
        (tens, [oracle.integer_bucket(value, 10) for value, _ in rows]),
        (first, [oracle.blurred(value, 1) for value, _ in rows]),
        (gone, ["*"] * len(rows)),
    )
    for masking, masked in by_hand:
        counted = {
            (text, label): count
            for text, counts in zip(masking["domain"], masking["joint"], strict=True)
            for label, count in zip(entry["label"]["domain"], counts, strict=True)
            if count
        }
        assert counted == oracle.joint_counts(masked, labels)


def test_attributes_that_are_shared_unmasked_have_their_counts_with_the_label(write, plan_of):
    path = write("t.csv", "a,b,c,y\n1,5,p,n\n1,6,q,m\n2,5,p,m\n,5,p,m\n")
    plan = plan_of("{a: {}, b: {maskings: {tens: {bucketize: {width: 10}}}}, c: {}}", "{k: {b: tens, c: drop}}")
    entry = summarize(path, plan, name="t")
    assert [each.get("joint") for each in entry["attributes"]] == [[[1, 0], [1, 1], [1, 0]], None, None]  # m, n


def test_an_attribute_with_tokens_has_no_unmasked_counts_that_would_tell_them_apart(write, plan_of):
    write("salt.txt", "0123456789abcdef")
    path = write("t.csv", "a,y\n1,n\n1,m\n2,m\n")
    plan = plan_of("{a: {maskings: {t: {token: {salt_file: salt.txt}}}}}", "{raw: {}, coded: {a: t}}")
    [attribute] = summarize(path, plan, name="t")["attributes"]
    assert not {"histogram", "joint"} & set(attribute)


def test_tokens_that_no_configuration_uses_hide_nothing(write, plan_of):
    write("salt.txt", "0123456789abcdef")
    plan = plan_of("{a: {maskings: {t: {token: {salt_file: salt.txt}}}}}", "{raw: {}}")
    [attribute] = summarize(write("t.csv", "a,y\n1,n\n1,m\n2,m\n"), plan, name="t")["attributes"]
    assert (attribute["histogram"], attribute["joint"], attribute["maskings"]) == ([2, 1], [[1, 1], [1, 0]], [])


@for_each("other", ["{mapping: {1: one, 2: two}}", "{shuffle: {}}", "{randomised_response: {keep: 0.5}}"])
def test_no_counts_beside_tokens_tell_which_is_which(write, plan_of, other):
    write("salt.txt", "0123456789abcdef")
    attributes = f"{{a: {{maskings: {{t: {{token: {{salt_file: salt.txt}}}}, o: {other}}}}}}}"
    plan = plan_of(attributes, "{c: {a: t}, d: {a: drop}}\nseed: 12345678901234567890")
    with pytest.raises(PlanError, match="o: its counts would reveal which token of 'a' is which"):
        summarize(write("t.csv", "a,y\n1,n\n1,m\n2,m\n"), plan, name="t")


def test_pairs_of_an_attribute_with_tokens_are_refused_however_it_is_masked(write, plan_of):
    write("salt.txt", "0123456789abcdef")
    attributes = "{a: {maskings: {t: {token: {salt_file: salt.txt}}}}, b: {}}"
    plan = plan_of(attributes, "{c: {a: t, b: drop}, d: {}}")
    with pytest.raises(PlanError, match="its mapping is secret"):
        summarize(write("t.csv", "a,b,y\n1,1,n\n2,2,m\n"), plan, name="t", pairs=True)
