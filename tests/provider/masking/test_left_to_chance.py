"""Maskings that are masked at random: their probabilities and their draws."""

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from aegis_provider import PlanError, TableError, load_plan
from aegis_provider.errors import UnmaskableValueError
from aegis_provider.masking.function import random_for
from aegis_provider.masking.randomisation import Noise, Pram, RandomisedResponse, Shuffle
from aegis_provider.table.values import Domain, ValueType
from aegis_sdk.wire import EntryDocument
from tests.for_each import for_each
from tests.provider.documents import summarize

DISTRIBUTIONS = {"laplace": stats.laplace, "gaussian": stats.norm}
YES_NO = Pram({"yes": {"yes": 0.9, "no": 0.1}, "no": {"no": 0.7, "unsure": 0.3}})


def source(seed=0):
    return random_for(seed, "a", "m")


def counts_of(shape, seed=1, largest=40):
    return np.random.default_rng(seed).integers(0, largest, shape)


def chi_square(observed, expected):
    """Return the p-value of draws against their expectation; cells with few records are merged."""
    observed, expected = np.ravel(observed), np.ravel(expected)
    few = expected < 5
    observed = np.append(observed[~few], observed[few].sum())
    expected = np.append(expected[~few], expected[few].sum())
    there = expected > 0
    return stats.chisquare(observed[there], expected[there] * observed.sum() / expected.sum()).pvalue


FUNCTIONS = [
    Noise("laplace", Decimal(2)),
    Noise("gaussian", Decimal("1.5"), Decimal(2), Decimal(-2), Decimal(8)),
    RandomisedResponse(0.7),
    Pram({str(value): {str(value): 0.5, "other": 0.5} for value in range(6)}),
    Shuffle(),
]
SIX = Domain.of(["", "1", "2", "3", "4", "5"])


@for_each("function", FUNCTIONS)
class TestEveryDraw:
    def test_every_record_gets_one_masked_value(self, function):
        counts = counts_of((6, 3))
        drawn = function.draw(SIX, counts, source()).counts
        assert drawn.dtype == np.int64
        assert (drawn >= 0).all()
        expected = counts.sum(axis=0, keepdims=True) if function.name == "shuffle" else counts
        assert np.array_equal(drawn.sum(axis=2), expected)

    def test_the_joint_counts_are_those_of_the_draw(self, function):
        drawn = function.draw(SIX, counts_of((6, 3)), source())
        assert np.array_equal(
            drawn.joint(), [drawn.counts[:, :, place].sum(axis=0) for place in range(len(drawn.texts))]
        )

    def test_the_same_seed_draws_the_same_and_another_one_something_else(self, function):
        one, same, other = (function.draw(SIX, counts_of((6, 3)), source(seed)).counts for seed in (7, 7, 8))
        assert np.array_equal(one, same)
        assert not np.array_equal(one, other)

    def test_values_without_records_and_tables_without_records_are_drawn_too(self, function):
        counts = np.zeros((6, 2), dtype=np.int64)
        assert function.draw(SIX, counts, source()).counts.sum() == 0
        counts[2, 1] = 5
        assert function.draw(SIX, counts, source()).counts.sum() == 5

    def test_masked_values_are_distinct(self, function):
        texts = function.draw(SIX, counts_of((6, 3)), source()).texts
        assert len(set(texts)) == len(texts)


@for_each("function", FUNCTIONS[:-1])
def test_draws_are_as_the_transition_matrix_says(function):
    counts = counts_of((6, 3), largest=4_000)
    drawn = function.draw(SIX, counts, source())
    assert np.allclose(drawn.transition.sum(axis=1), 1, rtol=0, atol=1e-12)
    assert (drawn.counts[np.broadcast_to(drawn.transition[:, None, :] == 0, drawn.counts.shape)] == 0).all()
    assert chi_square(drawn.counts, counts[:, :, None] * drawn.transition[:, None, :]) > 0.01


def test_maskings_and_attributes_have_chances_of_their_own():
    names = [("a", "m"), ("a", "n"), ("b", "m"), ("a m", "n"), ("a", "m n")]
    first = {random_for(0, attribute, masking).integers(2**62) for attribute, masking in names}
    assert len(first) == len(names)
    assert random_for(10**39, "a", "m").random() != random_for(10**39 + 1, "a", "m").random()


