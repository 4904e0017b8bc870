"""A new control needs only a class and a place in the registry to be applied, declared and warned about."""

from dataclasses import dataclass

import pytest

from aegis_provider import LaplaceNoise, MinimumCell, prepare_entry
from aegis_provider.control import Changes, Control, ControlError, registry


@dataclass(frozen=True)
class NoHistograms(Control):
    """A control that leaves out histograms."""

    def declared(self):
        return {"min_cell": 2}  # an existing field of the contract; a new one would need a line there

    def in_words(self):
        return "no histograms"

    def apply(self, entry, roles, progress):  # noqa: ARG002 - the signature of every control
        progress(1, 1)
        attributes = [each.model_copy(update={"histogram": None}) for each in entry.attributes]
        left_out = tuple(f"histogram of {each.name}" for each in entry.attributes)
        return entry.model_copy(update={"attributes": attributes}), Changes(tables=left_out)

    def conflict_with(self, other):
        return "there are no histograms left for noise" if isinstance(other, LaplaceNoise) else None

    def suppressed(self, records):
        return records if records > 100 else None

    def caveats(self):
        yield "masked counts still tell of single values"


@pytest.fixture
def plan(plan_of):
    return plan_of(
        "{a: {maskings: {gone: {suppress: {}}}}}", "{c: {a: gone}}\nsuppressed: {c: 3}\nprivacy: {c: {k: 1}}"
    )


@pytest.fixture
def table(write):
    return write("t.csv", "a,y\n" + "1,n\n1,m\n2,n\n2,m\n" * 20)


@pytest.fixture(autouse=True)
def _registered(monkeypatch):
    monkeypatch.setattr(registry, "CONTROLS", (*registry.CONTROLS, NoHistograms))


def test_an_entry_goes_through_it_after_those_before_it(table, plan):
    prepared = prepare_entry(table, plan, [NoHistograms(), MinimumCell(5)], name="t")
    assert [type(each) for each in prepared.controlled.controls] == [MinimumCell, NoHistograms]
    assert [each.histogram for each in prepared.entry.attributes] == [None]
    assert prepared.entry.disclosure_control.min_cell == 2
    assert prepared.controlled.changes.tables == ("histogram of a", "suppressed of c")
    assert prepared.entry.configurations[0].suppressed is None
    assert prepared.warnings == ("masked counts still tell of single values",)


def test_what_it_does_not_go_with_is_refused_before_the_table_is_read(plan):
    with pytest.raises(ControlError, match="no histograms left for noise"):
        prepare_entry("no table", plan, [LaplaceNoise(1.0), NoHistograms()], name="t")


def test_the_same_control_twice_is_refused(plan):
    with pytest.raises(ControlError, match="NoHistograms is given twice"):
        prepare_entry("no table", plan, [NoHistograms(), NoHistograms()], name="t")


def test_a_control_that_the_registry_lacks_is_refused(plan, monkeypatch):
    monkeypatch.setattr(registry, "CONTROLS", registry.CONTROLS[:-1])
    with pytest.raises(ControlError, match="NoHistograms is not a registered control"):
        prepare_entry("no table", plan, [NoHistograms()], name="t")


def test_a_control_that_does_not_say_what_may_be_published_cannot_be_made():
    silent = type("Silent", (NoHistograms,), {"suppressed": Control.suppressed})
    with pytest.raises(TypeError, match="suppressed"):
        silent()
