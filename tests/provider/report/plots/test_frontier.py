"""Utility against privacy, read back from the figure, and the frontier compared with its definition."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from aegis_provider.report.plots import PlotError, Scored, best_promise, frontier, page, pareto, scored
from aegis_provider.report.plots.labels import tick_numbers
from aegis_sdk.wire import EXAMPLE_ENTRY, EntryDocument
from tests.for_each import for_each
from tests.provider.report.plots.plotting import (
    PRIVACY,
    UTILITIES,
    advice_of,
    annotations_of,
    entry_of,
    many,
    note_of,
    points_of,
    steps_of,
    ticks_of,
)

coarse = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])


class TestFrontier:
    @given(st.lists(st.tuples(coarse, coarse), min_size=1, max_size=12), st.sampled_from(["k", "t"]))
    def test_it_is_what_no_other_beats(self, numbers, name):
        configurations = [Scored(str(place), *pair, pair[1]) for place, pair in enumerate(numbers)]
        sign = 1 if name == "k" else -1

        def beats(one, other):
            gains = sign * (one.privacy - other.privacy), other.deviation - one.deviation
            return min(gains) >= 0 and max(gains) > 0

        found = pareto(configurations, name)
        expected = [one for one in configurations if not any(beats(other, one) for other in configurations)]
        assert sorted(found, key=str) == sorted(expected, key=str)
        privateness = [sign * each.privacy for each in found]
        assert privateness == sorted(privateness)

    def test_every_configuration_is_a_point_and_the_steps_are_the_frontier(self):
        figure = frontier(entry_of(PRIVACY), advice_of(UTILITIES))
        assert {(k, round(share, 9)) for k, share in points_of(figure)} == {
            (PRIVACY[name]["k"], utility) for name, utility in UTILITIES.items()
        }
        assert steps_of(figure) == [(1, 0.9), (5, 0.5), (5, 0.5), (100, pytest.approx(0.1))]
        assert {each.get_text() for each in annotations_of(figure)} == {"c1", "c2, c4", "c5"}
        assert figure.axes[0].get_xscale() == "log"
        assert "70" not in note_of(figure)

    def test_more_private_is_to_the_right_for_what_is_better_small(self):
        privacy = {name: {"t": 1 / vouched["k"]} for name, vouched in PRIVACY.items()}
        figure = frontier(entry_of(privacy), advice_of(UTILITIES))
        assert figure.axes[0].xaxis_inverted()
        assert steps_of(figure) == [(1, 0.9), (0.2, 0.5), (0.2, 0.5), (0.01, pytest.approx(0.1))]
        assert "less is more private" in figure.axes[0].get_xlabel()

    def test_shares_go_from_nothing_shared_to_all_that_the_table_tells(self):
        halves = {name: utility / 2 for name, utility in UTILITIES.items()}
        whole = {"reference_utility": 0.5, "reference_source": "published", "dimensions": 3}
        figure = frontier(entry_of(PRIVACY), advice_of(halves, reference=0.5, joint=whole))
        axes = figure.axes[0]
        assert steps_of(figure) == [(1, 0.9), (5, 0.5), (5, 0.5), (100, pytest.approx(0.1))]
        assert axes.get_ylim()[0] == 0
        assert [each.get_text() for each in axes.get_yticklabels()] == [f"{share} %" for share in range(0, 101, 20)]
        levels = {each.get_ydata()[0] for each in axes.lines if each.get_linestyle() == "--"}
        names = {each.get_text().replace("\n", " "): each.get_position()[1] for each in axes.texts}
        assert levels == {0, 1}
        assert (names["nothing shared"], names["the table as it is"]) == (0, 1)
        assert "kept of what the table tells about health" in axes.get_ylabel().replace("\n", " ")

    def test_of_what_is_only_known_in_part_the_share_is_of_what_is_known(self):
        advice = advice_of(UTILITIES)
        partly = advice.attributes[0].model_copy(update={"knowledge": "histogram", "bound": "lower"})
        axes = frontier(entry_of(PRIVACY), advice.model_copy(update={"attributes": [partly]})).axes[0]
        assert "all that\nis known" in [each.get_text() for each in axes.texts]
        assert "is known to tell" in axes.get_ylabel()

    def test_those_on_the_frontier_have_intervals_where_the_advice_has_errors(self):
        advice = advice_of(UTILITIES)
        errors = {"c1": 0.01, "c2": 0.02, "c3": 0.03, "c4": None, "c5": 0.04}
        rows = [row.model_copy(update={"standard_error": errors[row.configuration]}) for row in advice.ranking]
        axes = frontier(entry_of(PRIVACY), advice.model_copy(update={"ranking": rows})).axes[0]
        [bars] = [each for each in axes.collections if isinstance(each, LineCollection)]
        spans = {(low[0], round(high[1] - low[1], 9)) for low, high in bars.get_segments()}
        assert spans == {(1, 2 * 1.96 * 0.01), (5, 2 * 1.96 * 0.02), (100, 2 * 1.96 * 0.04)}
        assert "95 % interval" in [each.get_text() for each in axes.get_legend().get_texts()]
        assert note_of(axes.figure).endswith("; intervals: of samples like this table")

    def test_better_is_upwards_for_measures_of_which_less_is_better(self):
        errors = {name: 1 - utility for name, utility in UTILITIES.items()}
        figure = frontier(entry_of(PRIVACY), advice_of(errors, reference=0, better="lower"))
        assert figure.axes[0].yaxis_inverted()
        assert figure.axes[0].get_ylim()[1] == 0
        assert [place for place, _ in steps_of(figure)] == [1, 5, 5, 100]

    def test_where_deviation_and_utility_order_differently_the_deviation_is_drawn(self):
        figure = frontier(entry_of(PRIVACY), advice_of(UTILITIES, reference=0.6))
        assert figure.axes[0].get_ylabel().startswith("deviation")
        assert figure.axes[0].yaxis_inverted()
        assert steps_of(figure) == [(5, pytest.approx(0.1)), (5, pytest.approx(0.1)), (100, pytest.approx(0.5))]

    def test_what_is_not_there_is_said(self):
        entry = entry_of(PRIVACY | {"c6": {}, "c7": {"k": 2}})
        figure = frontier(entry, advice_of(UTILITIES | {"c6": 0.8}, considered=7))
        assert len(points_of(figure)) == 4
        assert note_of(figure).split("; ") == [
            "5 of 7 configurations",
            "required: k=5",
            "the advice ranks 6 of 7: ask with --limit 10000 for more",
            "1 vouch for no k",
        ]

    @pytest.mark.long
    @for_each("number", [70, 1000])
    def test_no_label_lies_over_another_or_over_the_line(self, number):
        figure = frontier(*many(number))
        labels = annotations_of(figure)
        boxes = [each.get_window_extent() for each in labels]
        assert len(labels) > 4
        assert not any(one.overlaps(other) for place, one in enumerate(boxes) for other in boxes[:place])
        corners = figure.axes[0].transData.transform(steps_of(figure))
        assert not any(box.contains(*corner) for box in boxes for corner in corners)
        for (left, _), (right, height) in pairwise(corners):
            assert not any(b.y0 < height < b.y1 and left < b.x1 and b.x0 < right for b in boxes)

    @pytest.mark.long
    def test_thousands_of_points_are_one_image_within_a_page(self):
        entry, advice = many(5000)
        document = page(entry, advice)
        assert document.count("data:image/png;base64,") == 1
        assert len(document) < 500_000

    @for_each(
        ("entry", "advice", "told"),
        [
            (entry_of({"c1": {}}), advice_of({"c1": 0.5}), "vouches for any privacy"),
            (entry_of({"c1": {"k": 2}, "c2": {}}), advice_of({"c2": 0.5}), "vouches for k"),
            (entry_of(PRIVACY), advice_of({}), "--limit 10000"),
            (entry_of(PRIVACY), advice_of({"c9": 0.5}), "ranks 'c9'"),
            (entry_of({"c1": {"k": 1e300}}), advice_of({"c1": 0.5}), "too large"),
            (entry_of({"c1": {"k": 2}}), advice_of({"c1": -1e300}), "too large"),
        ],
    )
    def test_what_cannot_be_drawn_is_said_in_one_line(self, entry, advice, told):
        with pytest.raises(PlotError, match=told):
            frontier(entry, advice)

    @pytest.mark.long
    @for_each("k", [[5], [5, 5], [0, 1, 2], [1e-300, 1, 2**53 - 1], [1, 1e9], [1, 1e17]])
    def test_any_promise_has_a_place(self, k):
        names = [f"c{place}" for place in range(len(k))]
        entry = entry_of({name: {"k": float(number)} for name, number in zip(names, k, strict=True)})
        figure = frontier(entry, advice_of({name: 0.9 - place / 9 for place, name in enumerate(names)}))
        left, right = figure.axes[0].get_xlim()
        assert all(left < x < right for x, _ in steps_of(figure))
        assert len(annotations_of(figure)) == len({*k})

    def test_by_default_the_privacy_is_the_first_that_varies_among_the_ranked(self):
        entry = entry_of({"c1": {"k": 5, "l": 2}, "c2": {"k": 5, "l": 3}, "c3": {"k": 9, "l": 3}})
        assert best_promise(entry) == "k"
        assert best_promise(entry, advice_of({"c1": 0.5, "c2": 0.4})) == "l"
        assert best_promise(entry, advice_of({"c2": 0.4})) == "k"
        figure = frontier(entry, advice_of({"c1": 0.5, "c2": 0.4}))
        assert figure.axes[0].get_xlabel().startswith("l: ")

    def test_ticks_stand_at_what_occurs(self):
        k = {"c1": 5, "c2": 6, "c3": 8, "c4": 11}
        entry = entry_of({name: {"k": number} for name, number in k.items()})
        figure = frontier(entry, advice_of({name: 1 / number for name, number in k.items()}))
        assert [(place, each.get_text()) for place, each in ticks_of(figure)] == [
            *((5, "5"), (6, "6"), (8, "8"), (11, "11"))
        ]

    @pytest.mark.long
    def test_of_many_numbers_the_ends_and_the_frontier_have_ticks_before_others(self):
        figure = frontier(*many(1000))
        figure.draw_without_rendering()
        ticks = ticks_of(figure)
        places = [place for place, _ in ticks]
        occurring = {place for place, _ in points_of(figure)}
        assert set(places) < occurring
        assert (places[0], places[-1]) == (min(occurring), max(occurring))
        boxes = [each.get_window_extent() for _, each in ticks]
        assert all(one.x1 < other.x0 for one, other in pairwise(boxes))
        assert len(places) > 10

    @pytest.mark.long
    @given(st.lists(st.integers(1, 3000), min_size=2, max_size=20, unique=True), st.data())
    def test_what_is_wanted_first_has_its_tick_unless_it_would_run_into_an_end(self, numbers, data):
        first = data.draw(st.sampled_from(numbers))
        figure = Figure(figsize=(9, 6))
        axes = figure.subplots()
        axes.plot(numbers, numbers)
        tick_numbers(figure, axes, numbers, [first])
        places = [place for place, _ in ticks_of(figure)]
        assert {min(numbers), max(numbers)} <= set(places)
        x = axes.transData.transform([(first, 0), (min(numbers), 0), (max(numbers), 0)])[:, 0]
        assert first in places or min(abs(x[0] - x[1]), abs(x[0] - x[2])) < 50

    def test_where_all_vouch_for_the_same_that_is_said_and_no_frontier_is_drawn(self):
        figure = frontier(entry_of({"c1": {"k": 5}, "c2": {"k": 5}}), advice_of({"c1": 0.5, "c2": 0.4}))
        axes = figure.axes[0]
        assert axes.get_xlabel() == "all vouch for k = 5"
        assert [each.get_text() for _, each in ticks_of(figure)] == ["5"]
        assert axes.get_xscale() == "linear"
        assert [each.get_text() for each in axes.get_legend().get_texts()] == ["configuration", "best ranked"]
        several = frontier(entry_of(PRIVACY), advice_of(UTILITIES)).axes[0].get_legend().get_texts()
        assert "frontier: no other in the entry is better in both" in [each.get_text() for each in several]

    def test_a_page_says_whose_frontier_it_is(self):
        assert "that of the configurations in the entry" in page(entry_of(PRIVACY), advice_of(UTILITIES))

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
        assert [each.configuration for each in scored(entry, advice, "l")] == ["c1"]
        assert [each.privacy for each in scored(entry, advice, "t")] == [0.2, 0.1]