class TestNoise:
    @given(
        st.sampled_from(["laplace", "gaussian"]),
        st.decimals("0.1", 50, places=1),
        st.sampled_from(["0.5", "1", "2", "10"]),
        st.sets(st.integers(-40, 40), min_size=1, max_size=8),
    )
    def test_a_probability_is_that_of_the_interval_around_the_masked_value(self, kind, scale, step, numbers):
        domain = Domain.of([str(number) for number in numbers], ValueType.INTEGER)
        texts, transition = Noise(kind, scale, Decimal(step)).transition(domain)
        grid = np.array(list(map(float, texts)))
        cuts = np.concatenate([[-np.inf], grid[:-1] + float(step) / 2, [np.inf]])
        values = np.array([[float(text)] for text in domain.texts])
        cumulative = DISTRIBUTIONS[kind](loc=values, scale=float(scale)).cdf(cuts)
        assert np.allclose(transition, np.diff(cumulative, axis=1), rtol=0, atol=1e-12)
        assert np.allclose(transition.sum(axis=1), 1, rtol=0, atol=1e-15)
        assert (np.diff(grid) == float(step)).all()
        assert grid[0] <= min(numbers) < grid[0] + float(step)
        assert grid[-1] - float(step) < max(numbers) <= grid[-1]

    def test_far_from_the_value_probabilities_keep_their_digits(self):
        domain = Domain.of(["0", "100"])
        texts, transition = Noise("laplace", Decimal(2)).transition(domain)
        exact = stats.laplace(scale=2)
        place = texts.index("90")
        assert transition[0, place] == pytest.approx(exact.sf(89.5) - exact.sf(90.5), rel=1e-12, abs=0)
        assert transition[1, texts.index("10")] == pytest.approx(transition[0, place], rel=1e-12, abs=0)

    def test_the_probabilities_are_those_of_noise_that_is_added_rounded_and_bounded(self):
        noise = Noise("gaussian", Decimal(3), Decimal(2), Decimal(-4), Decimal(10))
        texts, [row] = noise.transition(Domain.of(["3"]))
        added = 3 + np.random.default_rng(5).normal(0, 3, 100_000)
        rounded = np.clip(np.round(added / 2) * 2, -4, 10)
        assert texts == [str(number) for number in range(-4, 11, 2)]
        assert chi_square([np.sum(rounded == int(text)) for text in texts], row * len(added)) > 0.01

    def test_a_missing_value_stays_missing_and_nothing_else_becomes_so(self):
        texts, transition = Noise("laplace", Decimal(1)).transition(Domain.of(["", "1", "3"]))
        assert texts == ["", "1", "2", "3"]
        assert transition[0].tolist() == [1, 0, 0, 0]
        assert (transition[1:, 0] == 0).all()
        assert (transition[1:, 1:] > 0).all()

    def test_a_domain_of_missing_values_only_stays_as_it_is(self):
        assert Noise("laplace", Decimal(1)).transition(Domain.of([""]))[0] == [""]

    def test_masked_numbers_are_written_in_decimal(self):
        texts, _ = Noise("laplace", Decimal(1), Decimal("0.1")).transition(Domain.of(["0.25", "0.6"]))
        assert texts == ["0.2", "0.3", "0.4", "0.5", "0.6"]

    def test_large_numbers_are_no_less_exact(self):
        start = 10**40
        texts, transition = Noise("laplace", Decimal(1)).transition(Domain.of([str(start + 1), str(start + 4)]))
        assert texts == [str(start + n) for n in (1, 2, 3, 4)]
        assert np.array_equal(transition[0], Noise("laplace", Decimal(1)).transition(Domain.of(["1", "4"]))[1][0])

    def test_what_is_no_number_is_named(self):
        with pytest.raises(UnmaskableValueError, match="'x' is not a number"):
            Noise("laplace", Decimal(1)).transition(Domain.of(["x", "1"]))

    def test_values_beyond_the_only_bound_stated_are_refused(self):
        with pytest.raises(ValueError, match="all values are beyond the stated bound"):
            Noise("laplace", Decimal(1), upper=Decimal(0)).transition(Domain.of(["5", "6"]))


