import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from aegis_advisor.arrays import fold
from aegis_advisor.evidence import AttributeEvidence, Masking, Perturbation
from aegis_advisor.evidence.checks import find_faults
from tests.advisor.cases import counted, evidence_of, mapped, overlapping, paper_evidence, random_table
from tests.for_each import for_each

TABLE = np.array([[1, 0], [2, 3], [4, 1]])
LABEL = TABLE.sum(axis=0)


def evidence(*maskings, histogram=(1, 5, 5), joint=None, label=LABEL):
    return AttributeEvidence(
        name="a",
        values=3,
        label_histogram=np.asarray(label),
        histogram=None if histogram is None else np.asarray(histogram),
        joint=None if joint is None else np.asarray(joint),
        maskings=maskings,
    )


def view(joint, mapping=(0, 1, 1), groups=2, *, deterministic=True):
    joint = None if joint is None else np.asarray(joint)
    return Masking("m", groups, None if mapping is None else np.asarray(mapping), joint, deterministic)


SOUND = [[1, 0], [6, 4]]
MANY = "too many; if noise or rounded_to explains this, declare it"
FEW = "too few; if noise, rounded_to or records explains this, declare it"

FAULTS = {
    "histogram of wrong length": (
        evidence(histogram=(1, 10)),
        [(("histogram",), "has shape (2,), not (3,)")],
    ),
    "histogram total": (
        evidence(histogram=(1, 5, 6)),
        [(("histogram",), "adds up to 12, but the number of records is 11 (1 too many)")],
    ),
    "negative count": (
        evidence(view([[1, 0], [-6, 4]])),
        [
            (
                ("maskings", 0, "joint", 1, 0),
                "-6 is not a count from 0 to 9007199254740991; if noise explains this, declare it",
            )
        ],
    ),
    "count beyond 2^53": (
        evidence(histogram=(2**53, 5, 5)),
        [(("histogram", 0), "9007199254740992 is not a count from 0 to 9007199254740991")],
    ),
    "table of wrong shape": (
        evidence(view([[1, 0, 0], [6, 4, 0]])),
        [(("maskings", 0, "joint"), "has shape (2, 3), not (2, 2)")],
    ),
    "column sums": (
        evidence(view([[0, 1], [6, 4]])),
        [
            (("maskings", 0, "joint"), f"column 0 adds up to 6, but the label's histogram counts 7 (1 {FEW})"),
            (("maskings", 0, "joint"), f"column 1 adds up to 5, but the label's histogram counts 4 (1 {MANY})"),
        ],
    ),
    "total": (
        evidence(view([[1, 0], [6, 6]])),
        [
            (("maskings", 0, "joint"), f"adds up to 13, but the number of records is 11 (2 {MANY})"),
            (("maskings", 0, "joint"), f"column 1 adds up to 6, but the label's histogram counts 4 (2 {MANY})"),
        ],
    ),
    "row sums": (
        evidence(view([[2, 0], [5, 4]])),
        [
            (("maskings", 0, "joint", 0), f"adds up to 2, but the histogram of its values counts 1 (1 {MANY})"),
            (("maskings", 0, "joint", 1), f"adds up to 9, but the histogram of its values counts 10 (1 {FEW})"),
        ],
    ),
    "mapping of wrong length": (
        evidence(view(SOUND, mapping=(0, 1))),
        [(("maskings", 0, "mapping"), "has shape (2,), but the domain has 3 values")],
    ),
    "mapping out of range": (
        evidence(view(SOUND, mapping=(0, 2, -1))),
        [
            (("maskings", 0, "mapping", 1), "masked value 2 is out of range: there are 2 masked values"),
            (("maskings", 0, "mapping", 2), "masked value -1 is out of range: there are 2 masked values"),
        ],
    ),
    "masked value without preimage": (
        evidence(view([[1, 0], [4, 4], [2, 0]], groups=3), histogram=None),
        [(("maskings", 0, "joint", 2), "no value is mapped to masked value 2, yet it counts 2 records")],
    ),
    "nothing known": (
        evidence(view(None, mapping=None)),
        [(("maskings", 0), "has neither a mapping nor joint counts; give at least one of them")],
    ),
    "a mapping that claims to be no function": (
        evidence(view(SOUND, deterministic=False)),
        [(("maskings", 0, "deterministic"), "a masking with a mapping is deterministic")],
    ),
    "unmasked counts against the histogram": (
        evidence(joint=TABLE, histogram=(2, 4, 5)),
        [
            (("joint", 0), "adds up to 1, but the histogram counts 2 (1 too few)"),
            (("joint", 1), "adds up to 5, but the histogram counts 4 (1 too many)"),
        ],
    ),
    "unmasked counts against a view": (
        evidence(view([[0, 1], [7, 3]]), joint=TABLE),
        [
            (("maskings", 0, "joint", 0, 0), f"is 0, but the unmasked counts add up to 1 (1 {FEW})"),
            (("maskings", 0, "joint", 0, 1), f"is 1, but the unmasked counts add up to 0 (1 {MANY})"),
            (("maskings", 0, "joint", 1, 0), f"is 7, but the unmasked counts add up to 6 (1 {MANY})"),
            (("maskings", 0, "joint", 1, 1), f"is 3, but the unmasked counts add up to 4 (1 {FEW})"),
        ],
    ),
}


