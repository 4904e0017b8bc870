"""What a masking may declare about counts that differ from the table's and about random masked values."""

import json

import pytest

from aegis_sdk.wire import EXAMPLE_ENTRY, faults_of, read_entry
from aegis_sdk.wire.attribute import Masking
from tests.for_each import for_each
from tests.sdk.wire.documents import assert_refused, changed, entry_pointers, pointers, without

MASKING = ("attributes", 0, "maskings", 0)
AGE_2 = EXAMPLE_ENTRY["attributes"][0]["maskings"][0]
PLACE = "/attributes/0/maskings/0"
NOISE = {"kind": "laplace", "scale": 2.0}
EVEN = [[0.5, 0.5]] * 8


def declaring(**declared):
    return changed(MASKING, AGE_2 | declared)


def drawn(**fields):
    """The example with a transition matrix instead of the mapping."""
    entry = changed((*MASKING, "transition"), EVEN)
    del entry["attributes"][0]["maskings"][0]["mapping"]
    entry["attributes"][0]["maskings"][0] |= fields
    return entry


def test_sound_declarations_are_read():
    sound = [
        declaring(noise=NOISE, rounded_to=5, records=99),
        declaring(noise=NOISE, joint=[[-3, 0, 1, 7, 12], [15, 25, 29, 9, 2]]),
        declaring(noise=NOISE | {"scale": 1}, rounded_to=None, records=100),
        drawn(),
        drawn(transition=[[1, 0], [0.25, 0.75]] * 4, deterministic=False, rounded_to=2),
    ]
    assert [read_entry(json.dumps(entry))[0] for entry in sound] == sound


FAULTS = [
        (declaring(noise={"kind": "gauss", "scale": 1.0}), ["/noise/kind"]),
        (declaring(noise={"kind": "laplace"}), ["/noise/scale"]),
        (declaring(noise=NOISE | {"scale": 0}), ["/noise/scale"]),
        (declaring(noise=NOISE | {"scale": -1.0}), ["/noise/scale"]),
        (declaring(noise=NOISE | {"scale": "2"}), ["/noise/scale"]),
        (declaring(noise=NOISE | {"scale": True}), ["/noise/scale"]),
        (declaring(noise=NOISE | {"scale": 1e300}), ["/noise/scale"]),
        (declaring(noise=NOISE | {"seed": 1}), ["/noise/seed"]),
        (declaring(noise=2.0), ["/noise"]),
        (declaring(rounded_to=1), ["/rounded_to"]),
        (declaring(rounded_to=2.0), ["/rounded_to"]),
        (declaring(records=0), ["/records"]),
        (declaring(records=101), ["/records"]),
        (drawn(mapping=[0] * 8), ["/transition"]),
        (drawn(deterministic=True), ["/deterministic"]),
        (drawn(transition=EVEN[:7]), ["/transition"]),
        (drawn(transition=[[0.2, 0.3, 0.5]] * 8), ["/transition"]),
        (drawn(transition=[*EVEN[:7], [1.0]]), ["/transition/7"]),
        (drawn(transition=[*EVEN[:7], [1.5, -0.5]]), ["/transition/7/0", "/transition/7/1"]),
        (drawn(transition=[*EVEN[:7], ["1", None]]), ["/transition/7/0", "/transition/7/1"]),
        (drawn(transition=[*EVEN[:7], [True, 0]]), ["/transition/7/0"]),
        (drawn(transition=0.5), ["/transition"]),
        (drawn(joint=None), ["/transition"]),
        (declaring(joint=None, noise=NOISE, rounded_to=5, records=99), ["/noise", "/rounded_to", "/records"]),
]  # fmt: skip


@for_each(("entry", "expected"), FAULTS)
def test_other_declarations_are_pointed_at(entry, expected):
    assert entry_pointers(entry) == [PLACE + place for place in expected]


@pytest.mark.parametrize("noise", [None, "missing"])
def test_a_negative_count_needs_noise_and_is_told_so(noise):
    entry = changed((*MASKING, "joint", 1, 4), -2, without(("title",)) if noise else declaring(noise=None))
    with pytest.raises(ValueError, match="noise") as caught:
        read_entry(json.dumps(entry))
    (fault,) = faults_of(caught.value)
    assert fault.pointer == f"{PLACE}/joint/1/4"


def test_noise_that_is_at_fault_is_the_only_fault_of_negative_counts():
    assert entry_pointers(declaring(noise={"kind": "laplace"}, joint=[[-1] * 5] * 2)) == [f"{PLACE}/noise/scale"]


def test_noisy_counts_have_the_magnitude_of_counts():
    assert_refused([-(2**53), 2**53], (*MASKING, "joint", 0, 0), document=declaring(noise=NOISE))


def test_what_is_not_a_number_is_no_probability_whatever_stands_before_it():
    masking = {"id": "m", "domain": ["x", "y"], "joint": [[1], [1]]}
    with pytest.raises(ValueError, match="between 0 and 1"):
        Masking(**masking, transition=[[0.5, float("nan")]])
    assert pointers(Masking, masking | {"transition": [[0.5, 2]]}) == ["/transition/0/1"]
