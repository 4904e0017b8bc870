"""Each fault of pair counts is named with its place and difference."""

from dataclasses import replace

import numpy as np

from aegis_advisor.evidence import IDENTITY, AttributeEvidence, Masking, PairCounts, Perturbation
from aegis_advisor.evidence.checks import find_pair_faults
from tests.for_each import for_each

# Ten records; age in two groups with known counts; zip in two groups, and nothing is known about its values.
AGE = AttributeEvidence(
    name="age",
    values=3,
    label_histogram=np.array([4, 6]),
    histogram=np.array([3, 3, 4]),
    joint=None,
    maskings=(
        Masking("age-2", 2, np.array([0, 0, 1]), np.array([[2, 4], [2, 2]]), deterministic=True),
        Masking("age-1", 1, np.array([0, 0, 0]), None, deterministic=True),
        Masking("noisy", 2, np.array([0, 0, 1]), np.array([[2, 4], [2, 3]]), True, Perturbation(noise_scale=1.0)),
        Masking("rounded", 2, np.array([0, 0, 1]), np.array([[2, 4], [2, 2]]), True, Perturbation(rounded_to=2)),
        Masking("lacking", 2, np.array([0, 0, 1]), np.array([[2, 4], [2, 1]]), True, Perturbation(records=9)),
        Masking("again", 2, np.array([1, 1, 0]), None, deterministic=True),
    ),
)
ZIP = AttributeEvidence(
    name="zip",
    values=3,
    label_histogram=np.array([4, 6]),
    histogram=None,
    joint=None,
    maskings=(
        Masking("zip-3", 4, np.array([0, 1, 2]), None, deterministic=True),
        Masking("zip-2", 2, np.array([0, 1, 1]), None, deterministic=True),
        Masking("counted", 2, np.array([0, 1, 1]), np.array([[3, 2], [1, 4]]), deterministic=True),
    ),
)


def pair(maskings, joint, attributes=(0, 1)):
    return PairCounts(attributes, maskings, np.array(joint))


SOUND = pair(("age-2", "counted"), [[4, 2], [1, 3]])
HIDDEN = (
    "are declared inexact (noise, rounded_to or records), but pair counts are exact "
    "and would disclose what the declaration hides"
)

