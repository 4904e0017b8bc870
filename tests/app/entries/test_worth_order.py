"""In which order worth puts entries."""

from app.entries.model.worth import Worth, WorthState, answering


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
