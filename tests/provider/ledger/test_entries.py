"""Entries of one table with other cuts, which tell more together than each alone."""

import json

import numpy as np
import pyarrow as pa
import pytest

from aegis_provider import load_plan
from aegis_provider.ledger import CompositionError, Leaving, LedgerError, leave, ledgers
from aegis_provider.ledger.entries import cuts_of, leaves
from aegis_provider.prepare import prepare_entry
from aegis_sdk.wire import EntryDocument

PLAN = """label: y
attributes:
  a: {type: integer, identity: false, maskings: {%s: {bucketize: {edges: %s}}}}
  b: {hierarchy: {tree: {uv: [u, v], w: [w]}}}
configurations: {c: {a: %s, b: b-1}, d: {a: drop}}
"""


@pytest.fixture
def entry(tmp_path):
    """Summarise a table of 600 records, by these edges; return the entry and its file."""
    draw = np.random.default_rng(3)
    columns = {"a": draw.integers(60, size=600), "b": draw.choice([*"uvw"], 600), "y": draw.choice(["no", "yes"], 600)}

    def made(edges=(0, 20, 40, 60), masking="m", more=(), controls=()):
        (tmp_path / "plan.yaml").write_text(PLAN % (masking, list(edges), masking))
        rows = pa.concat_tables([pa.table(columns), *more])
        prepared = prepare_entry(rows, load_plan(tmp_path / "plan.yaml"), controls, name="e").entry
        (tmp_path / "entry.json").write_text(prepared.model_dump_json(exclude_unset=True))
        return prepared, tmp_path / "entry.json"

    return made


def published(entry, version=1, **how):
    said, keep = leaves(*entry, **{"card": "", "accept": False, **how})
    keep(version)
    return said


def test_the_cuts_are_those_of_the_plan_whatever_a_version_has_or_maskings_are_called(entry):
    first = cuts_of(entry()[0])
    more = pa.table({"a": [61, 59], "b": ["w", "w"], "y": ["no", "no"]})
    assert first.keys() == {"a", "b"}
    assert cuts_of(entry(masking="other")[0]) == first
    assert cuts_of(entry((0, 20, 40, 70), more=[more])[0])["b"] == first["b"]
    for other in (cuts_of(entry((0, 20, 41, 60))[0]), cuts_of(entry()[0], drawn="afresh")):
        assert other["a"] != first["a"]
    label = EntryDocument.model_validate(json.loads(entry()[1].read_text().replace('"name":"y"', '"name":"z"')))
    assert cuts_of(label)["a"] != first["a"]


def test_a_fifth_cut_leaves_only_if_that_is_accepted_and_a_known_one_adds_nothing(entry):
    edges = [(0, 20 + n, 40, 60) for n in range(6)]
    assert published(entry(edges[0])) == []
    assert published(entry(edges[0], more=[pa.table({"a": [3], "b": ["u"], "y": ["no"]})]), 2) == []
    for n, each in enumerate(edges[1:4]):
        [said] = published(entry(each), 3 + n)
        assert said.startswith(f"with the entries that left, a is counted in {n + 2} different cuts: together")
    with pytest.raises(CompositionError, match=r"5 different cuts.*more than 0\.9 probable.*--accept-composition"):
        published(entry(edges[4]))
    assert published(entry(edges[2]), 6) == []
    [said] = published(entry(edges[4]), 7, accept=True)
    assert "more than 0.9" in said
    assert published(entry(edges[4]), 8) == []
    [ledger], faults = ledgers()
    assert ([event.version for event in ledger.events], faults) == ([1, 2, 3, 4, 5, 6, 7, 8], {})


def test_the_table_of_an_entry_has_its_name_and_columns(entry, tmp_path):
    first = entry()
    published(first, card="the head of its card")
    published(first, card="the head of its card")
    plan = load_plan(tmp_path / "plan.yaml")
    table = pa.table({"a": [1] * 9, "b": ["u"] * 9, "y": ["no", "yes", "no"] * 3, "id": [*range(9)]})
    leave(table, plan, "c", Leaving(name="e"), {"delimiter": ","})
    [ledger], _ = ledgers()
    assert [(event.what, event.version) for event in ledger.events] == [
        ("entry", 1),
        ("card", 1),
        ("masked table", None),
    ]
    assert ledger.columns.keys() == {"a", "b", "y", "id"}
    with pytest.raises(LedgerError, match="left under this name has no column 'other'"):
        published(
            (first[0].model_copy(update={"label": first[0].label.model_copy(update={"name": "other"})}), first[1])
        )


def test_a_table_of_a_request_is_the_one_with_its_columns_whatever_its_entry_is_called(entry, tmp_path):
    published(entry())
    plan, how = load_plan(tmp_path / "plan.yaml"), {"delimiter": ","}
    table = pa.table({"a": [1] * 9, "b": ["u"] * 9, "y": ["no", "yes", "no"] * 3})
    leave(table, plan, "c", Leaving(name="table"), how)
    leave(table, plan, "d", Leaving(name="e", to="x", by_columns=True), how)
    with pytest.raises(LedgerError, match="left as table"):
        leave(table, plan, "d", Leaving(name="e", to="x"), how)
    assert [(ledger.name, len(ledger.events)) for ledger in ledgers()[0]] == [("e", 1), ("table", 2)]
