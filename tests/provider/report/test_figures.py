"""Utility against privacy, costs and files, read back from the charts."""

import json
from html.parser import HTMLParser
from pathlib import Path

import pytest

from aegis_provider.errors import OutputError, PlotError
from aegis_provider.report.figures import (
    FIGURES,
    Subject,
    best_promise,
    costs,
    figures_page,
    frontier,
    possible,
    write_figure,
    write_figures,
)
from aegis_sdk.charts import document
from aegis_sdk.wire import EXAMPLE_ENTRY, EntryDocument
from tests.for_each import for_each
from tests.provider.report.plotting import PRIVACY, UTILITIES, advice_of, entry_of, many
from tests.sdk.charts.svg import outside, overlapping

HOSTILE = "<script>alert(1)</script> & $x^{$"
LONG = "a-name-of-an-entry-that-is-as-long-as-names-of-entries-may-well-be"


def points_of(chart):
    return {(point.x, pytest.approx(point.y)) for mark in chart.chosen.marks for point in mark.points}


class TestFrontier:
    def test_every_configuration_is_a_point_and_the_steps_are_the_frontier(self):
        chart = frontier(entry_of(PRIVACY), advice_of(UTILITIES))
        drawn = {point.name: (point.x, point.y) for mark in chart.chosen.marks for point in mark.points}
        assert drawn == {name: (PRIVACY[name]["k"], pytest.approx(share)) for name, share in UTILITIES.items()}
        assert chart.chosen.steps == ((1, 0.9), (5, 0.5), (100, pytest.approx(0.1)))
        assert {label.text for label in chart.labels} == {"c1", "c2 and 1 more", "c5"}
        assert chart.across.logarithmic

    def test_more_private_is_to_the_right_for_what_is_better_small(self):
        privacy = {name: {"t": 1 / vouched["k"]} for name, vouched in PRIVACY.items()}
        chart = frontier(entry_of(privacy), advice_of(UTILITIES))
        assert chart.across.turned
        assert chart.chosen.steps == ((1, 0.9), (0.2, 0.5), (0.01, pytest.approx(0.1)))
        assert "less is more private" in chart.x.title

    def test_shares_go_from_nothing_shared_to_all_that_the_table_tells(self):
        halves = {name: utility / 2 for name, utility in UTILITIES.items()}
        whole = {"reference_utility": 0.5, "reference_source": "published", "dimensions": 3}
        chart = frontier(entry_of(PRIVACY), advice_of(halves, reference=0.5, joint=whole))
        assert chart.chosen.steps == ((1, 0.9), (5, 0.5), (100, pytest.approx(0.1)))
        assert (chart.up.low, chart.up.high) == (0, 1)
        assert [tick.text.replace("\N{NO-BREAK SPACE}", " ") for tick in chart.y_ticks] == [
            f"{share} %" for share in range(0, 101, 20)
        ]
        assert chart.y.levels == {"nothing shared": 0, "the table as it is": 1}
        assert "kept of what the table tells about health" in chart.y.title

    def test_of_what_is_only_known_in_part_the_share_is_of_what_is_known(self):
        advice = advice_of(UTILITIES)
        partly = advice.attributes[0].model_copy(update={"knowledge": "histogram", "bound": "lower"})
        chart = frontier(entry_of(PRIVACY), advice.model_copy(update={"attributes": [partly]}))
        assert "all that is known" in chart.y.levels
        assert "is known to tell" in chart.y.title

    def test_there_are_intervals_where_the_advice_has_errors(self):
        advice = advice_of(UTILITIES)
        errors = {"c1": 0.01, "c2": 0.02, "c3": 0.03, "c4": None, "c5": 0.04}
        rows = [row.model_copy(update={"standard_error": errors[row.configuration]}) for row in advice.ranking]
        chart = frontier(entry_of(PRIVACY), advice.model_copy(update={"ranking": rows}))
        spans = {
            point.name: point.interval and round(point.interval.high - point.interval.low, 9) for point in chart.points
        }
        assert spans == {name: error and 2 * 1.96 * error for name, error in errors.items()}
        assert "Intervals (95 %) are those of samples like this table." in chart.notes

    def test_better_is_upwards_for_measures_of_which_less_is_better(self):
        errors = {name: 1 - utility for name, utility in UTILITIES.items()}
        chart = frontier(entry_of(PRIVACY), advice_of(errors, reference=0, better="lower"))
        assert (chart.up.turned, chart.up.low) == (True, 0)
        assert [x for x, _ in chart.chosen.steps] == [1, 5, 100]

    def test_what_is_not_there_is_said(self):
        entry = entry_of(PRIVACY | {"c6": {}, "c7": {"k": 2}})
        chart = frontier(entry, advice_of(UTILITIES | {"c6": 0.8}, considered=7))
        assert len(chart.points) == 5
        assert {
            "The ranking has 6 of 7 that meet what is required.",
            "1 of these states no k.",
            "Required: k = 5.",
        } <= set(chart.notes)

    @for_each(
        ("entry", "advice", "told"),
        [
            (entry_of({"c1": {}}), advice_of({"c1": 0.5}), "promises any privacy"),
            (entry_of({"c1": {"k": 2}, "c2": {}}), advice_of({"c2": 0.5}), "promises k"),
            (entry_of(PRIVACY), advice_of({}), "--limit 10000"),
            (entry_of(PRIVACY), advice_of({"c9": 0.5}), "ranks 'c9'"),
            (entry_of({"c1": {"k": 1e300}}), advice_of({"c1": 0.5}), "too large"),
            (entry_of({"c1": {"k": 2}}), advice_of({"c1": -1e300}), "too large"),
        ],
    )
    def test_what_cannot_be_drawn_is_said_in_one_line(self, entry, advice, told):
        with pytest.raises(PlotError, match=told):
            frontier(entry, advice)

    @for_each("k", [[5], [5, 5], [0, 1, 2], [1e-300, 1, 2**53 - 1], [1, 1e9], [1, 1e17]])
    def test_any_promise_has_a_place(self, k):
        names = [f"c{place}" for place in range(len(k))]
        entry = entry_of({name: {"k": float(number)} for name, number in zip(names, k, strict=True)})
        chart = frontier(entry, advice_of({name: 0.9 - place / 9 for place, name in enumerate(names)}))
        assert {x for x, _ in chart.chosen.steps} == {*k}
        assert all(0 <= chart.across.place(x) <= 1 for x in k)

    def test_by_default_the_privacy_is_the_first_that_varies_among_the_ranked(self):
        entry = entry_of({"c1": {"k": 5, "l": 2}, "c2": {"k": 5, "l": 3}, "c3": {"k": 9, "l": 3}})
        assert best_promise(entry) == "k"
        assert best_promise(entry, advice_of({"c1": 0.5, "c2": 0.4})) == "l"
        assert best_promise(entry, advice_of({"c2": 0.4})) == "k"
        assert frontier(entry, advice_of({"c1": 0.5, "c2": 0.4})).x.title.startswith("l: ")

    def test_ticks_stand_at_what_occurs(self):
        k = {"c1": 5, "c2": 6, "c3": 8, "c4": 11}
        chart = frontier(entry_of({name: {"k": one} for name, one in k.items()}), advice_of({c: 1 / k[c] for c in k}))
        assert [tick.text for tick in chart.x_ticks] == ["5", "6", "8", "11"]

    def test_configurations_may_be_a_table_of_columns(self):
        table = {
            "ids": ["c1", "c2"],
            "maskings": {"age": ["age-2", "drop"]},
            "privacy": {"l": [2, None], "t": [0.1, 0.2]},
        }
        fields = {key: value for key, value in EXAMPLE_ENTRY.items() if key != "configurations"}
        entry = EntryDocument.model_validate({**fields, "configuration_table": table})
        advice = advice_of({"c1": 0.5, "c2": 0.7})
        assert best_promise(entry) == "t"
        assert [each.name for each in frontier(entry, advice, "l").points] == ["c1"]
        assert [each.x for each in frontier(entry, advice, "t").points] == [0.2, 0.1]


