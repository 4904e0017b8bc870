"""What an entry gives away, compared with every table that it could come from."""

import copy
import math
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegis_provider import PlanError, TableError, load_plan
from aegis_provider.disclosure import (
    Cell,
    Declared,
    EntryError,
    SmallCountsError,
    disclose,
    refuse_small_counts,
)
from aegis_sdk.wire import EntryDocument
from tests.examples import at_most
from tests.for_each import for_each
from tests.provider import several_labels
from tests.provider.disclosure.small_entries import (
    AGES,
    PLAN,
    document,
    possible_tables,
    without_half_records,
    write_table,
    written,
)
from tests.provider.documents import summarize


@pytest.fixture
def ages(tmp_path):
    return written(tmp_path)


def only_attribute(disclosed):
    [attribute] = disclosed.attributes
    return attribute


def test_bins_of_five_and_of_seven_years_give_away_a_person_that_neither_shows(ages):
    _, _, entry = ages
    age = only_attribute(disclose(document(entry)))
    assert [(table.name, table.below) for table in age.tables] == [("", 0), ("five", 0), ("seven", 0)]
    assert age.smallest == Cell(5, ("0-4", "no"))
    person = Cell(1, ("6", "yes"))
    assert (age.linked.derived, age.linked.derived_below) == (person, 1)
    assert age.given_away == person
    assert disclose(document(entry)).small_and_certain == {"age": 1}


def test_one_of_the_two_gives_nobody_away(tmp_path):
    plan = PLAN.replace("      seven: {bucketize: {width: 7}}\n", "").replace("  sevens: {age: seven}\n", "")
    _, _, entry = written(tmp_path, plan=plan)
    disclosed = disclose(document(entry))
    assert disclosed.small_and_certain == {}
    assert (only_attribute(disclosed).given_away, only_attribute(disclosed).linked.derived) == (None, None)


def test_a_missing_value_is_no_end_of_a_run_of_values(tmp_path):
    plan = PLAN.split("      five")[0] + "      gone: {suppress: {}}\nconfigurations:\n  c: {age: gone}\n"
    _, _, entry = written(tmp_path, {("", "yes"): 8, ("1", "no"): 9, ("6", "no"): 9, ("8", "no"): 9}, plan)
    assert only_attribute(disclose(document(entry))).linked.smallest == Cell(8, ('"", 1, 6 and 1 more', "yes"))


def test_every_table_is_looked_at_by_itself(ages):
    _, _, entry = ages
    disclosed = disclose(document(entry), below=7)
    histogram, five, seven = only_attribute(disclosed).tables
    assert (histogram.kind, histogram.records, histogram.cells, histogram.occupied) == ("histogram", 33, 3, 3)
    assert (histogram.smallest, histogram.below) == (Cell(7, ("6",)), 0)
    # In bins of 5 years: 5 no and 6 yes, 15 no and 7 yes; of 7 years: 11 no and 7 yes, 9 no and 6 yes.
    assert (five.smallest, five.below, five.cells) == (Cell(5, ("0-4", "no")), 2, 4)
    assert (seven.smallest, seven.below, seven.cells) == (Cell(6, ("7-13", "yes")), 1, 4)
    assert (disclosed.histogram.smallest, disclosed.histogram.below) == (Cell(13, ("yes",)), 0)


counts = st.integers(0, 2)


@pytest.mark.long
@at_most(40)
@given(yes=st.tuples(*[counts] * 5), no=st.tuples(*[counts] * 5), within=st.integers(0, 3))
def test_what_follows_is_what_all_tables_with_these_sums_have(tmp_path_factory, yes, no, within):
    labels = {"yes": yes, "no": no}
    people = {(str(2 * age), label): labels[label][age] for age in range(5) for label in labels}
    if not (any(yes) and any(no)):
        people |= {("0", "yes"): 1, ("0", "no"): 1}
    _, _, entry = written(tmp_path_factory.mktemp("drawn"), people)
    [attribute] = entry["attributes"]
    tables = possible_tables(attribute, entry["label"])
    linked = only_attribute(disclose(document(entry), below=2, within=within)).linked
    ranges = {cell: (min(t[cell] for t in tables), max(t[cell] for t in tables)) for cell in tables[0]}
    exact = [least for least, most in ranges.values() if least == most]
    assert linked.cells == len(ranges)
    assert linked.exact == len(exact)
    assert linked.empty == exact.count(0)
    assert linked.below == exact.count(1)
    assert linked.within[within] == sum(most - least <= 2 * within for least, most in ranges.values())
    above = [count for count in exact if count]
    assert (linked.smallest.count if linked.smallest else None) == min(above, default=None)
    held = {atom: [y for y in (0, 1) if ranges[atom, y][1]] for atom, _ in ranges}
    assert linked.alike == sum(len(labels) == 1 for labels in held.values())


