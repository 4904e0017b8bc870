"""Transfer utilities of masked and generated releases, beside tables counted with plain Python."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from aegis_advisor.transfer import chi_square_transfer, g3_transfer, information_transfer
from aegis_provider.records import Column, Records
from aegis_provider.synth.released.released import Released
from aegis_provider.synth.transfer import holdout_of, transfer_of
from tests.generated import generated
from tests.service import example_entry, publication


def texts(random, count):
    """People whose health depends on their age and on whether they smoke."""
    age, smokes = random.integers(20, 80, count), random.random(count) < 0.4
    ill = random.random(count) < 0.1 + 0.008 * (age - 20) + 0.2 * smokes
    columns = {"age": age.astype(str), "smokes": np.where(smokes, "yes", "no"), "health": np.where(ill, "ill", "well")}
    return pa.table({name: values.tolist() for name, values in columns.items()})


def records_of(table):
    return Records(tuple(Column.of(name, table.column(name).combine_chunks()) for name in table.column_names))


@pytest.fixture(scope="module")
def people():
    """The texts and the records of 4,000 people, and which of them are held out."""
    table = texts(np.random.default_rng(3), 4_000)
    return table, records_of(table), np.arange(4_000) % 2 == 1


def split(people):
    table, records, held_out = people
    return table.filter(pa.array(~held_out)), records.take(~held_out), records.take(held_out)


def decades(table):
    ages = [f"[{age[0]}0,{int(age[0]) + 1}0)" for age in table.column("age").to_pylist()]
    return table.set_column(0, "age", [ages])


def values_of(transfer):
    return {
        name: {measure: one.value for measure, one in figures.items()} for name, figures in transfer.attributes.items()
    }


def counted(table, groups, values):
    """(values, labels) How many records have each."""
    counts = Counter(zip(groups, table.column("health").to_pylist(), strict=True))
    return np.array([[float(counts[value, label]) for label in ("ill", "well")] for value in values])


def test_a_mask_is_judged_by_its_masked_values(people):
    whole, _, held_out = people
    seen_texts, seen, tested = split(people)
    masked = decades(seen_texts)
    found = transfer_of(Released.of(seen, masked), seen, tested, "health")
    values = sorted(set(masked.column("age").to_pylist()))
    release = counted(masked, masked.column("age").to_pylist(), values)
    rest = decades(whole.filter(pa.array(held_out)))
    holdout = counted(rest, rest.column("age").to_pylist(), values)
    figures = found.attributes["age"]
    for measure, of in (
        ("mutual_information", information_transfer),
        ("chi_square", chi_square_transfer),
        ("g3", g3_transfer),
    ):
        expected = of(release, holdout)
        assert figures[measure].value == pytest.approx(expected.value, abs=0.0026)  # to multiples of 0.005
        assert figures[measure].low <= expected.low < expected.high <= figures[measure].high


def test_a_copy_tells_what_the_records_themselves_tell(people):
    seen_texts, seen, tested = split(people)
    holdout = holdout_of(seen, tested, "health")
    copy = transfer_of(Released.of(seen, seen_texts), seen, tested, "health")
    assert copy == holdout.unmasked
    assert (holdout.records, holdout.rounded_to) == (2_000, 0.005)
    assert copy.joint.value > max(figures["chi_square"].value for figures in copy.attributes.values()) > 0.02


def test_coarser_masks_tell_less_and_a_shuffled_label_nothing(people):
    seen_texts, seen, tested = split(people)
    everything = seen_texts.set_column(0, "age", [["*"] * len(seen)])
    shuffled = seen_texts.set_column(
        2, "health", [np.random.default_rng(1).permutation(seen_texts.column("health").to_pylist()).tolist()]
    )
    fine, coarse, none = (
        transfer_of(Released.of(seen, each), seen, tested, "health")
        for each in (decades(seen_texts), everything, shuffled)
    )
    assert fine.joint.value > coarse.joint.value > none.joint.value
    assert abs(coarse.attributes["age"]["mutual_information"].value) <= 0.005
    assert none.attributes["age"]["chi_square"].value <= 0


def test_a_dropped_attribute_tells_nothing(people):
    seen_texts, seen, tested = split(people)
    found = values_of(transfer_of(Released.of(seen, seen_texts.drop_columns(["age"])), seen, tested, "health"))
    assert found["age"]["mutual_information"] == found["age"]["chi_square"] == 0
    assert found["age"]["g3"] == holdout_of(seen, tested, "health").majority_error


def test_generated_numbers_count_as_the_nearest_real_ones(people):
    seen_texts, seen, tested = split(people)
    moved = [f"{age}.2" for age in seen_texts.column("age").to_pylist()]
    found = transfer_of(Released.of(seen, seen_texts.set_column(0, "age", [moved])), seen, tested, "health")
    assert found == transfer_of(Released.of(seen, seen_texts), seen, tested, "health")


def test_a_service_accepts_the_figures(people):
    seen_texts, seen, tested = split(people)
    entry = example_entry(format=2)
    entry["label"] = {"name": "health", "domain": ["ill", "well"], "histogram": [40, 60]}
    entry["attributes"] = [
        {"name": name, "type": "string", "domain": ["all"], "maskings": []} for name in ("age", "smokes")
    ]
    declared = transfer_of(Released.of(seen, decades(seen_texts)), seen, tested, "health").model_dump()
    drawn = generated("g", records=100, histogram=[40, 60], weights=None, transfer=declared)
    entry["configurations"] = [
        {"id": "m", "maskings": {"age": "drop", "smokes": "identity"}, "transfer": declared},
        drawn,
    ]
    entry["holdout"] = holdout_of(seen, tested, "health").model_dump()
    assert publication(entry).content.configuration_table.declared
