"""A release of a table that says whose a record is, compared with sets of names."""

import csv
import json
import random
from collections import Counter, defaultdict

import pytest

from aegis_provider import load_plan
from aegis_provider.counting.counted_table import CountedTable
from aegis_provider.draft import refitted, start
from aegis_provider.table import open_table
from aegis_provider.table.values import Domain
from tests.for_each import for_each
from tests.provider.workflow.releases import FILES, rows_of


@pytest.fixture(scope="module")
def visits(tmp_path_factory):
    """Visits of 300 people, three at most of each; the rare ones are of a few people who came often."""
    rng, path = random.Random(11), tmp_path_factory.mktemp("visits") / "visits.csv"
    lines = ["who,age,ward,day,back"]
    for person in range(300):
        age, often = rng.randint(18, 90), rng.randint(1, 3)
        for _ in range(often):
            ward = rng.choice("ABCD") if person > 3 else "Z"
            back = "yes" if rng.random() < age / 100 else "no"
            lines.append(f"P{4711 * person + 10**6},{age},{ward},{rng.choice(['mon', 'tue', 'wed'])},{back}")
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def released(visits, tmp_path_factory):
    from aegis_provider.workflow import release  # noqa: PLC0415 - slow to load

    folder = tmp_path_factory.mktemp("release") / "release"
    return release(visits, "back", output=folder, person="who", rows_per_person=3, effort="small", require={"k": 5})


def test_nothing_that_leaves_says_whose_a_record_is(visits, released):
    names = {row["who"] for row in rows_of(visits)}
    assert {path.name for path in released.folder.iterdir() if not path.name.startswith(".")} == FILES
    for path in released.folder.iterdir():
        text = path.read_text(encoding="utf-8")
        assert not any(name in text for name in names), path.name
    assert "who" not in rows_of(released.folder / "masked.csv")[0]
    assert "who" not in {
        each["name"] for each in json.loads((released.folder / "entry.json").read_text())["attributes"]
    }


def test_every_class_of_the_masked_table_has_k_people_and_the_entry_hides_them(visits, released):
    plan = load_plan(released.folder / "configurations.yaml")
    assert (plan.person, plan.rows_per_person) == ("who", 3)
    chosen = plan.configuration(released.card.configuration)
    with open_table(visits, delimiter=",", memory_limit="1GB") as opened:
        counted = CountedTable.of(opened, plan)
        masks = {}
        for one in counted.attributes:
            masking = one.attribute.masking(chosen.maskings[one.attribute.name])
            texts = one.domain.texts if masking is None else counted.masked(one, masking)
            masks[one.attribute.name] = dict(zip(one.domain.texts, texts, strict=True))
    shared = [name for name in ("age", "ward", "day") if chosen.maskings[name] != "drop"]
    rows, left = rows_of(visits), []
    people, gone = defaultdict(set), None
    while gone is None or gone:  # whoever has a row in a class of fewer than five people goes, again and again
        left = [row for row in (left if gone is not None else rows) if gone is None or row["who"] not in gone]
        people = defaultdict(set)
        for row in left:
            people[tuple(masks[name][row[name]] for name in shared)].add(row["who"])
        few = {key for key, those in people.items() if len(those) < 5}
        gone = set().union(*(people[key] for key in few))
    masked = Counter(tuple(row[name] for name in shared) for row in rows_of(released.folder / "masked.csv"))
    assert masked == Counter(tuple(masks[name][row[name]] for name in shared) for row in left)
    entry = released.entry
    assert (entry.format, entry.unit, entry.rows_per_person) == (3, "person", 3)
    assert entry.disclosure_control.rounded_to == 9
    assert abs(entry.people - len({row["who"] for row in rows})) < 3 + len(rows) - len(left)
    assert chosen.privacy["k"] == min(map(len, people.values()))
    [ours] = [each for each in entry.masked if each.id == chosen.id]
    assert 5 <= ours.privacy["k"] < chosen.privacy["k"]  # people, whom a masked table does not show
    card = json.loads((released.folder / "card.json").read_text(encoding="utf-8"))
    assert (card["reached"]["k"], card["highest_risk"][0]) == (ours.privacy["k"], 1 / ours.privacy["k"])
    assert card["people"]["known"]["k"] == 5  # as asked, whatever was found
    assert "k: people in the smallest equivalence class" in (released.folder / "card.md").read_text(encoding="utf-8")
    assert "Z" not in next(each for each in entry.attributes if each.name == "ward").domain  # of four people


