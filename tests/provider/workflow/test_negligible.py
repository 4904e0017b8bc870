"""What shares a bar, against trying every number of the last ones."""

from hypothesis import given
from hypothesis import strategies as st

from aegis_provider.workflow.card_report import negligible
from tests.for_each import for_each


@given(st.lists(st.integers(0, 1000), max_size=12), st.integers(1, 20_000))
def test_it_is_the_most_of_the_last_that_are_together_at_most_2_percent(numbers, whole):
    numbers = sorted(numbers, reverse=True)
    fitting = [n for n in range(len(numbers) + 1) if 50 * sum(numbers[len(numbers) - n :]) <= whole]
    expected = max(fitting)
    assert negligible(numbers, whole) == (0 if expected == 1 else expected)


@for_each(("numbers", "count"), [([90, 8, 1, 1], 2), ([97, 3], 0), ([99, 1], 0), ([0, 0, 0], 3), ([], 0)])
def test_a_single_one_is_not_worth_a_common_bar(numbers, count):
    assert negligible(numbers, 100) == count
