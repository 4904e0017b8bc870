"""Names of drafted groups: frequent values only, so that no name tells who is in the table."""

import csv
import random
from collections import Counter

import numpy as np
import pytest

from aegis_provider import load_plan, open_table
from aegis_provider.counting.counted_table import CountedTable
from aegis_provider.counting.merged_table import merged_texts
from aegis_provider.counting.published_domain import group_names as listed_names
from aegis_provider.draft import start
from aegis_provider.draft.fitting import group_names
from aegis_provider.table.values import Domain
from aegis_provider.workflow import release
from aegis_sdk.reading import some
from tests.for_each import for_each

TEXTS = ["retired", "bishop", "federal president", "nurse", "", "a name that is much longer than forty characters are"]
RECORDS = np.array([800, 2, 1, 700, 19, 20])

NAMES = [
    ((0,), "retired"),
    ((0, 3), "retired | nurse"),
    ((0, 1, 2), "retired and others"),
    ((0, 1, 2, 3), "retired | nurse and others"),
    ((1,), "others"),
    ((1, 2, 4), "others"),
    ((5,), "a name that is much longer than forty ch..."),
    ((3, 5), "nurse and 1 more"),
    ((1, 5), "a name that is much longer than forty ch... and others"),
]


@for_each(("group", "name"), NAMES)
def test_a_group_is_called_by_its_frequent_values(group, name):
    assert group_names(TEXTS, RECORDS, [(group,)]) == {group: name}


def test_numbers_among_texts_stand_in_their_order():
    """A group was called `1 | 0.0`."""
    texts, records = ["1", "0.0", "-2", "nurse", ""], np.array([90, 80, 70, 60, 50])
    groups = ((0, 1), (0, 1, 2), (1, 3), (0, 1, 4))
    assert list(group_names(texts, records, [groups]).values()) == [
        "0.0 | 1",
        "-2 | 0.0 | 1",
        "0.0 | nurse",
        "1 | 0.0 | missing",
    ]


def test_blanks_at_the_ends_of_values_are_seen():
    """A group was called `Vienna | vienna | Vienna`."""
    texts = ["Vienna", "vienna", "Vienna ", "New\n York"]
    names = group_names(texts, np.array([40, 30, 20, 50]), [((0, 1, 2), (3,))])
    assert list(names.values()) == ['Vienna | vienna | "Vienna "', "New York"]
    assert some(texts[:3], 3) == 'Vienna, vienna, "Vienna "'
    assert merged_texts([texts[:3]], [], ordered=False) == ['Vienna or vienna or "Vienna "']
    listed = listed_names(Domain.of(texts[:3]), [np.arange(3)], binned=False, frequent=np.ones(3, dtype=bool))
    assert listed == ('Vienna or "Vienna " or vienna',)


def test_names_are_unique_among_all_levels():
    levels = [((0, 1), (2,), (3, 4)), ((0, 1, 2), (3, 4))]
    assert list(group_names(TEXTS, RECORDS, levels).values()) == [
        "retired and others",
        "others",
        "nurse and others",
        "retired and others (2)",
    ]


@pytest.mark.long
def test_nothing_that_leaves_names_the_one_president(tmp_path):
    """The president of the table was read in the entry, in the masked table and on the card, by every tenant."""
    jobs = {"teacher": (700, 0.1), "nurse": (650, 0.6), "clerk": (500, 0.3), "judge": (7, 1), "president": (1, 1)}
    rng = random.Random(3)
    people = [(job, chance) for job, (number, chance) in jobs.items() for _ in range(number)]
    rows = [(rng.randint(18, 60), job, "ill" if rng.random() < chance else "well") for job, chance in people]
    with (tmp_path / "jobs.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("age", "job", "health"), *rows])
    release(tmp_path / "jobs.csv", "health", require={"k": 5}, output=tmp_path / "release")
    left = ("entry.json", "masked.csv", "card.json", "card.md", "card.html")
    texts = {name: (tmp_path / "release" / name).read_text(encoding="utf-8") for name in left}
    assert all("nurse" in texts[name] for name in ("entry.json", "masked.csv"))
    assert [name for name, text in texts.items() if "president" in text or "judge" in text] == []


@for_each("column", ["height", "visit"])
def test_no_part_of_a_code_or_date_names_few_records(column, tmp_path):
    """Prefixes named the one patient of 1,38 m and the one of 2,10 m, and years the one visit of 1911."""
    rng = random.Random(1)
    heights = [f"1,{rng.randint(50, 99)}" for _ in range(3_000)] + [f"1,{rng.randint(40, 49)}" for _ in range(300)]
    born = [f"{rng.randint(1960, 1999)}-0{rng.randint(1, 9)}-11" for _ in heights]
    heights, born = [*heights, "1,38", "2,10"], [*born, "1911-03-11", "1960-01-11"]
    rows = zip(heights, born, (rng.choice("yn") for _ in heights), strict=True)
    with (tmp_path / "t.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("height", "visit", "y"), *rows])
    start(tmp_path / "t.csv", "y", tmp_path / "plan.yaml", accept_identifiers=True)
    plan = load_plan(tmp_path / "plan.yaml", configurations_needed=False)
    [drafted] = [each for each in plan.attributes if each.name == column]
    with open_table(tmp_path / "t.csv") as opened:
        [counted] = [each for each in CountedTable.of(opened, plan).attributes if each.attribute.name == column]
        records = counted.counts.histogram()
        for masking in drafted.maskings:
            masked = Counter()
            for text, number in zip(masking.function.mask(counted.domain), records.tolist(), strict=True):
                masked[text] += number
            assert {text for text, number in masked.items() if number < 20} <= {"others"}
