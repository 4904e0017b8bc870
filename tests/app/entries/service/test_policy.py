"""What a policy requires of each kind of table, and that no fault states a count."""

import numpy as np
import pytest

from aegis_advisor.evidence import PairAssociation, PairCounts, evidence_of
from app.entries.model.documents import entry_in
from app.entries.model.entries import Audience, Visibility
from app.entries.model.published import ConfigurationColumns, DeclaredControl, PublishedEntry
from app.entries.service.checks import NO_POLICY, Policy, declaration_faults, policy_faults
from app.platform.errors import InvalidDocumentError
from tests.service import example_entry, publication

EVERYWHERE = [
    "/label/histogram/1",
    "/attributes/0/histogram/1",
    "/attributes/0/joint/1/0",
    "/attributes/0/maskings/0/joint/0/1",
    "/pairs/0/joint/1/0",
]


def entry(**changes):
    """An entry with every kind of table and one small count in each. Its sums do not agree."""
    masking = {"id": "m", "domain": ["x", "y"], "mapping": [0, 1], "joint": [[90, 3], [0, 50]]}
    attribute = {"name": "a", "domain": ["x", "y"], "histogram": [99, 4], "joint": [[0, 70], [2, 30]]}
    document = {
        "label": {"name": "class", "domain": ["p", "q"], "histogram": [80, 1]},
        "attributes": [attribute | {"maskings": [masking]}],
        "pairs": [{"attributes": ["a", "b"], "maskings": ["m", "n"], "joint": [[0, 60], [4, 70]]}],
    }
    return document | changes


def noisy_entry(scale=4.0, **changes):
    """An entry whose tables all declare noise."""
    noise = {"kind": "laplace", "scale": scale}
    masking = {"id": "m", "domain": ["x", "y"], "noise": noise, "joint": [[90, -3], [1, 50]]}
    uncounted = {"id": "n", "domain": ["z"], "mapping": [0, 0]}
    document = {
        "label": {"name": "class", "domain": ["p", "q"], "noise": noise, "histogram": [80, 1]},
        "attributes": [{"name": "a", "domain": ["x", "y"], "maskings": [masking, uncounted]}],
    }
    return document | changes


def published(document):
    """A document in the service's form, without all that the contract requires and with sums that disagree."""
    configurations = document.get("configurations", [])
    attributes = [attribute | {"type": "string"} for attribute in document["attributes"]]
    told = {"records": 1, "label": document["label"], "attributes": attributes}
    return PublishedEntry(
        name="entry",
        title="",
        description="",
        keywords=(),
        license="",
        visibility=Visibility(Audience.PRIVATE),
        label=document["label"]["name"],
        evidence=evidence_of(entry_in(told)),
        pairs={
            place: PairCounts((0, 1), tuple(pair["maskings"]), np.array(pair["joint"]))
            for place, pair in enumerate(document.get("pairs", []))
            if "joint" in pair
        },
        associations={
            place: PairAssociation((0, 1), tuple(pair["maskings"]), **pair["with_label"])
            for place, pair in enumerate(document.get("pairs", []))
            if "with_label" in pair
        },
        masked_records={
            (place, index): masking["records"]
            for place, attribute in enumerate(document["attributes"])
            for index, masking in enumerate(attribute["maskings"])
            if "records" in masking
        },
        control=DeclaredControl(**(document.get("disclosure_control") or {})),
        configurations=ConfigurationColumns(
            (), {}, {}, *([each.get(name) for each in configurations] for name in ("suppressed", "suppressed_cells"))
        ),
        document=document,
    )


def broken(document, policy):
    return policy_faults(published(document), policy)


def untrue(document):
    return declaration_faults(published(document))


def pointers(faults):
    return [fault.pointer for fault in faults]


def test_nothing_is_demanded_by_default():
    assert broken(entry(), NO_POLICY) == ()


def test_a_small_count_is_found_in_every_kind_of_table():
    faults = broken(entry(), Policy(min_cell=5))
    assert pointers(faults) == EVERYWHERE
    assert {fault.detail for fault in faults} == {
        "This count is below 5 and not 0, which this service does not accept: use aegis summarize --min-cell 5"
    }


