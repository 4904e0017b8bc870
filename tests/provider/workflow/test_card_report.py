"""What the card tells of a release that was made up by hand: its tables and its pictures."""

import json
from dataclasses import replace
from html import unescape

import pytest
from pydantic import TypeAdapter

from aegis_provider.check import NOTHING, RAW, Interval
from aegis_provider.cli.release import frontier_rows, lights_of
from aegis_provider.privacy import CERTAIN_VALUES_REMEDY, KnownShares
from aegis_provider.report.model import Light, Terms, TextTable
from aegis_provider.report.rendering import markdown_lines, render_page
from aegis_provider.search import LimitsCost
from aegis_provider.workflow import Card
from aegis_provider.workflow.card import CardAuc, CardChoice, CardColumn, CardExpected, CardLabel, CardPeople, CardTask
from aegis_provider.workflow.card_files import write_card
from aegis_provider.workflow.card_head import head_of, kept_light
from aegis_provider.workflow.card_report import card_report
from aegis_sdk.charts import Interval as Limits
from aegis_sdk.charts import Plane, SeriesBars, Spot
from aegis_sdk.reading import Alone
from aegis_sdk.wire import Expected
from tests.for_each import for_each

BOOSTING, LINEAR = "gradient boosting", "logistic regression"


def column(name, lost, kept=0.5):
    return CardColumn(name, "quasi-identifier", "as it is", kept, lost)


CARD = Card(
    table="people.csv",
    label="ill",
    made="2026-01-01",
    versions={},
    aim="k = 5, at most 1 % of the records left out",
    required=("k",),
    configuration="c2",
    plan_digest="0",
    passed=True,
    verdict="PASS",
    privacy_verdict="PASS",
    alone=Alone("ill", {"c2": 0.0}, None, "c2", 5, 5),
    together_verdict="PASS",
    records=990,
    suppresses=True,
    left_out=10,
    suppressed_cells=0,
    promised={"k": 5},
    reached={"k": 6},
    highest_risk=(None, None),
    warnings=(),
    labels={"yes": CardLabel(400, 395, 0.4, 0.399), "no": CardLabel(600, 595, 0.6, 0.601)},
    columns=(
        column("age", 0.2), column("town", 0.0), column("sex", 0.005), column("pay", 0.05), column("pet", 0.0025),
        CardColumn("ill", "sensitive", "as it is", None, None),
    ),
    never_shared={},
    kept=0.8,
    measure="joint",
    service=None,
    basis="exact",
    considered=3,
    predicted=Interval(0.83, 0.8, 0.86),
    runner_up=None,
    frontier=(
        CardChoice({"k": 2.0}, "", 4, 0.9, proven=True, at_most=0.9, predicted=Interval(0.85, 0.8, 0.9)),
        CardChoice({"k": 5.0}, "c2", 1200, 0.8, proven=False, at_most=0.84, is_aim=True),
        CardChoice({"k": 10.0}, "c3", 9, 0.003, proven=False, at_most=1.0),
        CardChoice({"k": 20.0}, "", None, None, proven=True),
    ),
    measured=(
        CardAuc(RAW, LINEAR, 0.7, 0.6, 0.8), CardAuc(RAW, BOOSTING, 0.8, 0.7, 0.9),
        CardAuc("c2", BOOSTING, 0.75, 0.7, 0.8),
    ),
    check="the advice held",
    unfinished=(),
)  # fmt: skip


def parts_of(card, kind):
    return [part for section in card_report(card).sections for part in section.parts if isinstance(part, kind)]


def verdict_of(card):
    return card_report(card).sections[0].parts


def table_of(card, first):
    return next(each for each in parts_of(card, TextTable) if each.header[0] == first)


