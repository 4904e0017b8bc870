"""The domain that an entry lists: what shared maskings need, without rare values, under names that tell none."""

from collections import Counter
from decimal import Decimal

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from aegis_provider import load_plan, prepare_entry
from aegis_provider.counting.counted_table import CountedAttribute
from aegis_provider.counting.counts import JointCounts, Partition
from aegis_provider.counting.published_domain import LEAST, PublishedDomain, group_names, least_records
from aegis_provider.plan.model import Attribute
from aegis_provider.table.arithmetic import simplest
from aegis_provider.table.values import Domain
from tests.for_each import for_each


def counted(values):
    """Return an attribute with one count for each text, all of one label value."""
    domain = Domain.of(values)
    counts = np.bincount([domain.places[text] for text in values], minlength=len(domain))
    places = np.arange(len(domain))
    joint = JointCounts(places, np.zeros(len(domain), dtype=np.intp), counts, (len(domain), 1))
    return CountedAttribute(Attribute("a", None, ()), domain, joint)


def partition(attribute, function):
    """Return the partition of the values by a function of their texts."""
    masked = [function(text) for text in attribute.domain.texts]
    names = sorted(set(masked))
    return Partition(np.array([names.index(text) for text in masked]), len(names))


def listed(attribute, *shared, unmasked=False):
    return PublishedDomain.coarsest(attribute, shared, unmasked=unmasked, binned=False)


numbers = st.lists(st.integers(-50, 50), min_size=1, max_size=60)
texts = st.lists(st.sampled_from(["", *"abcdefgh"]), min_size=1, max_size=400)


