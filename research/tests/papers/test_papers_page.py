"""The page on the papers: its short form from end to end, and its verdicts."""

import csv
import re

import numpy as np
import pytest

from aegis_advisor.measures import MEASURES
from research.papers import claims, page
from research.papers.__main__ import evaluate
from research.papers.accuracy import GOLD, Accuracy
from research.papers.algorithm import true_deviations
from research.papers.claims import FAILS, HOLDS, PARTLY, UNJUDGED, counted
from research.papers.claims_of_others import _Figures, _interval, _number, of_generation
from research.papers.summaries import own_distance
from research.papers.tables import Statistics, hierarchy
from research.real_tables import iris
from research.report import Section, table, write
from research.study import Table
from research.training import MODELS, Results

pytestmark = pytest.mark.long


@pytest.mark.parametrize(
    ("cases", "verdict"),
    [([True, True], HOLDS), ([True, False], PARTLY), ([False], FAILS), ([], UNJUDGED)],
)
def test_a_claim_holds_if_it_does_in_every_case(cases, verdict):
    assert counted("1", "words", cases, "cases").verdict == verdict


def test_statistics_tell_numbers_from_categories():
    columns = {"n": np.array(["1", "2.5", "9"]), "m": np.array(["0", "0", "4"]), "c": np.array(["x", "y", "x"])}
    counts = Statistics.of(Table("made", "", "", columns, np.array(["p", "q", "p"])))
    assert counts == Statistics("made", 3, 2, (2,), (8.0, 4.0), (3, 2))


def test_a_hierarchy_gives_its_levels_but_the_last(tmp_path):
    file = tmp_path / "hierarchy_age.csv"
    file.write_text("1;0-4;0-9;*\n6;5-9;0-9;*\n")
    levels = hierarchy(file, "age")
    assert [one.id for one in levels] == ["age-1", "age-2"]
    assert levels[0].function.values == {"1": "0-4", "6": "5-9"}
    file.write_text("M;*\nF;*\n")
    assert [one.function.values for one in hierarchy(file, "sex")] == [{"M": "code 0", "F": "code 1"}]


def test_gold_is_the_best_configuration_by_the_mean_and_others_are_behind_it():
    study = iris(configurations=3)
    values = np.zeros((3, len(MODELS), 2, 2))
    values[:, :, :, 0] = np.array([[0.5, 0.9], [0.8, 0.8], [0.1, 0.2]])[:, np.newaxis, :]
    measured = Accuracy(study, Results(values), {"one": np.array([0.5, 0.0, 0.5])})
    assert measured.of_pick(GOLD, MODELS[0]).tolist() == [0.8, 0.8]
    assert measured.of_pick("one", MODELS[0]) == pytest.approx([0.3, 0.55])
    assert measured.behind("one").mean == pytest.approx(0.375)
    assert measured.range() == pytest.approx(0.65)


def test_true_deviations_are_those_of_counted_records():
    study = iris(configurations=4)
    for measure, deviations in ((name, true_deviations(study, name)) for name in ("g3", "chi_square")):
        for configuration, deviation in enumerate(deviations):
            masked = study.masked(configuration)
            lost = [
                abs(MEASURES[measure](_counts(one, study.classes)) - MEASURES[measure](_counts(other, study.classes)))
                for one, other in zip(study.codes.T, masked.T, strict=True)
            ]
            assert deviation == pytest.approx(np.mean(lost))


def _counts(column, classes):
    counts = np.zeros((column.max() + 1, classes.max() + 1))
    np.add.at(counts, (column, classes), 1)
    return counts


def test_one_masked_table_restores_what_the_closed_form_says():
    """`F(a, y) = f(a) F(M(a), y) / F(M(a))`: by docs/model.md, of a masking that is a function of the value."""
    study = iris(configurations=4)
    one, truth = study.evidence[0], study.truths[0]
    masking = one.maskings[0]
    groups = masking.joint[masking.mapping]
    expected = truth.sum(axis=1, keepdims=True) * groups / groups.sum(axis=1, keepdims=True)
    distance = np.abs(expected - truth).sum() / truth.sum() / 2
    assert own_distance(one, truth, masking.id, histogram=True) == pytest.approx(distance)
    assert own_distance(one, truth, "identity", histogram=True) == 0


def test_claims_on_generated_tables_are_judged_by_the_page_that_measured_them():
    judged = [claim for claims_of_part in of_generation().values() for claim in claims_of_part]
    assert len(judged) == 13
    assert all(claim.figure and claim.verdict in {HOLDS, PARTLY, FAILS, UNJUDGED} for claim in judged)


def test_tables_are_read_from_a_page_and_from_the_files_beside_it(tmp_path):
    shown = [["1", "0.5 (0.4 to 0.6)"]]
    long = [[str(number), f"{number},5"] for number in range(9)]
    sections = [Section("One", table(["known", "share"], shown)), Section("Two", table(["known", "epsilon"], long))]
    write(tmp_path / "page.md", "# Title", sections, "beside")
    figures = _Figures(tmp_path / "page.md")
    assert figures.of("known", "share") == [[{"known": "1", "share": "0.5 (0.4 to 0.6)"}]]
    ((first, *_),) = figures.of("known", "epsilon")
    assert first == {"known": "0", "epsilon": "0,5"}
    assert [len(rows) for rows in figures.of("known")] == [1, 9]
    assert _interval("0.5 (0.4 to 0.6)") == (0.4, 0.6)
    assert _number("1,350") == 1350


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("papers")
    kept = folder / "kept"
    kept.mkdir()
    evaluate(folder / "papers.md", kept, short=True)
    return folder


def test_the_page_shows_every_file_and_no_more(written):
    text = (written / "papers.md").read_text(encoding="utf-8")
    linked = set(re.findall(rf"\]\({page.FOLDER}/(\S+)\)", text))
    assert linked == {file.name for file in (written / page.FOLDER).iterdir()}
    assert "nan" not in text


def test_every_claim_is_on_the_page_with_a_verdict_a_figure_and_a_command(written):
    text = (written / "papers.md").read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| [^|]+ \| [^|]+ \| (holds|holds in part|does not hold|cannot be judged) \| ([^|]+) \| (\w+) \|$",
        text,
        re.MULTILINE,
    )
    said = int(re.search(r"\*\*Claims\*\*: of (\d+),", text)[1])
    assert len(rows) == said > 40
    assert {command for *_, command in rows} == {claims.RUN, claims.TESTS, claims.GENERATION}


def test_files_have_a_row_for_each_configuration_and_size(written):
    with (written / page.FOLDER / "accuracy-by-configuration.csv").open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert len(rows) == 2 * len(MODELS) * 6
    assert all(0 < float(row["accuracy"]) <= 1 for row in rows)
    for title in ("g3", "Mascara"):
        shares = [float(row[f"picked by {title}"]) for row in rows if row["table"] == "iris"]
        assert sum(shares) == pytest.approx(len(MODELS), abs=0.02)
    with (written / page.FOLDER / "growth.csv").open(newline="") as lines:
        assert len(list(csv.DictReader(lines))) == 8