def test_the_frontier_stands_between_the_table_as_it_is_and_nothing_shared():
    table = table_of(CARD, "required")
    assert table.header == ("required", "configuration", "records left out", "keeps", "keeps, by models")
    assert table.rows == [
        ("(as it is)", "-", "-", "100 %", "100 %"),
        ("k = 2", "-", "4", "90 %", "85 % (80 to 90 %)"),
        ("k = 5", "c2", "1,200", "80 %, at most 84 % possible", "-"),
        ("k = 10", "c3", "9", "< 1 % or more", "-"),
        ("k = 20", "-", "-", "not known", "-"),
        ("(nothing shared)", "-", "-", "0 %", "0 %"),
    ]
    assert "gradient boosting predicts" in table.caption
    assert "or more: that is the best found" in table.caption
    assert [kept for _, kept in frontier_rows(CARD)] == [
        "90 %", "80 %, at most 84 % possible", "0.3 % or more", "nothing was found",
    ]  # fmt: skip
    proven = replace(CARD, frontier=CARD.frontier[:1])
    assert "or more" not in table_of(proven, "required").caption


def test_the_picture_has_the_same_numbers_with_their_intervals():
    [picture] = parts_of(CARD, Plane)
    assert picture.places == ["k = 2", "k = 5", "k = 10"]
    told, predicted = picture.series
    assert told.spots == [
        Spot(0, 0.9),
        Spot(1, 0.8, up=Limits(0.8, 0.84)),
        Spot(2, 0.003, up=Limits(0.003, 1.0)),
    ]
    assert predicted.spots == [Spot(0, 0.85, up=Limits(0.8, 0.9))]
    assert sorted(picture.y.levels.values()) == [0, 1]
    assert picture.marked == (1, "this release")
    assert "A line upwards ends where it is proven that nothing keeps more." in picture.notes[0]


def test_without_models_there_is_the_measure_alone():
    frontier = tuple(replace(each, predicted=None, proven=True) for each in CARD.frontier)
    card = replace(CARD, frontier=frontier, measured=(), check="")
    assert table_of(card, "required").header[-1] == "keeps"
    [picture] = parts_of(card, Plane)
    assert [each.name for each in picture.series] == ["by the measure joint"]
    assert "AUC" not in "\n".join(markdown_lines(card_report(card)))


def test_negligible_costs_share_one_bar():
    [bars] = parts_of(CARD, SeriesBars)
    assert bars.groups == ["age", "pay", "3 others, together"]
    assert bars.series[0].lengths == [0.2, 0.05, pytest.approx(0.0075)]


def test_columns_that_lose_nothing_have_no_picture():
    columns = tuple(replace(each, lost=None if each.lost is None else 0.0) for each in CARD.columns)
    assert parts_of(replace(CARD, columns=columns), SeriesBars) == []


def test_of_many_columns_the_dearest_have_their_own_bars():
    columns = tuple(column(f"a{place}", 0.03 + place / 1000) for place in range(30))
    [bars] = parts_of(replace(CARD, columns=columns), SeriesBars)
    assert (bars.groups[0], bars.groups[-1]) == ("a29", "10 others, together")
    [lost] = bars.series
    assert sum(lost.lengths) == pytest.approx(sum(each.lost for each in columns))


def test_the_label_keeps_and_loses_nothing():
    rows = {row[0]: row[3:] for row in table_of(CARD, "column").rows}
    assert rows == {
        "age": ("50 %", "20 %"), "town": ("50 %", "0 %"), "sex": ("50 %", "< 1 %"), "pay": ("50 %", "5 %"),
        "pet": ("50 %", "< 1 %"), "ill": ("-", "-"),
    }  # fmt: skip


def test_privacy_is_said_with_what_it_counts_and_what_follows():
    [row] = table_of(CARD, "privacy").rows
    assert row == (
        "k: records in the smallest equivalence class",
        "5",
        "5",
        "6",
        "every record is one of at least 6 alike",
    )


@for_each(("measure", "told"), [("joint", "squared correlations"), ("mutual_information", "mean over")])
def test_every_number_has_its_words(measure, told):
    terms = dict(pair for each in parts_of(replace(CARD, measure=measure), Terms) for pair in each.pairs)
    assert told in terms[f"the measure {measure}"]
    assert {"AUC", RAW, NOTHING} <= terms.keys()