def test_the_distance_is_half_the_difference_of_the_shares_of_records(tmp_path):
    plan = PLAN.replace("      seven: {bucketize: {width: 7}}\n", "").replace("  sevens: {age: seven}\n", "")
    table, path, entry = written(tmp_path, plan=plan)
    compared = only_attribute(disclose(document(entry), table=table, plan=load_plan(path))).compared
    people, records = dict(AGES), sum(AGES.values())
    of_age = {age: sum(n for (a, _), n in people.items() if a == age) for age, _ in people}
    of_label = {label: sum(n for (_, y), n in people.items() if y == label) for _, label in people}
    bins = {"1": "1", "6": "6 8", "8": "6 8"}
    in_bin = {(bins[age], label): 0 for age, label in people}
    for (age, label), n in people.items():
        in_bin[bins[age], label] += n
    size = {name: sum(of_age[age] for age in name.split()) for name in bins.values()}
    pooled = {(a, y): in_bin[bins[a], y] * of_age[a] / size[bins[a]] for a, y in people}
    margins = {(a, y): of_age[a] * of_label[y] / records for a, y in people}

    def off(guess, truth):
        return sum(abs(guess[cell] - truth[cell]) for cell in truth) / records / 2

    margins_of_bins = {(name, y): size[name] * of_label[y] / records for name, y in in_bin}
    assert compared.converged
    assert compared.pooled.atoms == 0
    assert compared.pooled.values == pytest.approx(off(pooled, people))
    assert compared.margins.values == pytest.approx(off(margins, people))
    assert compared.margins.atoms == pytest.approx(off(margins_of_bins, in_bin))


CROSSED = """
label: ill
attributes:
  age:
    type: string
    maskings:
      rows: {mapping: {a: ab, b: ab, c: cd, d: cd}}
      columns: {mapping: {a: ac, c: ac, b: bd, d: bd}}
configurations:
  rows: {age: rows}
  columns: {age: columns}
"""


def test_groups_that_the_tables_leave_open_are_as_far_off_as_the_table_of_most_entropy(tmp_path):
    yes = {"a": 9, "b": 1, "c": 2, "d": 3}
    people = {(value, "yes"): count for value, count in yes.items()} | {(value, "no"): 10 for value in yes}
    table, path, entry = written(tmp_path, people, CROSSED)
    attribute = only_attribute(disclose(document(entry), table=table, plan=load_plan(path)))
    assert attribute.linked.exact == 0
    # All tables with these sums differ by t in one direction: a and d have t fewer that are ill, b and c t more.
    sizes = {value: count + 10 for value, count in yes.items()}

    def entropy(t):
        ill = [yes["a"] - t, yes["b"] + t, yes["c"] + t, yes["d"] - t]
        cells = [(n, size) for n, size in zip(ill, sizes.values(), strict=True)]
        return -sum(n * math.log(n / size) for n, size in cells) - sum(
            (size - n) * math.log((size - n) / size) for n, size in cells
        )

    least, most = -1.0, 3.0
    while most - least > 1e-9:  # the entropy has one top
        lower, upper = least + (most - least) / 3, most - (most - least) / 3
        least, most = (lower, most) if entropy(lower) < entropy(upper) else (least, upper)
    off = 8 * abs(least) / sum(people.values()) / 2
    assert attribute.compared.pooled.atoms == pytest.approx(off, abs=1e-6)
    assert attribute.compared.pooled.values == pytest.approx(off, abs=1e-6)  # each value is a group by itself


def masking(entry, **declared):
    """Return the entry with something declared about the counts of its first masking."""
    changed = copy.deepcopy(entry)
    changed["attributes"][0]["maskings"][0].update(declared)
    return document(changed)


def test_of_noise_nothing_follows(ages):
    _, _, entry = ages
    noisy = masking(entry, noise={"kind": "laplace", "scale": 2.0, "epsilon": 0.5})
    age = only_attribute(disclose(noisy, below=7))
    assert age.tables[1].declared == Declared(noise=2.0, epsilon=0.5)
    assert (age.tables[1].below, age.tables[1].certainly_below) == (2, 0)
    assert age.linked.derived is None
    assert age.smallest == Cell(6, ("7-13", "yes"))


CHANCE = """
label: ill
seed: 1234567
attributes:
  age: {type: integer, maskings: {drawn: {randomised_response: {keep: 0.9}}, five: {bucketize: {width: 5}}}}
configurations:
  drawn: {age: drawn}
  five: {age: five}
"""