def test_small_counts_at_one_place_are_told_alike_whichever_they_are():
    faults = set()
    for count in (1, 2, 3, 4):
        document = entry()
        document["label"]["histogram"][1] = count
        faults.add(broken(document, Policy(min_cell=5))[0])
    assert len(faults) == 1


def test_a_count_of_just_as_many_is_taken():
    document = noisy_entry()
    del document["label"]["noise"]
    document["label"]["histogram"] = np.array([5, 0])
    assert broken(document, Policy(min_cell=5)) == ()
    assert pointers(broken(document, Policy(min_cell=6))) == ["/label/histogram/0"]


def test_counts_with_noise_are_not_those_of_people():
    assert broken(noisy_entry(), Policy(min_cell=50)) == ()


def test_noise_is_demanded_of_every_table_that_has_counts():
    faults = broken(entry(), Policy(require_noise=True))
    tables = ["label/histogram", *(f"attributes/0/{name}" for name in ("histogram", "joint", "maskings/0/joint"))]
    assert pointers(faults) == [f"/{table}" for table in (*tables, "pairs/0/joint")]
    assert ["leave them out" in fault.detail for fault in faults] == [False, True, True, False, False]
    assert broken(noisy_entry(), Policy(require_noise=True)) == ()


@pytest.mark.parametrize("policy", [Policy(require_noise=True), Policy(max_epsilon=1.0)])
def test_where_noise_is_demanded_nothing_may_be_measured_on_the_records(policy):
    document = example_entry()
    document["configurations"][1]["measured"] = {"model": "m", "auc": 0.6, "low": 0.5, "high": 0.7, "raw_auc": 0.8}
    with pytest.raises(InvalidDocumentError) as refused:
        publication(document, policy)
    assert "/configurations/1/measured" in {each.pointer for each in refused.value.faults}


@pytest.mark.parametrize("policy", [Policy(require_noise=True), Policy(max_epsilon=1.0)])
def test_what_a_pair_tells_of_the_label_is_exact(policy):
    told = {"attributes": ["a", "b"], "maskings": ["m", "n"], "with_label": {"chi_square": 60.5, "combinations": 3}}
    counted = entry()["pairs"][0]
    found = {fault.pointer: fault.detail for fault in broken(noisy_entry(pairs=[told, counted, told]), policy)}
    assert found.keys() - {"/disclosure_control/epsilon"} == {
        *("/pairs/0/with_label", "/pairs/1/joint", "/pairs/2/with_label")
    }
    assert "60.5" not in " ".join(found.values())
    assert "leave them out" in found["/pairs/0/with_label"]


def test_noise_in_what_a_pair_tells_of_the_label_satisfies_every_policy_and_is_added_to_what_is_spent():
    told = {"chi_square": 60.5, "combinations": 3, "noise_scale": 10.0}
    pair = {"attributes": ["a", "b"], "maskings": ["m", "n"], "with_label": told}
    budget = {"disclosure_control": {"epsilon": 0.7}}
    assert broken(noisy_entry(pairs=[pair]), Policy(require_noise=True, min_cell=5)) == ()
    # Two tables with noise of scale 4, and two numbers with noise of scale 10.
    assert broken(noisy_entry(pairs=[pair], **budget), Policy(max_epsilon=0.7)) == ()
    [fault] = broken(noisy_entry(pairs=[pair, pair], **budget), Policy(max_epsilon=0.7))
    assert "spends an epsilon of 0.9 " in fault.detail
    faint = {**pair, "with_label": {**told, "noise_scale": 0.01}}
    assert pointers(broken(noisy_entry(pairs=[faint]), Policy(require_noise=True))) == ["/pairs/0/with_label"]


@pytest.mark.parametrize("demanded", [True, False], ids=["demanded", "declared"])
def test_nothing_is_told_of_the_label_where_small_counts_must_not_be(demanded):
    told = {"attributes": ["a", "b"], "maskings": ["m", "n"], "with_label": {"chi_square": 60.5, "combinations": 3}}
    document = noisy_entry(pairs=[told], **({} if demanded else {"disclosure_control": {"min_cell": 5}}))
    faults = broken(document, Policy(min_cell=5)) if demanded else untrue(document)
    assert [fault.pointer for fault in faults] == ["/pairs/0/with_label"]
    assert "60.5" not in faults[0].detail
    told["with_label"]["rounded_to"] = 4
    assert (broken(document, Policy(min_cell=5)) if demanded else untrue(document)) != ()
    told["with_label"]["rounded_to"] = 5
    assert (broken(document, Policy(min_cell=5)) if demanded else untrue(document)) == ()


