"""The one path from a table to an entry: nothing is left out, and no input is overwritten."""

import json

import pytest

from aegis_provider import ControlError, LaplaceNoise, MinimumCell, OutputError, PlanError, document_of, prepare_entry
from aegis_provider.control import registry
from aegis_provider.control.minimum_cell import has_small
from tests.for_each import for_each

PLAN = "{a: {maskings: {gone: {suppress: {}}, low: {bucketize: {edges: [0, 5, 9]}}}}}"
ROWS = "1,n\n1,m\n2,n\n2,m\n6,n\n6,m\n" * 20 + "7,n\n"


@pytest.fixture
def plan(plan_of):
    return plan_of(PLAN, "{c: {a: low}, d: {a: gone}}\nprivacy: {c: {k: 2}}")


@pytest.fixture
def table(write):
    return write("t.csv", f"a,y\n{ROWS}")


def test_controls_may_come_from_an_iterator(table, plan):
    prepared = prepare_entry(table, plan, map(MinimumCell, [5]), name="t")
    assert prepared.entry.disclosure_control.min_cell == 5
    [attribute] = prepared.entry.attributes
    assert not any(has_small(each.joint, 5) for each in attribute.maskings)
    assert not has_small(attribute.histogram, 5)


def test_the_entry_and_its_file_say_the_same(table, plan, tmp_path):
    prepared = prepare_entry(table, plan, [MinimumCell(5)], name="t")
    prepared.write(tmp_path / "entry.json")
    written = json.loads((tmp_path / "entry.json").read_text(encoding="utf-8"))
    assert written == document_of(prepared.entry) == json.loads(prepared.entry.model_dump_json(exclude_unset=True))


def test_without_pairs_nothing_is_said_of_them(table, plan):
    assert "pairs" not in document_of(prepare_entry(table, plan, [LaplaceNoise(9.0)], name="t").entry)


def test_the_plan_promises_in_its_own_numbers(table, plan, tmp_path):
    prepared = prepare_entry(table, plan, [MinimumCell(5)], name="t")
    prepared.write(tmp_path / "entry.json", tmp_path / "controlled.yaml")
    assert "{k: 2}" in (tmp_path / "controlled.yaml").read_text(encoding="utf-8")
    assert prepared.plan.configuration("c").privacy == {"k": 2}


@for_each("outputs", [("t.csv", None), ("entry.json", "t.csv"), ("plan.yaml", None), ("e", "e")])
def test_no_file_that_is_read_is_written_over(table, plan, tmp_path, outputs):
    prepared = prepare_entry(table, plan, [MinimumCell(5)], name="t")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(OutputError, match="choose another output"):
        prepared.write(*(name and tmp_path / name for name in outputs))
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_what_a_control_makes_is_held_to_the_contract(table, plan, monkeypatch):
    class Broken(MinimumCell):
        def apply(self, entry, roles, progress):
            held, changes = super().apply(entry, roles, progress)
            return held.model_copy(update={"records": -5}), changes

    monkeypatch.setattr(registry, "CONTROLS", (Broken,))
    with pytest.raises(PlanError, match="records"):
        prepare_entry(table, plan, [Broken(5)], name="t")


@for_each("wrong", [lambda: MinimumCell(2.5), lambda: LaplaceNoise(1.0, "bogus")])
def test_parameters_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ControlError, match="choose"):
        wrong()