def test_of_what_chance_decides_only_the_possible_follows(tmp_path):
    table, path, entry = written(tmp_path, plan=CHANCE)
    age = only_attribute(disclose(document(entry), table=table, plan=load_plan(path)))
    assert [table.declared.drawn for table in age.tables] == [False, True, False]
    assert (age.tables[1].certainly_below, age.smallest) == (0, Cell(5, ("0-4", "no")))
    # Any value may have become any other: the draw adds nothing certain to what the bins say.
    ages, labels = entry["attributes"][0]["domain"], entry["label"]["domain"]
    assert (age.linked.atoms, age.linked.cells) == (len(ages), len(ages) * len(labels))
    assert age.compared.pooled.atoms < age.compared.margins.atoms
    assert age.linked.smallest == Cell(5, ("1", "no"))


def test_rounded_counts_and_left_out_records_do_not_make_the_table_another_one(ages):
    table, path, entry = ages
    rounded = [[6, 6], [15, 6]] if entry["label"]["domain"] == ["no", "yes"] else [[6, 6], [6, 15]]
    plan = load_plan(path)
    disclosed = disclose(masking(entry, rounded_to=3, joint=rounded), table=table, plan=plan)
    assert only_attribute(disclosed).compared is not None
    joint = copy.deepcopy(entry["attributes"][0]["maskings"][0]["joint"])
    joint[0][0] -= 2
    fewer = disclose(masking(entry, records=31, joint=joint), table=table, plan=plan)
    assert only_attribute(fewer).compared is not None


@for_each(
    ("people", "message"),
    [
        ({**AGES, ("8", "no"): 10}, "table.csv: has 34 records, but the entry has 33"),
        ({**AGES, ("8", "no"): 8, ("9", "no"): 1}, "table.csv: age has the value '9', which the entry lacks"),
        ({("1", "yes"): 13, ("8", "no"): 20}, "table.csv: age has no value '6', which the entry has"),
        ({**AGES, ("8", "no"): 8, ("8", "?"): 1}, "table.csv: ill has the value '?', which the entry lacks"),
        ({**AGES, ("1", "no"): 4, ("1", "yes"): 7}, "table.csv: ill is 'no' in 19 records, not 20"),
        (
            {**AGES, ("1", "no"): 4, ("8", "no"): 10},
            "table.csv: the histogram of 'age': 10 records where the entry counts 11, in row 1",
        ),
        (
            {**AGES, ("1", "no"): 6, ("1", "yes"): 5, ("8", "no"): 8, ("8", "yes"): 7},
            "table.csv: masking 'five' of 'age': 6 records where the entry counts 5, in row 1",
        ),
    ],
)
def test_another_table_is_refused(ages, people, message):
    table, path, entry = ages
    write_table(table, people)
    with pytest.raises(TableError) as raised:
        disclose(document(entry), table=table, plan=load_plan(path))
    assert str(raised.value).startswith(str(table.parent) + "/" + message)
    assert str(raised.value).endswith("the entry was not made from this table and plan")


def test_a_plan_of_something_else_is_refused(ages):
    table, path, entry = ages
    path.write_text(PLAN.replace("age", "ages"))
    with pytest.raises(PlanError, match="has no attribute 'age' of the entry; did you mean 'ages'"):
        disclose(document(entry), table=table, plan=load_plan(path))
    path.write_text(PLAN.replace("ill", "sick"))
    with pytest.raises(PlanError, match="its label is 'sick', but the entry's is 'ill'"):
        disclose(document(entry), table=table, plan=load_plan(path))


def test_table_and_plan_go_together(ages):
    table, path, entry = ages
    for one in ({"table": table}, {"plan": load_plan(path)}):
        with pytest.raises(PlanError, match="table and plan go together"):
            disclose(document(entry), **one)


class TestTheCheckForSmallCounts:
    def test_refuses_what_differences_give_away(self, ages):
        disclosed = disclose(document(ages[2]))

        with pytest.raises(SmallCountsError) as raised:
            refuse_small_counts(disclosed, "entry.json")

        assert str(raised.value) == "entry.json: counts below 5 are known for certain: 1 of age"

    def test_takes_an_entry_whose_counts_are_all_large(self, tmp_path):
        _, _, entry = written(tmp_path, {(age, label): 10 for age in ("1", "6", "8") for label in ("yes", "no")})

        refuse_small_counts(disclose(document(entry)), "entry.json")

    def test_refuses_one_of_which_bounds_stopped_early(self, tmp_path):
        _, _, entry = written(tmp_path, {(value, y): 10 for value in "abcd" for y in ("yes", "no")}, CROSSED)
        disclosed = disclose(document(entry), seconds=0)
        assert disclosed.unfinished == ["age"]

        with pytest.raises(SmallCountsError, match=r"^entry\.json: bounds stopped early.*: age$"):
            refuse_small_counts(disclosed, "entry.json")


