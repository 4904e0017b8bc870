"""A label that is a number: its bins and scores, from the draft of a plan to the entry and the masked table."""

from dataclasses import replace
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold, cross_val_score
from sklearn.preprocessing import OneHotEncoder

from aegis_provider import load_plan, summarize
from aegis_provider.advice import expected_of
from aegis_provider.check import check, with_measured
from aegis_provider.counting.label_scores import middles
from aegis_provider.draft import start
from aegis_provider.draft.bins import _mean, _numbers
from aegis_provider.errors import PlanError, TableError
from aegis_provider.masking.numbers import EdgeBuckets
from aegis_provider.plan.model import Configuration, Masking
from aegis_provider.release.apply import apply
from aegis_provider.report.rendering import text_lines
from aegis_provider.synth.attacks.article29 import inference
from aegis_provider.synth.attacks.attack import open_case
from aegis_provider.synth.fidelity import fidelity
from aegis_provider.synth.generate.generating import generate
from aegis_provider.synth.generate.prepared import Wish
from aegis_provider.synth.report.generated_card import generated_report, judge_generated
from aegis_provider.table import open_table
from aegis_provider.table.arithmetic import interval_name
from aegis_sdk.wire import EntryDocument
from tests.for_each import for_each

RECORDS = 600
CONFIGURATIONS = "\nconfigurations:\n  all: {}\n  coarse: {x: drop}\n"


@pytest.fixture(scope="module")
def drawn():
    rng = np.random.default_rng(3)
    x, y = rng.integers(0, 5, RECORDS), rng.integers(0, 3, RECORDS)
    numbers = np.round(np.exp(0.3 * x + 0.2 * y + rng.normal(0, 0.4, RECORDS)) * 100, 2)
    return x, y, numbers