FAULTS = {
    "shape": ([pair(("age-2", "counted"), [[4, 2, 0], [1, 3, 0]])], [((0, "joint"), "has shape (2, 3), not (2, 2)")]),
    "negative": (
        [pair(("age-2", "counted"), [[-4, 2], [1, 3]])],
        [((0, "joint", 0, 0), "-4 is not a count from 0 to 9007199254740991")],
    ),
    "total": (
        [SOUND, pair(("age-1", "counted"), [[5, 6]])],
        [
            ((1, "joint"), "adds up to 11, but the number of records is 10 (1 too many)"),
            ((1, "joint", 0), "adds up to 11, but the histogram of its values counts 10 (1 too many)"),
            ((1, "joint"), "column 1 adds up to 6, but the counts of 'counted' add up to 5 (1 too many)"),
        ],
    ),
    "rows": (
        [pair(("age-2", "counted"), [[4, 1], [1, 4]])],
        [
            ((0, "joint", 0), "adds up to 5, but the counts of 'age-2' add up to 6 (1 too few)"),
            ((0, "joint", 1), "adds up to 5, but the counts of 'age-2' add up to 4 (1 too many)"),
        ],
    ),
    "columns": (
        [pair(("age-2", "counted"), [[3, 3], [1, 3]])],
        [
            ((0, "joint"), "column 0 adds up to 4, but the counts of 'counted' add up to 5 (1 too few)"),
            ((0, "joint"), "column 1 adds up to 6, but the counts of 'counted' add up to 5 (1 too many)"),
        ],
    ),
    "rows against the histogram": (
        [pair(("identity", "counted"), [[2, 1], [3, 1], [0, 3]])],
        [
            ((0, "joint", 1), "adds up to 4, but the histogram counts 3 (1 too many)"),
            ((0, "joint", 2), "adds up to 3, but the histogram counts 4 (1 too few)"),
        ],
    ),
    "a margin that only another pair tells": (
        [
            pair(("age-2", "zip-2"), [[5, 1], [0, 4]]),
            pair(("zip-2", "age-1"), [[4], [6]], attributes=(1, 0)),
        ],
        [
            ((1, "joint", 0), "adds up to 4, but the pair of 'age-2' and 'zip-2' counts 5 (1 too few)"),
            ((1, "joint", 1), "adds up to 6, but the pair of 'age-2' and 'zip-2' counts 5 (1 too many)"),
        ],
    ),
    "a margin that a coarser masking tells": (
        [pair(("age-1", "identity"), [[4, 3, 3]])],
        [
            (
                (0, "joint"),
                "masked value 0 of 'counted' adds up to 4, but the counts of 'counted' add up to 5 (1 too few)",
            ),
            (
                (0, "joint"),
                "masked value 1 of 'counted' adds up to 6, but the counts of 'counted' add up to 5 (1 too many)",
            ),
        ],
    ),
    "a masked value without preimage": (
        [pair(("age-1", "zip-3"), [[5, 3, 1, 1]])],
        [
            ((0, "joint"), "no value is mapped to masked value 3 of 'zip-3', yet it counts 1 records"),
            (
                (0, "joint"),
                "masked value 0 of 'counted' adds up to 6, but the counts of 'counted' add up to 5 (1 too many)",
            ),
            (
                (0, "joint"),
                "masked value 1 of 'counted' adds up to 4, but the counts of 'counted' add up to 5 (1 too few)",
            ),
        ],
    ),
    "a table that does not follow from a finer one": (
        [pair(("counted", "again"), [[2, 3], [2, 3]], attributes=(1, 0)), SOUND],
        [
            (
                (1, "joint", 0, 0),
                "is 4, but the pair of 'again' and 'counted', which determines it, adds up to 3 (1 too many)",
            ),
            (
                (1, "joint", 0, 1),
                "is 2, but the pair of 'again' and 'counted', which determines it, adds up to 3 (1 too few)",
            ),
            (
                (1, "joint", 1, 0),
                "is 1, but the pair of 'again' and 'counted', which determines it, adds up to 2 (1 too few)",
            ),
            (
                (1, "joint", 1, 1),
                "is 3, but the pair of 'again' and 'counted', which determines it, adds up to 2 (1 too many)",
            ),
        ],
    ),
    "a table that does not follow, the other attribute first": (
        [SOUND, pair(("counted", "again"), [[2, 3], [2, 3]], attributes=(1, 0))],
        [
            (
                (1, "joint", 0, 0),
                "is 2, but the pair of 'age-2' and 'counted', which determines it, adds up to 1 (1 too many)",
            ),
            (
                (1, "joint", 1, 0),
                "is 2, but the pair of 'age-2' and 'counted', which determines it, adds up to 3 (1 too few)",
            ),
            (
                (1, "joint", 0, 1),
                "is 3, but the pair of 'age-2' and 'counted', which determines it, adds up to 4 (1 too few)",
            ),
            (
                (1, "joint", 1, 1),
                "is 3, but the pair of 'age-2' and 'counted', which determines it, adds up to 2 (1 too many)",
            ),
        ],
    ),
    "noise": ([pair(("noisy", "zip-2"), [[1, 5], [2, 2]])], [((0, "maskings", 0), f"the counts of 'noisy' {HIDDEN}")]),
    "rounding": (
        [pair(("zip-2", "rounded"), [[1, 5], [2, 2]], attributes=(1, 0))],
        [((0, "maskings", 1), f"the counts of 'rounded' {HIDDEN}")],
    ),
    "records left out": (
        [pair(("lacking", "zip-2"), [[1, 5], [2, 2]])],
        [((0, "maskings", 0), f"the counts of 'lacking' {HIDDEN}")],
    ),
}


@for_each(("pairs", "expected"), FAULTS.values())
def test_every_kind_of_fault_is_named_with_its_place_and_difference(pairs, expected):
    found = find_pair_faults([AGE, ZIP], pairs)
    assert [(fault.path, fault.detail) for fault in found] == expected


def test_a_table_that_is_wrong_by_itself_is_not_compared_with_others():
    wrong = pair(("again", "counted"), [[0, 0], [0, 0]])
    assert {fault.path[0] for fault in find_pair_faults([AGE, ZIP], [wrong, SOUND])} == {0}


def test_a_margin_that_a_pair_of_a_finer_masking_tells():
    bare = replace(ZIP, maskings=ZIP.maskings[:2])
    pairs = [pair(("age-2", "zip-3"), [[4, 1, 1, 0], [1, 1, 2, 0]]), pair(("age-1", "zip-2"), [[6, 4]])]
    found = find_pair_faults([AGE, bare], pairs)
    assert [(fault.path, fault.detail) for fault in found] == [
        (
            (1, "joint"),
            "masked value 0 of 'zip-2' adds up to 6, but the pair of 'age-2' and 'zip-3' counts 5 (1 too many)",
        ),
        (
            (1, "joint"),
            "masked value 1 of 'zip-2' adds up to 4, but the pair of 'age-2' and 'zip-3' counts 5 (1 too few)",
        ),
    ]


def test_of_a_total_beyond_64_bits_only_the_total_is_named():
    wide = AttributeEvidence("wide", 40, np.array([4, 6]), np.array([10] + [0] * 39), None, ())
    [fault] = find_pair_faults([wide, wide], [pair((IDENTITY, IDENTITY), np.full((40, 40), 2**53 - 1))])
    assert fault.path == (0, "joint")
    assert f"adds up to {1600 * (2**53 - 1)}, but the number of records is 10" in fault.detail


def test_the_first_hundred_faults_are_named():
    found = find_pair_faults([AGE, ZIP], [pair(("age-2", "counted"), [[0, 0], [0, 0]])] * 1000)
    assert len(found) == 100
    assert found[-1].path[0] < 100


def test_no_pairs_are_sound():
    assert find_pair_faults([AGE, ZIP], []) == ()