def test_the_page_has_both_pictures():
    page = render_page(card_report(CARD))
    assert page.count("<figure") == 2
    assert "this release" in page
    assert "3 others, together" in page


def test_a_number_has_r2_and_an_error_in_its_unit_and_no_auc(tmp_path):
    measured = tuple(replace(each, scale="R2", rmse=1234.5) for each in CARD.measured)
    task = CardTask(0.8, {"k": 5}, "boosted", 0.75, 0.8, scale="R2", rmse=1234.5)
    whole = Expected(r2=0.75, rmse=1100, low=0.7, high=0.8)
    expected = CardExpected(Expected(r2=0.7, rmse=1200, low=0.69, high=0.71), whole)
    card = replace(CARD, measured=measured, by_label={CARD.label: task}, expected={CARD.label: expected})
    write_card(tmp_path / "card", card_report(card), "{}")
    lights = "\n".join(lights_of(card))
    for said in (lights, *((tmp_path / f"card{ending}").read_text() for ending in (".md", ".html"))):
        assert "AUC" not in said
        assert "R2 of 0.750, of 0.800 on the table, RMSE 1,234" in said or said is not lights
    words = "a model should reach R2 0.70 (0.69 to 0.71), RMSE 1,200; on the table as it is 0.75"
    assert card.expectations == (f"c2: {words}",)
    assert f"{words}." in (tmp_path / "card.md").read_text()
    assert table_of(card, "trained on").header[-1] == "RMSE"


def test_what_models_keep_stands_below_the_headline():
    said = "gradient boosting, trained on it, keeps 83 % (80 to 86 %) of its AUC above chance"
    assert CARD.by_models == said
    assert f"{said[0].upper()}{said[1:]}." in verdict_of(CARD)
    assert replace(CARD, predicted=None).by_models == ""
    assert replace(CARD, measured=()).by_models == ""


def test_of_a_table_that_tells_nothing_certain_no_share_is_kept():
    """It was said that 88 % are kept of what a table tells whose AUC was 0.518."""
    measured = (CardAuc(RAW, LINEAR, 0.518, 0.491, 0.545), CardAuc("c2", LINEAR, 0.515, 0.49, 0.541))
    card = replace(CARD, measured=measured, predicted=Interval(0.83, 0.2, 1.9))
    nothing = "the table itself tells nothing certain about ill (logistic regression: AUC 0.518, 0.491 to 0.545)"
    assert (card.headline, card.by_models) == (f"{nothing}, so there is little that c2 could keep", "")
    certain = replace(card, measured=(replace(measured[0], low=0.501), measured[1]))
    assert certain.headline.startswith("c2 keeps 80 % of what the table tells about ill")
    number = replace(certain, measured=tuple(replace(each, scale="R2", low=0.2) for each in measured))  # 0 is chance
    assert ("R2 of 0.515" in str(kept_light(number)), "nothing certain" in str(kept_light(card))) == (True, True)


def test_a_rounded_number_of_records_left_out_is_told_as_such():
    [exact, rounded] = ("\n".join(markdown_lines(card_report(replace(CARD, rounded_to=base)))) for base in (None, 5))
    assert "; 10 records of the table are left out." in exact
    assert "; about 10 records of the table are left out." in rounded
    assert ("rounded to a multiple of" in exact, "left out: rounded to a multiple of 5" in rounded) == (False, True)


def test_the_head_says_what_is_shared_with_whom_for_what_before_any_verdict():
    lines = list(markdown_lines(card_report(CARD)))
    of = "of 990 records of people.csv, masked, for predicting ill"
    counted = "Records were counted, not people."
    assert lines[2] == f"age, town, sex, pay, pet and ill {of}; for anyone who gets this card. {counted}"
    asked = replace(CARD, consumer="acme", purpose="A study of care.", cut="--seconds ended the search")
    assert head_of(asked)[0] == (
        f"age, town, sex, pay, pet and ill {of}; for acme, for: A study of care (--seconds ended the search). {counted}"
    )
    assert [line[:3] for line in lines[4:9:2]] == [
        "\N{LARGE YELLOW CIRCLE} *",
        "\N{LARGE GREEN CIRCLE} *",
        "\N{LARGE GREEN CIRCLE} *",
    ]
    assert "c2" not in "".join(lines[: lines.index("## The verdict")])


