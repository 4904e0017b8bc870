"""The ledger as a file: for its owner only, in order, whole, and of one machine."""

import json
import stat
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from hashlib import sha256

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from aegis_provider import load_plan
from aegis_provider.ledger import CompositionError, Leaving, LedgerError, forget, hold_back, leave, ledgers, store
from tests.for_each import for_each

PLAN = """
label: y
attributes:
  a: {type: integer, maskings: {tens: {bucketize: {width: 10}}}}
quasi_identifiers: [a]
sensitive: [y]
configurations: {fine: {a: identity}, tens: {a: tens}, none: {a: drop}}
privacy: {fine: {k: 2}, tens: {k: 2}, none: {k: 2}}
"""
HOW = {"delimiter": ","}


@pytest.fixture
def plan(tmp_path):
    path = tmp_path / "plan.yaml"
    path.write_text(PLAN)
    return load_plan(path)


def of(*ages):
    """Two people of each age, with both labels."""
    return pa.table({"a": [age for age in ages for _ in range(2)], "y": ["no", "yes"] * len(ages)})


def left(plan, table, configuration="fine", **how):
    return leave(table, plan, configuration, Leaving(**{"name": "t", "place": "one", **how}), HOW)


def test_only_its_owner_reads_it_and_it_names_nobody(plan, state):
    left(plan, pa.table({"a": [31, 31, 47, 47], "y": ["secret", "other"] * 2}))
    files = [each for each in (state / "ledger").rglob("*") if each.is_file()]
    assert {stat.S_IMODE(each.stat().st_mode) for each in files} == {0o600}
    assert {stat.S_IMODE(each.parent.stat().st_mode) for each in files} == {0o700}
    assert not any(b"secret" in each.read_bytes() for each in files)


def test_what_left_from_a_folder_stays_when_it_is_written_again_until_nobody_is_said_to_have_it(plan, state):
    with_one = pa.concat_tables([of(31, 47), pa.table({"a": [31], "y": ["yes"]})])
    left(plan, of(31, 47), digest="a")
    left(plan, of(31, 47), digest="a")
    left(plan, of(31, 47, 52), "none")
    refused = r"if nobody got fine and none: aegis ledger forget t --event 1 --event 2; or --accept"
    with pytest.raises(CompositionError, match=refused):
        left(plan, with_one)
    assert forget("t", [], [1, 2]) == (2, 10)
    assert left(plan, with_one) == []
    [ledger], _ = ledgers()
    assert [(each.number, each.configuration, each.given) for each in ledger.events] == [
        (1, "fine", False),
        (2, "none", False),
        (3, "fine", True),
    ]
    assert len([*(state / "ledger").rglob("*.parquet")]) == 1
    with pytest.raises(LedgerError, match="has no event 4"):
        forget("t", [], [4])


def test_people_who_came_or_left_between_versions_are_in_classes_of_their_own(plan):
    left(plan, of(31, 47))
    more = pa.concat_tables([of(31, 47), pa.table({"a": [31], "y": ["yes"]})])
    with pytest.raises(CompositionError, match=r"fine, delivered on .* to anyone: k = 1 for 1 record.* does not leave"):
        left(plan, more, place="two")
    assert left(plan, of(31, 47, 52), place="two") == []


def test_what_is_held_back_is_kept_so_unless_something_else_left_since_that_was_decided(plan):
    """One who came is alone beside what left; whoever another release leaves out meanwhile is, too."""
    january, february = of(*range(30, 50)), pa.concat_tables([of(*range(30, 50)), of(31).slice(0, 1)])
    left(plan, january, place="one")
    leaving = Leaving(name="t", place="two")
    held = hold_back(february, plan, "fine", leaving, HOW)
    assert (held.number, held.people, held.in_words().startswith("1 record is held back")) == (1, None, True)
    with pytest.raises(CompositionError, match=r"holds back other records .* run this command again"):
        left(plan, february, place="two")
    assert left(plan, february, place="two", held=held.digest, digest="two") == [held.in_words()]
    [ledger] = ledgers()[0]
    assert [int((pq.read_table(ledger.rows(each))["class"].to_numpy() < 0).sum()) for each in ledger.events] == [0, 1]
    assert [dict(each.promised) for each in ledger.events] == [{"k": 2}] * 2
    march = pa.concat_tables([february, of(32).slice(0, 1)])
    held = hold_back(march, plan, "fine", leaving, HOW)
    assert held.number == 2
    left(plan, january.slice(1), "none", place="other", accept=True)
    with pytest.raises(CompositionError, match="something else left meanwhile"):
        left(plan, march, place="two", held=held.digest, digest="three")
    assert len(ledgers()[0][0].events) == 3


