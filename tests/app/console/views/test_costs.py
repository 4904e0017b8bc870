from aegis_sdk.charts import rendered
from aegis_sdk.charts.costs import BANDS, costs_chart
from app.advice.pages.answer import compared_chart
from tests.sdk.charts.answers import ATTRIBUTES, coarse_advice, first_changed, full_advice, schema_of

SCHEMA = schema_of([2, 5, 10])
FULL = full_advice([0.001, 0.002, 0.03])
COARSE = coarse_advice([0.9, 0.8, 0.1])


def test_costs_are_deviations_the_attribute_with_most_to_lose_first():
    chart = costs_chart(FULL, SCHEMA)
    assert [group.name for group in chart.groups] == list(ATTRIBUTES)
    lengths = {(group.name, bar.name): bar.end for group in chart.groups for bar in group.bars}
    assert lengths == {(name, masking): lost for name, (_, own) in ATTRIBUTES.items() for masking, lost in own.items()}
    assert {bar.whole for bar in chart.groups[0].bars} == {0.128424}


def test_the_maskings_of_the_best_are_marked():
    marked = {(group.name, bar.name) for group in costs_chart(FULL, SCHEMA).groups for bar in group.bars if bar.mark}
    assert marked == set(SCHEMA["configurations"][0]["maskings"].items())


def test_what_is_not_known_is_said_and_its_whole_is_not_certain():
    advice = first_changed(full_advice([0.001]), "attributes", bound="lower", lower_bound=0.1284, upper_bound=0.9)
    (group, *_) = costs_chart(advice, SCHEMA).groups
    assert not group.bars[1].is_whole_certain
    assert group.note == "known: 0.128 (0.13 to 0.9)"
    assert "%" not in group.bars[1].text


def test_the_coarse_view_shows_ranges_and_no_number_of_its_own():
    chart = costs_chart(COARSE, SCHEMA)
    assert {(bar.start, bar.end) for group in chart.groups for bar in group.bars} <= {
        (band.low, band.high) for band in BANDS.values()
    }
    assert not any(bar.interval for group in chart.groups for bar in group.bars)
    assert chart.title == "What each masking keeps"


def test_the_coarse_view_without_words_says_how_to_see_some():
    assert "ask by mutual_information without bias correction" in rendered(costs_chart(coarse_advice([None]), SCHEMA))


def test_of_many_maskings_the_table_has_those_that_are_not_drawn():
    advice = full_advice([0.001])
    one = advice.attributes[0]
    maskings = {f"m{n}": one.maskings["drop"] for n in range(9)}
    many = [one.model_copy(update={"name": f"a{n}", "maskings": maskings}) for n in range(12)]
    chart = costs_chart(advice.model_copy(update={"attributes": many}), SCHEMA)
    assert (len(chart.groups), len(chart.drawn), len(chart.table.rows)) == (8, 48, 108)
    assert "Drawn are at most 6 maskings of 8 of 12 attributes, of 108 in all." in chart.notes


def test_two_configurations_are_compared_by_attribute_the_largest_difference_first():
    chart = compared_chart(FULL, SCHEMA, "c001", "c002")
    first = chart.groups[0]
    assert first.name == "physical_limitation"
    assert [(bar.mark, bar.name, bar.tone) for bar in first.bars] == [
        ("A", "physical_limitation-1", "plain"),
        ("B", "drop", "second"),
    ]
    differences = [abs(group.bars[0].end - group.bars[1].end) for group in chart.groups]
    assert differences == sorted(differences, reverse=True)


def test_equal_maskings_are_in_the_table_only():
    chart = compared_chart(FULL, SCHEMA, "c001", "c001")
    assert not chart.groups
    assert len(chart.table.rows) == 2 * len(ATTRIBUTES)
    assert "Both have the same masking of every attribute." in rendered(chart)


def test_the_coarse_view_compares_ranges():
    bars = [bar for group in compared_chart(COARSE, SCHEMA, "c001", "c002").groups for bar in group.bars]
    assert bars
    assert all((bar.start, bar.end) in {(band.low, band.high) for band in BANDS.values()} for bar in bars)


def test_an_unknown_configuration_is_no_pair():
    assert not compared_chart(FULL, SCHEMA, "c001", "nonsense").groups