@pytest.fixture(scope="module")
def table(drawn, tmp_path_factory):
    path = tmp_path_factory.mktemp("numbers") / "table.csv"
    lines = [f"{a},{'abc'[b]},{number}" for a, b, number in zip(*drawn, strict=True)]
    path.write_text("x,kind,charges\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def plan(table):
    path = table.parent / "plan.yaml"
    start(table, "charges", path)
    path.write_text(path.read_text(encoding="utf-8") + CONFIGURATIONS, encoding="utf-8")
    return load_plan(path)


def edges_of(plan):
    return np.array([float(edge) for edge in plan.label_as.discretization.edges])


def test_a_draft_has_at_most_20_bins_of_enough_records_with_round_edges(plan, drawn):
    edges = edges_of(plan)
    counts = np.histogram(drawn[2], np.clip(edges, -1e9, 1e9))[0]
    assert 2 <= len(counts) <= 20
    assert counts.min() >= 5
    assert all(len(f"{edge:g}") <= 4 for edge in edges[1:-1])


def test_scores_are_middles_and_the_mean_of_open_bins_to_two_digits(plan, drawn):
    edges, scores = edges_of(plan), plan.label_as.scores
    assert list(scores[1:-1]) == [(low + high) / 2 for low, high in pairwise(edges[1:-1])]
    for score, away, edge, width in (
        (scores[0], (drawn[2] - edges[1])[drawn[2] < edges[1]], edges[1], edges[1] - edges[2]),
        (scores[-1], (drawn[2] - edges[-2])[drawn[2] >= edges[-2]], edges[-2], edges[-2] - edges[-3]),
    ):
        is_stated = np.abs(away).max() <= 0.1 * np.abs(away).sum()
        expected = float(f"{away.mean():.1e}") if is_stated else width / 2
        assert score == pytest.approx(edge + expected, abs=1e-9)
    assert plan.label_as.variance == float(f"{drawn[2].var():.1e}")


@for_each(("most", "stated"), [(50_000.0, False), (405.0, True)])
def test_a_mean_is_stated_unless_one_record_has_over_a_tenth_of_the_sum(tmp_path, most, stated):
    numbers = [*np.arange(100.0, 400.0, 0.5), most]
    (tmp_path / "t.csv").write_text(
        "x,y\n" + "".join(f"{at % 3},{one}\n" for at, one in enumerate(numbers)), encoding="utf-8"
    )
    start(tmp_path / "t.csv", "y", tmp_path / "plan.yaml")
    drafted = load_plan(tmp_path / "plan.yaml", configurations_needed=False).label_as
    edges = [float(edge) for edge in drafted.discretization.edges]
    mean = edges[-2] + float(f"{np.mean([one - edges[-2] for one in numbers if one >= edges[-2]]):.1e}")
    assert (drafted.scores[-1] == mean) is stated
    assert (drafted.variance is not None) is stated
    assert stated or drafted.scores[-1] == edges[-2] + (edges[-2] - edges[-3]) / 2


@pytest.fixture
def numbered(tmp_path):
    """Return a function that drafts a plan for a column of numbers, as texts, and returns what it says of them."""

    def draft(texts, **how):
        rows = (f"{at % 3},{text}\n" for at, text in enumerate(texts))
        (tmp_path / "t.csv").write_text("x,y\n" + "".join(rows), encoding="utf-8")
        start(tmp_path / "t.csv", "y", tmp_path / "plan.yaml", **how)
        return load_plan(tmp_path / "plan.yaml", configurations_needed=False).label_as

    return draft


@for_each(
    "numbers",
    [
        [*range(1_950, 2_050), *range(1_950, 2_050, 2)] * 2,  # years: the mean to two digits is 2000
        [20_240_000 + 100 * month + day for month in range(1, 13) for day in range(1, 29)] * 6,
        [-(at**1.5) for at in range(400)],
        [0] * 900 + list(range(1, 101)) * 4,
    ],
)
def test_scores_ascend_and_lie_within_their_bins(numbered, numbers):
    drafted = numbered(numbers)
    edges = [float(edge) for edge in drafted.discretization.edges]
    assert all(low <= score <= high for score, (low, high) in zip(drafted.scores, pairwise(edges), strict=True))
    assert all(low < high for low, high in pairwise(drafted.scores))


def test_a_frequent_number_has_a_bin_of_its_own_and_others_share_the_rest(numbered):
    drafted = numbered([0] * 1_500 + [40] * 300 + [*range(1, 40)] * 5 + [*range(41, 90)] * 2)
    assert {0.0, 40.0} < set(drafted.scores)  # exactly, being whole
    assert 15 <= len(drafted.scores) <= 20


def test_texts_among_numbers_are_read_as_missing_only_if_asked(numbered, tmp_path):
    numbers = [f"{at / 7:.3f}" for at in range(500)]
    with pytest.raises(TableError, match=r"line 502: 'y' has numbers, except 'NaN'.*--odd-as-missing.*missing$"):
        numbered([*numbers, "NaN"])
    drafted = numbered([*numbers, "NaN"], odd_as_missing=True)
    assert drafted.writing.odd_as_missing
    (tmp_path / "plan.yaml").unlink()
    with pytest.raises(TableError, match=r"label 'y' has numbers, except 'NaN'.*more than one in a hundred; write"):
        numbered([*numbers, *["NaN"] * 10], odd_as_missing=True)


def test_a_mean_close_to_zero_has_the_digits_of_its_numbers(tmp_path):
    """Its own two digits would tell the sum to a record's tenth."""
    numbers = [*np.arange(-150.0, 150.0), *np.linspace(1_000, 1_003, 300)]
    (tmp_path / "t.csv").write_text("y\n" + "".join(f"{one}\n" for one in numbers), encoding="utf-8")
    edges = tuple(map(Decimal, ("-Infinity", "500", "Infinity")))
    with open_table(tmp_path / "t.csv", delimiter=",") as opened:
        binned = _numbers(opened, "y", None)
        assert _mean(opened, binned.filter(binned["x"] < float(edges[1]))) == -0.0  # -0.5, of numbers of about 75
        assert _mean(opened, binned.mutate(x=binned["x"] * 1e306)) is None  # their sum is infinite


def test_the_score_of_missing_numbers_tells_no_count(tmp_path):
    """The exact mean of 97 records, written in full, is a fraction of which 97 is the denominator."""
    numbers = ["", "", "", *([1] * 31), *([2] * 33), *([4] * 33)]
    (tmp_path / "t.csv").write_text("x,y,z\n" + "".join(f"{at % 2},{one},{at % 3}\n" for at, one in enumerate(numbers)))
    label = "y: {discretize: {rule: edges, edges: [1, 2, 4, 5]}, scores: [1, 2, 4]}"
    for labels, attributes in (("[y]", ""), ("[z, y]", "")):
        text = f"labels: {labels}\nattributes: {{x: {{}}, {label}{attributes}}}\nconfigurations: {{all: {{}}}}\n"
        (tmp_path / "plan.yaml").write_text(text, encoding="utf-8")
        entry = summarize(tmp_path / "t.csv", load_plan(tmp_path / "plan.yaml"), name="e")
        of = entry.label if labels == "[y]" else next(each for each in entry.attributes if each.name == "y")
        assert dict(zip(of.domain, of.scores.values, strict=True))[""] == 2.4  # 1 and 1.4, not 229 / 97


def test_the_score_of_missing_numbers_is_among_them_however_far_from_0_these_are(tmp_path):
    years = [*([""] * 30), *range(1_950, 2_000), *range(1_950, 2_000)]
    (tmp_path / "t.csv").write_text("x,y\n" + "".join(f"{at % 2},{one}\n" for at, one in enumerate(years)))
    text = (
        "label: y\nattributes: {x: {}, y: {discretize: {rule: edges, edges: [1950, 1980, 2000]}, scores: [1964, 1989]}}"
    )
    (tmp_path / "plan.yaml").write_text(f"{text}\nconfigurations: {{all: {{}}}}\n")
    label = summarize(tmp_path / "t.csv", load_plan(tmp_path / "plan.yaml"), name="e").label
    assert dict(zip(label.domain, label.scores.values, strict=True))[""] == 1_974  # not 2000


def test_a_mean_is_of_people_where_a_column_says_whose_a_record_is(tmp_path):
    numbers = [*np.arange(100.0, 400.0), *([399.5] * 12)]  # twelve records of one person
    people = [*range(300), *([300] * 12)]
    rows = (f"{at % 3},p{who},{one}\n" for at, (who, one) in enumerate(zip(people, numbers, strict=True)))
    (tmp_path / "t.csv").write_text("x,who,y\n" + "".join(rows), encoding="utf-8")
    start(tmp_path / "t.csv", "y", tmp_path / "plan.yaml", person="who")
    drafted = load_plan(tmp_path / "plan.yaml", configurations_needed=False).label_as
    lower, upper = (float(edge) for edge in drafted.discretization.edges[-3:-1])
    assert drafted.scores[-1] == upper + (upper - lower) / 2


def test_the_entry_has_the_bins_with_their_scores_and_the_trace_is_their_r_squared(plan, table, drawn):
    entry = summarize(table, plan, name="charges", pairs=True)
    assert EntryDocument.model_validate(entry.model_dump(exclude_unset=True)).format == 4
    edges, scores = edges_of(plan), np.array(plan.label_as.scores)
    places = np.searchsorted(edges, drawn[2], side="right") - 1
    assert entry.label.histogram == np.bincount(places).tolist()
    assert entry.label.scores.values == scores.tolist()
    assert entry.label.scores.variance == plan.label_as.variance
    columns = [(column[:, None] == np.unique(column)).astype(float) for column in drawn[:2]]
    design, target = np.concatenate(columns, axis=1), scores[places]
    fitted = design @ np.linalg.lstsq(design, target, rcond=None)[0]
    share = 1 - np.mean((fitted - target) ** 2) / target.var()
    rank = np.linalg.matrix_rank(design) - 1
    adjusted = 1 - (1 - share) * (RECORDS - 1) / (RECORDS - 1 - rank)
    assert entry.joint_trace.value == pytest.approx(adjusted, abs=1e-6)


def test_the_masked_table_shows_bins_and_no_number(plan, table, tmp_path):
    apply(table, plan, "all", tmp_path / "masked.csv", accept_identifiers=False)
    lines = (tmp_path / "masked.csv").read_text(encoding="utf-8").split()[1:]
    shown = {",".join(line.split(",")[2:]) for line in lines}
    assert len(shown) == len(plan.label_as.scores)
    assert all(text.startswith(('"[', '"(-inf')) for text in shown)


@pytest.mark.long
def test_a_draft_gives_every_label_that_is_a_number_the_same_bins_and_scores(plan, table, tmp_path):
    start(table, "kind", tmp_path / "plan.yaml", other_labels=["charges"])
    drafted = load_plan(tmp_path / "plan.yaml", configurations_needed=False)
    assert drafted.labels == ("kind", "charges")
    other = drafted.described("charges")
    assert other.discretization == plan.label_as.discretization
    assert (other.scores, other.variance) == (plan.label_as.scores, plan.label_as.variance)
    edges = [set(other.discretization.edges), *(set(masking.function.edges) for masking in other.maskings)]
    assert [masking.id for masking in other.maskings] == ["charges-16", "charges-8", "charges-4", "charges-2"]
    assert all(coarser < finer for finer, coarser in pairwise(edges))
    assert not other.fitted_to_label


def test_what_is_expected_of_a_number_follows_from_the_entry_for_every_label(plan, table, drawn, tmp_path):
    both = tmp_path / "both.yaml"
    start(table, "kind", both, other_labels=["charges"])
    both.write_text(both.read_text(encoding="utf-8") + CONFIGURATIONS, encoding="utf-8")
    several = expected_of(summarize(table, load_plan(both), name="t"), "all")
    alone = expected_of(summarize(table, plan, name="t", pairs=True), "all")
    assert (list(several), list(alone)) == (["kind", "charges"], ["charges"])
    assert several["kind"][0].auc > 0.5
    x, kind, numbers = drawn
    shown = OneHotEncoder().fit_transform(np.stack([x, kind], axis=1))
    reached = cross_val_score(LinearRegression(), shown, numbers, cv=KFold(5, shuffle=True, random_state=1)).mean()
    for masked, whole in (several["charges"], alone["charges"]):
        assert masked.auc is None
        assert masked.r2 == pytest.approx(reached, abs=0.06)
        assert masked.rmse == pytest.approx(np.sqrt(1 - masked.r2) * numbers.std(), rel=0.05)
        assert whole.r2 == pytest.approx(masked.r2, abs=0.02)


def test_a_check_trains_regressors_in_the_unit_of_the_number(plan, table, drawn):
    attributes = tuple(replace(each, fitted_to_label=False) for each in plan.attributes)  # fitting takes seconds
    result = check(table, replace(plan, attributes=attributes), ["all", "coarse"], seconds=120, folds=2)
    assert (result.scale, result.models) == ("R2", ("ridge regression", "boosted regression"))
    raw, nothing = (result.of(name, "ridge regression") for name in ("(as it is)", "(nothing shared)"))
    assert 0.3 < raw.auc.low < raw.auc.value < raw.auc.high < 1
    assert nothing.auc.value == pytest.approx(0, abs=0.02)
    assert nothing.accuracy.value == pytest.approx(drawn[2].std(), rel=0.02)
    assert result.share("all") > result.share("coarse")
    entry = summarize(table, plan, name="t")
    [own] = [each.measured for each in with_measured(entry, plan, result).configurations if each.id == "all"]
    best = result.of("all", result.best_model)
    assert (own.r2, own.auc) == (pytest.approx(best.auc.value, abs=5e-4), None)
    assert own.rmse.value == float(f"{best.accuracy.value:.1e}")  # to two digits, as the variance
    unstated = entry.label.model_copy(update={"scores": entry.label.scores.model_copy(update={"variance": None})})
    listed = with_measured(entry.model_copy(update={"label": unstated}), plan, result).configurations
    assert (listed[0].measured.r2, listed[0].measured.rmse) == (own.r2, None)  # both would tell the variance


def test_coarser_bins_are_predicted_by_their_mean_scores(plan, table, drawn):
    edges, scores = plan.label_as.discretization.edges, np.array(plan.label_as.scores)
    halves = EdgeBuckets((edges[0], edges[len(scores) // 2], edges[-1]))
    label = replace(plan.label_as, maskings=(Masking("two", halves, "charges"),))
    maskings = {each.name: "identity" for each in plan.attributes} | {"charges": "two"}
    masked = replace(plan, attributes=tuple(replace(each, fitted_to_label=False) for each in plan.attributes))
    masked = replace(masked, label_as=label, configurations=(Configuration("two", maskings, {}),))
    result = check(table, masked, ["two"], seconds=120, folds=2)
    assert (result.scale, result.shown_as) == ("R2", "two")
    of_record = scores[np.searchsorted(edges_of(plan), drawn[2], side="right") - 1]
    upper = drawn[2] >= float(halves.edges[1])
    spread = np.where(upper, of_record[upper].mean(), of_record[~upper].mean()).std()
    assert result.of("(nothing shared)", "ridge regression").accuracy.value == pytest.approx(spread, rel=0.02)
    assert result.of("two", "ridge regression").auc.value > 0.2


@for_each(
    ("stated", "message"),
    [
        ("discretize: {rule: edges, edges: [0, 1, 2]}, scores: [1]", "1 scores are stated, but there are 2 bins"),
        ("discretize: {rule: equal_frequency, bins: 3}, scores: [1, 2, 3]", "belongs to bins whose edges are stated"),
        ("discretize: {rule: edges, edges: [0, 1, 2]}, variance: -1", "must not be below 0, not -1"),
        ("scores: [1, x]", "scores.1"),
    ],
)
def test_faulty_scores_are_refused_with_their_place(tmp_path, stated, message):
    path = tmp_path / "plan.yaml"
    path.write_text(f"label: y\nattributes:\n  x: {{}}\n  y: {{{stated}}}\n", encoding="utf-8")
    with pytest.raises(PlanError, match=r"attributes\.y") as raised:
        load_plan(path, configurations_needed=False)
    assert message in str(raised.value)


def test_a_number_without_two_bins_is_refused(tmp_path):
    rows = "".join(f"{at % 2},{1 if at < 970 else at}\n" for at in range(1_000))
    (tmp_path / "t.csv").write_text("x,y\n" + rows, encoding="utf-8")
    with pytest.raises(TableError, match="no two bins of 40 people or more"):
        start(tmp_path / "t.csv", "y", tmp_path / "plan.yaml", minimum=40)


def test_ordered_classes_may_state_scores(tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n" + "1,low\n2,high\n1,low\n2,low\n" * 30, encoding="utf-8")
    path = tmp_path / "plan.yaml"
    path.write_text(
        "label: y\norder: [low, high]\nattributes:\n  x: {}\n  y: {scores: [1, 10]}\nconfigurations: {c: {}}\n",
        encoding="utf-8",
    )
    entry = summarize(tmp_path / "t.csv", load_plan(path), name="t")
    assert dict(zip(entry.label.domain, entry.label.scores.values, strict=True)) == {"low": 1, "high": 10}


def test_middles_of_open_bins_are_half_a_neighbour_away():
    edges = [Decimal(each) for each in ("-inf", 0, 10, 30, "inf")]
    assert middles(edges) == (-5, 5, 20, 40)


def test_generated_records_have_bins_of_the_number_and_attacks_read_them(plan, table):
    made = generate(table, plan, wish=Wish(records=200, seed=1, seconds=2.0))
    shown = set(made.table["charges"].to_pylist())
    assert shown <= {interval_name(*both) for both in pairwise(plan.label_as.discretization.edges)}
    assert len(shown) > 10
    assert (made.training.quality.auc, made.training.quality.in_words[:5]) == (None, ", R2 ")
    card = judge_generated(made, table, plan, "", seconds=1)
    told = list(text_lines(generated_report(card)))
    assert not any("AUC 0." in line for line in told)
    assert any(line.split()[:3] == ["model", "R2", "of"] for line in told)
    ridge, boosted = card.as_json()["worth"]["models"]
    assert (ridge["model"], boosted["model"]) == ("ridge regression", "boosted regression")
    [guessed] = inference(open_case(made.table, table, plan=plan, holdout=0.2).case)
    assert guessed.variant == "charges"
    assert guessed.baseline.value < guessed.success.value < 0.3  # of people, of whom one in 20 is in a bin


def test_models_of_a_release_predict_the_scores_of_bins(plan, table, drawn, tmp_path):
    apply(table, plan, "all", tmp_path / "masked.csv", accept_identifiers=False)
    ridge, _ = fidelity(tmp_path / "masked.csv", table, plan=plan, configuration="all").models
    x, kind, numbers = drawn
    scores = np.array(plan.label_as.scores)[np.searchsorted(edges_of(plan), numbers, side="right") - 1]
    columns = OneHotEncoder().fit_transform(np.stack([x, kind], axis=1))
    reached = cross_val_score(LinearRegression(), columns, scores, cv=KFold(5, shuffle=True, random_state=1)).mean()
    assert ridge.real_auc.value == pytest.approx(reached, abs=0.12)
    assert ridge.auc.value == pytest.approx(ridge.real_auc.value, abs=0.05)
    assert ridge.real_accuracy.value == pytest.approx(np.sqrt(1 - reached) * scores.std(), rel=0.2)


def test_a_label_that_finds_people_is_warned_of_and_each_label_is_listed(tmp_path):
    rows = (f"{at % 3},{1940 + at * 7 % 60},{500 + at * 37 % 900 * 13},{at % 2}\n" for at in range(900))
    (tmp_path / "t.csv").write_text("x,birth_year,charges,y\n" + "".join(rows), encoding="utf-8")
    labels = ["birth_year", "charges"]
    started = start(tmp_path / "t.csv", "y", tmp_path / "plan.yaml", other_labels=labels)
    assert list(started.doubts) == ["birth_year"]
    [warning] = started.warnings
    assert warning.startswith("label birth_year: its name says that it is when people were born; ")
    assert list(started.other_labels) == labels
    for records in started.other_labels.values():
        assert sum(records.values()) == 900
        assert len(records) <= 20
        assert all(text.startswith(("[", "(-inf")) for text in records)
