"""Each row of the table of evidence in docs/model.md, the clamp, and the bounds."""

from functools import cache

import numpy as np
import pytest

from aegis_advisor.evidence import Masking
from aegis_advisor.measures import MEASURES
from aegis_advisor.ranking import assess
from aegis_advisor.reconstruction import IterativeProportionalFitting, reconstruct
from tests.advisor.cases import (
    counted,
    evidence_of,
    full_table,
    mapped,
    overlapping,
    paper_evidence,
    random_mapping,
    random_table,
)
from tests.advisor.inexact import noisy, randomised_response
from tests.for_each import for_each

EVERY_MEASURE = for_each("measure", MEASURES.values())
MI, G3 = MEASURES["mutual_information"], MEASURES["g3"]
RNG = np.random.default_rng(0)
TABLE = random_table(RNG, values=12, records=900)
VIEWS = (mapped("w3", np.arange(12) // 3, TABLE), mapped("w5", np.arange(12) // 5, TABLE))

# Two ways through a grid of 3 x 4 values: many tables fit both.
CROSSING = (mapped("rows", np.arange(12) // 4, TABLE), mapped("columns", np.arange(12) % 4, TABLE))


def measured(evidence, measure=MI, used=(), solver=None):
    reference = reconstruct(evidence) if solver is None else reconstruct(evidence, solver)
    return assess(evidence, reference, measure, used)


@EVERY_MEASURE
class TestEvidenceTable:
    def test_mapping_and_counts(self, measure):
        found = measured(evidence_of(TABLE, VIEWS), measure, ["w5"])
        assert found.maskings["w5"].utility == measure(VIEWS[1].joint.astype(float))
        assert found.maskings["w5"].source == "counts"

    def test_mapping_without_counts_is_folded_from_the_reference(self, measure):
        cut = mapped("cut", random_mapping(np.random.default_rng(1), 12, 4), TABLE, counted=False)
        evidence = evidence_of(TABLE, [*VIEWS, cut])
        full = full_table(evidence, reconstruct(evidence))
        folded = np.stack([full[cut.mapping == group].sum(0) for group in range(4)])
        found = measured(evidence, measure, ["cut"]).maskings["cut"]
        assert found.utility == pytest.approx(measure(folded), rel=1e-9)
        assert found.source == "reference"

    def test_mapping_without_counts_that_unites_counted_groups_is_exact_however_bad_the_reference(self, measure):
        left = mapped("left", [0, 1, 2, 3, 3, 3, 3, 3, 3, 3, 3, 3], TABLE)
        right = mapped("right", [0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3], TABLE)
        both = mapped("both", [0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 2, 2], TABLE, counted=False)
        mixed = mapped("mixed", [0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 3, 3], TABLE, counted=False)
        evidence = evidence_of(TABLE, [left, right, *VIEWS, both, mixed])
        found = measured(evidence, measure, ["both"], IterativeProportionalFitting(sweeps=1))
        truth = np.stack([TABLE[both.mapping == group].sum(0) for group in range(3)])
        assert found.maskings["both"].utility == measure(truth.astype(float))
        assert found.maskings["both"].source == "counts"

    def test_counts_of_a_declared_function_enter_the_reference_utility_only(self, measure):
        best = counted("id-only", TABLE, deterministic=True)
        bare, with_id = evidence_of(TABLE, VIEWS), evidence_of(TABLE, [*VIEWS, best])
        np.testing.assert_array_equal(reconstruct(bare).joint, reconstruct(with_id).joint)
        found = measured(with_id, measure, ["id-only", "w3"])
        assert found.reference_utility == measure(TABLE.astype(float))
        assert found.maskings["id-only"].deviation == 0
        assert found.maskings["id-only"].source == "counts"
        assert found.maskings["w3"].deviation > 0 or measure.id == "g2"

    def test_counts_of_no_function_neither_constrain_nor_enter(self, measure):
        # Noise so fine that every record has its own masked value: it seems to tell everything.
        noise = counted("noise", np.repeat(np.eye(3, dtype=int), TABLE.sum(0), axis=0), deterministic=False)
        bare, noisy = evidence_of(TABLE, VIEWS), evidence_of(TABLE, [*VIEWS, noise])
        np.testing.assert_array_equal(reconstruct(bare).joint, reconstruct(noisy).joint)
        found = measured(noisy, measure, ["noise"])
        assert found.reference_utility == measured(bare, measure).reference_utility
        assert found.maskings["noise"].utility == measure(noise.joint.astype(float))
        assert found.maskings["noise"].deviation == abs(found.reference_utility - found.maskings["noise"].utility)

    def test_identity_loses_nothing_by_definition(self, measure):
        found = measured(evidence_of(TABLE, VIEWS), measure, ["identity"])
        assert found.maskings["identity"].deviation == 0
        assert found.maskings["identity"].utility == found.reference_utility
        assert found.maskings["identity"].source == "definition"

    def test_drop_leaves_the_labels_histogram(self, measure):
        found = measured(evidence_of(TABLE, VIEWS), measure, ["drop"]).maskings["drop"]
        share = TABLE.sum(0) / TABLE.sum()
        expected = {"g3": 1 - share.max(), "g1": 1 - (share**2).sum(), "g2": 1.0}.get(measure.id, 0.0)
        assert found.utility == pytest.approx(expected, abs=1e-12)
        assert found.source == "definition"

    def test_the_unmasked_counts_decide(self, measure):
        cut = mapped("cut", random_mapping(np.random.default_rng(1), 12, 4), TABLE, counted=False)
        found = measured(evidence_of(TABLE, [*VIEWS, cut], joint=True), measure, ["cut", "identity"])
        truth = np.stack([TABLE[cut.mapping == group].sum(0) for group in range(4)])
        assert found.knowledge == "joint"
        assert (found.bound, found.bound_value) == ("exact", pytest.approx(measure(TABLE.astype(float)), rel=1e-12))
        assert found.maskings["identity"].utility == found.bound_value
        assert found.maskings["cut"].utility == pytest.approx(measure(truth.astype(float)), rel=1e-12)


def test_a_masking_of_which_nothing_is_known_cannot_be_measured():
    nothing = Masking("nothing", 2, None, None, deterministic=True)
    with pytest.raises(ValueError, match="'nothing'"):
        measured(evidence_of(TABLE, [nothing]), used=["nothing"])


def test_identifier_only_maskings_would_rank_backwards_without_the_clamp():
    fine = counted("fine", VIEWS[0].joint, deterministic=True)
    gone = counted("gone", TABLE.sum(0, keepdims=True), deterministic=True)
    found = measured(evidence_of(TABLE, [gone, fine]), used=["fine", "gone"])
    assert found.maskings["fine"].deviation == 0
    assert found.maskings["gone"].deviation == pytest.approx(found.reference_utility)
    assert found.reference_utility > 0.1


@for_each(
    ("histogram", "joint", "knowledge"),
    [(True, True, "joint"), (False, True, "joint"), (True, False, "histogram"), (False, False, "no_histogram")],
)
def test_knowledge(histogram, joint, knowledge):
    assert measured(evidence_of(TABLE, VIEWS, histogram=histogram, joint=joint)).knowledge == knowledge


@cache
def fitted(seed, histogram):
    """A random table, its evidence, and the reference, the same for every measure."""
    rng = np.random.default_rng(seed)
    table = random_table(rng, values=10, records=80)
    evidence = evidence_of(table, overlapping(rng, table, views=3), histogram=histogram)
    return table, evidence, reconstruct(evidence, IterativeProportionalFitting(sweeps=300))


@EVERY_MEASURE
@for_each("histogram", [True, False])
@for_each("seed", range(12))
def test_a_bound_is_never_on_the_wrong_side_of_the_truth(measure, histogram, seed):
    table, evidence, reference = fitted(seed, histogram)
    found = assess(evidence, reference, measure, ())
    truth = measure(table.astype(float))
    if not measure.monotone and not (histogram and measure.of_information and found.certificate.converged):
        assert (found.bound, found.bound_value) == (None, None)
    elif measure.better == "higher":
        assert found.bound == "lower"
        assert found.bound_value <= truth + 1e-12
    else:
        assert found.bound == "upper"
        assert found.bound_value >= truth - 1e-12


@for_each("seed", range(12))
def test_the_information_of_the_reference_bounds_the_truth_in_variant_i_at_any_residual(seed):
    rng = np.random.default_rng(seed)
    table = random_table(rng, values=10, labels=2, records=50)
    evidence = evidence_of(table, overlapping(rng, table))
    tight = reconstruct(evidence, IterativeProportionalFitting(sweeps=1_000)).information_bound
    for sweeps in (1, 5, 50):
        rough = reconstruct(evidence, IterativeProportionalFitting(sweeps=sweeps)).information_bound
        assert rough <= tight + 1e-9
        assert rough <= MI(table.astype(float)) + 1e-12


def test_the_bound_beats_the_best_view_where_views_tell_more_together():
    evidence = evidence_of(TABLE, VIEWS)
    found = measured(evidence)
    assert found.bound == "lower"
    assert found.bound_value > max(MI(view.joint.astype(float)) for view in VIEWS)
    assert found.bound_value == pytest.approx(found.reference_utility, abs=1e-4)
    assert found.bound_value <= found.reference_utility


@for_each("measure", ["theils_u", "normalised_mutual_information"])
def test_the_bound_on_information_bounds_what_is_made_of_it(measure):
    evidence = evidence_of(TABLE, VIEWS)
    information, found = measured(evidence), measured(evidence, MEASURES[measure])
    truth = MEASURES[measure](TABLE.astype(float))
    assert found.bound == "lower"
    assert found.bound_value == pytest.approx(truth * information.bound_value / MI(TABLE.astype(float)), rel=1e-6)


def test_in_variant_ii_only_the_views_are_certain_and_what_they_determine_together():
    crossing = measured(evidence_of(TABLE, CROSSING, histogram=False))
    assert (crossing.bound, crossing.bound_value) == (
        "lower",
        max(MI(view.joint.astype(float)) for view in CROSSING),
    )
    bins = measured(evidence_of(TABLE, VIEWS, histogram=False))
    between = np.add.reduceat(TABLE, [0, 3, 5, 6, 9, 10])
    assert (bins.bound, bins.bound_value) == ("lower", pytest.approx(MI(between.astype(float)), rel=1e-12))


@for_each("measure", [one for one in MEASURES.values() if not one.of_information])
def test_without_an_exact_view_nothing_is_certain(measure):
    noise = counted("noise", TABLE, deterministic=False)
    found = measured(evidence_of(TABLE, [noise]), measure)
    assert (found.bound, found.bound_value) == (None, None)


def test_an_unconverged_reference_certifies_nothing_of_its_own():
    solver = IterativeProportionalFitting(sweeps=1)
    found = measured(evidence_of(TABLE, CROSSING), solver=solver)
    assert not found.certificate.converged
    assert found.bound_value == max(MI(view.joint.astype(float)) for view in CROSSING)


def test_g2_is_exact_where_the_cells_that_have_to_be_empty_are_found(monkeypatch):
    # By the first view no record of the second class is below value 6, by the second none is in column 3.
    table = TABLE.copy()
    table[:6, 1] = table[3::4, 2] = 0
    views = [mapped("rows", np.arange(12) // 4, table), mapped("columns", np.arange(12) % 4, table)]
    halves = mapped("halves", np.arange(12) // 6, table)
    evidence = evidence_of(table, [*views, halves])
    found = measured(evidence, MEASURES["g2"])
    assert found.certificate.iterations > 0
    assert found.certificate.support_known
    assert not found.reference_estimated
    monkeypatch.setattr("aegis_advisor.reconstruction.reference.CLEAR", np.inf)
    monkeypatch.setattr("aegis_advisor.reconstruction.reference.support", lambda *_: None)
    unknown = measured(evidence, MEASURES["g2"])
    assert unknown.reference_estimated
    assert not measured(evidence, G3).reference_estimated


@for_each("measure", MEASURES.values())
def test_the_papers_example(measure):
    found = measured(paper_evidence(), measure, ["age-2", "identity", "drop"])
    # With one view, attribute and label are independent within its groups; only g1, which counts pairs, shows a loss.
    expected = 0.358 if measure.id == "g1" else 0
    assert found.maskings["age-2"].deviation == pytest.approx(expected, abs=5e-4)


@EVERY_MEASURE
@for_each("histogram", [True, False])
def test_the_true_utility_lies_between_the_bounds(measure, histogram):
    for seed in range(10):
        table, evidence, reference = fitted(seed, histogram)
        found = assess(evidence, reference, measure, ())
        true = measure(table.astype(float))
        assert found.lower_bound is None or found.lower_bound <= true + 1e-9
        assert found.upper_bound is None or found.upper_bound >= true - 1e-9
        assert (found.bound, found.bound_value) in {
            ("lower", found.lower_bound),
            ("upper", found.upper_bound),
            (None, None),
        }
        assert histogram is False or {found.lower_bound, found.upper_bound} != {None}


def test_unmasked_counts_leave_no_room_between_the_bounds():
    found = measured(evidence_of(TABLE, VIEWS, joint=True))
    assert found.lower_bound == found.upper_bound == MI(TABLE.astype(float))


def test_a_measure_that_is_corrected_has_no_ceiling_of_the_plain_one():
    found = measured(evidence_of(TABLE, VIEWS), MI.corrected())
    assert (found.lower_bound, found.upper_bound) == (None, None)


@for_each("measure", [MEASURES["cramers_v"], MEASURES["cramers_v_corrected"], MI.corrected()])
def test_what_is_known_by_noise_or_by_chance_is_not_counted_as_worse_than_nothing(measure):
    rng = np.random.default_rng(3)
    values = np.arange(20)
    table = rng.multinomial(4_000, rng.dirichlet(np.full(200, 0.3))).reshape(20, 10)
    table[:10, :5] += 30
    flipped = randomised_response(20, 0.9)
    for view in (
        noisy(rng, "v", values // 10, table, 2.0),
        mapped("v", values // 10, table, counted=False),
        Masking("v", 20, None, np.rint(flipped.T @ table).astype(np.int64), False, transition=flipped),
    ):
        found = measured(evidence_of(table, [view, mapped("w", values // 5, table)]), measure, ["v", "drop"])
        kept, dropped = found.maskings["v"], found.maskings["drop"]
        assert kept.utility > dropped.utility
        assert kept.deviation < dropped.deviation
        assert found.reference_utility >= kept.utility


@for_each("measure", [one for one in MEASURES.values() if one.correction])
def test_what_a_correction_lets_gain_does_not_count_as_a_loss_even_where_the_truth_is_known(measure):
    table = np.array([[30, 10], [29, 11], [5, 35], [6, 34]])
    known = evidence_of(table, [mapped("merged", [0, 0, 1, 1], table)], joint=True)
    found = assess(known, reconstruct(known), measure.corrected(), ["identity", "merged", "drop"])
    merged = found.maskings["merged"]
    assert merged.utility == found.reference_utility > measure.corrected()(table.astype(float))
    assert merged.deviation == 0
    assert found.maskings["drop"].deviation > 0
