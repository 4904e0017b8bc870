"""The order that others read: sums of rounded deviations, whatever the question, and never far from the exact one."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegis_advisor.evidence import AttributeEvidence, Masking
from aegis_advisor.ranking import Question, recommend
from aegis_advisor.reconstruction import reconstruct
from app.advice.service.coarse import Grid, detail_kept, in_contract, order_by_attribute, order_of_all

MAPPINGS = {"pairs": [0, 0, 1, 1], "first": [0, 1, 1, 1], "last": [0, 0, 0, 1]}
GRID = Grid(base=1.1, least=0.025)
OPTIONS = ("identity", "drop", *MAPPINGS)
CODES = np.array([[a, b] for a in range(5) for b in range(5)])

COUNTS = st.lists(st.integers(0, 300), min_size=12, max_size=12).filter(lambda counts: sum(counts) > 0)


def attribute(name, counts):
    """An attribute of four values and three labels whose joint counts are known."""
    joint = np.array(counts).reshape(4, 3)
    maskings = []
    for masking, mapping in MAPPINGS.items():
        masked = np.zeros((2, 3), dtype=np.int64)
        np.add.at(masked, mapping, joint)
        maskings.append(Masking(masking, 2, np.array(mapping), masked, True))
    return AttributeEvidence(name, 4, joint.sum(axis=0), joint.sum(axis=1), joint, tuple(maskings))


def answer(first, second, weights, measure="mutual_information"):
    """The advisor's answer, and the coarse order of all 25 configurations."""
    evidence = [attribute("a", first), attribute("b", second)]
    options = [OPTIONS, OPTIONS]
    question = Question(measure, ("a", "b"), np.array(weights) / sum(weights), limit=None)
    full = recommend(evidence, [reconstruct(one) for one in evidence], CODES, options, question)
    return full, order_by_attribute(full.attributes, question.weights, CODES, options, None, GRID)


def losses(full):
    """(configurations,) the exact deviation of each."""
    exact = np.empty(len(CODES))
    exact[full.ranking.index] = full.ranking.deviation
    return exact


@given(
    COUNTS,
    st.permutations(range(12)),
    st.sampled_from([(1, 1), (1, 4), (0.25, 2)]),
    st.sampled_from(["mutual_information", "g3", "chi_square"]),
)
def test_its_best_configuration_deviates_by_a_grid_step_more_than_the_least_at_most(first, places, weights, measure):
    second = [first[place] for place in places]
    full, coarse = answer(first, second, weights, measure)
    exact = losses(full)
    # What is too small to be rounded counts as nothing.
    scale = sum(
        weight / sum(weights) * abs(one.reference_utility - one.drop_utility)
        for weight, one in zip(weights, full.attributes, strict=True)
    )
    nothing = GRID.least * scale * GRID.base + 1e-6
    assert exact[coarse.order[0]] <= exact.min() * GRID.base * (1 + 1e-6) + nothing
    # Wherever deviations differ by more than rounding can hide, the order is the exact one.
    for before, after in zip(coarse.order[:-1], coarse.order[1:], strict=True):
        assert exact[before] <= exact[after] * GRID.base * (1 + 1e-6) + nothing


def test_it_tells_no_more_than_rounded_deviations():
    counts = [900, 100, 50, 400, 600, 50, 100, 200, 800, 150, 150, 700]
    nearly = [900, 100, 50, 400, 600, 50, 100, 201, 800, 150, 150, 700]
    (one, _), (other, _) = answer(counts, counts[::-1], (1, 1)), answer(nearly, counts[::-1], (1, 1))
    same = all(
        GRID.rounded(mine.maskings[name].deviation, 0.1) == GRID.rounded(theirs.maskings[name].deviation, 0.1)
        for mine, theirs in zip(one.attributes, other.attributes, strict=True)
        for name in mine.maskings
    )
    assert same, "the example must differ by less than a step"
    assert (losses(one) != losses(other)).any()
    for weights in [(a, b) for a in (0.25, 0.5, 1, 2, 4) for b in (0.25, 0.5, 1, 2, 4)]:
        mine, theirs = answer(counts, counts[::-1], weights)[1], answer(nearly, counts[::-1], weights)[1]
        assert mine.order.tolist() == theirs.order.tolist()
        assert mine.ranks.tolist() == theirs.ranks.tolist()


