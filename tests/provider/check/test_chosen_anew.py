"""A configuration that the label of all records chose, tested as if those tested had not been among them."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from aegis_provider import Requirement, find_configurations, load_plan
from aegis_provider.check import check
from aegis_provider.search import choose_again
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


def coins(write, seed):
    """A table of 200 records whose label is a coin, and a plan with four ways to group each of five attributes."""
    random, names = np.random.default_rng(seed), "abcde"
    values, label = random.integers(0, 12, (200, 5)), random.integers(0, 2, 200)
    table = as_csv([[*names, "y"], *([*map(str, row), f"y{one}"] for row, one in zip(values, label, strict=True))])
    lines = ["label: y", "attributes:"]
    for name in names:
        ways = (
            ", ".join(f"'{each}': {'gh'[at % 2]}" for at, each in enumerate(random.permutation(12))) for _ in "0123"
        )
        maskings = ", ".join(f"{name}{place}: {{mapping: {{{way}}}}}" for place, way in enumerate(ways))
        lines.append(f"  {name}: {{type: string, maskings: {{{maskings}}}}}")
    return write(f"{seed}.csv", table), load_plan(write(f"{seed}.yaml", "\n".join(lines)), configurations_needed=False)


@pytest.mark.long
def test_the_best_of_a_search_tells_nothing_of_coins(write):
    """The same figure without choosing anew shows what the best of many is flattered by."""
    required, flattered, honest = Requirement({"k": 2}, 0.5), [], []
    for seed in range(4):
        table, plan = coins(write, seed)
        best = find_configurations(table, plan, required, most=1, seconds=5).configurations[0]
        chosen = replace(plan, configurations=(best,))
        again = partial(choose_again, requirement=required, measure="joint", seconds=5)
        for figures, choose in ((flattered, None), (honest, again)):
            result = check(table, chosen, [best.id], seconds=600, choose=choose)
            figures.append(result.of(best.id, "logistic regression").auc)
    means = [np.mean([each.value for each in figures]) for figures in (flattered, honest)]
    assert means[0] > 0.53
    assert means[1] == pytest.approx(0.5, abs=0.06)
    assert means[0] > means[1] + 0.03
    assert sum(each.low > 0.5 for each in honest) <= 1
