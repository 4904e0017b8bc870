import pickle

import numpy as np
import pytest

from aegis_advisor.errors import NoConfigurationError, NoEvidenceError, OwnReferenceError, UnknownMeasureError
from aegis_advisor.evidence import EvidenceFlags, MaskingFlags
from aegis_advisor.measures import MEASURES
from aegis_advisor.ranking import Question, lacks_evidence, lacks_own_reference, recommend
from aegis_advisor.reconstruction import IterativeProportionalFitting, reconstruct
from tests.advisor.cases import counted, evidence_of, mapped, random_table
from tests.for_each import for_each

RNG = np.random.default_rng(0)
TABLE = random_table(RNG, values=12, records=900)
FINE, COARSE = mapped("fine", np.arange(12) // 3, TABLE), mapped("coarse", np.arange(12) // 6, TABLE)
CROSS = mapped("cross", np.arange(12) // 5, TABLE)
BARE = mapped("bare", np.arange(12) % 5, TABLE, counted=False)
UNITED = mapped("united", np.array([0, 1])[np.arange(12) // 6], TABLE, counted=False)
BLIND = counted("blind", FINE.joint, deterministic=True)
NOISE = counted("noise", RNG.permuted(TABLE, axis=0), deterministic=False)


def asked(attributes, configurations, measure="mutual_information", weights=None, **how):
    """Ask a question about attributes, given as (evidence, ...), and configurations, given as rows of masking ids."""
    columns = list(zip(*configurations, strict=True))
    options = [tuple(dict.fromkeys(column)) for column in columns]
    codes = np.array(
        [[names.index(masking) for names, masking in zip(options, row, strict=True)] for row in configurations]
    )
    weights = np.ones(len(attributes)) if weights is None else np.asarray(weights, dtype=float)
    names = tuple(known.name for known in attributes)
    question = Question(measure, names, weights / weights.sum(), **how)
    solver = IterativeProportionalFitting(sweeps=50)
    references = [reconstruct(known, solver) for known in attributes]
    return recommend(attributes, references, codes, options, question)


def basis(maskings, configurations, *, joint=False, **how):
    known = evidence_of(TABLE, maskings, joint=joint)
    return asked([known], [(one,) for one in configurations], **how).ranking_basis


@for_each(
    ("maskings", "configurations", "expected"),
    [
        ([FINE, COARSE], ["fine", "coarse", "drop"], "exact"),
        ([FINE, BLIND], ["fine", "blind"], "exact"),
        ([FINE, UNITED], ["fine", "united"], "exact"),
        ([FINE, COARSE], ["fine", "identity"], "estimated"),
        ([FINE, COARSE], ["identity", "identity"], "exact"),
        ([FINE, CROSS, BARE], ["fine", "bare"], "estimated"),
        ([FINE, CROSS, BARE], ["bare", "bare"], "exact"),
        ([FINE, NOISE], ["fine", "noise"], "estimated"),
    ],
)
def test_when_a_ranking_is_exact(maskings, configurations, expected):
    assert basis(maskings, configurations) == expected


def test_the_unmasked_counts_make_everything_exact():
    maskings = [FINE, CROSS, BARE, NOISE]
    assert basis(maskings, ["fine", "bare", "noise", "identity", "drop"], joint=True) == "exact"


@for_each("measure", [one.id for one in MEASURES.values() if not one.monotone])
def test_without_monotony_a_ranking_is_exact_only_where_nothing_differs(measure):
    assert basis([FINE, COARSE], ["fine", "coarse"], measure=measure) == "estimated"
    assert basis([FINE, COARSE], ["fine", "coarse"], measure=measure, joint=True) == "estimated"
    assert basis([FINE, COARSE], ["fine", "fine"], measure=measure) == "exact"


def test_an_attribute_without_weight_does_not_spoil_it():
    sound, other = evidence_of(TABLE, [FINE, COARSE]), evidence_of(TABLE, [FINE], name="b")
    rows = [("fine", "identity"), ("coarse", "fine")]
    assert asked([sound, other], rows).ranking_basis == "estimated"
    assert asked([sound, other], rows, weights=[1, 0]).ranking_basis == "exact"


def test_the_published_reference_is_never_exact():
    assert basis([FINE, COARSE], ["fine", "coarse"], reference="own") == "estimated"


def test_the_answer_in_full():
    first, second = evidence_of(TABLE, [FINE, COARSE]), evidence_of(TABLE, [CROSS], name="b")
    rows = [("coarse", "cross"), ("fine", "cross"), ("fine", "drop"), ("drop", "drop")]
    answer = asked([first, second], rows, weights=[3, 1], limit=2)
    score = {one.id: MEASURES["mutual_information"](one.joint.astype(float)) for one in (FINE, COARSE, CROSS)}
    assert answer.best == 1
    assert answer.tied == (1,)
    assert answer.considered == 4
    losses = [0.75 * (score["fine"] - score["coarse"]), 0.25 * score["cross"]]
    second_best = 0 if losses[0] < losses[1] else 2
    assert [index for index, _, _ in answer.ranking] == [1, second_best]
    assert len(answer.ranking) == 2
    _, deviation, utility = next(iter(answer.ranking))
    assert deviation == answer.deviation
    assert utility == pytest.approx(0.75 * score["fine"] + 0.25 * score["cross"])
    lost = [one.maskings[name].deviation for one, name in zip(answer.attributes, rows[1], strict=True)]
    assert deviation == pytest.approx(0.75 * lost[0] + 0.25 * lost[1])
    assert [set(one.maskings) for one in answer.attributes] == [
        {"fine", "coarse", "drop"},
        {"cross", "drop"},
    ]


def test_identity_has_the_reference_utility():
    answer = asked([evidence_of(TABLE, [FINE])], [("identity",)])
    assert list(answer.ranking) == [(0, 0.0, answer.attributes[0].reference_utility)]


def test_ties_in_g3_go_to_the_configuration_that_tells_more():
    # The largest class is the same everywhere: g3 sees no difference, mutual information does.
    table = np.array([[90, 10], [60, 40], [80, 20], [55, 45]])
    maskings = [mapped("half", [0, 0, 1, 1], table), mapped("pairs", [0, 1, 0, 1], table)]
    known = evidence_of(table, maskings)
    for measure, tied in (("g3", (1, 2, 0, 3)), ("mutual_information", (1, 2))):
        answer = asked([known], [("half",), ("pairs",), ("pairs",), ("drop",)], measure=measure)
        assert answer.tied == tied
        assert answer.best == 1


@for_each("measure", MEASURES)
def test_a_label_of_one_class_ties_all_configurations(measure):
    table = TABLE.sum(axis=1, keepdims=True)
    known = evidence_of(table, [mapped("fine", FINE.mapping, table), mapped("cross", CROSS.mapping, table)])
    answer = asked([known], [("cross",), ("fine",), ("drop",), ("identity",)], measure=measure)
    assert answer.tied == (0, 1, 2, 3)
    assert answer.deviation == 0


@for_each("order", [[1, 0], [0, 1]])
def test_the_order_of_attributes_does_not_matter(order):
    attributes = [evidence_of(TABLE, [FINE, COARSE]), evidence_of(TABLE, [CROSS], name="b")]
    rows = np.array([("coarse", "cross"), ("fine", "cross"), ("fine", "drop")])
    answer = asked([attributes[at] for at in order], rows[:, order], weights=np.array([0.2, 0.8])[order])
    straight = asked(attributes, rows, weights=[0.2, 0.8])
    assert answer.ranking.index.tolist() == straight.ranking.index.tolist()
    np.testing.assert_allclose(answer.ranking.deviation, straight.ranking.deviation, atol=1e-15)


class TestWithoutEvidence:
    def test_configurations_that_differ_are_refused_naming_the_attribute(self):
        known, unknown = evidence_of(TABLE, [FINE]), evidence_of(TABLE, [BARE], name="b")
        with pytest.raises(NoEvidenceError, match="'b'"):
            asked([known, unknown], [("fine", "bare"), ("fine", "drop")])

    def test_configurations_that_agree_are_answered(self):
        known, unknown = evidence_of(TABLE, [FINE]), evidence_of(TABLE, [BARE], name="b")
        assert asked([known, unknown], [("fine", "bare"), ("drop", "bare")]).best == 0

    def test_an_attribute_without_weight_needs_none(self):
        known, unknown = evidence_of(TABLE, [FINE]), evidence_of(TABLE, [BARE], name="b")
        assert asked([known, unknown], [("drop", "bare"), ("fine", "drop")], weights=[1, 0]).best == 1

    @for_each(
        ("masking", "lacks"),
        [
            (MaskingFlags(4, mapped=True, counted=True, deterministic=True), False),
            (MaskingFlags(4, mapped=False, counted=True, deterministic=True), False),
            (MaskingFlags(4, mapped=False, counted=True, deterministic=False), True),
            (MaskingFlags(4, mapped=True, counted=False, deterministic=True), True),
            (MaskingFlags(1, mapped=True, counted=True, deterministic=True), True),
        ],
    )
    def test_only_exact_views_of_several_groups_are_evidence(self, masking, lacks):
        assert lacks_evidence(EvidenceFlags(9, 3, has_joint=False, maskings=(masking,))) == lacks

    def test_there_is_nothing_to_lack_of_a_constant(self):
        assert lacks_evidence(EvidenceFlags(9, 3, has_joint=False, maskings=()))
        assert not lacks_evidence(EvidenceFlags(9, 3, has_joint=True, maskings=()))
        assert not lacks_evidence(EvidenceFlags(1, 3, has_joint=False, maskings=()))
        assert not lacks_evidence(EvidenceFlags(9, 1, has_joint=False, maskings=()))

    def test_a_suppressed_view_alone_says_nothing(self):
        gone = mapped("gone", [0] * 12, TABLE)
        with pytest.raises(NoEvidenceError):
            asked([evidence_of(TABLE, [gone])], [("gone",), ("identity",)])


def test_the_published_reference_needs_mapping_and_counts():
    known = evidence_of(TABLE, [FINE, BLIND])
    assert lacks_own_reference([FINE.flags, BLIND.flags])
    assert not lacks_own_reference([FINE.flags])
    with pytest.raises(OwnReferenceError, match="'blind'"):
        asked([known], [("fine",), ("blind",)], reference="own")


def test_the_published_reference_depends_on_its_seed_only():
    known = evidence_of(TABLE, [FINE, COARSE, CROSS])
    rows = [("fine",), ("coarse",), ("cross",)]

    def deviations(seed):
        answer = asked([known], rows, reference="own", rounding_seed=seed)
        return sorted(answer.ranking)

    assert deviations(3) == deviations(3) != deviations(4)
    assert {deviation for _, deviation, _ in deviations(None)} == {0.0}


def test_an_unknown_measure_and_no_configuration_are_refused():
    known = evidence_of(TABLE, [FINE])
    with pytest.raises(UnknownMeasureError):
        asked([known], [("fine",)], measure="accuracy")
    question = Question("g3", ("a",), np.ones(1))
    with pytest.raises(NoConfigurationError):
        recommend([known], [reconstruct(known)], np.empty((0, 1), dtype=int), [("fine",)], question)


def test_question_and_answer_travel_between_processes():
    known = evidence_of(TABLE, [FINE, CROSS])
    reference = pickle.loads(pickle.dumps(reconstruct(known)))
    question = pickle.loads(pickle.dumps(Question("g1", ("a",), np.ones(1))))
    arguments = ([pickle.loads(pickle.dumps(known))], [reference], np.array([[0], [1]]), [("fine", "cross")])
    answer = pickle.loads(pickle.dumps(recommend(*arguments, question)))
    assert answer.best == asked([known], [("fine",), ("cross",)], measure="g1").best