@for_each(
    ("changed", "tones"),
    [
        ({}, "fine fine fine"),
        ({"certain": 0.001}, "look fine fine"),
        ({"certain": 0.494}, "look fine fine"),
        ({"certain": 0.496}, "stop fine fine"),
        ({"guessable": 0.04}, "fine fine fine"),
        ({"guessable": 0.05}, "look fine fine"),
        ({"limits": LimitsCost("keeping age", 0.796, 0.804, True)}, "fine fine fine"),
        ({"warnings": (f"the label of some people is certain (l = 1). {CERTAIN_VALUES_REMEDY}",)}, "fine fine fine"),
        ({"alone": replace(CARD.alone, shares={"c2": 0.005})}, "look fine fine"),
        ({"alone": replace(CARD.alone, shares={"c2": 0.5})}, "stop fine fine"),
        ({"telling_label": ("age",)}, "look fine fine"),
        ({"holds": None}, "look fine fine"),
        ({"holds": False}, "stop fine stop"),
        ({"passed": False}, "stop fine stop"),
        ({"kept": 0.74}, "fine look fine"),
        ({"kept": None, "predicted": None}, "fine look fine"),
        ({"kept": 0.9, "predicted": Interval(0.49, 0.4, 0.6)}, "fine stop fine"),
        ({"cut": "--seconds ended the search"}, "fine look fine"),
        ({"measured": (CardAuc(RAW, LINEAR, 0.52, 0.49, 0.55),)}, "fine look fine"),
        ({"warnings": ("a value is rare",)}, "fine fine look"),
        ({"unfinished": ("no models were trained",)}, "fine fine look"),
        ({"accepted": {"age": "names"}}, "fine fine look"),
    ],
)
def test_the_lights_follow_the_rule(changed, tones):
    lights = [part for part in head_of(replace(CARD, **{"holds": True, **changed})) if isinstance(part, Light)]
    assert " ".join(light.tone for light in lights) == tones
    assert [light.subject for light in lights] == ["People at risk", "What is kept", "Before you sign"]


def said_in(card):
    return {part.subject: part.text for part in head_of(card) if isinstance(part, Light)}


def test_the_lights_say_what_a_number_alone_would_hide():
    guessed = replace(CARD, certain=0.01, guessable=0.26, limits=LimitsCost("keeping age", 0.796, 0.804, True))
    at_risk, kept, _ = said_in(guessed).values()
    assert "For about 26 % of the records a guess of ill is over 95 % right." in at_risk
    assert "Require l=2 if nobody should learn it." in at_risk
    assert "Keeping age costs less than a point. " in kept


def test_a_broken_promise_is_named_and_one_that_holds_against_some_is_not_called_broken():
    broken = replace(CARD, holds=False, privacy_verdict="FAIL: c2 breaks it: k is 3, not 5. To mend it: aegis plan")
    assert "A promise of privacy is broken: c2 breaks it: k is 3, not 5. " in said_in(broken)["People at risk"]
    alone = Alone("ill", {"c2": 0.91}, ("sex", "age"), "c2", 5, 5)
    some = said_in(replace(CARD, holds=False, alone=alone, privacy_verdict="private only against ..."))[
        "People at risk"
    ]
    assert "broken" not in some
    assert "To whoever knows only sex, age, every record is one of at least 6 alike." in some


def test_cautions_are_said_and_not_only_counted():
    said = [said_in(replace(CARD, warnings=tuple(f"w{n}" for n in range(most))))["Before you sign"] for most in (2, 5)]
    assert said[0].startswith("W0. W1. Whoever knows more")
    assert said[1].startswith('W0. W1. W2. 2 more stand under "The verdict". Whoever knows')