class TestRandomisedResponse:
    def test_two_values_are_warners(self):
        assert np.allclose(
            RandomisedResponse(0.6).transition(Domain.of(["a", "b"]))[1], [[0.8, 0.2], [0.2, 0.8]], rtol=0, atol=1e-15
        )

    @given(st.floats(0.01, 0.99), st.integers(1, 30))
    def test_a_value_is_kept_or_drawn_from_all(self, keep, values):
        _, transition = RandomisedResponse(keep).transition(Domain.of(map(str, range(values))))
        by_hand = [[keep * (v == w) + (1 - keep) / values for w in range(values)] for v in range(values)]
        assert np.allclose(transition, by_hand, rtol=0, atol=1e-15)
        assert np.allclose(transition.sum(axis=1), 1, rtol=0, atol=1e-12)

    def test_a_missing_value_is_one_of_the_values(self):
        drawn = RandomisedResponse(0.5).draw(Domain.of(["", "no", "yes"]), np.full((3, 1), 1_000), source())
        assert drawn.texts == ("", "no", "yes")
        assert (drawn.counts > 0).all()


class TestPram:
    def test_masked_values_stand_in_the_order_of_the_domain_then_of_the_plan(self):
        texts, transition = YES_NO.transition(Domain.of(["", "no", "yes"]))
        assert texts == ["", "no", "yes", "unsure"]
        assert transition.tolist() == [[1, 0, 0, 0], [0, 0.7, 0, 0.3], [0, 0.1, 0.9, 0]]

    def test_what_is_withheld_by_chance_is_a_missing_value_and_first(self):
        assert Pram({"a": {"a": 0.5, "": 0.5}}).transition(Domain.of(["a"]))[0] == ["", "a"]

    def test_rows_of_values_that_no_record_has_are_left_out(self):
        assert YES_NO.transition(Domain.of(["yes"]))[0] == ["yes", "no"]

    def test_a_missing_value_may_have_a_row(self):
        pram = Pram({"": {"": 0.5, "x": 0.5}, "x": {"x": 1}})
        assert pram.transition(Domain.of(["", "x"]))[1].tolist() == [[0.5, 0.5], [0, 1]]

    def test_values_are_found_by_number(self):
        assert Pram({"1.0": {"one": 1}}).transition(Domain.of(["1.00"]))[0] == ["one"]

    def test_a_value_without_a_row_is_named(self):
        with pytest.raises(UnmaskableValueError, match="'maybe' has no row in the transition matrix"):
            YES_NO.transition(Domain.of(["maybe", "yes"]))


class TestShuffle:
    @given(st.integers(0, 2**32), st.integers(1, 5), st.integers(1, 4))
    def test_histograms_stay(self, seed, values, labels):
        counts = counts_of((values, labels), seed)
        domain = Domain.of([f"v{place}" for place in range(values)])
        drawn = Shuffle().draw(domain, counts, source(seed))
        assert drawn.texts == domain.texts
        assert drawn.transition is None
        assert np.array_equal(drawn.joint().sum(axis=1), counts.sum(axis=1))
        assert np.array_equal(drawn.joint().sum(axis=0), counts.sum(axis=0))

    def test_tables_are_as_likely_as_permutations_lead_to_them(self):
        random, counts, domain = source(3), np.array([[3, 0], [1, 4]]), Domain.of(["u", "v"])
        both = [Shuffle().draw(domain, counts, random).joint()[0, 0] for _ in range(4_000)]
        expected = stats.hypergeom(8, 3, 4).pmf(range(4)) * len(both)
        assert chi_square(np.bincount(both, minlength=4), expected) > 0.01