def test_a_draft_names_no_value_of_few_people_who_came_often(tmp_path):
    rng, table, plan = random.Random(12), tmp_path / "t.csv", tmp_path / "plan.yaml"
    wards = [ward for ward in "ABCDEFGH" for _ in range(60)] + ["often"] * 40
    rows = [f"p{n if n < 480 else n % 4},{ward},{rng.choice(['yes', 'no'])}" for n, ward in enumerate(wards)]
    table.write_text("\n".join(["who,ward,back", *rows]) + "\n")
    start(table, "back", tmp_path / "records.yaml", add=["who"], accept_identifiers=True)
    assert "often" in plan_names(tmp_path / "records.yaml")
    start(table, "back", plan, person="who", rows_per_person=10)
    names = plan_names(plan)
    assert "others" in names
    assert "often" not in names


def test_a_draft_of_people_is_refitted_by_people(tmp_path):
    rng, table = random.Random(3), tmp_path / "t.csv"
    ages = [rng.randint(18, 90) for _ in range(300)]
    rows = [f"p{n},{age},{'yes' if rng.random() < age / 100 else 'no'}" for n, age in enumerate(ages) for _ in range(4)]
    table.write_text("\n".join(["who,age,back", *rows]) + "\n")
    start(table, "back", tmp_path / "plan.yaml", person="who", rows_per_person=4)
    plan = load_plan(tmp_path / "plan.yaml", configurations_needed=False)
    edges = [
        [masking.function for masking in next(iter(each.attributes)).maskings]
        for each in (plan, *(refitted(plan.of_plain_table(), table, rows=rows) for rows in (4, 1)))
    ]
    assert edges[0] == edges[1] != edges[2]


def plan_names(path):
    """Return the words of the names of groups of wards that a plan drafts, of 20 people or more."""
    [ward] = [each for each in load_plan(path, configurations_needed=False).attributes if each.name == "ward"]
    values = Domain.of([*"ABCDEFGH", "often"])
    return {word for each in ward.maskings for name in each.function.mask(values) for word in name.split()}


@for_each(
    ("options", "said"),
    [
        (("--person", "nobody"), "no column 'nobody'"),
        (("--person", "back"), "'back' is the label, which is shared"),
        (("--person", "same"), "'same' has one value, so all records would be of one person"),
        (("--rows-per-person", "2"), "rows_per_person: of no column; name the person column, too"),
        (("--person", "who", "--rows-per-person", "5000"), "more than 1,000, the most of an entry"),
    ],
)
def test_what_is_no_person_is_refused_in_a_line(aegis, visits, tmp_path, options, said):
    with visits.open(newline="") as file:
        rows = [{**row, "same": "x"} for row in csv.DictReader(file)]
    table = tmp_path / "t.csv"
    with table.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    status, _, errors = aegis(
        "release", table, "--label", "back", "--output", tmp_path / "r", "--effort", "small", *options
    )
    assert status != 0
    [line] = [each for each in errors.splitlines() if each.startswith("aegis: ") and "warning" not in each]
    assert said in line
    assert not (tmp_path / "r" / "masked.csv").exists()


def test_a_plan_that_shares_the_column_is_refused(aegis, visits, tmp_path):
    plan = tmp_path / "plan.yaml"
    plan.write_text(
        "label: back\nattributes: {who: {type: string, identity: false, maskings: {w: {mapping: {a: b}}}}}\n"
    )
    release = ("release", visits, "--label", "back", "--output", tmp_path / "r", "--plan", plan, "--person", "who")
    status, _, errors = aegis(*release)
    assert status != 0
    assert "person: 'who' is shared; delete it under `attributes`" in errors