def test_a_card_says_what_is_counted_in_all_its_forms(tmp_path):
    known = KnownShares(5, 0.0, 0.24, 0.57)
    people = replace(CARD, people=CardPeople(7, known), certain=0.1, alone=replace(CARD.alone, of_people=True))
    records = replace(CARD, repeating=("patient id",), certain=0.1)
    counted = (
        "People were counted, not records: at most 7 records of each.",
        "Records were counted, not people: patient id repeats, and with --person 'patient id' people are.",
    )
    known_rows = "one row: for nobody, two rows: for 24 %, all rows: for 57 %."
    lights = (
        f"any of at least 6 people. Fewer than 5 people look alike to someone who knows of a person {known_rows}",
        "Every record is one of at least 6 alike.",
    )
    for card, first, light, other in zip((people, records), counted, lights, counted[::-1], strict=True):
        files = write_card(tmp_path / "card", card_report(card), TypeAdapter(Card).dump_json(card).decode())
        assert {file.suffix for file in files} == {".json", ".md", ".html"}
        said = json.loads(files[0].read_text())
        assert (said["people"] is None, said["repeating"]) == (card is records, list(card.repeating))
        assert said_in(card)["People at risk"].endswith(light)
        for file in files[1:]:
            text = unescape(file.read_text()).replace("\\", "")
            assert first.rstrip(".") in text
            assert other.partition(",")[0] not in text
            assert ("of the records is certain" in text, "of the people is certain" in text) == (
                card is records,
                card is people,
            )
        assert TypeAdapter(Card).validate_python(said) == card


def test_a_label_that_is_nearly_given_away_is_said_in_the_first_lines():
    given = replace(CARD, measured=(CardAuc(RAW, BOOSTING, 0.991, 0.98, 1.0),))
    told = replace(CARD, telling_label=("age",))
    said = [head_of(card)[1].text for card in (CARD, given, told)]
    assert ["Warning: a model predicts ill with an AUC of 0.991" in text for text in said] == [False, True, False]
    assert ["Warning: age tells over 80 % of ill" in text for text in said] == [False, False, True]


def test_only_shared_columns_stand_in_the_head_and_the_others_in_one_line_with_reasons():
    dropped = replace(CARD.columns[1], becomes="not in the release", shared=False)
    secret = {"id": "contains codes", "name": "contains codes", "due": "leaks the label"}
    card = replace(CARD, columns=(CARD.columns[0], dropped, CARD.columns[-1]), never_shared=secret)
    columns, *_, left_out = [part for part in head_of(card) if not isinstance(part, Light)][1:]
    assert [row[0] for row in columns.rows] == ["age", "ill"]
    reasons = "id, name (contains codes); due (leaks the label)"
    assert left_out == f"Not shared: town (tells nothing more); {reasons}."
    for kept, lost, why in (
        (0.0, 0.0, "tells nothing"),
        (0.0, 0.1, "dropped to protect people"),
        (None, None, "dropped"),
    ):
        changed = replace(card, columns=(CARD.columns[0], replace(dropped, kept=kept, lost=lost), CARD.columns[-1]))
        assert head_of(changed)[-1].startswith(f"Not shared: town ({why}")


def test_the_rest_is_folded_and_the_page_needs_no_script():
    page = render_page(card_report(CARD))
    sections = len(card_report(CARD).sections)
    assert (page.count("<details>"), page.count("<summary><h2>"), "<script" in page) == (sections, sections, False)
    assert page.index('class="light fine"') < page.index("<details>") < page.index("PASS")


def test_unknown_is_never_nothing():
    columns = (column("a", None, None), column("b", 0.0, None), column("c", 0.1, 0.0), CARD.columns[-1])
    rows = {row[0]: row[3:] for row in table_of(replace(CARD, columns=columns), "column").rows}
    said = {"a": ("not known", "not known"), "b": ("tells nothing", "0 %"), "c": ("0 %", "10 %"), "ill": ("-", "-")}
    assert rows == said
