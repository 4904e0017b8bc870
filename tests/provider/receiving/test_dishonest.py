"""What the comparison reveals of tables that are not what was agreed upon, and what it cannot reveal."""

import csv
import io
import random
import re
from pathlib import Path

import numpy as np
import pytest

from aegis_provider import apply, load_plan
from aegis_provider.control import LaplaceNoise, MinimumCell
from aegis_provider.errors import MachineError
from aegis_provider.ledger import SOME_HELD_BACK
from aegis_provider.receiving.verification import verify
from tests.for_each import for_each
from tests.provider.receiving.delivering import Provider, delivery_of, table_text

ROOT = Path(__file__).parents[3]
CONTROLS = {
    "exact": {"exact": True},
    "minimum 5": {"controls": (MinimumCell(5),)},
    "default": {},
    "noise": {"controls": (LaplaceNoise(1.0, "cube_root"),)},
}


def _label(rows, draw, place):
    at = rows[0].index(LABEL)
    rows[place][at] = draw.choice(sorted({row[at] for row in rows[1:]} - {rows[place][at]}))


def nothing(rows, draw):
    """Change nothing."""


def one_label(rows, draw):
    _label(rows, draw, draw.randrange(1, len(rows)))


def hundred_labels(rows, draw):
    for place in draw.sample(range(1, len(rows)), len(rows) // 200):
        _label(rows, draw, place)


def permuted(rows, draw):
    """Permute the labels of the records that have the most frequent masked value of the attribute with most of them."""
    _permuted(rows, draw, [max((n for n, _ in _shared(rows)), key=lambda n: len({row[n] for row in rows[1:]}))])


def permuted_in_classes(rows, draw):
    """Permute the labels of records that have all masked values in common."""
    _permuted(rows, draw, [n for n, _ in _shared(rows)], every=True)


def _shared(rows):
    return [(n, name) for n, name in enumerate(rows[0]) if name != LABEL]


def _permuted(rows, draw, columns, *, every=False):
    classes = {}
    for place in range(1, len(rows)):
        classes.setdefault(tuple(rows[place][n] for n in columns), []).append(place)
    at = rows[0].index(LABEL)
    for places in classes.values() if every else [max(classes.values(), key=len)]:
        labels = [rows[place][at] for place in places]
        draw.shuffle(labels)
        for place, label in zip(places, labels, strict=True):
            rows[place][at] = label


def switched(rows, draw):
    """Exchange labels of four records so that all joint counts of one attribute stay, and those of pairs do."""
    at, columns = rows[0].index(LABEL), [n for n, _ in _shared(rows)]
    first, second = sorted(columns, key=lambda n: -len({row[n] for row in rows[1:]}))[:2]
    others = [n for n in columns if n not in (first, second)]
    by_rest = {}
    for place in draw.sample(range(1, len(rows)), len(rows) - 1):
        row = rows[place]
        by_rest.setdefault(tuple(row[n] for n in others), {}).setdefault((row[first], row[second], row[at]), place)
    for known in by_rest.values():
        for one, two, label in known:
            for other, more, label_of_more in known:
                corners = [
                    (one, two, label),
                    (one, more, label_of_more),
                    (other, two, label_of_more),
                    (other, more, label),
                ]
                if one != other and two != more and label != label_of_more and all(each in known for each in corners):
                    for each in corners:
                        rows[known[each]][at] = label_of_more if each[2] == label else label
                    return
    raise AssertionError("no four such records")


def ten_dropped(rows, draw):
    _dropped(rows, draw, 10)


def percent_dropped(rows, draw):
    _dropped(rows, draw, (len(rows) - 1) // 100)


def _dropped(rows, draw, number):
    for place in sorted(draw.sample(range(1, len(rows)), number), reverse=True):
        del rows[place]


def older(rows, draw):
    """Have a hundredth of the records as they were, say, a year ago."""
    for place in draw.sample(range(1, len(rows)), (len(rows) - 1) // 100):
        rows[place] = list(rows[draw.randrange(1, len(rows))])


ATTACKS = {
    "nothing": nothing,
    "the label of one record": one_label,
    "the labels of 100 records": hundred_labels,
    "labels permuted within a masked value of one attribute": permuted,
    "labels permuted among records with all masked values in common": permuted_in_classes,
    "the labels of four records, so that all joint counts and pair counts stay": switched,
    "10 records left out, undeclared": ten_dropped,
    "1 % of the records left out, undeclared": percent_dropped,
    "1 % of the records as in an older version": older,
}


def said():
    """Return the table of the document: by what was changed, what each control reveals."""
    text = (ROOT / "docs/verification.md").read_text(encoding="utf-8").partition("| what was changed |")[2]
    rows = [[cell.strip() for cell in line.strip("| ").split("|")] for line in text.partition("\n\n")[0].splitlines()]
    return {row[0]: dict(zip(CONTROLS, row[1:], strict=True)) for row in rows[2:]}


def was_revealed(provider, configuration, attack, seed):
    draw = random.Random(seed)
    return not provider.verified(configuration, change=lambda rows: attack(rows, draw)).is_as_agreed


LABEL = "health"


@pytest.mark.long
@for_each("control", CONTROLS)
def test_the_document_says_what_is_revealed(tmp_path, health_table, health_plan, control):
    provider = Provider(tmp_path, health_table, health_plan, pairs=True, **CONTROLS[control])
    table = said()
    assert set(table) == {*ATTACKS, "another configuration"}
    for name, attack in ATTACKS.items():
        if table[name][control] != "depends":
            revealed = [was_revealed(provider, "c32", attack, seed) for seed in range(3)]
            assert sum(revealed) in ((2, 3) if table[name][control] == "yes" else (0,)), name  # chance can hide one
    path, request = provider.delivered("c30")
    assert table["another configuration"][control] == "yes"
    assert not verify(path, request, provider.evidence("c32")).is_as_agreed


PLAN = """label: y
attributes:
  age: {maskings: {tens: {bucketize: {width: 10}}, fives: {bucketize: {width: 5}}}}
  place: {maskings: {first: {blur: {keep: 1}}}}
  flag: {}
configurations:
  c: {age: tens, place: first}
  finer: {age: fives, place: first}
  fewer: {age: tens, place: first, flag: drop}
"""


@pytest.fixture(scope="module")
def provider(tmp_path_factory):
    folder = tmp_path_factory.mktemp("provider")
    table, plan = folder / "t.csv", folder / "plan.yaml"
    table.write_text(table_text(400), encoding="utf-8")
    plan.write_text(PLAN, encoding="utf-8")
    return Provider(folder, table, load_plan(plan), pairs=True, exact=True)


@pytest.fixture(autouse=True)
def _label_of_the_table(request, monkeypatch):
    if "provider" in request.fixturenames:
        monkeypatch.setattr("tests.provider.receiving.test_dishonest.LABEL", "y")


@for_each(
    ("attack", "revealed"),
    [
        (nothing, False),
        (one_label, True),
        (permuted, True),
        (permuted_in_classes, False),
        (switched, False),
        (percent_dropped, True),
        (older, True),
    ],
)
def test_exact_counts_reveal_every_change_of_a_joint_count_and_no_other(provider, attack, revealed):
    assert was_revealed(provider, "c", attack, 1) == revealed


def test_a_changed_label_shows_in_the_cells_that_it_moves(provider):
    verified = provider.verified("c", change=lambda rows: one_label(rows, random.Random(3)))
    moved = {(tuple(each.attributes), each.delivered - each.published) for each in verified.compared.first}
    assert moved == {(names, step) for names in [(), ("age",), ("place",), ("flag",)] for step in (-1, 1)}


def test_a_finer_table_and_one_with_more_columns_are_refused(provider):
    evidence = provider.evidence("c")
    finer, request = provider.delivered("finer")
    verified = verify(finer, request, evidence)
    assert {each.text for each in verified.compared.unknown} >= {"20-24", "25-29"}
    [unknown] = [each for each in verified.compared.first if each.published is None]
    assert (unknown.attributes, unknown.values, unknown.rule) == (["age"], [], "unknown")
    assert unknown.delivered == len(verified.compared.unknown)
    path, request = provider.delivered("c")
    fewer = verify(path, request, provider.evidence("fewer"))
    assert [each.text for each in fewer.faults] == ["the file has columns that were not approved: 'flag'"]
    assert [each.reason for each in fewer.faults] == ["the file has columns that were not approved: 1"]
    path, request = provider.delivered("fewer")
    assert [each.reason for each in verify(path, request, evidence).faults] == ["the file lacks the columns 'flag'"]


def test_roles_that_make_k_large_do_not_hide_k_by_all_columns(provider):
    path, request = provider.delivered("c")
    honest = verify(path, request, provider.evidence("c")).privacy
    for named in ([], ["flag"]):
        roles = {name: "quasi-identifier" if name in named else "other" for name in ("age", "place", "flag")}
        card = {"columns": [{"name": name, "role": role} for name, role in roles.items()]}
        told = delivery_of(path, "c", request.delivery.records, {"k": 100}, card)
        privacy = verify(path, told, provider.evidence("c")).privacy
        assert privacy.k_by_all == honest.reached["k"] < 100
        assert (privacy.undecided, privacy.quasi_identifiers) == (() if named else ("k",), tuple(named))
        assert (privacy.reached["k"] > 100) == bool(named)


def test_a_table_in_another_order_or_spelling_is_the_same(provider, tmp_path):
    path, request = provider.delivered("c")
    rows = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"))))
    other = tmp_path / "other.csv"
    with other.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=";").writerows([each[::-1] for each in [rows[0], *sorted(rows[1:])]])
    assert verify(other, request, provider.evidence("c")).is_as_agreed


def test_records_that_were_not_delivered_are_told(provider):
    path, request = provider.delivered("c")
    wrong = delivery_of(path, "c", request.delivery.records + 1)
    [fault] = verify(path, wrong, provider.evidence("c")).faults
    assert fault.reason == "the file has 400 records, but 401 were delivered"


def test_too_little_memory_says_nothing_about_the_file(provider):
    path, request = provider.delivered("c")
    with pytest.raises(MachineError, match="this machine cannot count the file, so nothing was posted"):
        verify(path, request, provider.evidence("c"), memory_limit="1KB")


@for_each("content", [b"", b"\xff\xfe\x00", b"age,place,y\n", b"no,such,columns\n1,2,3\n", b'a,"\n'])
def test_what_cannot_be_counted_is_no_delivery(provider, tmp_path, content):
    _, request = provider.delivered("c")
    path = tmp_path / "bad.csv"
    path.write_bytes(content)
    verified = verify(path, request, provider.evidence("c"))
    assert not verified.is_as_agreed
    assert re.match("the file ", verified.faults[0].text)
    assert re.fullmatch(
        "the file (cannot be counted|has no records|has no column 'y', the label)", verified.faults[0].reason
    )


def test_records_may_be_missing_only_if_the_card_says_so_and_at_most_a_tenth(tmp_path):
    (tmp_path / "t.csv").write_text(table_text())
    (tmp_path / "plan.yaml").write_text("label: y\nattributes: {flag: {}}\nconfigurations: {c: {}}\n")
    provider = Provider(tmp_path, tmp_path / "t.csv", load_plan(tmp_path / "plan.yaml"), exact=True)
    path, held = tmp_path / "out.csv", {"holds_back": SOME_HELD_BACK}
    for missing, card, outcome in (
        (40, held, True),
        (40, None, False),
        (40, {"holds_back": ""}, False),
        (70, held, False),
    ):
        records = apply(provider.table, provider.plan, "c", path, held=np.arange(600) < missing).records
        request = delivery_of(path, "c", records, card=card)
        assert verify(path, request, provider.evidence("c")).is_as_agreed is outcome, (missing, card)