def test_counts_that_contradict_each_other_are_refused_with_their_place(ages):
    _, _, entry = ages
    changed = copy.deepcopy(entry)
    joint = changed["attributes"][0]["maskings"][1]["joint"]
    joint[0][0], joint[1][0] = joint[0][0] + 9, joint[1][0] - 9
    with pytest.raises(EntryError, match=r"^/attributes/0/maskings/1/joint/0: adds up to 27, "):
        disclose(document(changed))


def test_tables_that_agree_two_by_two_but_not_all_together_are_refused():
    pairs = {"ab": [0, 0, 1, 1], "ac": [0, 1, 0, 1], "ad": [0, 1, 1, 0]}
    maskings = [
        {"id": name, "domain": ["x", "y"], "mapping": mapping, "joint": [[1, 1], [2, 2]]}
        for name, mapping in pairs.items()
    ]
    attribute = {"name": "v", "type": "string", "domain": list("abcd"), "maskings": maskings}
    entry = {
        "format": 1,
        "name": "odd",
        "records": 6,
        "label": {"name": "y", "domain": ["m", "n"], "histogram": [3, 3]},
        "attributes": [attribute],
        "configurations": [{"id": "c", "maskings": {"v": "ab"}}],
    }
    # Of 3 records, a + b, a + c and a + d have 1 each. So 2 a = 1 + 1 + 1 - 3 = 0, and b, c and d have 1 each.
    cells = only_attribute(disclose(document(entry))).linked
    assert (cells.exact, cells.empty, cells.smallest.count) == (8, 2, 1)
    for each in maskings:
        each["joint"] = [[0, 0], [3, 3]]
    with pytest.raises(EntryError, match=r"^'v': "):
        disclose(document(entry))


def test_a_person_that_only_whole_numbers_give_away_is_named_and_counts():
    disclosed = disclose(document(without_half_records()))
    linked = only_attribute(disclosed).linked
    assert (linked.by_whole_numbers, linked.smallest_by_whole_numbers) == (1, Cell(1, ("d", "m")))
    assert linked.undecided == 0
    assert linked.exact >= 6
    with pytest.raises(SmallCountsError, match="are known for certain"):
        refuse_small_counts(disclosed, "entry.json")


def test_an_attribute_that_the_entry_lacks_is_refused(ages):
    with pytest.raises(EntryError, match="no attribute 'agee'; did you mean 'age'"):
        disclose(document(ages[2]), ["agee"])


@pytest.mark.long
def test_the_health_example_beside_its_table(health_table, health_plan):
    entry = document(summarize(health_table, health_plan, name="health", pairs=True))
    disclosed = disclose(entry, ["visits", "chronic_diseases"], table=health_table, plan=health_plan)
    assert [each.name for each in disclosed.attributes] == ["visits", "chronic_diseases"]
    theirs = [each for each in entry.pairs if not {"visits", "chronic_diseases"}.isdisjoint(each.attributes)]
    assert len(disclosed.pairs) == sum(each.joint is not None for each in theirs) == 51
    assert disclosed.associations == len(theirs) == 84
    for each in disclosed.attributes:
        linked = each.linked
        # Overlapping bins of one order determine everything between two cuts, whatever the width of the bins.
        assert (linked.exact, linked.complete) == (linked.cells, True)
        assert each.compared.pooled.atoms == 0 < each.compared.margins.atoms
        assert each.compared.pooled.values < each.compared.margins.values
    records = [line.split(",") for line in Path(health_table).read_text().splitlines()[1:]]
    person = disclosed.attributes[0].linked.derived
    values, label = person.place
    assert person.count == sum(line[0] in values.split(", ") and line[-1] == label for line in records) == 1


def test_what_is_known_with_each_label_is_what_an_entry_of_it_alone_gives_away(write):
    path = several_labels.table(write, 2)

    def disclosed(*labels):
        document = summarize(path, several_labels.plan(write, labels), name="some", pairs=True)
        return document, disclose(EntryDocument.model_validate(document))

    entry, every = disclosed("y", "s", "r")
    for label in ("s", "r"):
        alone = {one.name: one for one in disclosed(label)[1].attributes}
        mine = {one.name: one for one in every.attributes if one.other_label == label}
        assert set(mine) == set(alone) - {"y"}
        for name, one in mine.items():
            assert replace(one.linked, programs=0) == replace(alone[name].linked, programs=0)
    tables = [pair["joint"] for pair in entry["pairs"] if "joint" in pair]
    listed = [table for one in every.attributes if one.other_label is not None for table in one.tables]
    assert len(tables) == len(listed) + len(every.pairs)
    small = sum(0 < count < 5 for table in tables for row in table for count in row)
    assert sum(table.below for table in (*listed, *every.pairs)) == small
    assert every.small_and_certain["a with s"] > 0