def test_a_small_number_of_records_left_out_is_a_small_count():
    left_out = [{"id": f"c{number}", "suppressed": number} for number in (0, 4, 5, None)]
    document = noisy_entry(configurations=[*left_out, {"id": "none"}])
    [fault] = broken(document, Policy(min_cell=5))
    assert fault.pointer == "/configurations/1/suppressed"
    assert "4" not in fault.detail
    assert pointers(untrue(document | {"disclosure_control": {"min_cell": 5}})) == [fault.pointer]
    cells = noisy_entry(configurations=[{"id": "c", "suppressed": 0, "suppressed_cells": 4}])
    assert pointers(broken(cells, Policy(min_cell=5))) == ["/configurations/0/suppressed_cells"]


def test_noise_is_demanded_of_numbers_of_records_too_and_none_can_have_it():
    document = noisy_entry(configurations=[{"id": "c", "suppressed": 0}, {"id": "d", "suppressed": None}])
    document["attributes"][0]["maskings"][0]["records"] = 79
    places = ["/configurations/0/suppressed", "/attributes/0/maskings/0/records"]
    assert pointers(broken(document, Policy(require_noise=True))) == places


@pytest.mark.parametrize(
    ("declared", "scale", "expected"),
    [
        ({"epsilon": 0.5}, 4.0, []),  # two tables of scale 4 spend half
        ({"epsilon": 0.5}, 3.9, ["spends an epsilon of 0.512821"]),
        ({"epsilon": 0.6}, 4.0, ["requires a declared epsilon of at most 0.5"]),
        ({}, 4.0, ["requires a declared epsilon of at most 0.5"]),
        (None, 0.05, ["requires a declared epsilon of at most 0.5", "spends an epsilon of 40"]),
    ],
)
def test_a_budget_is_what_the_noise_spends_not_what_is_said(declared, scale, expected):
    faults = broken(noisy_entry(scale, disclosure_control=declared), Policy(max_epsilon=0.5))
    assert set(pointers(faults)) <= {"/disclosure_control/epsilon"}
    assert len(faults) == len(expected)
    assert all(said in fault.detail for said, fault in zip(expected, faults, strict=True))


def test_a_limit_of_the_budget_demands_noise():
    document = entry(disclosure_control={"epsilon": 0.1})
    assert len(broken(document, Policy(max_epsilon=0.5))) == 5


def test_the_first_hundred_places_are_told():
    document = entry()
    document["attributes"][0]["joint"] = np.ones((200, 300), dtype=np.int64)
    assert len(broken(document, Policy(min_cell=2))) == 100


def test_an_entry_is_held_to_what_it_declares_itself():
    assert pointers(untrue(entry(disclosure_control={"min_cell": 5}))) == EVERYWHERE
    assert untrue(entry(disclosure_control={"min_cell": 5, "rounded_to": 1})) == ()
    of_ten = untrue(entry(disclosure_control={"rounded_to": 10}))
    assert pointers(of_ten) == [EVERYWHERE[0], "/attributes/0/histogram/0", *EVERYWHERE[1:]]
    assert untrue(noisy_entry(disclosure_control={"min_cell": 90})) == ()
    assert untrue(entry(disclosure_control=None)) == untrue(entry()) == ()


def test_a_publication_is_held_to_the_policy():
    publication(example_entry(), NO_POLICY)
    with pytest.raises(InvalidDocumentError) as refused:
        publication(example_entry(), Policy(min_cell=3))
    assert pointers(refused.value.faults)[0] == "/attributes/0/maskings/0/joint/0/2"


@pytest.mark.parametrize("policy", [Policy(min_cell=5), Policy(require_noise=True)])
def test_noise_too_little_to_change_a_count_is_none(policy):
    assert broken(noisy_entry(scale=0.05), policy) == ()
    assert "/label/histogram" in "".join(pointers(broken(noisy_entry(scale=0.04), policy)))