def test_what_one_consumer_has_is_no_other_ones_unless_they_collude(plan):
    left(plan, of(31, 47), to="x")
    some = pa.concat_tables([of(31, 47), pa.table({"a": [31], "y": ["yes"]})])
    with pytest.raises(CompositionError):
        left(plan, some, to="y", colluding=True)
    assert left(plan, some, to="y") == []
    with pytest.raises(CompositionError, match="to y"):
        left(plan, of(31, 47), place="two")


def test_a_table_that_only_made_the_offer_is_not_counted_when_requests_are_fulfilled(plan):
    left(plan, of(31, 47))
    some = pa.concat_tables([of(31, 47), pa.table({"a": [31], "y": ["yes"]})])
    with pytest.raises(CompositionError):
        left(plan, some, to="x", place="request")
    assert left(plan, some, to="x", place="request", planned_in="one") == []
    left(plan, of(31, 47), to="y")
    with pytest.raises(CompositionError):
        left(plan, some, to="y", place="request", planned_in="one")


def test_people_are_erased_and_events_are_not(plan):
    left(plan, of(31, 47))
    with pytest.raises(LedgerError, match="without --people"):
        forget("t", ["p1"])
    assert forget("t", []) == (1, 4)
    assert [event.rows for event in ledgers()[0][0].events] == [""]
    with pytest.raises(LedgerError, match="has no ledger; did you mean"):
        forget("tt", [])


def test_commands_at_once_lose_nothing(plan):
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda place: left(plan, of(31, 47), place=str(place)), range(4)))
    assert [event.number for event in ledgers()[0][0].events] == [1, 2, 3, 4]


def test_a_ledger_that_another_command_begins_meanwhile_is_no_other_table(plan, monkeypatch):
    listed = store.ledgers

    def begun_by_another():
        monkeypatch.setattr(store, "ledgers", listed)
        left(plan, of(31, 47), place="two")
        return listed()

    monkeypatch.setattr(store, "ledgers", begun_by_another)
    left(plan, of(31, 47))
    assert [event.place for event in ledgers()[0][0].events] == ["two", "one"]


def test_a_clock_that_was_set_back_changes_no_order(plan, monkeypatch):
    left(plan, of(31, 47))

    class Earlier(store.datetime):
        @classmethod
        def now(cls, zone):
            return cls(1999, 1, 1, tzinfo=zone)

    monkeypatch.setattr(store, "datetime", Earlier)
    left(plan, of(31, 47), place="two")
    assert [(each.number, each.at[:4] == "1999") for each in ledgers()[0][0].events] == [(1, False), (2, True)]


@for_each(
    ("spoil", "said"),
    [
        (lambda ledger: (ledger.folder / "ledger.json").write_text("{}"), "is damaged"),
        (lambda ledger: next(ledger.folder.glob("*.parquet")).unlink(), "is damaged"),
        (lambda ledger: next(ledger.folder.glob("*.parquet")).write_bytes(b"x"), "is damaged"),
        (lambda ledger: (ledger.folder.parents[1] / "rounding.key").write_bytes(b"k" * 32), "of another machine"),
    ],
)
def test_one_that_cannot_be_read_is_never_begun_anew(plan, spoil, said):
    left(plan, of(31, 47))
    spoil(ledgers()[0][0])
    with pytest.raises(LedgerError, match=said):
        left(plan, of(31, 47), place="two")