def costly(**fields):
    """An advice about three attributes, one of them without scores."""

    def attribute(name, whole, deviations):
        scores = {
            each: {"utility": whole - cost, "deviation": cost, "source": "counts"} for each, cost in deviations.items()
        }
        return {
            "name": name, "knowledge": "joint", "bound": "exact", "reference_utility": whole, "maskings": scores,
        }  # fmt: skip

    attributes = [
        attribute("zip", 0.2, {"zip-3": 0.1}),
        attribute("age", 0.5, {"drop": 0.5, "age-2": 0.125}),
        attribute("unused", 0.9, {}),
    ]
    return advice_of({"c1": 0.5}, attributes=attributes, **fields)


class TestCosts:
    ENTRY = entry_of({"c1": {"k": 2}})

    def bars(self, chart):
        return {group.name: {bar.name: (bar.end, bar.whole) for bar in group.bars} for group in chart.groups}

    def texts(self, chart):
        return [bar.text.replace("\N{NO-BREAK SPACE}", " ") for group in chart.groups for bar in group.bars]

    def test_a_bar_is_a_deviation_within_all_that_there_is_to_lose(self):
        chart = costs(self.ENTRY, costly())
        assert self.bars(chart) == {"age": {"age-2": (0.125, 0.5), "drop": (0.5, 0.5)}, "zip": {"zip-3": (0.1, 0.2)}}
        assert list(self.bars(chart)) == ["age", "zip"]
        assert self.texts(chart) == ["0.125 (25 %)", "0.5 (100 %)", "0.1 (50 %)"]

    def test_the_maskings_of_the_best_configuration_stand_out(self):
        chart = costs(self.ENTRY, costly())
        assert [bar.name for group in chart.groups for bar in group.bars if bar.tone == "best"] == ["age-2"]

    def test_of_errors_it_is_not_known_how_much_there_is_to_lose(self):
        chart = costs(self.ENTRY, costly(better="lower"), ["zip"])
        assert self.bars(chart) == {"zip": {"zip-3": (0.1, None)}}
        assert self.texts(chart) == ["0.1"]

    def test_of_an_attribute_that_is_not_known_unmasked_no_share_is_told_and_the_outline_is_broken(self):
        advice = costly()
        age = advice.attributes[1].model_copy(
            update={"knowledge": "histogram", "lower_bound": 0.5, "upper_bound": 1.5, "bound": "lower"}
        )
        partly = advice.model_copy(update={"attributes": [advice.attributes[0], age]})
        chart = costs(self.ENTRY, partly)
        assert self.texts(chart) == ["0.125 (0.12 to 1.1)", "0.5 (0.5 to 1.5)", "0.1 (50 %)"]
        assert [bar.is_whole_certain for group in chart.groups for bar in group.bars] == [False, False, True]
        assert chart.groups[0].note == "known: 0.5 (0.5 to 1.5)"
        assert {"whole", "unsure"} <= {tone for tone, _ in chart.legend}
        assert "joint counts of age are not known" in figures_page(Subject(self.ENTRY, partly))
        assert "joint counts of" not in figures_page(Subject(self.ENTRY, advice)).replace("the joint counts are", "")

    def test_attributes_that_are_asked_for_have_all_their_maskings(self):
        [one] = [each for each in costly().attributes if each.name == "zip"]
        score = one.maskings["zip-3"]
        wide = one.model_copy(update={"name": "wide", "maskings": {f"m{number:02}": score for number in range(30)}})
        advice = costly().model_copy(update={"attributes": [*costly().attributes, wide]})
        assert len(self.bars(costs(self.ENTRY, advice))["wide"]) < 30
        assert len(costs(self.ENTRY, advice).table.rows) == 33
        assert len(self.bars(costs(self.ENTRY, advice, ["wide"]))["wide"]) == 30

    def test_the_axis_starts_at_nothing_and_tells_its_unit(self):
        chart = costs(self.ENTRY, costly(unit="bit"))
        assert chart.scale.low == 0
        assert chart.axis.title.endswith("mutual information (bit)")

    def test_without_scores_there_is_nothing_to_draw(self):
        with pytest.raises(PlotError, match="scores no masking"):
            costs(self.ENTRY, costly(), ["unused"])


