"""Maskings that are fitted anew to some of the records: those of a fold, say."""

from collections import Counter
from decimal import Decimal
from random import Random

import numpy as np
import pytest

from aegis_provider import load_plan, open_table
from aegis_provider.counting.counted_table import CountedTable
from aegis_provider.counting.published_domain import LEAST
from aegis_provider.draft import refit, refitted, start
from aegis_provider.table.values import Domain
from tests.provider.draft.made_up import BINNED, CATEGORY, CODE, DAY, NUMBERED, columns, write

LABEL = "outcome"
TABLE = {name: column for name, column in columns().items() if name in (NUMBERED, BINNED, CATEGORY, CODE, DAY)}
PAIRS = zip(map(int, TABLE[NUMBERED]), TABLE[CATEGORY], strict=True)
CHANCES = [0.2 + 0.3 * (children > 2) + 0.4 * (city > "P") for children, city in PAIRS]
TABLE[LABEL] = ["ill" if Random(place).random() < chance else "well" for place, chance in enumerate(CHANCES)]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return write(tmp_path_factory.mktemp("made-up") / "made-up.csv", TABLE)


@pytest.fixture(scope="module")
def plan(table):
    return load_plan(start(table, LABEL, table.with_name("plan.yaml")).plan, configurations_needed=False)


def functions(plan):
    return {(each.name, masking.id): masking.function for each in plan.attributes for masking in each.maskings}


def masked(plan, table):
    """The masked text of each value, for each masking."""
    with open_table(table) as opened:
        counted = CountedTable.of(opened, plan)
        return {
            (each.attribute.name, masking.id): dict(zip(each.domain.texts, counted.masked(each, masking), strict=True))
            for each in counted.attributes
            for masking in each.attribute.maskings
        }


def test_the_same_records_give_the_same_maskings(plan, table):
    assert masked(refitted(plan, table), table) == masked(plan, table)


def test_some_records_give_what_they_would_have_been_given_alone(plan, table, tmp_path):
    half = write(tmp_path / "half.csv", {name: column[::2] for name, column in TABLE.items()})
    again, alone = (
        refitted(plan, half),
        load_plan(start(half, LABEL, tmp_path / "half.yaml").plan, configurations_needed=False),
    )
    assert functions(again)[NUMBERED, f"{NUMBERED}-2"] == functions(alone)[NUMBERED, f"{NUMBERED}-2"]
    assert functions(again).keys() == functions(plan).keys()
    assert functions(again) != functions(plan)
    assert masked(again, table).keys() == masked(plan, table).keys()  # records that were not there are masked, too


def test_maskings_that_did_not_look_at_the_label_stay(plan, tmp_path):
    few = write(tmp_path / "few.csv", {name: column[:200] for name, column in TABLE.items()})
    before, after = functions(plan), functions(refitted(plan, few))
    for name, masking in before:
        if name in (CODE, DAY):
            assert after[name, masking] == before[name, masking]
    assert [each.discretization for each in refitted(plan, few).attributes] == [
        each.discretization for each in plan.attributes
    ]


def test_another_label_gives_other_groups_of_the_same_categories(plan, tmp_path):
    """The first half of the alphabet is ill: the coarsest level finds it, whatever the draft had found.

    Labels of rare values do not count.
    """
    known = [city for city, records in Counter(TABLE[CATEGORY]).items() if records >= LEAST]
    ill = [city < "M" for city in TABLE[CATEGORY]]
    other = write(tmp_path / "other.csv", {**TABLE, LABEL: ["ill" if each else "well" for each in ill]})
    coarsest = [masking for name, masking in functions(plan) if name == CATEGORY][-1]
    groups = masked(refitted(plan, other), other)[CATEGORY, coarsest]
    assert len(known) > 6
    assert len({groups[city] for city in known if city < "M"}) == 1
    assert {groups[city] for city in known if city < "M"}.isdisjoint(groups[city] for city in known if city >= "M")
    assert len(set(groups.values())) == 2


def test_values_that_the_records_lack_are_merged_with_others(plan, tmp_path):
    kept = [place for place, city in enumerate(TABLE[CATEGORY]) if city < "T"]
    some = write(tmp_path / "some.csv", {name: [column[place] for place in kept] for name, column in TABLE.items()})
    for (name, _), groups in masked(refitted(plan, some), some).items():
        if name == CATEGORY:
            assert set(groups) == {city for city in TABLE[CATEGORY] if city < "T"}
    fitted = [function for (name, _), function in functions(refitted(plan, some)).items() if name == CATEGORY]
    assert all(len(each.mask(Domain.of(TABLE[CATEGORY]))) == 24 for each in fitted)


def test_no_records_with_a_number_make_one_interval(plan):
    [attribute] = [each for each in plan.attributes if each.name == NUMBERED]
    again = refit(attribute, Domain.of([""]), np.array([[3, 4]]), 5)
    assert {each.function.edges for each in again.maskings} == {(Decimal("-inf"), Decimal("inf"))}


def test_an_edited_plan_keeps_its_other_maskings(write, table, plan):
    text = table.with_name("plan.yaml").read_text(encoding="utf-8")
    edited = text.replace(
        f"  {NUMBERED}:\n    type: integer\n    fitted_to: label\n    maskings:\n",
        f"  {NUMBERED}:\n    type: integer\n    fitted_to: label\n    maskings:\n      mine: {{round: {{to: 5}}}}\n",
    )
    again = refitted(load_plan(write("edited.yaml", edited), configurations_needed=False), table)
    assert functions(again)[NUMBERED, "mine"].parameters() == {"to": 5}
    assert len(functions(again)) == len(functions(plan)) + 1
