"""Only records that some release shows are counted, recounted here in plain Python."""

from collections import Counter

import pytest

from aegis_provider import load_plan, prepare_entry
from aegis_provider.counting.counted_table import CountedTable
from aegis_provider.privacy.privacy_table import shown_records
from aegis_provider.summary import summarize_shared
from aegis_provider.table import open_table

ROWS = [("1", "u", "n")] * 8 + [("1", "v", "m")] * 7 + [("2", "u", "m")] * 6
LONELY = [("3", "w", "n"), ("", "w", "m"), ("4.0", "w", "n"), ("4.00", "x", "m")]
ATTRIBUTES = "{a: {type: number, maskings: {gone: {suppress: {}}}}, b: {maskings: {cut: {blur: {keep: 0}}}}}"
REST = "quasi_identifiers: [a, b]\nprivacy: {c: {k: 3}, d: {k: 3}}\nsuppressed: {c: 4, d: 4}"


@pytest.fixture
def table(write):
    return write("t.csv", "a,b,y\n" + "".join(",".join(row) + "\n" for row in ROWS + LONELY))


def counted(table, plan):
    with open_table(table) as opened:
        return shown_records(CountedTable.of(opened, plan), plan)


def test_records_that_every_release_leaves_out_are_not_counted(table, plan_of):
    plan = plan_of(ATTRIBUTES, "{c: {}, d: {b: cut}}\n" + REST)
    shown = counted(table, plan)
    assert shown.records == len(ROWS)
    assert [each.domain.texts for each in shown.attributes] == [("1", "2"), ("u", "v")]
    for place, each in enumerate(shown.attributes):
        expected = Counter((row[place], row[-1]) for row in ROWS)
        cells = zip(each.counts.values, each.counts.labels, each.counts.counts, strict=True)
        found = {(each.domain.texts[value], shown.label.texts[label]): count for value, label, count in cells}
        assert found == expected


def test_what_one_release_shows_is_counted(table, plan_of):
    """With `a` gone and `b` cut, all records are alike."""
    plan = plan_of(ATTRIBUTES, "{c: {}, d: {a: gone, b: cut}}\n" + REST.replace("d: 4}", "d: 0}"))
    assert counted(table, plan).records == len(ROWS + LONELY)
    plan = plan_of(ATTRIBUTES, "{c: {}, d: {a: gone}}\n" + REST)
    assert counted(table, plan).records == len(ROWS + LONELY) - 1  # only the one with x is alone


def test_a_release_that_leaves_out_none_shows_all(table, plan_of):
    plan = plan_of(ATTRIBUTES, "{c: {}, d: {}}\n" + REST.replace(", d: 4", ""))
    assert counted(table, plan).records == len(ROWS + LONELY)


def test_numbers_of_suppressed_records_are_those_of_the_counted_ones(table, plan_of):
    plan = plan_of(ATTRIBUTES, "{c: {}, d: {a: gone}}\n" + REST)
    summary = summarize_shared(table, plan, name="t")
    assert summary.hidden == 1
    assert [each.suppressed for each in summary.entry.configurations] == [3, 3]


def test_where_chance_decides_all_are_counted(table, plan_of):
    random = "b: {maskings: {cut: {randomised_response: {keep: 0.5}}}}}"
    plan = plan_of(
        ATTRIBUTES.replace("b: {maskings: {cut: {blur: {keep: 0}}}}}", random), "{c: {}, d: {b: cut}}\nseed: 7\n" + REST
    )
    assert counted(table, plan).records == len(ROWS + LONELY)


def test_the_default_lists_no_value_of_a_hidden_record(table, plan_of):
    plan = plan_of(ATTRIBUTES, "{c: {}, d: {b: cut}}\nseed: 7\n" + REST)
    entry = prepare_entry(table, plan, name="t").entry
    assert abs(entry.records - len(ROWS)) <= 4
    assert not any(text in str(entry.model_dump()) for text in ("'w'", "'x'", "'3'", "'4.0'"))
    assert {each.id for attribute in entry.attributes for each in attribute.maskings} == {"cut"}  # gone is not shared


def test_a_label_value_that_no_release_shows_is_not_listed(tmp_path):
    table, plan = tmp_path / "t.csv", tmp_path / "plan.yaml"
    table.write_text("a,y\n" + "common,u\ncommon,v\n" * 30 + "w,RARE\n", encoding="utf-8")
    plan.write_text(
        "label: y\nquasi_identifiers: [a]\nattributes: {a: {}}\nconfigurations: {c1: {a: identity}}\n"
        "privacy: {c1: {k: 5}}\nsuppressed: {c1: 1}\n",
        encoding="utf-8",
    )
    entry = prepare_entry(table, load_plan(plan), name="t").entry
    assert entry.label.domain == ["u", "v"]
    assert "RARE" not in entry.model_dump_json()
