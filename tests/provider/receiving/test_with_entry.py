"""What an entry gives away beside the masked table, in small cases, and in a drawn one by linear programs."""

from dataclasses import replace

import numpy as np
import pytest

from aegis_provider.advice import advise
from aegis_provider.control import LastingRandomness
from aegis_provider.errors import EntryError
from aegis_provider.plan.limits import with_demands
from aegis_provider.plan.reading import load_plan
from aegis_provider.prepare import prepare_entry
from aegis_provider.processes import unseen
from aegis_provider.release.apply import apply
from aegis_provider.workflow.entry import draw_entry, entry_of_release
from aegis_sdk.wire import Verdict, VerdictFinding, publishable
from tests.for_each import for_each
from tests.provider.receiving.delivering import verdict_beside

COUNTS = {"x": (40, 1), "y": (30, 0), "z": (20, 15)}


def entry_of(rounded, *, suppressed=None, left_out="identity"):
    """An entry of one attribute, whose masking `m` takes x and y together; `rounded`: (values, labels), base 5."""
    joint = np.array(rounded)
    halves = [(joint[0] + joint[1]).tolist(), joint[2].tolist()]
    masking = {"id": "m", "domain": ["xy", "z"], "mapping": [0, 0, 1], "joint": halves}
    configuration = {"id": "c1", "maskings": {"a": left_out}}
    return publishable({
        "format": 1,
        "name": "e",
        "records": int(joint.sum()),
        "label": {"name": "y", "domain": ["no", "yes"], "histogram": joint.sum(axis=0).tolist()},
        "attributes": [{
            "name": "a", "type": "string", "domain": ["x", "y", "z"], "histogram": joint.sum(axis=1).tolist(),
            "joint": joint.tolist(), "maskings": [masking],
        }],
        "configurations": [configuration if suppressed is None else {**configuration, "suppressed": suppressed}],
        "disclosure_control": {"rounded_to": 5, "rounding": "once"},
    })  # fmt: skip


def table_of(path, counts, column="a"):
    lines = [",".join(each for each in (column, "y") if each)]
    for text, numbers in counts.items():
        for label, number in zip(("no", "yes"), numbers, strict=True):
            lines += [",".join(each for each in (text if column else "", label) if each)] * number
    path.write_text("\n".join(lines) + "\n")
    return path


def reasons(verdict):
    return {(each.reason, each.pointer) for each in verdict.findings}


@for_each(
    ("rounded", "masking", "shown", "suppressed", "fails"),
    [
        # The table shows one record with xy and yes. Only x can be it, since its count was rounded up.
        ([[40, 5], [30, 0], [20, 15]], "m", {"xy": (70, 1), "z": (20, 15)}, None, {("certain", "/attributes/0")}),
        # Rounded down, it can be either.
        ([[40, 0], [30, 0], [20, 15]], "m", {"xy": (70, 1), "z": (20, 15)}, None, set()),
        # What the table shows by itself is not a fault of the entry.
        ([[40, 5], [30, 0], [20, 15]], "identity", {"x": (40, 1), "y": (30, 0), "z": (20, 15)}, None, set()),
        # The column is not in the table. It shows 1 of the label, which is certainly in one value.
        ([[40, 5], [30, 0], [20, 0]], "drop", {"": (90, 1)}, None, {("certain", "/attributes/0")}),
        # At most 4 records are left out. They have yes: 21 or more do, of which the table shows 17.
        ([[40, 0], [30, 5], [20, 20]], "m", {"xy": (70, 2), "z": (20, 15)}, 0, {("certain", "/label/histogram")}),
        # They have z, too: 16 or more do, of which the table shows 12.
        (
            [[40, 0], [30, 0], [20, 20]], "m", {"xy": (70, 0), "z": (20, 12)}, 0,
            {("certain", "/attributes/0"), ("certain", "/label/histogram")},
        ),
        # As many may be left out as are stated, so that nothing is certain.
        ([[40, 0], [30, 0], [20, 20]], "m", {"xy": (70, 0), "z": (20, 12)}, 5, set()),
    ],
)  # fmt: skip
def test_small_counts_that_the_table_does_not_show_fail(tmp_path, rounded, masking, shown, suppressed, fails):
    table = table_of(tmp_path / "m.csv", shown, column="" if masking == "drop" else "a")
    verdict = verdict_beside(entry_of(rounded, suppressed=suppressed, left_out=masking), "c1", table)
    assert reasons(verdict) == fails
    assert verdict.passed == (not fails)


