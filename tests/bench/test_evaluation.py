"""The evaluation: its figures against independent computations, and its short form from end to end."""

import hashlib
import math
import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import accuracy_score, roc_auc_score
from sklearn.preprocessing import OneHotEncoder

from aegis_advisor.measures import MEASURES
from aegis_advisor.ranking import Question
from bench.evaluation import cost
from bench.evaluation.__main__ import evaluate
from bench.evaluation.effectiveness import levels, outcome
from bench.evaluation.losses import Estimate, correlations, lost, lost_in_split
from bench.evaluation.rankers import DRAWS, KNOWLEDGE, Scores, ask, entrants, known, outside
from bench.evaluation.report import Section, figure_of, table, write
from bench.evaluation.sections.joint import Difference, best_other
from bench.evaluation.tables import real, synthetic
from bench.evaluation.training import METRICS, MODELS, Results, quality, sizes_of, splits_of
from tests.documents import ROOT

RNG = np.random.default_rng(5)


@pytest.fixture(scope="module")
def wine():
    return real.wine(configurations=8)


@pytest.fixture(scope="module")
def by_id():
    return {entrant.id: entrant for entrant in entrants()}


# -- losses


def test_an_interval_of_independent_values_is_that_of_the_t_test():
    values = RNG.normal(size=12)
    estimate = Estimate.of(values, 0.0)
    expected = stats.ttest_1samp(values, 0.0).confidence_interval(0.95)
    assert (estimate.lower, estimate.upper) == pytest.approx((expected.low, expected.high))
    assert Estimate.of(np.full(5, 0.25), 1.0) == Estimate(0.25, 0.0)


def test_an_interval_over_overlapping_halves_is_that_of_the_corrected_resampled_t():
    values = [0.03, 0.01, 0.04, 0.01, 0.05]
    mean = sum(values) / 5
    spread = sum((value - mean) ** 2 for value in values) / 4
    half_width = 2.7764451 * math.sqrt(
        (1 / 5 + 300 / 200) * spread
    )  # the tabled 0.975 quantile of 4 degrees of freedom
    assert Estimate.of(np.array(values), 300 / 200) == Estimate(
        pytest.approx(mean), pytest.approx(half_width, rel=1e-6)
    )


def test_the_interval_covers_what_overlapping_halves_have_in_common():
    """Each split is its table's own error, shared by all splits, and one of its own: half of the variance is shared."""
    rng = np.random.default_rng(8)
    values = rng.normal(size=(2_000, 1)) + rng.normal(size=(2_000, 10))
    corrected, independent = (
        np.mean([one.lower < 0 < one.upper for one in (Estimate.of(row, ratio) for row in values)])
        for ratio in (1.0, 0.0)
    )
    assert corrected == pytest.approx(0.95, abs=0.02)
    assert independent < 0.6


def test_what_a_pick_loses_is_what_listing_the_results_says():
    results = RNG.random((7, 5))
    means = [sum(results[:, one]) / 7 for one in range(5)]
    best = means.index(max(means))
    for pick in range(5):
        chosen = np.eye(5)[pick]
        for split in range(7):
            assert lost(results, chosen)[split] == pytest.approx(results[split, best] - results[split, pick])
            assert lost_in_split(results, chosen)[split] == pytest.approx(max(results[split]) - results[split, pick])
    assert lost(results, np.eye(5)[best]) == pytest.approx(np.zeros(7))
    assert lost(results, np.full(5, 0.2)).mean() == pytest.approx(max(means) - sum(means) / 5)


def test_correlation_is_spearmans_with_ties():
    utilities = np.array([0.1, 0.3, 0.3, 0.9, 0.2, 0.2])
    results = np.round(RNG.random((20, 6)), 1)
    expected = [stats.spearmanr(utilities, row).statistic for row in results]
    assert correlations(results, utilities) == pytest.approx(np.array(expected))


def test_an_order_that_says_nothing_correlates_with_nothing():
    assert correlations(RNG.random((3, 4)), np.ones(4)).tolist() == [0.0, 0.0, 0.0]
    assert correlations(np.ones((2, 4)), np.arange(4.0)).tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("shift", "verdict"), [(-1.0, "better"), (-0.4, "undecided"), (0.4, "undecided"), (1.0, "worse")]
)
def test_a_difference_is_told_by_its_interval(shift, verdict):
    assert Difference(Estimate(shift, 0.5)).verdict == verdict


