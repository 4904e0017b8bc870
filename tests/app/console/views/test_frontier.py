import pytest

from aegis_sdk.charts import rendered
from aegis_sdk.charts.kept import frontier_chart, protections_of, real_differences
from tests.sdk.charts.answers import coarse_advice, first_changed, full_advice, schema_of

KS = [2, 5, 10, 20]
LOST = [0.002, 0.001, 0.03, 0.05]
WHOLE = (0.128424 + 0.109604 + 0.01896 + 0.018131) / 4


def test_the_full_view_shows_shares_of_the_whole_with_intervals():
    chart = frontier_chart(full_advice(LOST, alike=2, error=0.001), schema_of(KS), "k", link="/c/{}".format)
    best = chart.points[0]
    assert (best.name, best.x, best.is_best, best.href) == ("c002", 5, True, "/c/c002")
    assert best.y == pytest.approx(1 - 0.001 / WHOLE)
    assert best.interval.low == pytest.approx(best.y - 1.96 * 0.001 / WHOLE)
    assert best.interval.high == 1.0
    assert [each.name for each in chart.points if each.is_alike] == ["c001"]
    assert chart.y.levels == {"the table as it is": 1.0, "nothing shared": 0.0}
    assert "Intervals (95 %) are those of samples like this table." in chart.notes


def test_a_whole_that_is_not_known_is_said_to_be_what_is_known():
    advice = first_changed(full_advice(LOST), "attributes", bound="lower")
    chart = frontier_chart(advice, schema_of(KS))
    assert "all that is known" in chart.y.levels
    assert chart.y.title == "kept of what the table is known to tell about health, by mutual information"


def test_without_a_whole_the_deviation_is_shown_and_less_is_better():
    chart = frontier_chart(full_advice(LOST, request={"measure": "g3", "reference": "own"}), schema_of(KS))
    assert (chart.y.name, chart.y.higher_is_better) == ("deviation", False)
    assert [each.y for each in chart.points] == sorted(LOST)
    assert chart.chosen.marks[-1].on_frontier


def test_declared_limits_are_the_interval():
    advice, told = full_advice(LOST, error=None), WHOLE - 0.001
    advice = first_changed(advice, "ranking", low=told - 0.01, high=told + 0.0005)
    first = frontier_chart(advice, schema_of(KS)).points[0]
    assert first.interval.low == pytest.approx(first.y - 0.01 / WHOLE)
    assert first.interval.high == pytest.approx(first.y + 0.0005 / WHOLE)


def test_the_coarse_view_shows_its_shares_and_no_intervals():
    chart = frontier_chart(coarse_advice([0.9, 0.8, 0.85, 0.1]), schema_of(KS), "k")
    assert [each.y for each in chart.points] == [0.9, 0.8, 0.85, 0.1]
    assert not any(each.interval for each in chart.points)
    assert any("a lower rank can have a larger share" in note for note in chart.notes)


def test_the_coarse_view_without_shares_shows_the_order_alone():
    chart = frontier_chart(coarse_advice([None] * 4), schema_of(KS), "k")
    assert (chart.y.unit, [each.y for each in chart.points]) == ("rank", [1, 2, 3, 4])
    assert not chart.y.levels
    assert "Order only: the distance between two ranks says nothing about how much is kept." in chart.notes


def test_suppressed_records_are_a_share_and_fewer_are_better():
    chart = frontier_chart(full_advice(LOST), schema_of(KS, records=1_000), "suppressed")
    assert {each.name: each.x for each in chart.points} == {"c001": 0.006, "c002": 0.015, "c003": 0.03, "c004": 0.06}
    assert not chart.x.higher_is_better


def test_the_axis_offers_what_configurations_state_and_differ_by():
    schema = schema_of(KS)
    assert protections_of(full_advice(LOST), schema) == ("k", "t", "l", "suppressed")
    for each in schema["configurations"]:
        each["privacy"]["k"] = 5
        del each["suppressed"]
    assert protections_of(full_advice(LOST), schema) == ("t", "l", "k")
    assert frontier_chart(full_advice(LOST), schema, "nonsense").x.name == "t"


def test_configurations_that_state_no_number_are_counted():
    schema = schema_of(KS)
    del schema["configurations"][0]["privacy"]["k"]
    chart = frontier_chart(full_advice(LOST), schema, "k")
    assert len(chart.points) == 3
    assert "1 of these states no k." in chart.notes


def test_nothing_to_draw_is_said_in_a_sentence():
    bare = {"label": {"name": "health"}, "configurations": []}
    assert "nothing to draw against" in rendered(frontier_chart(full_advice(LOST), bare))
    assert "Ask again with a limit" in rendered(frontier_chart(full_advice(LOST, ranking=[]), bare))


@pytest.mark.parametrize(
    ("alike", "words"),
    [
        (1, "c002 can be told apart from all others by the sample (95 %)."),
        (2, "1 other cannot be told apart from the best by the sample (95 %)."),
        (3, "2 others cannot be told apart from the best by the sample (95 %)."),
    ],
)
def test_which_differences_are_real_is_a_sentence(alike, words):
    assert real_differences(full_advice(LOST, alike=alike)) == words


def test_what_is_not_known_of_differences_is_not_said():
    assert real_differences(full_advice(LOST, indistinguishable_count=None)) is None


def test_both_axes_can_be_chosen_and_a_price_is_one():
    schema = schema_of(KS)
    for each, amount in zip(schema["configurations"], [500, 400, 200, 250], strict=True):
        each["price"] = {"amount": amount, "currency": "EUR"}
    assert "price" in protections_of(full_advice(LOST), schema)
    chart = frontier_chart(full_advice(LOST), schema, "k", "price")
    assert {each.name: (each.x, each.y) for each in chart.points} == {
        "c001": (2, 500),
        "c002": (5, 400),
        "c003": (10, 200),
        "c004": (20, 250),
    }
    assert (chart.title, chart.y.title) == ("Price against k", "price in EUR (less is better)")
    assert sorted(mark.first.name for mark in chart.chosen.marks if mark.on_frontier) == ["c003", "c004"]
    assert frontier_chart(full_advice(LOST), schema, "k", "k").y.name == "kept"
