"""In which order worth puts entries."""

import math
from uuid import UUID

import pytest

from app.entries.model.worth import Worth, WorthState, answering
from app.entries.store.entries import _read_place
from app.entries.store.searches import Order
from app.platform.database.base import write_token


def worth(masking=None, **expected):
    numbers = {"auc": None, "accuracy": None, "r2": None, "rmse": None, "low": 0.0, "high": 1.0} | expected
    return Worth("health", 5, WorthState.KNOWN, "c1", numbers, masking)


def test_what_cannot_be_compared_comes_one_after_the_other_and_each_by_its_lower_end():
    wanted = [
        worth(auc=0.70, low=0.69),
        worth(auc=0.75, low=0.60),
        worth(auc=0.70, low=0.60),
        worth(r2=0.9, low=0.8),
        worth("two-classes", auc=0.95, low=0.94),
        worth("bins", r2=0.95, low=0.94),
        Worth("health", 5),
    ]
    assert sorted([*wanted[3:], *wanted[:3]], key=lambda one: one.order, reverse=True) == wanted


def test_another_k_has_the_next_higher_one():
    assert [answering(k) for k in (1, 2, 3, 10, 10.5, 20, 21, 1e9)] == [2, 2, 5, 10, 20, 20, None, None]


@pytest.mark.parametrize(("kind", "read"), [(2, 2), (math.inf, 9), (-math.inf, 0)])
def test_the_kind_of_a_place_is_a_whole_number_as_its_column_is_and_never_a_failure(kind, read):
    token = write_token((kind, 0.6, 0.62), UUID(int=7), "worth")
    place = _read_place(token, Order.WORTH)
    assert place == (read, 0.6, 0.62, UUID(int=7))
    assert isinstance(place[0], int)