def test_the_same_pick_in_all_questions_is_no_open_difference(wine, by_id):
    results = Results(RNG.random((8, len(MODELS), 4, len(METRICS))))
    entrants = [by_id["mutual_information, counts"], by_id["theils_u, counts"], by_id["random choice"]]
    information, again, chance = outcome(wine, results, entrants).effects
    assert str(Difference.of(information, again)) == "same pick"
    assert Difference.of(information, chance).verdict != "same pick"


@pytest.mark.parametrize("best", ["mutual_information, bias corrected", "g3, counts"])
def test_the_best_in_hindsight_is_chosen_among_all_measures_of_single_attributes(wine, by_id, best):
    names = ["joint, counts", "joint, not corrected", "mutual_information, counts", "random choice"]
    names += ["mutual_information, bias corrected", "g3, counts"]
    results = Results(RNG.random((8, len(MODELS), 4, len(METRICS))))
    found = outcome(wine, results, [by_id[name] for name in names])
    losing = {name: np.full_like(found.effects[0].lost, 0.2) for name in names}
    losing |= {
        best: losing[best] / 2,
        names[0]: losing[best] * 0,
        names[1]: losing[best] * 0,
        names[3]: losing[best] * 0,
    }
    effects = tuple(replace(each, lost=losing[each.entrant.id]) for each in found.effects)
    assert best_other(replace(found, effects=effects)).entrant.id == best


# -- training


def test_quality_is_that_of_brute_force_and_scikit_learn():
    truth = RNG.integers(3, size=60)
    truth[:3] = range(3)
    found = RNG.dirichlet(np.ones(3), size=60)
    wins = []
    for one in range(3):
        ours, others = found[truth == one, one], found[truth != one, one]
        wins.append(np.mean([(a > b) + (a == b) / 2 for a in ours for b in others]))
    assert quality(truth, found) == pytest.approx((accuracy_score(truth, found.argmax(axis=1)), np.mean(wins)))
    binary = (truth > 0).astype(int)
    expected = roc_auc_score(binary, 1 - found[:, 0])
    assert quality(binary, np.stack([found[:, 0], 1 - found[:, 0]], axis=1))[1] == pytest.approx(expected)


def test_splits_are_halves_with_the_classes_shares():
    classes = np.repeat([0, 1], [180, 20])
    halves = splits_of(classes, 20)
    assert len(halves) == 20
    for train, test in halves:
        assert sorted([*train, *test]) == list(range(200))
        assert np.bincount(classes[train]).tolist() == [90, 10]
    assert len({train.tobytes() for train, _ in halves}) == 20
    many = splits_of(np.repeat([0, 1], [6_000, 6_001]), 2)
    assert {(train.size, test.size) for train, test in many} == {(4_000, 6_001)} == {sizes_of(12_001)}


# -- rankers


@pytest.mark.parametrize("measure", ["mutual_information", "chi_square", "g3", "g1"])
def test_the_products_utilities_are_the_measures_of_the_masked_table_but_for_a_constant(wine, by_id, measure):
    scores = by_id[f"{measure}, counts"].scores(wine)
    sign = 1 if MEASURES[measure].better == "higher" else -1
    expected = np.zeros(8)
    for configuration in range(8):
        for column in wine.masked(configuration).T:
            counts = np.zeros((column.max() + 1, 3))
            np.add.at(counts, (column, wine.classes), 1)
            expected[configuration] += sign * MEASURES[measure](counts) / len(wine.evidence)
    apart = scores.utilities - expected
    assert np.ptp(apart) == pytest.approx(0.0, abs=1e-8 * np.abs(expected).max())
    for places in levels(8):
        assert scores.pick(places).tolist() == np.eye(places.size)[np.argmax(expected[places])].tolist()


def test_everyone_ranks_every_configuration(by_id):
    study = synthetic.redundant(0, records=300, configurations=8)
    for entrant in by_id.values():
        scores = entrant.scores(study)
        assert scores.utilities.shape == (8,)
        for places in levels(8):
            pick = scores.pick(places)
            assert pick.sum() == pytest.approx(1.0)
            assert scores.utilities[places[pick > 0]].min() == scores.utilities[places].max()
    assert len({(entrant.group, entrant.title) for entrant in by_id.values()}) == len(by_id)


