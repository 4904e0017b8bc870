"""Shares against what they are by definition, on answers of the advisor to tables that are easy to see through."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegis_advisor.evidence import AttributeEvidence, Masking
from aegis_advisor.measures import MEASURES
from aegis_advisor.ranking import Question, assess, recommend
from aegis_advisor.reconstruction import reconstruct
from app.advice.service.coarse import BANDS, MIDDLES, STEPS, attribute_shares, band, configuration_shares

INFORMATION = MEASURES["mutual_information"]


def attribute(name, joint):
    """An attribute of four values whose joint counts are known, and its values in two groups."""
    joint = np.array(joint)
    halves = np.array([joint[:2].sum(axis=0), joint[2:].sum(axis=0)])
    mapping = np.array([0, 0, 1, 1])
    return AttributeEvidence(
        name, 4, joint.sum(axis=0), joint.sum(axis=1), joint, (Masking("halves", 2, mapping, halves, True),)
    )


def all_shares(assessments):
    return [attribute_shares(one) for one in assessments]


TELLS_ALL = [[5000, 0], [5000, 0], [0, 5000], [0, 5000]]
TELLS_BY_PARITY = [[5000, 0], [0, 5000], [5000, 0], [0, 5000]]
TELLS_NOTHING = [[2500, 2500]] * 4


def shares_of(*evidence):
    return all_shares([assess(one, reconstruct(one), INFORMATION, ["identity", "halves", "drop"]) for one in evidence])


def test_what_keeps_all_has_1_and_what_keeps_nothing_has_0():
    whole, parity = shares_of(attribute("a", TELLS_ALL), attribute("b", TELLS_BY_PARITY))
    assert whole.kept == {"identity": "all", "halves": "all", "drop": "none"}
    assert parity.kept == {"identity": "all", "halves": "none", "drop": "none"}
    assert whole.worth == parity.worth == 1


def test_where_there_is_nothing_to_lose_nothing_is_lost():
    [nothing] = shares_of(attribute("a", TELLS_NOTHING))
    assert set(nothing.kept.values()) == {"all"}


def test_a_measure_of_which_less_is_better_has_the_same_shares():
    evidence = attribute("a", TELLS_BY_PARITY)
    [share] = all_shares([assess(evidence, reconstruct(evidence), MEASURES["g3"], ["identity", "halves", "drop"])])
    assert share.kept == {"identity": "all", "halves": "none", "drop": "none"}


@given(
    st.lists(st.integers(0, 40), min_size=8, max_size=8).filter(sum),
    st.sampled_from(["g3", "chi_square", "mutual_information"]),
)
def test_a_word_is_that_of_a_share_within_half_a_step_and_the_step_is_no_smaller_than_the_error(counts, measure):
    evidence = attribute("a", np.array(counts).reshape(4, 2))
    assessment = assess(evidence, reconstruct(evidence), MEASURES[measure], ["halves", "drop"])
    [share] = all_shares([assessment])
    worth = abs(assessment.reference_utility - assessment.drop_utility)
    words = list(BANDS)
    for name, word in share.kept.items():
        step = share.steps[name]
        assert step in STEPS
        if worth > 1e-6:
            exact, error = 1 - assessment.maskings[name].deviation / worth, assessment.maskings[name].standard_error
            assert error is None or step == STEPS[-1] or error / worth <= step * (1 + 1e-6)
            near = [np.clip(exact + side * (step / 2 + 1e-6), 0, 1) for side in (-1, 1)]
            assert words.index(band(near[0])) <= words.index(word) <= words.index(band(near[1]))


def answer(weights, measure="mutual_information"):
    evidence = [attribute("a", TELLS_BY_PARITY), attribute("b", [[40, 10], [30, 20], [20, 30], [5, 45]])]
    options = [("identity", "drop", "halves")] * 2
    codes = np.array([[a, b] for a in range(3) for b in range(3)])
    question = Question(measure, ("a", "b"), np.array(weights) / sum(weights))
    given_ = recommend(evidence, [reconstruct(one) for one in evidence], codes, options, question)
    shares = all_shares(given_.attributes)
    kept = configuration_shares(shares, question.weights, codes[given_.ranking.index], options)
    return given_, shares, kept, codes[given_.ranking.index], options


@pytest.mark.parametrize("weights", [(1, 1), (1, 4), (0.25, 2), (0, 1)])
def test_configurations_have_the_weighted_mean_of_their_maskings_words_and_never_more_than_the_one_before(weights):
    _, shares, kept, codes, options = answer(weights)
    assert kept[0] == 1
    assert (np.diff(kept) <= 0).all()
    worth = np.array(weights) * [one.worth for one in shares]
    mean = [
        sum(w * MIDDLES[one.kept[names[code]]] for w, one, names, code in zip(worth, shares, options, row, strict=True))
        for row in codes
    ]
    lowest = np.minimum.accumulate(np.array(mean) / worth.sum())
    assert np.abs(kept - lowest).max() <= 0.005 + 1e-9


def test_an_attribute_is_rounded_alike_whatever_is_asked_beside_it():
    evidence = attribute("b", [[40, 10], [30, 20], [20, 30], [5, 45]])
    reference = reconstruct(evidence)
    every, few = (
        attribute_shares(assess(evidence, reference, INFORMATION, used))
        for used in (["identity", "halves"], ["halves"])
    )
    assert (every.worth, every.kept["halves"]) == (few.worth, few.kept["halves"])


def test_attributes_that_tell_nothing_do_not_count():
    shares = all_shares(
        [
            assess(one, reconstruct(one), INFORMATION, ["drop"])
            for one in (attribute("a", TELLS_ALL), attribute("b", TELLS_NOTHING))
        ]
    )
    assert [one.worth for one in shares] == [1, 0]


def test_the_words_are_those_of_the_contract():
    told = {
        0.0: "none",
        0.05: "none",
        0.06: "little",
        0.35: "little",
        0.5: "some",
        0.66: "much",
        0.95: "much",
        0.96: "all",
    }
    assert {share: band(share) for share in told} == told
    assert list(BANDS.values()) == sorted(BANDS.values())
    assert BANDS["all"] == 1.0
    assert {word: band(middle) for word, middle in MIDDLES.items()} == {word: word for word in BANDS}
