"""The example's plan, compared with the example's table counted row by row."""

from collections import Counter
from itertools import combinations

import pytest

from aegis_provider import apply, write_entry
from aegis_sdk.wire import EntryDocument
from tests.for_each import for_each
from tests.provider import oracle
from tests.provider.documents import summarize

HABITS = [0, 1, 2, 4, 7, 13, 25]

BY_HAND = {
    ("visits", "visits-3"): lambda text: oracle.integer_bucket(text, 3),
    ("visits", "visits-7"): lambda text: oracle.integer_bucket(text, 7),
    ("visits", "visits-habits"): lambda text: oracle.edge_bucket(text, HABITS),
    ("visits", "visits-gone"): lambda _: "*",
    ("incentive_payment", "incentive-50"): lambda text: oracle.integer_bucket(text, 50),
    ("max_expenditure", "maximum-150"): lambda text: oracle.integer_bucket(text, 150),
    ("max_expenditure", "maximum-1000"): lambda text: oracle.rounded(text, 1000),
    ("chronic_diseases", "chronic-2.5"): lambda text: oracle.decimal_bucket(text, "2.5", 1),
    ("chronic_diseases", "chronic-10"): lambda text: oracle.rounded(text, 10),
    ("physical_limitation", "limitation-blurred"): lambda text: oracle.blurred(text, 3),
    ("physical_limitation", "limitation-kind"): lambda text: text if text in {"no", "yes"} else "imputed",
    ("coinsurance", "coinsurance-half"): lambda text: (
        "insured in full or part" if int(text) <= 50 else "hardly insured"
    ),
    ("deductible_plan", "deductible-coded"): lambda text: {"no": "A", "yes": "B"}[text],
}


@pytest.fixture(scope="module")
def records(health_table):
    return oracle.records_of(health_table)


@pytest.fixture(scope="module")
def entry(health_table, health_plan):
    return summarize(health_table, health_plan, name="health")


@pytest.fixture(scope="module")
def attributes(entry):
    return {attribute["name"]: attribute for attribute in entry["attributes"]}


def test_the_entry_is_valid(entry):
    assert EntryDocument.model_validate(entry).records == 20_190


def test_histograms_are_those_of_the_records(entry, attributes, records):
    label = entry["label"]
    assert dict(zip(label["domain"], label["histogram"], strict=True)) == Counter(row["health"] for row in records)
    for name, attribute in attributes.items():
        counted = dict(zip(attribute["domain"], attribute["histogram"], strict=True))
        assert counted == Counter(row[name] for row in records)


@pytest.mark.long
@for_each(("name", "masking_id"), BY_HAND)
def test_joint_counts_are_those_of_the_records_masked_one_by_one(entry, attributes, records, name, masking_id):
    masking = next(each for each in attributes[name]["maskings"] if each["id"] == masking_id)
    by_hand = BY_HAND[name, masking_id]
    expected = oracle.joint_counts([by_hand(row[name]) for row in records], [row["health"] for row in records])
    counted = {
        (masked, label): count
        for masked, counts in zip(masking["domain"], masking["joint"], strict=True)
        for label, count in zip(entry["label"]["domain"], counts, strict=True)
        if count
    }
    assert counted == expected
    mapped = {value: masking["domain"][place] for value, place in zip_mapping(attributes[name], masking)}
    assert mapped == {value: by_hand(value) for value in attributes[name]["domain"]}


def zip_mapping(attribute, masking):
    return zip(attribute["domain"], masking["mapping"], strict=True)


def test_no_unmasked_joint_counts_leave(attributes):
    assert all("joint" not in attribute for attribute in attributes.values())


def test_the_file_can_be_read_by_a_person(entry, tmp_path):
    write_entry(EntryDocument.model_validate(entry), tmp_path / "entry.json")
    lines = (tmp_path / "entry.json").read_text(encoding="utf-8").splitlines()
    assert EntryDocument.model_validate_json("\n".join(lines)) == EntryDocument.model_validate(entry)
    assert "      [132, 909, 4628, 7253]," in lines
    assert max(map(len, lines)) < 300
    assert len(lines) < 2_000


@for_each("name", ["visits", "incentive_payment", "max_expenditure", "chronic_diseases"])
def test_numeric_attributes_have_views_that_overlap_without_nesting(attributes, name):
    groups = {
        each["id"]: each["mapping"] for each in attributes[name]["maskings"] if each["function"]["name"] == "bucketize"
    }
    wide = {key: mapping for key, mapping in groups.items() if 4 <= len(set(mapping)) <= 40}
    assert sum(not nested(*pair) for pair in combinations(wide.values(), 2)) >= 2


def nested(one, other):
    pairs = len(set(zip(one, other, strict=True)))
    return pairs in {len(set(one)), len(set(other))}


def test_configurations_are_many_distinct_and_use_every_masking(entry, attributes):
    chosen = [tuple(each["maskings"].items()) for each in entry["configurations"]]
    used = {item for maskings in chosen for item in maskings}
    assert len(set(chosen)) == len(chosen) >= 60
    assert used >= {(name, masking["id"]) for name, each in attributes.items() for masking in each["maskings"]}


@pytest.mark.long
@for_each("place", [0, 20, 40, 55])
def test_k_is_the_smallest_group_of_the_masked_table(health_table, health_plan, tmp_path, records, place):
    configuration = health_plan.configurations[place]
    apply(health_table, health_plan, configuration.id, tmp_path / "masked.csv", keep_order=True)
    masked = oracle.records_of(tmp_path / "masked.csv")
    assert [row.pop("health") for row in masked] == [row["health"] for row in records]
    assert min(Counter(tuple(row.values()) for row in masked).values()) == configuration.privacy["k"]


def test_the_example_has_private_and_open_configurations(health_plan):
    ks = [configuration.privacy["k"] for configuration in health_plan.configurations]
    assert min(ks) == 1
    assert all(sum(k >= least for k in ks) >= 10 for least in (2, 5, 10))


@pytest.mark.long
def test_masking_the_table_masks_every_record_in_place(health_table, health_plan, tmp_path, records):
    configuration = next(
        each
        for each in health_plan.configurations
        if set(each.maskings.items()) & set(BY_HAND) and each.privacy["k"] < 5
    )
    apply(health_table, health_plan, configuration.id, tmp_path / "masked.csv", keep_order=True)
    masked = oracle.records_of(tmp_path / "masked.csv")
    kept = [name for name, choice in configuration.maskings.items() if choice != "drop"]
    assert list(masked[0]) == [*kept, "health"]
    for item in set(configuration.maskings.items()) & set(BY_HAND):
        assert [row[item[0]] for row in masked] == [BY_HAND[item](row[item[0]]) for row in records]