@for_each(("found", "expected"), FAULTS.values())
def test_a_fault_is_named_with_its_place_and_its_difference(found, expected):
    assert [(fault.path, fault.detail) for fault in find_faults(found)] == expected


def test_two_views_that_disagree_on_their_common_coarsening_are_named():
    table = np.array([[5, 1], [2, 2], [0, 6], [3, 1]])
    fine = mapped("fine", [0, 1, 2, 2], table)
    moved = np.array([[6, 4], [4, 6]])  # the column sums hold, but not the rows of the coarsening
    coarse = Masking("coarse", 2, np.array([0, 0, 1, 1]), moved, deterministic=True)
    faults = find_faults(evidence_of(table, [fine, coarse], histogram=False))
    assert {fault.path for fault in faults} == {("maskings", 1, "joint")}
    assert faults[0].detail == (
        "column 0 of masked values 0 adds up to 6, but masked values 0, 1 of 'fine', which cover the same values, "
        f"add up to 7 (1 {FEW})"
    )


def test_values_without_records_do_not_link_groups():
    # The empty value 1 would join all groups into one, where nothing could disagree.
    label, histogram = np.array([4, 4]), np.array([4, 0, 4])
    one = Masking("one", 2, np.array([0, 0, 1]), np.array([[3, 1], [1, 3]]), deterministic=True)
    two = Masking("two", 2, np.array([0, 1, 1]), np.array([[1, 3], [3, 1]]), deterministic=True)
    assert find_faults(AttributeEvidence("a", 3, label, histogram, None, (one, two)))
    assert not find_faults(AttributeEvidence("a", 3, label, None, None, (one, two)))


def test_the_papers_example_has_no_fault():
    assert find_faults(paper_evidence()) == ()
    assert find_faults(paper_evidence(histogram=False)) == ()


@for_each("seed", range(20))
@for_each("histogram", [True, False])
def test_a_true_table_never_has_a_fault(seed, histogram):
    rng = np.random.default_rng(seed)
    table = random_table(rng, values=14, records=60)
    noise = counted("noise", rng.permuted(table, axis=0), deterministic=False)
    maskings = [*overlapping(rng, table), noise, mapped("cut", [0, 1] * 7, table, counted=False)]
    assert find_faults(evidence_of(table, maskings, histogram=histogram, joint=bool(seed % 2))) == ()


@for_each("seed", range(20))
def test_one_record_moved_is_found(seed):
    rng = np.random.default_rng(seed)
    table = random_table(rng, values=14)
    views = overlapping(rng, table)
    joint = views[1].joint.copy()
    there = tuple(rng.choice(np.argwhere(joint > 0)))
    joint[there] -= 1
    joint[(there[0] + 1) % 4, there[1]] += 1
    views[1] = Masking("v1", 4, views[1].mapping, joint, deterministic=True)
    assert find_faults(evidence_of(table, views))


def test_sums_beyond_64_bits_are_told_exactly():
    joint = np.full((2000, 1), 2**53 - 1)
    masking = Masking("m", 2000, None, joint, deterministic=True)
    (fault,) = find_faults(AttributeEvidence("a", 2, np.array([7]), None, None, (masking,)))
    counted = 2000 * (2**53 - 1)
    assert fault.detail == f"adds up to {counted}, but the number of records is 7 ({counted - 7} {MANY})"


def test_a_label_beyond_counting_is_one_fault():
    label = np.full(1100, 2**53 - 1)
    (fault,) = find_faults(AttributeEvidence("a", 2, label, np.array([1, 2]), None, ()))
    assert fault.path == ()


def test_a_hundred_faults_are_enough_of_one_table():
    mapping = np.full(5000, 9)
    masking = Masking("m", 2, mapping, None, deterministic=True)
    found = find_faults(AttributeEvidence("a", 5000, np.array([7]), None, None, (masking,)))
    assert len(found) == 100


def integers(shape):
    return arrays.arrays(np.int64, shape, elements=st.integers(-(2**63), 2**63 - 1) | st.integers(-1, 3))


SHAPES = st.tuples(st.integers(0, 4)) | st.tuples(st.integers(0, 4), st.integers(0, 4))


DECLARED = st.builds(
    Perturbation,
    st.none() | st.floats(),
    st.none() | st.integers(-1, 2**53),
    st.none() | st.integers(-1, 2**53),
)
MATRICES = SHAPES.flatmap(lambda shape: arrays.arrays(np.float64, shape, elements=st.floats() | st.floats(0, 1)))


@st.composite
def garbage(draw):
    anything = st.none() | SHAPES.flatmap(integers)
    values = draw(st.integers(0, 4))
    parts = st.just("m"), st.integers(0, 4), anything, anything, st.booleans(), DECLARED, st.none() | MATRICES
    maskings = draw(st.lists(st.builds(Masking, *parts), max_size=3))
    label = draw(st.integers(0, 3).flatmap(lambda size: integers((size,))))
    histogram = draw(st.none() | integers((values,)) | anything)
    return AttributeEvidence("a", values, label, histogram, draw(anything), tuple(maskings))


@given(garbage())
def test_it_answers_whatever_the_arrays_hold(found):
    assert all(fault.detail for fault in find_faults(found))


def test_folding_integers_is_exact():
    table = np.array([[2**53 - 1], [1], [2**53 - 2]])
    assert fold(table, np.array([1, 1, 0]), 2).tolist() == [[2**53 - 2], [2**53]]