def test_another_table_needs_another_name(plan):
    left(plan, of(31, 47))
    other = of(31, 47).append_column("more", pa.array(["x"] * 4))
    with pytest.raises(LedgerError, match=r"now with 'more'.*give another table another --name"):
        left(plan, other, place="two")
    left(plan, other, place="two", name="other")
    assert [ledger.name for ledger in ledgers()[0]] == ["other", "t"]


def test_another_name_of_the_same_columns_is_another_table_only_if_that_is_said(plan):
    left(plan, of(31, 47))
    with pytest.raises(LedgerError, match=r"u: a table with these columns left as t: .*--name t.*--accept-composition"):
        left(plan, of(52), name="u")
    assert left(plan, of(52), name="u", accept=True) == []
    assert left(plan, of(31, 47), name="u", place="two") == []
    with pytest.raises(CompositionError):
        left(plan, of(31, 47).slice(1), name="t", place="two")
    assert [(ledger.name, len(ledger.events)) for ledger in ledgers()[0]] == [("t", 1), ("u", 2)]


def test_people_who_are_written_otherwise_are_not_taken_for_newcomers(plan):
    """One moved, which the difference of both shows; nobody would be known from before."""
    of_people, ages = replace(plan, person="p"), [31] * 8 + [47] * 8
    how = {"y": ["no", "yes"] * 8}
    before = pa.table({"p": [f"{n}" for n in range(16)], "a": ages, **how})
    left(of_people, before)
    moved = {"a": [47, *ages[1:]], **how}
    for written in ("{}.0", "0{}"):
        today = pa.table({"p": [written.format(n) for n in range(16)], **moved})
        with pytest.raises(LedgerError, match=r"t: has nobody of fine, .*: write p as before, .* --accept-compos"):
            left(of_people, today, place="two")
    with pytest.raises(CompositionError):
        left(of_people, pa.table({"p": before["p"], **moved}), place="two")
    assert left(of_people, today, place="two", accept=True) == []


def test_a_damaged_ledger_stops_its_own_table_only(plan):
    left(plan, of(31, 47))
    other = of(31, 47).append_column("more", pa.array(["x"] * 4))
    left(plan, other, name="other")
    [ledger] = [each for each in ledgers()[0] if each.name == "t"]
    (ledger.folder / "ledger.json").write_text("{}")
    assert left(plan, other, name="other", place="two") == []
    for name, columns in (("t", other), ("new", of(31, 47))):
        with pytest.raises(LedgerError, match="is damaged"):
            left(plan, columns, name=name, accept=True)


def test_a_ledger_of_format_1_is_read_and_written_as_format_2(plan):
    left(plan, of(31, 47))
    [ledger], _ = ledgers()
    document = json.loads((ledger.folder / "ledger.json").read_text())
    for event in document["ledger"]["events"]:
        del event["given"]
    document |= {"format": 1, "sealed": store._seal(document["ledger"])}
    (ledger.folder / "ledger.json").write_text(json.dumps(document))
    ledger.folder.rename(ledger.folder.with_name(sha256(b"a\0y").hexdigest()[:32]))
    with pytest.raises(CompositionError):
        left(plan, of(31, 47).slice(1), place="two")
    left(plan, of(31, 47), place="two")
    [ledger], _ = ledgers()
    assert [event.number for event in ledger.events] == [1, 2]
    assert json.loads((ledger.folder / "ledger.json").read_text())["format"] == 2


def test_what_was_erased_is_said_to_be_no_longer_measured(plan):
    left(plan, of(31, 47), to="x")
    forget("t", [])
    assert left(plan, of(31, 47).slice(1), place="two", to="y") == []
    [said] = left(plan, of(31, 47).slice(1), place="two", to="x")
    assert said.endswith("to x: 4 of its records were erased here, so they are not measured with this")


def test_a_killed_command_leaves_no_rows_of_people(plan):
    left(plan, of(31, 47))
    [ledger], _ = ledgers()
    for name in ("0" * 32 + ".parquet", ".0.parquet.1.part"):
        (ledger.folder / name).write_bytes(b"rows of a person")
    forget("t", [])
    assert [path.name for path in ledger.folder.iterdir()] == ["ledger.json"]