def test_a_rivals_best_are_picked_with_equal_probability(wine):
    scores = outside(wine, lambda _: np.array([1.0, 3.0, 3.0 + 1e-12, 0.0, 3.0, -1.0, 2.0, 2.0]))
    assert scores.pick(np.arange(8)) == pytest.approx(np.array([0, 1, 1, 0, 1, 0, 0, 0]) / 3)
    assert scores.pick(np.array([3, 6, 7])) == pytest.approx(np.array([0, 0.5, 0.5]))
    assert (scores.tied(np.arange(8)), scores.tied(np.arange(3, 6))) == (3, 1)


def test_an_order_breaks_ties():
    scores = Scores(np.array([1.0, 2.0, 2.0, 0.0]), np.array([2, 1, 0, 3]))
    assert scores.pick(np.arange(4)).tolist() == [0.0, 0.0, 1.0, 0.0]
    assert scores.pick(np.array([0, 1, 3])).tolist() == [0.0, 1.0, 0.0]
    assert scores.tied(np.arange(4)) == 2


def test_levels_leave_the_most_private():
    assert [places.tolist() for places in levels(6)] == [[0, 1, 2, 3, 4, 5], [2, 3, 4, 5], [4, 5]]
    assert [places.size for places in levels(30)] == [30, 20, 10]


@pytest.mark.parametrize("measure", ["mutual_information", "g3"])
def test_among_fewer_configurations_the_pick_is_what_the_product_answers(wine, by_id, measure):
    scores = by_id[f"{measure}, counts"].scores(wine)
    question = Question(measure, wine.attributes, np.full(13, 1 / 13))
    for places in levels(8):
        fewer = replace(wine.configurations, codes=wine.configurations.codes[places])
        best = ask(replace(wine, configurations=fewer), question).best
        assert scores.pick(places)[best] == 1.0