@for_each(
    ("build", "message"),
    [
        (lambda: Noise("cauchy", Decimal(1)), "`kind` must be laplace or gaussian, not 'cauchy'"),
        (lambda: Noise("laplace", Decimal(0)), "`scale` must be a number above 0, not 0"),
        (lambda: Noise("laplace", Decimal("inf")), "`scale` must be a number above 0, not Infinity"),
        (lambda: Noise("laplace", Decimal(1), Decimal(-1)), "`step` must be a number above 0, not -1"),
        (
            lambda: Noise("laplace", Decimal(1), Decimal(2), Decimal(3)),
            "`lower` must be a multiple of `step`, 2, but 3 is not",
        ),
        (lambda: Noise("laplace", Decimal(1), upper=Decimal("-inf")), "`upper` must be a finite number"),
        (lambda: Noise("laplace", Decimal(1), Decimal(1), Decimal(3), Decimal(3)), "`lower` must be below `upper`"),
        (lambda: RandomisedResponse(0), "`keep` must be a probability above 0 and below 1, not 0"),
        (lambda: RandomisedResponse(1), "`keep` must be a probability above 0 and below 1, not 1"),
        (lambda: RandomisedResponse(float("nan")), "`keep` must be a probability above 0 and below 1, not nan"),
        (lambda: Pram({}), "at least one row, `value: {masked value: probability}`, is needed"),
        (lambda: Pram({"a": {"a": 0.5, "b": 0.4}}), "the probabilities of 'a' add up to 0.9, not 1"),
        (lambda: Pram({"a": {"a": 1.5, "b": -0.5}}), "'a' to 'a': 1.5 is not a probability from 0 to 1"),
        (lambda: Pram({"a": {}}), "the probabilities of 'a' add up to 0, not 1"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(build, message):
    with pytest.raises(ValueError) as raised:  # noqa: PT011 - the message is compared below
        build()
    assert str(raised.value).startswith(message)


def plan_of(write, masking, configuration="{a: m}", seed="seed: 5\n"):
    attributes = f"{{a: {{maskings: {{m: {masking}}}}}, b: {{}}}}"
    text = f"{seed}label: y\nattributes: {attributes}\nconfigurations: {{c: {configuration}}}\n"
    return load_plan(write("plan.yaml", text))


@for_each(
    ("masking", "expected"),
    [
        ("{noise: {kind: laplace, scale: 2}}", Noise("laplace", Decimal(2))),
        (
            "{noise: {kind: gaussian, scale: 0.5, step: 0.1, lower: -1, upper: 1.5}}",
            Noise("gaussian", Decimal("0.5"), Decimal("0.1"), Decimal(-1), Decimal("1.5")),
        ),
        ("{randomised_response: {keep: 0.8}}", RandomisedResponse(0.8)),
        (
            "{pram: {transition: {yes: {yes: 0.9, no: 0.1}, no: {no: 1}}}}",
            Pram({"yes": {"yes": 0.9, "no": 0.1}, "no": {"no": 1}}),
        ),
        ("{shuffle: {}}", Shuffle()),
    ],
)
def test_the_plan_states_them(write, masking, expected):
    assert plan_of(write, masking).attributes[0].maskings[0].function == expected


@for_each(
    ("masking", "message"),
    [
        ("{noise: {scale: 1}}", "noise: `kind` is missing"),
        ("{noise: {kind: normal, scale: 1}}", "noise.kind: expected laplace or gaussian, not 'normal'"),
        ("{noise: {kind: laplace, scale: -1}}", "noise.scale: must be above 0, not -1"),
        (
            "{noise: {kind: laplace, scale: 1, lower: 0.5}}",
            "noise: `lower` must be a multiple of `step`, 1, but 0.5 is not",
        ),
        ("{randomised_response: {keep: 2}}", "randomised_response.keep: `keep` must be a probability"),
        ("{pram: {}}", "pram: `transition` is missing"),
        ("{pram: {transition: {a: {a: x}}}}", "pram.transition.a.a: 'x' is not a number"),
        ("{pram: {transition: {a: {a: 0.5}}}}", "pram.transition: the probabilities of 'a' add up to 0.5, not 1"),
        ("{shuffle: {keep: 1}}", "shuffle: unknown key 'keep'"),
    ],
)
def test_a_faulty_one_is_refused_with_its_place(write, masking, message):
    with pytest.raises(PlanError) as raised:
        plan_of(write, masking)
    assert str(raised.value).startswith(f"plan.yaml: attributes.a.maskings.m.{message}")


def test_a_plan_that_leaves_something_to_chance_needs_a_seed(write):
    with pytest.raises(
        PlanError, match="`seed` is missing; 'm' masks at random and needs a secret number of up to 40 digits"
    ):
        plan_of(write, "{shuffle: {}}", seed="")
    assert plan_of(write, "{shuffle: {}}", seed=f"seed: {10**39}\n").seed == 10**39
    with pytest.raises(PlanError, match="seed: expected a whole number of at most 40 digits"):
        plan_of(write, "{shuffle: {}}", seed="seed: -5\n")


TABLE = "a,b,y\n" + "".join(f"{n % 4 or ''},{n % 5},{'mn'[n % 3 > 0]}\n" for n in range(60))


class TestTheEntry:
    @for_each(
        "masking",
        [
            "{noise: {kind: laplace, scale: 2}}",
            "{randomised_response: {keep: 0.8}}",
            "{pram: {transition: {1: {1: 0.5, 2: 0.5}, 2: {2: 1}, 3: {many: 1}}}}",
        ],
    )
    def test_it_has_the_transition_matrix_and_the_joint_counts_of_the_draw(self, write, masking):
        plan = plan_of(write, masking)
        entry = summarize(write("t.csv", TABLE), plan, name="t")
        EntryDocument.model_validate(entry)
        [masked] = entry["attributes"][0]["maskings"]
        domain = Domain.of(entry["attributes"][0]["domain"])
        places = {text: place for place, text in enumerate(domain.texts)}
        counts = np.zeros((len(domain), 2), dtype=np.int64)
        for line in TABLE.splitlines()[1:]:
            value, _, label = line.split(",")
            counts[places[value], "mn".index(label)] += 1
        drawn = plan.attributes[0].maskings[0].function.draw(domain, counts, random_for(5, "a", "m"))
        assert masked["domain"] == list(drawn.texts)
        assert masked["transition"] == drawn.transition.tolist()
        assert masked["joint"] == drawn.joint().tolist()
        assert masked["deterministic"] is False
        assert "mapping" not in masked

    def test_it_says_nothing_of_the_values_behind_a_shuffle(self, write):
        entry = summarize(write("t.csv", TABLE), plan_of(write, "{shuffle: {}}"), name="t")
        EntryDocument.model_validate(entry)
        attribute = entry["attributes"][0]
        [masked] = attribute["maskings"]
        assert set(masked) == {"id", "function", "domain", "deterministic", "joint"}
        assert [sum(row) for row in masked["joint"]] == attribute["histogram"]

    def test_it_does_not_have_the_seed(self, write):
        seeds = [
            summarize(write("t.csv", TABLE), plan_of(write, "{shuffle: {}}", seed=f"seed: {seed}\n"), name="t")
            for seed in (918273645, 918273645, 1)
        ]
        assert seeds[0] == seeds[1] != seeds[2]
        assert "918273645" not in str(seeds[0])

    def test_pairs_of_what_is_left_to_chance_are_refused(self, write):
        path = write("t.csv", TABLE)
        with pytest.raises(PlanError, match=r"maskings\.m: has no pair counts, because it masks at random"):
            summarize(path, plan_of(write, "{shuffle: {}}"), name="t", pairs=True)
        assert len(summarize(path, plan_of(write, "{shuffle: {}}", "{}"), name="t", pairs=True)["pairs"]) == 1

    def test_a_matrix_that_no_service_takes_is_refused_with_its_place(self, write):
        rows = "".join(f"{n},0,{'mn'[n % 2]}\n" for n in range(600))
        with pytest.raises(TableError) as raised:
            summarize(write("t.csv", f"a,b,y\n{rows}"), plan_of(write, "{randomised_response: {keep: 0.5}}"), name="t")
        assert "t.csv: a: 600 values with 600 masked values each make a transition matrix of 360000" in str(
            raised.value
        )
        assert str(raised.value).endswith("(plan.yaml: attributes.a.maskings.m)")

    def test_a_value_without_a_row_is_named_with_its_line(self, write):
        with pytest.raises(
            TableError, match=r"t\.csv: line 4: a '2' has no row in the transition matrix \(plan\.yaml: "
        ):
            summarize(write("t.csv", TABLE), plan_of(write, "{pram: {transition: {1: {1: 1}}}}"), name="t")
