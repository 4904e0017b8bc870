"""Ordered values are cut only where a number with three digits lies between two of them."""

from decimal import Decimal

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from aegis_provider.counting.published_domain import cut_where_round
from aegis_provider.table.arithmetic import simplest
from aegis_provider.table.values import Domain

NUMBERS = st.lists(
    st.builds(lambda digits, shift: Decimal(digits).scaleb(-shift), st.integers(-99_999, 99_999), st.integers(0, 7)),
    min_size=2,
    max_size=30,
    unique=True,
)


@given(NUMBERS)
def test_rare_numbers_are_cut_exactly_where_the_simplest_number_between_them_has_three_digits(numbers):
    domain = Domain.of([f"{each:f}" for each in numbers])
    rare = np.zeros(len(domain), dtype=bool)
    pieces = cut_where_round(domain, np.arange(len(domain)), rare, binned=False)
    keys = domain.keys
    for place in range(len(keys) - 1):
        between = simplest(keys[place], keys[place + 1])
        largest = max(abs(keys[place]), abs(keys[place + 1]))
        unit = Decimal(1).scaleb(largest.adjusted() - 2)
        assert (pieces[place] != pieces[place + 1]) == (between % unit == 0)


def test_tenths_are_no_binary_fractions():
    domain = Domain.of(["10.1", "10.14"])
    assert cut_where_round(domain, np.arange(2), np.zeros(2, dtype=bool), binned=False).tolist() == [0, 0]