@given(numbers, st.integers(1, 9), st.integers(1, 9), st.booleans())
def test_it_tells_what_every_shared_masking_tells(values, width, other, unmasked):
    attribute = counted([str(value) for value in values] * 9)
    shared = [partition(attribute, lambda text, by=by: int(text) // by) for by in (width, other)]
    domain = listed(attribute, *shared, unmasked=unmasked)
    assert all(view.follows_from(domain.partition) for view in shared)
    assert len(domain.texts) == len(set(domain.texts)) == domain.partition.size
    if not unmasked:  # no finer than needed
        together = {tuple(view.groups[place] for view in shared) for place in range(len(attribute.domain))}
        assert domain.partition.size == len(together)


@given(st.one_of(numbers.map(lambda values: [str(value) for value in values]), texts))
def test_an_unmasked_value_has_many_records_or_all(values):
    attribute = counted(values * 3)
    domain = listed(attribute, unmasked=True)
    histogram = np.bincount(domain.partition.groups, attribute.counts.histogram())
    missing = [place for place, text in enumerate(domain.texts) if not text]
    present = np.delete(histogram, missing)
    assert len(present) <= 1 or present.min() >= least_records(int(histogram.sum()))


def test_only_what_is_needed_is_listed_of_an_attribute_that_is_always_dropped():
    assert len(listed(counted([str(value) for value in range(100)])).texts) == 1


def test_nobody_is_named_by_the_ends_of_intervals():
    values = [str(value) for value in range(1_003, 1_903, 9)]
    domain = listed(counted(values * 10), unmasked=True)
    assert domain.texts[0] == "(-inf,1090)"
    assert domain.texts[-1].endswith(",inf)")
    assert not {text.strip("[()").split(",")[0] for text in domain.texts} & set(values)


@given(st.lists(st.decimals(900, 1_300, places=1), min_size=200, max_size=300, unique=True), st.integers(1, 30))
def test_the_ends_of_intervals_are_round_unless_they_are_next_to_a_frequent_value(numbers, times):
    values = [str(number) for number in numbers] + [str(numbers[0])] * times * LEAST
    domain = listed(counted(values * 3), unmasked=True)
    told = [text.strip("[()").split(",")[0] for text in domain.texts if text.startswith("[")]
    ends = [Decimal(end) for end in told]
    # Only the ends on both sides of the frequent value may have more digits.
    beside = {
        max((end for end in ends if end <= numbers[0]), default=None),
        min((end for end in ends if end > numbers[0]), default=None),
    }
    assert all(len((+end).normalize().as_tuple().digits) <= 3 for end in ends if end not in beside)


@given(st.lists(st.dates(), min_size=2, max_size=60, unique=True))
def test_dates_are_cut_where_a_month_begins(dates):
    domain = listed(counted([date.isoformat() for date in dates] * 9), unmasked=True)
    ends = [text.strip("[()").split(",")[0] for text in domain.texts if text.startswith("[")]
    assert all(end.endswith("-01") for end in ends)


def test_rare_texts_are_one_value_and_their_names_are_not_told():
    values = ["common"] * 300 + ["usual"] * 200 + [f"person {number}" for number in range(40)] + [""] * 9
    domain = listed(counted(values), unmasked=True)
    counts = Counter(domain.texts[group] for group in domain.partition.groups.tolist())
    # Forty records are too few for a value of their own, so the rarest of the others joins them.
    assert counts == {"": 1, "common": 1, "usual or others": 41}


def test_groups_of_bins_and_dates_are_intervals_too():
    bins = Domain.in_order(["[0,1)", "[1,2)", "[2,3)"], lambda text: int(text[1]))
    groups = [np.array([0, 1]), np.array([2])]
    assert group_names(bins, groups, binned=True, frequent=np.ones(3, dtype=bool)) == ("(-inf,2)", "[2,3)")
    dates = Domain.of(["2026-01-03", "2026-02-05", "2026-04-01", ""])
    groups = [np.array([0]), np.array([1, 2]), np.array([3])]
    names = group_names(dates, groups, binned=False, frequent=np.ones(4, dtype=bool))
    assert names == ("", "(-inf,2026-04-01)", "2026-04-01")


def test_a_name_that_is_taken_gets_a_number():
    domain = Domain.of(["a", "b", "c", "d", "rare values"])
    groups = [np.array([0]), np.array([1, 3]), np.array([2, 4])]
    names = group_names(domain, groups, binned=False, frequent=np.zeros(5, dtype=bool))
    assert names == ("rare values (2)", "rare values (3)", "rare values (4)")


@for_each(
    ("below", "above", "found"),
    [
        ("17", "18", "18"),
        ("1999", "2450", "2000"),
        ("-3", "5", "0"),
        ("0.14", "0.16", "0.15"),
        ("-101", "-99", "-100"),
        ("21980", "21985", "21981"),
        ("1e399", "1.5e399", "1.1e399"),
    ],
)
def test_the_number_with_the_fewest_digits_lies_between(below, above, found):
    assert simplest(Decimal(below), Decimal(above)) == Decimal(found)


# Sums of decimal numbers are rounded to 28 digits; these need no more.
@given(st.decimals(-(10**20), 10**20, places=4), st.decimals("0.0001", 10**6, places=4))
def test_an_edge_is_above_one_and_not_above_the_other(below, more):
    assert below < simplest(below, below + more) <= below + more


@for_each(("records", "least"), [(1, LEAST), (100, 32), (30_000, 548)])
def test_pairs_of_unmasked_values_have_ten_records_on_average(records, least):
    assert least_records(records) == least
    if least > LEAST:
        assert records / (records / least) ** 2 >= 10


def test_a_rare_value_is_not_named_even_where_it_is_alone():
    def names(texts, frequent, *, binned=False):
        groups = [np.array([place]) for place in range(len(texts))]
        domain = Domain.in_order(texts, lambda text: float(text[1:].split(",")[0])) if binned else Domain.of(texts)
        return group_names(domain, groups, binned=binned, frequent=np.array(frequent))

    assert names(["HIV", "common"], [False, True]) == ("rare values", "common")
    assert names(["20", "117"], [True, False]) == ("20", "[100,inf)")
    assert names(["1931-05-17", "2024-01-01"], [False, True]) == ("(-inf,2024-01-01)", "2024-01-01")
    rare = names(["1931-05-17", "1931-05-19", "1931-05-20", "2031-08-17"], [False] * 4)
    assert rare == ("(-inf,1931-05-18)", "[1931-05-18,1931-05-20)", "[1931-05-20,2031-01-01)", "[2031-01-01,inf)")
    assert names(["[20.5,20.6)", "[117.3,117.4)"], [False, False], binned=True) == ("(-inf,100)", "[100,inf)")


def test_missing_values_that_are_merged_with_others_are_in_the_name():
    domain = Domain.of(["", "5", "15", "25", "35"])
    none = np.zeros(5, dtype=bool)

    def names(*groups):
        return group_names(domain, [np.array(each) for each in groups], binned=False, frequent=none)

    assert names([0, 1, 2, 3, 4]) == ("(-inf,inf) or missing",)
    assert names([0, 1], [2, 3, 4]) == ("(-inf,10) or missing", "[10,inf)")
    assert names([0, 3, 4], [1, 2]) == ("[20,inf) or missing", "(-inf,20)")
    assert names([0], [1, 2], [3, 4]) == ("", "(-inf,20)", "[20,inf)")


@for_each("value_type", ["integer", "date"])
def test_an_attribute_with_missing_values_that_is_dropped_can_be_summarised(tmp_path, value_type):
    values = {"integer": range(20, 60), "date": [f"2024-01-{day:02}" for day in range(1, 31)]}[value_type]
    table, plan = tmp_path / "t.csv", tmp_path / "plan.yaml"
    table.write_text("a,y\n" + "".join(f"{each},{'uv'[n % 2]}\n" for n, each in enumerate(["", *values] * 5)))
    plan.write_text(f"label: y\nattributes: {{a: {{type: {value_type}}}}}\nconfigurations: {{c: {{a: drop}}}}\n")
    [attribute] = prepare_entry(table, load_plan(plan), name="t").entry.attributes
    assert attribute.domain == ["(-inf,inf) or missing"]
