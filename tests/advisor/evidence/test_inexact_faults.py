"""What is declared is allowed, and nothing beyond it."""

import numpy as np

from aegis_advisor.evidence import AttributeEvidence, Masking, Perturbation
from aegis_advisor.evidence.checks import find_faults
from tests.advisor.cases import evidence_of, mapped, random_mapping, random_table
from tests.advisor.inexact import drawn, lacking, noisy, randomised_response, rounded
from tests.for_each import for_each

LABEL, HISTOGRAM = np.array([70, 40]), np.array([10, 50, 50])
EVEN = np.full((3, 2), 0.5)


def view(joint, *, mapping=(0, 1, 1), histogram=HISTOGRAM, transition=None, deterministic=None, **declared):
    """The evidence of one masking with two masked values."""
    mapping = None if mapping is None else np.asarray(mapping)
    told = mapping is not None if deterministic is None else deterministic
    masking = Masking("m", 2, mapping, np.asarray(joint), told, Perturbation(**declared), transition)
    return AttributeEvidence("a", 3, LABEL, histogram, None, (masking,))


MANY = "too many; if noise or rounded_to explains this, declare it"
FEW = "too few; what is declared explains at most {}"
EXPLAINED = "too many; what is declared explains at most {}"

FAULTS = {
    "noise beyond reason": (
        view([[10, 0], [60, 240]], noise_scale=2.0),
        [
            ("joint", f"adds up to 310, but the number of records is 110 (200 {EXPLAINED.format(67)})"),
            ("joint", f"column 1 adds up to 240, but the label's histogram counts 40 (200 {EXPLAINED.format(59)})"),
        ],
    ),
    "a row beyond reason": (
        view([[70, 40], [0, 0]], noise_scale=2.0),
        [
            ("joint/0", f"adds up to 110, but the histogram of its values counts 10 (100 {EXPLAINED.format(59)})"),
            ("joint/1", f"adds up to 0, but the histogram of its values counts 100 (100 {FEW.format(59)})"),
        ],
    ),
    "a negative count beyond reason": (
        view([[10, -70], [60, 110]], noise_scale=2.0),
        [("joint/0/1", "-70 is not a count from -54 to 9007199254740991")],
    ),
    "no multiple of the base": (
        view([[10, 0], [60, 42]], rounded_to=5),
        [("joint/1/1", "42 is not a multiple of 5, its `rounded_to`")],
    ),
    "more than rounding": (
        view([[10, 0], [60, 50]], rounded_to=5),
        [("joint", f"column 1 adds up to 50, but the label's histogram counts 40 (10 {EXPLAINED.format(8)})")],
    ),
    "another total than it says": (
        view([[10, 0], [60, 39]], records=108),
        [("joint", f"adds up to 109, but its `records` says 108 (1 {MANY})")],
    ),
    "more of a class than there is, and less than was left": (
        view([[11, 0], [60, 38]], records=109),
        [
            ("joint", f"column 0 adds up to 71, but the label's histogram counts 70 (1 {MANY})"),
            ("joint", f"column 1 adds up to 38, but the label's histogram counts 40 (2 {FEW.format(1)})"),
        ],
    ),
    "more of a value than there is, and less than was left": (
        view([[11, 0], [59, 39]], records=109),
        [
            ("joint/0", f"adds up to 11, but the histogram of its values counts 10 (1 {MANY})"),
            ("joint/1", f"adds up to 98, but the histogram of its values counts 100 (2 {FEW.format(1)})"),
        ],
    ),
    "less of a class than was left out": (
        view([[9, 0], [60, 40]], records=109, histogram=None),
        [],
    ),
    "declarations that mean nothing": (
        view([[10, 0], [60, 40]], noise_scale=float("inf"), rounded_to=1, records=111),
        [
            ("noise/scale", "inf is not a scale: it must be above 0 and at most 9007199254740991"),
            ("rounded_to", "1 is not a base for rounding: it must be from 2 to 9007199254740991"),
            ("records", "111 records are counted, but there are 110"),
        ],
    ),
    "records where no value leads": (
        view([[30, 0], [40, 40]], mapping=(1, 1, 1), histogram=None, rounded_to=5),
        [("joint/0", "no value is mapped to masked value 0, yet it counts 30 records")],
    ),
    "a matrix and a mapping": (
        view([[10, 0], [60, 40]], transition=EVEN),
        [("transition", "a masking has a mapping or a transition matrix, not both")],
    ),
    "a matrix and determinism": (
        view([[10, 0], [60, 40]], mapping=None, transition=EVEN, deterministic=True),
        [("deterministic", "a masking with a transition matrix is not deterministic")],
    ),
    "a matrix of another shape": (
        view([[10, 0], [60, 40]], mapping=None, transition=EVEN.T),
        [("transition", "has shape (2, 3), but there are 3 values and 2 masked values")],
    ),
    "no probabilities": (
        view([[10, 0], [60, 40]], mapping=None, transition=np.array([[1.5, -0.5], [np.nan, 0.5], [0.3, 0.6]])),
        [
            ("transition/0/0", "1.5 is not a probability"),
            ("transition/0/1", "-0.5 is not a probability"),
            ("transition/1/0", "nan is not a probability"),
            ("transition/2", "the probabilities of this value add up to 0.9, not 1"),
        ],
    ),
    "drawn counts that do not add up": (
        view([[10, 0], [60, 41]], mapping=None, transition=EVEN),
        [
            ("joint", f"adds up to 111, but the number of records is 110 (1 {MANY})"),
            ("joint", f"column 1 adds up to 41, but the label's histogram counts 40 (1 {MANY})"),
        ],
    ),
    "drawn from values without records only": (
        view([[10, 0], [60, 40]], mapping=None, histogram=np.array([0, 60, 50]),
             transition=np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])),
        [("joint/0", "no value that has records becomes masked value 0, yet it counts 10 records")],
    ),
}  # fmt: skip


@for_each(("found", "expected"), FAULTS.values())
def test_a_fault_says_what_is_declared_and_what_would_have_to_be(found, expected):
    shown = [("/".join(map(str, fault.path[2:])), fault.detail) for fault in find_faults(found)]
    assert shown == expected


@for_each("seed", range(15))
@for_each("histogram", [True, False])
def test_what_is_declared_is_never_refused(seed, histogram):
    rng = np.random.default_rng(seed)
    table = random_table(rng, values=12, records=300)
    mapping = random_mapping(rng, 12, 4)
    views = [
        noisy(rng, "noisy", mapping, table, [0.01, 0.3, 4.0, 1e6][seed % 4]),
        rounded("rounded", mapping, table, 2 + seed),
        rounded("gone", mapping, table, 10_000),
        lacking(rng, "lacking", mapping, table, 20),
        noisy(rng, "more", mapping, lacking(rng, "x", np.arange(12), table, 30).joint, 2.0, records=270, rounded_to=3),
        drawn(rng, "drawn", randomised_response(12, 0.6), table),
        mapped("exact", mapping, table),
    ]
    assert find_faults(evidence_of(table, views, histogram=histogram, joint=seed % 2 == 0)) == ()


def test_views_that_say_they_are_inexact_are_not_compared_with_each_other():
    table = np.array([[5, 1], [2, 2], [0, 6], [3, 1]])
    fine = mapped("fine", [0, 1, 2, 2], table)
    moved = np.array([[6, 4], [4, 6]])
    coarse = Masking("coarse", 2, np.array([0, 0, 1, 1]), moved, True, Perturbation(rounded_to=2))
    assert find_faults(evidence_of(table, [fine, coarse], histogram=False)) == ()
