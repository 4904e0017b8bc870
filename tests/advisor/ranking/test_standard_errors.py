"""Standard errors against real sampling variation: many samples of one population, and the bootstrap."""

import numpy as np
import pytest

from aegis_advisor.arrays import fold
from aegis_advisor.measures import MEASURES
from aegis_advisor.ranking import assess
from aegis_advisor.ranking.influence import Influence, Sample
from aegis_advisor.reconstruction import reconstruct
from tests.advisor.cases import by_measure, counted, errors_of, evidence_of, mapped, random_table
from tests.advisor.inexact import noisy
from tests.for_each import for_each

WITH_ERRORS = [one for one in MEASURES.values() if one.has_errors]
EVERY_MEASURE = for_each("measure", WITH_ERRORS)
#: Measures that jump where labels tie are less smooth than the delta method assumes: their errors
#: are too large.
ROUGH = {"g3", "goodman_kruskal_lambda"}


def long(case):
    return pytest.param(case, marks=pytest.mark.long)


def utility_error(table, measure):
    """The standard error of a masking with this table."""
    table = np.asarray(table, dtype=np.int64)
    known = evidence_of(table, [counted("it", table, deterministic=True)])
    return float(np.linalg.norm(errors_of(known, measure, ["it"]).utility("it")))


def independent_population(rng, rows=6, labels=4):
    return np.outer(rng.dirichlet(np.full(rows, 4.0)), rng.dirichlet(np.full(labels, 4.0)))


POPULATIONS = {
    "strong": lambda rng: rng.dirichlet(np.ones(24)).reshape(6, 4),
    "weak": lambda rng: _normalised(independent_population(rng) * np.exp(0.15 * rng.standard_normal((6, 4)))),
    "independent": independent_population,
    "many rows": lambda rng: independent_population(rng, rows=60),
}


def _normalised(table):
    return table / table.sum()


@pytest.mark.parametrize("population", ["weak", long("independent"), long("strong"), long("many rows")])
@by_measure(WITH_ERRORS)
def test_the_standard_error_is_the_spread_over_samples(measure, population):
    rng = np.random.default_rng(5)
    shares = POPULATIONS[population](rng)
    samples = rng.multinomial(2_000, shares.ravel(), size=500).reshape(500, *shares.shape)
    spread = np.std([measure(table.astype(float)) for table in samples])
    said = np.sqrt(np.mean([utility_error(table, measure) ** 2 for table in samples[:80]]))
    # Without association, a share of variance has no slope, and its error is that of a square.
    flat = population == "independent" and measure.id in {"correlation_ratio", "joint_scores"}
    if measure.id in ROUGH or flat:
        assert said >= 0.9 * spread
    else:
        assert 0.85 < said / spread < 1.2


@EVERY_MEASURE
def test_a_tables_standard_error_is_that_of_the_bootstrap(measure):
    rng = np.random.default_rng(6)
    table = random_table(rng, values=8, labels=3, records=1_500) + 2
    again = rng.multinomial(table.sum(), (table / table.sum()).ravel(), size=500).reshape(500, *table.shape)
    spread = np.std([measure(sample.astype(float)) for sample in again])
    assert utility_error(table, measure) == pytest.approx(spread, rel=0.15)