def test_a_table_of_another_entry_is_refused(tmp_path):
    entry = entry_of([[40, 5], [30, 0], [20, 15]], left_out="m")
    other = table_of(tmp_path / "m.csv", {"xy": (200, 1), "z": (20, 15)})
    with pytest.raises(EntryError, match="does not count the records of the masked table of c1; make both anew"):
        verdict_beside(entry, "c1", other)
    with pytest.raises(EntryError, match="has no masked configuration 'c9'"):
        verdict_beside(entry, "c9", other)


PLAN = """
label: y
attributes:
  a: {type: string, maskings: {m: {mapping: {x: xy, y: xy, z: z}}}}
  b: {type: string}
quasi_identifiers: [a]
configurations:
  c1: {a: m, b: drop}
  c2: {a: identity, b: identity}
"""


@pytest.fixture
def drawn(tmp_path):
    """A table in which one record has the label yes, its plan, and its masked table, in which b is dropped."""
    rng = np.random.default_rng(0)
    rows = [f"{rng.choice(list('xyz'))},{rng.choice(list('pq'))},no" for _ in range(200)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,y", *rows, "x,p,yes"]) + "\n")
    (tmp_path / "plan.yaml").write_text(PLAN)
    plan = load_plan(tmp_path / "plan.yaml")
    apply(tmp_path / "t.csv", plan, "c1", tmp_path / "m.csv")
    return tmp_path / "t.csv", plan, tmp_path / "m.csv"


def test_summarising_a_table_publishes_the_draw_of_its_release(drawn):
    """This key rounds the label yes up at first, so that its record is known to have one of the values of b."""
    table, plan, _ = drawn
    best = replace(plan.configuration("c1"), maskings={"a": "identity", "b": "drop"})
    plan = with_demands(replace(plan, configurations=(best, plan.configuration("c2"))), {}, {"b": 0})
    keys = (LastingRandomness(bytes([key] * 32)) for key in range(100))
    chance = next(each for each in keys if each.of("y", "label").number("yes") < 1 / 3)
    first = prepare_entry(table, plan, name="e", pairs=True, chance=chance).entry
    how = {"accept_identifiers": True, "delimiter": ",", "memory_limit": "1GB"}
    published = entry_of_release(table, plan, "e", chance, unseen, how).entry
    assert (first.label.histogram[1], published.label.histogram[1]) == (3, 0)


@pytest.mark.long
def test_rounding_is_drawn_until_the_table_shows_all_that_is_certain(drawn):
    table, plan, masked = drawn

    def judge(entry, _best):  # whichever is best: this table is the one that is read with the entry
        return verdict_beside(entry, "c1", masked)

    def rank(prepared):
        return advise(prepared.counted, "mutual_information")

    every = [draw_entry(table, plan, "e", LastingRandomness(), rank, judge, unseen, {}, 3600.0) for _ in range(4)]
    assert all(each.in_time for each in every)
    every = [each.prepared for each in every]
    assert all(judge(each.entry, "c1").passed for each in every)
    assert {each.entry.label.histogram[1] for each in every} == {0}  # else b would be known of who has the label yes


def test_once_time_is_up_rounding_is_not_drawn_again(drawn):
    table, plan, _ = drawn
    refused = Verdict(passed=False, findings=(VerdictFinding(reason="undecided", pointer="/label", cells=1),))
    stages = []

    def stage(step):
        stages.append(step)
        return unseen(step)

    def rank(prepared):
        return advise(prepared.counted, "mutual_information")

    entry = draw_entry(table, plan, "e", LastingRandomness(), rank, lambda *_: refused, stage, {}, 0.0)
    assert (stages, entry.in_time) == (["counting"], False)