@for_each("better", ["higher", "lower"])
@for_each("name", ["short", LONG])
@for_each("figure", list(FIGURES))
def test_all_words_are_within_the_picture_and_none_lies_over_another(figure, name, better):
    subject = Subject(entry_of(PRIVACY, name=name), advice_of(UTILITIES, better=better))
    svg = document(FIGURES[figure].drawn(subject))
    assert (outside(svg), overlapping(svg)) == ([], [])


@pytest.mark.long
@for_each("number", [70, 1000])
def test_of_many_configurations_no_word_lies_over_another(number):
    svg = document(frontier(*many(number)))
    assert (outside(svg), overlapping(svg)) == ([], [])
    assert len(svg) < 200_000


class Reader(HTMLParser):
    def __init__(self, page):
        super().__init__()
        self.tags, self.references, self.text = [], [], ""
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.references += [value for name, value in attributes if name in ("src", "href", "xlink:href")]

    def handle_data(self, data):
        self.text += data


class TestFiles:
    @pytest.fixture
    def hostile(self):
        """An entry with only hostile names, and an advice about it."""
        text = json.dumps([EXAMPLE_ENTRY, advice_of({"c01": 0.4, "c02": 0.1}).model_dump(mode="json")])
        for name in ("age-2", "age", "c01", "c02", "Self-rated health"):
            text = text.replace(f'"{name}"', json.dumps(f"{HOSTILE} {name} 日本"))
        entry, advice = json.loads(text)
        entry["configurations"][1]["privacy"] = {"k": 50}
        return Subject(EntryDocument.model_validate(entry), type(advice_of({"c01": 1})).model_validate(advice))

    def test_a_page_escapes_and_refers_to_nothing_outside(self, hostile, tmp_path):
        path = tmp_path / "plot.html"
        write_figures(path, hostile)
        reader = Reader(path.read_text(encoding="utf-8"))
        assert reader.tags.count("figure") == 3
        assert "script" not in reader.tags
        assert reader.text.count("<script>alert(1)</script> & $") >= 6
        assert all(each.startswith(("#", "data:")) for each in reader.references)

    @for_each("name", list(FIGURES))
    def test_an_image_is_drawn_of_any_name(self, hostile, tmp_path, name):
        path = tmp_path / "plot.svg"
        write_figure(path, name, hostile)
        svg = path.read_text(encoding="utf-8")
        assert "alert(1)" in Reader(svg).text
        assert (outside(svg), overlapping(svg)) == ([], [])

    def test_without_an_advice_a_page_has_the_lattice_only(self, hostile):
        alone = Subject(hostile.entry)
        assert Reader(figures_page(alone)).tags.count("figure") == 1
        assert [each.name for each in possible(alone)] == ["lattice"]

    def test_without_privacy_a_page_has_no_frontier(self):
        subject = Subject(entry_of({"c1": {}}), advice_of({"c1": 0.5}))
        assert [each.name for each in possible(subject)] == ["costs", "lattice"]
        assert "Utility against privacy" not in figures_page(subject)

    def test_a_page_says_whose_frontier_it_is(self):
        page = figures_page(Subject(entry_of(PRIVACY), advice_of(UTILITIES)))
        assert "that of the configurations in the entry" in page

    def test_nothing_is_left_where_there_is_nothing_to_draw(self, tmp_path):
        with pytest.raises(PlotError, match="aegis advise ENTRY_ID"):
            write_figure(tmp_path / "plot.svg", "costs", Subject(entry_of(PRIVACY)))
        with pytest.raises(OutputError, match="no directory"):
            write_figures(tmp_path / "no" / "plot.html", Subject(entry_of(PRIVACY)))
        assert list(Path(tmp_path).iterdir()) == []