def test_what_is_known_is_what_it_says(wine):
    for knowledge in KNOWLEDGE:
        for told, full in zip(known(wine.evidence, knowledge), wine.evidence, strict=True):
            counted = [masking for masking in told.maskings if masking.joint is not None]
            halved = -(-len(full.maskings) // 2)
            assert len(counted) == (halved if knowledge.startswith("half") else len(full.maskings))
            assert any(masking.groups > 1 for masking in counted)
            assert (told.histogram is None) == knowledge.endswith("no histograms")
            assert all(masking.mapping is not None for masking in told.maskings)


def test_joint_utilities_are_pillais_trace_of_the_records(wine, by_id):
    expected = []
    for configuration in range(8):
        shared = OneHotEncoder(sparse_output=False).fit_transform(wine.masked(configuration))
        label = np.eye(3)[wine.classes]
        x, y = shared - shared.mean(axis=0), label - label.mean(axis=0)
        # What a least-squares fit on the indicators explains of the label's, made orthonormal.
        basis = np.linalg.svd(y, full_matrices=False)[0][:, :2]
        expected.append(np.sum((x @ np.linalg.lstsq(x, basis)[0]) ** 2))
    apart = by_id["joint, not corrected"].scores(wine).utilities - np.array(expected)
    assert np.ptp(apart) == pytest.approx(0.0, abs=1e-6)


# -- the outcome


def test_an_outcome_holds_scores_against_results(wine, by_id):
    results = Results(RNG.random((8, len(MODELS), 4, len(METRICS))))
    found = outcome(wine, results, [by_id["chi_square, counts"], by_id["random choice"]])
    effect = found.by_id["chi_square, counts"]
    expected = np.zeros((3, 4))
    for places in levels(8):
        for model in range(3):
            auc = results.values[places, model, :, 1].T
            expected[model] += lost(auc, effect.scores.pick(places)) / 3
    for model, name in enumerate(MODELS):
        assert effect.loss("AUC", name) == pytest.approx(expected[model])
    assert effect.loss() == pytest.approx(expected.mean(axis=0))
    interval = Estimate.of(expected.mean(axis=0), 89 / 89)
    assert effect.mean_loss() == Estimate(pytest.approx(interval.mean), pytest.approx(interval.half_width))
    assert found.by_id["random choice"].spearman().mean == 0.0
    assert found.auc[2] == pytest.approx(results.values[2, :, :, 1].mean())


# -- the page


def test_what_draws_at_random_is_worth_the_mean_over_its_draws(wine, by_id):
    results = Results(RNG.random((8, len(MODELS), 4, len(METRICS))))
    drawing = by_id["sampling"]
    seeds = [replace(drawing, scores=ranked, again=()) for ranked in (drawing.scores, *drawing.again)]
    mean, *each = (outcome(wine, results, [one]).effects[0] for one in (drawing, *seeds))
    assert len({one.scores.utilities.tobytes() for one in each}) == len(each) == DRAWS
    assert mean.loss() == pytest.approx(np.mean([one.loss() for one in each], axis=0))
    assert mean.correlation == pytest.approx(np.mean([one.correlation for one in each], axis=0))
    assert [len(by_id[name].again) for name in ("g3, own", "Mascara")] == [DRAWS - 1, 0]


def test_figures_have_no_negative_zero():
    assert figure_of(-0.00001) == "0.0000"
    assert figure_of(-0.25, 2) == "-0.25"


def test_a_page_has_what_its_sections_found_first(tmp_path):
    page = tmp_path / "evaluation.md"
    sections = [
        Section("One", table(["a", "b", "c"], [["x", "-1", "y"]]), found=["Found."], shown="Shown."),
        Section("Two", "Text."),
    ]
    write(page, "# Title", sections)
    assert page.read_text().split("\n\n") == [
        *("# Title", "## What was found", "* Found.", "Shown.", "## One"),
        "| a | b | c |\n| --- | ---: | --- |\n| x | -1 | y |",
        *("## Two", "Text.\n"),
    ]


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The short form, run twice: here, and in a process of its own, where text has other hashes."""
    folders = [tmp_path_factory.mktemp(name) for name in ("here", "there")]
    command = [sys.executable, "-W", "error", "-m", "bench.evaluation", "--short", "--output"]
    there = subprocess.Popen([*command, folders[1] / "evaluation.md"], cwd=ROOT, stderr=subprocess.PIPE)
    evaluate(folders[0] / "evaluation.md", short=True)
    _, said = there.communicate()
    assert there.returncode == 0, said.decode()
    return folders


def lasting(path):
    """What does not depend on how long anything took."""
    if path.suffix != ".md":
        return path.read_bytes()
    text = re.sub(rf"\n\* {re.escape(cost.ONE_RUN)}.*", "", path.read_text(encoding="utf-8"))
    return re.sub(r"\n## What it costs to choose\n.*?(?=\n## )", "", text, flags=re.DOTALL).encode()


def test_the_short_form_writes_the_same_twice(pages):
    digests = [
        {
            str(path.relative_to(folder)): hashlib.sha256(lasting(path)).hexdigest()
            for path in folder.rglob("*")
            if path.is_file() and path.name != cost.FIGURE
        }
        for folder in pages
    ]
    assert digests[0] == digests[1]
    assert {"evaluation.md", "evaluation/losses.svg", "evaluation/spearman.svg"} <= set(digests[0])


def test_every_plot_is_shown_and_every_entrant_listed(pages, by_id):
    text = (pages[0] / "evaluation.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"\]\(evaluation/(\S+\.svg)\)", text))
    assert shown == {path.name for path in (pages[0] / "evaluation").iterdir()}
    assert all(f"| {entrant.title} |" in text for entrant in by_id.values())
    assert "nan" not in text.replace("finance", "")
    assert text.split("\n\n")[1].startswith("**This is the short form (3 tables, 2 splits)")
    assert "classes kept, 2 times, the same" in text


def test_plots_are_drawn_with_paths_and_no_date(pages):
    for path in (pages[0] / "evaluation").iterdir():
        text = path.read_text(encoding="utf-8")
        assert "<path" in text
        assert "<text" not in text
        assert "dc:date" not in text


def test_configurations_of_a_made_up_table_trade_copies_for_the_others():
    study = synthetic.redundant(4)
    coarse = np.array([study.masked(configuration).max(axis=0) for configuration in range(30)], dtype=float)
    correlation = np.corrcoef(coarse.T)
    assert correlation[:5, :5].mean() > 0.5
    assert correlation[5:, 5:].mean() > 0.5
    assert correlation[:5, 5:].mean() < -0.3
