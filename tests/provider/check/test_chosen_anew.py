"""A configuration that the label of all records chose, tested as if those tested had not been among them."""

from functools import partial

import pytest

from aegis_provider import load_plan
from aegis_provider.check import check
from tests.provider.check.checked_tables import PLAN, as_csv, records

CONFIGURATIONS = "configurations: {fine: {age: decades, town: identity}, coarse: {age: drop, town: side}}"


@pytest.mark.long
def test_what_is_chosen_anew_is_chosen_by_the_other_folds(write):
    """Who chooses the same again measures the same; who chooses otherwise measures that; and each sees its records."""
    plan, table = load_plan(write("plan.yaml", f"label: y\n{PLAN}{CONFIGURATIONS}")), write("t.csv", as_csv(records()))
    seen, both = [], plan.configurations

    def choose(chosen, _counted, _plan, told, most):
        seen.append((most, told.codes[:, told.columns.index("y")].size, int(told.counts.sum())))
        return chosen

    plain = check(table, plan, ["fine", "coarse"], seconds=600, folds=2)
    same, turned, one = (
        check(table, plan, ["fine", "coarse"], seconds=600, folds=2, choose=partial(choose, chosen))
        for chosen in (both, both[::-1], both[:1])
    )
    assert (plain.chosen_anew, same.chosen_anew) == (False, True)
    assert same.performances == plain.performances
    for model in plain.models:
        assert turned.of("fine", model).auc == plain.of("coarse", model).auc
        assert one.of("coarse", model).auc == one.of("fine", model).auc
    assert seen == [(2, 120, 120)] * 6