def test_equal_rounded_deviations_share_a_rank_and_keep_the_entrys_order():
    counts = [50, 0, 0, 50, 0, 0, 0, 50, 0, 0, 50, 0]
    _, coarse = answer(counts, counts, (1, 1))
    ids = [f"c{place}" for place in range(len(CODES))]
    told = in_contract(coarse, ids, None)
    kept = [place for place, (a, b) in enumerate(CODES.tolist()) if {a, b} <= {0, 2}]  # identity and pairs lose nothing
    assert told["tied"] == [f"c{place}" for place in kept]
    assert told["configuration"] == "c0"
    assert [row["rank"] for row in told["ranking"]][: len(kept) + 1] == [*[1] * len(kept), len(kept) + 1]
    assert set(told["tied"]) <= set(told["indistinguishable"])


@pytest.mark.parametrize(
    ("deviation", "expected"), [(0.0, 0.0), (0.024, 0.0), (1.0, 1.0), (1.04, 1.0), (1.06, 1.1), (0.9, 1 / 1.1)]
)
def test_a_deviation_is_rounded_to_a_power_of_the_grid(deviation, expected):
    assert GRID.rounded(deviation, 1.0) == pytest.approx(expected)


def test_where_an_attribute_tells_nothing_rounding_errors_are_no_deviations():
    assert GRID.rounded(1e-12, 0.0) == 0.0


def test_small_entries_have_a_coarser_grid():
    grids = [Grid.of(records) for records in (1, 100, 400, 2500, 10_000, 10**6)]
    assert [round(grid.base, 3) for grid in grids] == [21, 3, 2, 1.4, 1.2, 1.1]
    assert [round(grid.least, 3) for grid in grids] == [0.75, 0.5, 0.25, 0.1, 0.05, 0.025]


def test_the_order_of_all_together_does_not_depend_on_how_many_are_shown():
    deviations = np.random.default_rng(3).random(60)
    whole = order_of_all(deviations, 1.0, None, GRID, ())
    for limit in (0, 1, 5, 60):
        part = order_of_all(deviations, 1.0, limit, GRID, ())
        assert part.tied.tolist() == whole.tied.tolist()
        assert part.order.tolist() == whole.order[:limit].tolist()
        assert part.ranks.tolist() == whole.ranks[:limit].tolist()
    exact = np.argsort(deviations, kind="stable")
    assert whole.order.tolist() != exact.tolist()
    assert (np.diff(deviations[whole.order]) > -0.1 * deviations.max() - GRID.least).all()


def test_of_equal_deviations_the_one_that_tells_more_values_apart_comes_first():
    counts = [50, 0, 0, 50, 0, 0, 0, 50, 0, 0, 50, 0]
    evidence = [attribute("a", counts), attribute("b", counts)]
    weights = np.array([0.5, 0.5])
    detail = detail_kept(evidence, weights, CODES, [OPTIONS, OPTIONS])
    assert detail[CODES.tolist().index([0, 0])] == pytest.approx(np.log(4))
    assert detail[CODES.tolist().index([0, 2])] == pytest.approx((np.log(4) + np.log(2)) / 2)
    assert detail[CODES.tolist().index([1, 1])] == 0.0
    order = order_of_all(np.zeros(25), 1.0, None, GRID, [detail])
    assert order.order[0] == 0
    assert CODES[order.order[-1]].tolist() == [1, 1]
    assert set(order.ranks.tolist()) == {1}


def test_what_is_not_known_is_told_from_nothing():
    full, _ = answer([9, 1, 5, 4, 6, 5, 1, 2, 8, 1, 1, 7], [9, 1, 5, 4, 6, 5, 1, 2, 8, 1, 1, 7], (1, 1))
    unknown = [
        replace(one, maskings={name: replace(score, standard_error=None) for name, score in one.maskings.items()})
        for one in full.attributes
    ]
    order = order_by_attribute(unknown, np.array([0.5, 0.5]), CODES, [OPTIONS, OPTIONS], None, GRID)
    assert order.within is None
