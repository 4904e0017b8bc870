"""The disclosure control of an entry must agree with the declarations of each table."""

import copy

import pytest
from pydantic import ValidationError

from aegis_sdk.wire import EXAMPLE_ENTRY, EXAMPLE_NOISY_MASKING, EntryDocument, faults_of


def faults(document):
    """What is wrong with a document, by pointer."""
    try:
        EntryDocument.model_validate(document)
    except ValidationError as error:
        return {fault.pointer: fault.detail for fault in faults_of(error)}
    return {}


def entry(control, *, noise=(None, None), rounded_to=(None, None), exact=()):
    """The example with these declarations for label and masking, and only the named exact counts."""
    document = copy.deepcopy(EXAMPLE_ENTRY)
    attribute = document["attributes"][0]
    masking = attribute["maskings"][0]
    if "histogram" not in exact:
        del attribute["histogram"]
    if "joint" in exact:
        attribute["joint"] = [[1] * 5] * 8
    for table, added, base in zip((document["label"], masking), noise, rounded_to, strict=True):
        table |= {"noise": added, "rounded_to": base}
    document["label"]["histogram"] = [15, 25, 30, 20, 10]
    masking["joint"] = [[0, 0, 0, 10, 10], [15, 25, 30, 10, 0]]
    return document | {"disclosure_control": control}


def laplace(epsilon=None, scale=2.0):
    return {"kind": "laplace", "scale": scale, "epsilon": epsilon}


MASKING = "/attributes/0/maskings/0"

REFUSED = {
    "no noise": ({"epsilon": 1.0}, {}, {"/label", MASKING}),
    "noise of the label only": ({"epsilon": 1.0}, {"noise": (laplace(), None)}, {MASKING}),
    "more than the budget": (
        {"epsilon": 1.0},
        {"noise": (laplace(0.5), laplace(0.6))},
        {"/disclosure_control/epsilon"},
    ),
    "more than the budget, by the scale": (
        {"epsilon": 0.2},
        {"noise": (laplace(), laplace())},
        {"/disclosure_control/epsilon"},
    ),
    "a smaller epsilon than the scale takes": (
        {"epsilon": 1.0},
        {"noise": (laplace(0.1), laplace(0.5))},
        {"/label/noise/epsilon"},
    ),
    "exact counts beside noise": (
        {"epsilon": 1.0},
        {"noise": (laplace(), laplace()), "exact": ("histogram", "joint")},
        {"/attributes/0/histogram", "/attributes/0/joint"},
    ),
    "no rounding": ({"rounded_to": 5}, {"rounded_to": (5, None)}, {MASKING}),
    "another rounding": ({"rounded_to": 5}, {"rounded_to": (5, 10)}, {MASKING}),
    "exact counts beside rounding": (
        {"rounded_to": 5},
        {"rounded_to": (5, 5), "exact": ("histogram",)},
        {"/attributes/0/histogram"},
    ),
}


def test_a_table_that_declares_something_else_is_refused():
    told = {name: set(faults(entry(control, **declared))) for name, (control, declared, _) in REFUSED.items()}
    assert told == {name: places for name, (_, _, places) in REFUSED.items()}


def test_what_agrees_is_taken():
    agreeing = [
        ({"epsilon": 1.1}, {"noise": (laplace(0.5), laplace(0.6))}),
        ({"epsilon": 0.3}, {"noise": (laplace(0.1, 10.0), laplace(0.2, 5.0))}),
        ({"epsilon": 1.0, "split": "equal"}, {"noise": (laplace(), laplace())}),
        ({"rounded_to": 5}, {"rounded_to": (5, 5)}),
        ({"min_cell": 10}, {"exact": ("histogram",)}),
        (None, {"noise": (laplace(), None), "exact": ("histogram",)}),
    ]
    assert [faults(entry(control, **declared)) for control, declared in agreeing] == [{}] * len(agreeing)


COUNTED = {"joint": [[5, 15], [15, 65]]}
TOLD = {"with_label": {"chi_square": 20.0, "combinations": 4}}


ROUNDED = {"rounded_to": 5}
DIGITS = {"with_label": {**TOLD["with_label"], "digits": 3}}
ROUNDED_TOLD = {"with_label": {**TOLD["with_label"], "rounded_to": 5, "digits": 3}}


def with_pair(document, given):
    other = copy.deepcopy(document["attributes"][0]) | {"name": "zip"}
    document["attributes"].append(other)
    document["configurations"] = [{"id": "c", "maskings": {"age": "drop", "zip": "drop"}}]
    document["pairs"] = [{"attributes": ["age", "zip"], "maskings": ["age-2", "age-2"]} | given]
    return document