PAIRS = {
    "nested": (np.arange(12) // 3, np.arange(12) // 6),
    "overlapping": (np.arange(12) // 3, np.arange(12) // 5),
    "dropped": (np.arange(12) // 3, np.zeros(12, dtype=int)),
    "unmasked": (np.arange(12), np.arange(12) // 4),
}


@for_each("dependence", [0.0, 0.6])
@for_each("pair", PAIRS)
@pytest.mark.parametrize(
    "measure", ["mutual_information", long("goodman_kruskal_tau"), long("chi_square"), long("theils_u"), long("g1")]
)
def test_the_error_of_a_difference_within_an_attribute(measure, pair, dependence):
    """Two maskings of one attribute have the same records; given the unmasked counts, their dependence is exact."""
    rng, measure, maps = np.random.default_rng(8), MEASURES[measure], PAIRS[pair]
    shares = _normalised(independent_population(rng, 12, 3) * np.exp(dependence * rng.standard_normal((12, 3))))
    samples = rng.multinomial(2_000, shares.ravel(), size=400).reshape(400, 12, 3)
    groups = [int(one.max()) + 1 for one in maps]

    def difference(table):
        first, second = (measure(fold(table.astype(float), one, n)) for one, n in zip(maps, groups, strict=True))
        return first - second

    def error(table):
        known = evidence_of(table, [mapped("first", maps[0], table), mapped("second", maps[1], table)], joint=True)
        return np.linalg.norm(errors_of(known, measure, ["first", "second"]).difference("first", "second"))

    spread = np.std([difference(table) for table in samples])
    said = np.sqrt(np.mean([error(table) ** 2 for table in samples[:60]]))
    # With few degrees of freedom, the noise that cannot be removed is a large part of the error.
    assert 0.85 < said / spread < (1.4 if dependence == 0 else 1.2)


def test_maskings_known_by_counts_only_are_taken_to_go_together_as_badly_as_can_be():
    table = random_table(np.random.default_rng(9), values=12, records=2_000)
    views = [np.arange(12) // 3, np.arange(12) // 5]
    known = evidence_of(table, [mapped(f"v{at}", view, table) for at, view in enumerate(views)], joint=True)
    blind = [counted(view.id, view.joint, deterministic=True) for view in known.maskings]
    for measure in WITH_ERRORS:
        seen, unseen = (
            errors_of(one, measure, ["v0", "v1"]).difference("v0", "v1")
            for one in (known, evidence_of(table, blind, joint=True))
        )
        assert np.linalg.norm(unseen) >= np.linalg.norm(seen) * (1 - 1e-9)


@for_each("histogram", [True, False])
def test_nested_views_need_no_unmasked_counts(histogram):
    """The finer masking has all that both show, whatever else the reference says about the values."""
    table = random_table(np.random.default_rng(17), values=12, records=2_000)
    views = [mapped("fine", np.arange(12) // 3, table), mapped("coarse", np.arange(12) // 6, table)]
    bare, full = evidence_of(table, views, histogram=histogram), evidence_of(table, views, joint=True)
    for measure in WITH_ERRORS:
        vectors = [errors_of(one, measure, ["fine", "coarse"]).difference("fine", "coarse") for one in (bare, full)]
        np.testing.assert_allclose(*vectors, atol=1e-9 * np.abs(vectors).max())


def test_identity_has_the_error_of_the_unmasked_counts():
    table = random_table(np.random.default_rng(10), values=12, records=2_000) + 1
    for measure in WITH_ERRORS:
        known = evidence_of(table, [mapped("half", np.arange(12) // 6, table)], joint=True)
        errors = errors_of(known, measure, ["identity", "half"])
        assert np.linalg.norm(errors.utility("identity")) == pytest.approx(utility_error(table, measure), rel=1e-6)
        assert not errors.difference("identity", "identity").any()


@EVERY_MEASURE
def test_a_reference_of_atoms_moves_like_the_whole_of_it(measure):
    """Variant I: the values of an atom have the atom's distribution and their own counts."""
    rng = np.random.default_rng(11)
    atoms = random_table(rng, values=4, records=40) + 1
    table = np.repeat(atoms, 3, axis=0) * np.tile([1, 2, 5], 4)[:, None]
    known = evidence_of(table, [mapped("atoms", np.repeat(np.arange(4), 3), table)])
    whole = evidence_of(table, [], joint=True)
    spread = []
    for one in (known, whole):
        reference = Sample.of(one, reconstruct(one), measure).reference
        moves = Influence.of(measure, reference.joint, None, reference.statistics)
        spread.append(np.concatenate([moves.means, moves.spreads]))
    if measure.id not in {"cramers_v", "cramers_v_corrected"}:  # its degrees of freedom are those of the atoms
        np.testing.assert_allclose(*spread, atol=1e-9 * np.abs(spread).max())


def test_a_randomised_masking_on_the_other_side_of_the_reference():
    """Its deviation falls when those of the others rise, so the reference utility does not cancel."""
    table = random_table(np.random.default_rng(12), values=6, records=600)
    fine = counted("fine", np.repeat(np.eye(3, dtype=int), table.sum(0), axis=0), deterministic=False)
    known = evidence_of(table, [mapped("half", np.arange(6) // 3, table), fine], joint=True)
    errors = errors_of(known, MEASURES["theils_u"], ["half", "fine", "identity"])
    assert errors.orientations == {"half": 1, "fine": -1, "identity": 0}
    whole, half = (np.linalg.norm(errors.utility(one)) for one in ("identity", "half"))
    across = np.linalg.norm(errors.difference("half", "fine"))
    assert 2 * whole - half <= across <= 2 * whole + half + np.linalg.norm(errors.utility("fine"))


@pytest.mark.parametrize("measure", ["mutual_information", long("chi_square"), long("goodman_kruskal_tau")])
def test_the_error_of_noisy_counts_has_the_noise_in_it(measure):
    rng = np.random.default_rng(31)
    shares = rng.dirichlet(np.full(12, 2.0)).reshape(4, 3)
    utilities, errors, plain = [], [], []
    for _ in range(60):
        table = rng.multinomial(5_000, shares.ravel()).reshape(shares.shape)
        evidence = evidence_of(table, [noisy(rng, "v", np.arange(4), table, 40.0)])
        found = errors_of(evidence, MEASURES[measure], ["v"])
        utilities.append(assess(evidence, found.sample.reference, MEASURES[measure], ["v"]).maskings["v"].utility)
        errors.append(np.linalg.norm(found.utility("v")))
        plain.append(utility_error(table.astype(float), MEASURES[measure]))
    # Nearly all of it is noise; the fit to the histograms removes some of it.
    assert np.mean(plain) < 0.7 * np.std(utilities)
    assert 0.9 < np.mean(errors) / np.std(utilities) < 1.8