ROUNDED_PAIRS = [
    (COUNTED, {"/pairs/0"}),
    (TOLD, {"/pairs/0/with_label"}),
    (COUNTED | TOLD, {"/pairs/0", "/pairs/0/with_label"}),
    (COUNTED | ROUNDED | TOLD, {"/pairs/0/with_label"}),
    (COUNTED | ROUNDED | DIGITS, {"/pairs/0/with_label"}),
    (COUNTED | ROUNDED_TOLD, {"/pairs/0"}),
    (COUNTED | {"rounded_to": 10} | ROUNDED_TOLD, {"/pairs/0"}),
    (COUNTED | ROUNDED | ROUNDED_TOLD, set()),
]


@pytest.mark.parametrize("control", [{"rounded_to": 5}, {"rounded_to": 5, "rounding": "once"}], ids=["each", "once"])
def test_rounded_pairs_declare_it(control):
    document = entry(control, rounded_to=(5, 5))
    told = [(given, set(faults(with_pair(copy.deepcopy(document), given)))) for given, _ in ROUNDED_PAIRS]
    assert told == ROUNDED_PAIRS


def noisy(scale=2.0, epsilon=1.0):
    return {"with_label": {**TOLD["with_label"], "noise": {"kind": "laplace", "scale": scale, "epsilon": epsilon}}}


NOISY = {"noise": laplace(1.0, 1.0)}


NOISY_PAIRS = [
    (5.0, COUNTED | NOISY | noisy(), set()),
    (4.9, COUNTED | NOISY | noisy(), {"/disclosure_control/epsilon"}),
    (5.0, COUNTED | NOISY | TOLD, {"/pairs/0/with_label"}),
    (5.0, COUNTED | NOISY | DIGITS, {"/pairs/0/with_label"}),
    (5.0, COUNTED | noisy(), {"/pairs/0"}),
    (4.0, noisy(), set()),
]


def test_noisy_pairs_and_what_they_tell_of_the_label_declare_it_within_the_budget():
    for epsilon, given, places in NOISY_PAIRS:
        document = entry({"epsilon": epsilon}, noise=(laplace(1.0, 1.0), laplace(1.0, 1.0)))
        assert set(faults(with_pair(document, given))) == places, given


def test_noise_in_what_a_pair_tells_spends_for_two_numbers():
    place = "/pairs/0/with_label/noise/epsilon"
    assert set(faults(with_pair(entry(None), noisy(2.0, 0.9)))) == {place}
    assert faults(with_pair(entry(None), noisy(2.0, 1.0))) == {}
    assert faults(with_pair(entry(None), noisy(2.0, None))) == {}


def test_open_answers_need_as_much_noise_in_what_pairs_tell():
    control = {"epsilon": 10.0, "open_answers": True}
    document = entry(control, noise=(laplace(1.0, 1.0), laplace(1.0, 1.0)))
    assert set(faults(with_pair(document, noisy(0.9, 3.0)))) == {"/pairs/0/with_label/noise/scale"}


def test_rounding_that_a_pair_without_counts_declares_is_a_fault():
    assert set(faults(with_pair(entry(None), ROUNDED | DIGITS))) == {"/pairs/0/rounded_to"}


def test_rounded_once_histograms_and_joint_counts_need_no_declaration():
    control = {"rounded_to": 5, "rounding": "once"}
    assert faults(entry(control, rounded_to=(None, None), exact=("histogram", "joint"))) == {}
    assert set(faults(entry(control | {"epsilon": 1.0}, rounded_to=(None, None)))) >= {"/disclosure_control/rounding"}
    assert set(faults(entry({"rounding": "once"}))) == {"/disclosure_control/rounding"}


def test_rounded_counts_of_the_label_are_multiples_and_the_fault_does_not_tell_the_count():
    document = entry(None, rounded_to=(25, None))
    found = faults(document)
    places = [0, 2, 3, 4]
    assert found == {f"/label/histogram/{at}": "Is not a multiple of 25, its `rounded_to`" for at in places}


def test_a_masking_may_count_a_few_records_more_than_an_inexact_label_adds_up_to():
    document = entry(None, rounded_to=(5, None))
    document["attributes"][0]["maskings"][0]["records"] = 103
    assert faults(document) == {}
    assert set(faults(entry(None) | {"attributes": document["attributes"]})) == {f"{MASKING}/records"}


def test_the_example_of_noise_is_one():
    document = copy.deepcopy(EXAMPLE_ENTRY)
    document["attributes"][0]["maskings"] = [EXAMPLE_NOISY_MASKING]
    assert faults(document) == {}
