"""Searches that end with their work: what they keep at least, what they say of the rest, and that they are repeated."""

import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from random import Random

import pytest

from aegis_provider import PlanError, Requirement, apply, find_configurations, load_plan, prepare_entry
from aegis_provider.control import LastingRandomness
from aegis_provider.search import budget as budget_module
from aegis_provider.search import explorations
from tests.for_each import for_each, for_some

KS = (2, 3, 5, 10)


def made(folder, seed, records, attributes=4):
    """Write a table of nominal columns that depend on the label, and a plan with two nested maskings of each."""
    draw = Random(seed)
    names = [f"a{n}" for n in range(attributes)]
    lines = [",".join([*names, "y"])]
    for _ in range(records):
        label = draw.random() < 0.4
        values = (min(7, max(0, int(draw.gauss(3 + label, 1.5)))) for _ in names)
        lines.append(",".join([*(f"v{value}" for value in values), "yes" if label else "no"]))
    tree = "{w: {u0: [v0, v1], u1: [v2, v3]}, z: {u2: [v4, v5], u3: [v6, v7]}}"
    columns = (f"  {name}: {{type: string, hierarchy: {{tree: {tree}}}}}" for name in names)
    table, plan = folder / "t.csv", folder / "plan.yaml"
    table.write_text("\n".join(lines) + "\n")
    plan.write_text("\n".join(["label: y", "attributes:", *columns]) + "\n")
    return table, load_plan(plan, configurations_needed=False)


def limited(monkeypatch, evaluations, *, lattice):
    """Let a search make so few evaluations, and treat the lattice as one beyond these sizes."""
    monkeypatch.setattr(budget_module, "EFFORTS", {"normal": evaluations})
    monkeypatch.setattr(explorations, "_QUICKLY_DECIDED", lattice)
    monkeypatch.setattr(explorations, "LARGEST_LATTICE", lattice)


@for_some(1, "seed", range(3))
def test_a_weaker_requirement_never_keeps_less_however_little_work_there_is(tmp_path, monkeypatch, seed):
    draw = Random(100 + seed)
    table, plan = made(tmp_path, seed, draw.randint(30, 200))
    ks, shares = draw.sample(KS, len(KS)), sorted(draw.sample([0, 0.02, 0.1], 2))
    required = [Requirement({"k": k}, share) for k in ks for share in shares]
    best = find_configurations(table, plan, required).frontier
    assert all(point.complete for point in best)
    limited(monkeypatch, draw.choice([8, 200, 1000]), lattice=draw.choice([0, 10**9]))
    points = find_configurations(table, plan, required).frontier
    by_requirement = {
        (each.requirement.privacy["k"], each.requirement.suppress_at_most): each.utility for each in points
    }
    for share in shares:
        for weaker, stronger in pairwise(sorted(KS)):
            assert by_requirement[weaker, share] >= by_requirement[stronger, share]
    for k in KS:
        assert by_requirement[k, shares[1]] >= by_requirement[k, shares[0]]
    for point, optimum in zip(points, best, strict=True):  # the gap that is said is one
        assert point.utility <= optimum.utility + 1e-9 <= point.utility * (1 + point.at_most_more) + 2e-9
        assert point.unsearched == 0


@for_each(("measure", "names", "seed"), [("joint", "abc", 1), ("normalised_mutual_information", "abcd", 15)])
def test_more_work_lowers_the_ceiling_to_the_optimum(tmp_path, monkeypatch, measure, names, seed):
    """Enumeration of all combinations is the oracle; buckets of 2 and 3 values are not comparable."""
    draw = Random(seed)
    drawn = [[draw.randrange(8) for _ in names] for _ in range(150)]
    rows = [[*names, "y"], *([*row, sum(row) // 9 + (draw.random() < 0.2)] for row in drawn)]
    lines = [",".join(map(str, row)) for row in rows]
    widths = "maskings: {two: {bucketize: {width: 2}}, three: {bucketize: {width: 3}}}"
    table, path = tmp_path / "t.csv", tmp_path / "plan.yaml"
    table.write_text("\n".join(lines) + "\n")
    path.write_text("\n".join(["label: y", "attributes:", *(f"  {n}: {{type: integer, {widths}}}" for n in names)]))
    plan, required = load_plan(path, configurations_needed=False), Requirement({"k": 4}, 0.02)
    optimum = find_configurations(table, plan, required, measure=measure).frontier[0].utility
    gaps = []
    for evaluations in (20, 100, 10_000):
        limited(monkeypatch, evaluations, lattice=0)
        [point] = find_configurations(table, plan, required, measure=measure).frontier
        assert point.utility <= optimum + 1e-9 <= point.utility * (1 + point.at_most_more) + 2e-9
        gaps.append(point.utility * (1 + point.at_most_more))
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[0] > optimum * 1.01
    assert (point.complete, point.utility) == (True, pytest.approx(optimum))
    assert (point.configuration.suppressed or 0) <= 3


def test_work_is_bounded(tmp_path, monkeypatch):
    table, plan = made(tmp_path, 0, 300, attributes=10)
    evaluated = []
    for evaluations in (400, 1200):
        limited(monkeypatch, evaluations, lattice=0)
        evaluated.append(find_configurations(table, plan, Requirement({"k": 5})).evaluated)
    assert evaluated[0] < 600  # the last step may evaluate some more
    assert evaluated[0] < evaluated[1] < 1400


def test_an_unknown_effort_is_refused(tmp_path):
    table, plan = made(tmp_path, 0, 30)
    with pytest.raises(PlanError, match=r"no effort 'norml'; did you mean 'normal'"):
        find_configurations(table, plan, Requirement({"k": 2}), effort="norml")


def test_without_time_there_is_what_a_greedy_descent_finds_and_the_rest_is_named(tmp_path, monkeypatch):
    table, plan = made(tmp_path, 1, 200)
    limited(monkeypatch, 1, lattice=0)
    greedy = find_configurations(table, plan, [Requirement({"k": k}) for k in (10, 5)])
    monkeypatch.undo()
    hurried = find_configurations(table, plan, [Requirement({"k": k}) for k in (10, 5)], seconds=0)
    assert [each.utility for each in hurried.frontier] == [each.utility for each in greedy.frontier]
    assert min(each.share for each in hurried.frontier) > 0.5
    assert greedy.cut == ""
    assert hurried.cut.startswith("--seconds ended the search for k = 10 and k = 5: up to ")
    assert all(each.unsearched > 0.9 for each in hurried.frontier)


def test_the_seed_of_the_search_drives_neither_rounding_nor_the_order_of_records(tmp_path, monkeypatch):
    table, plan = made(tmp_path, 0, 400, attributes=3)
    limited(monkeypatch, 400, lattice=0)  # so that it draws
    runs = []
    for key, place in ((b"one", tmp_path / "one.csv"), (b"two", tmp_path / "two.csv")):
        found = find_configurations(table, plan, Requirement({"k": 5}, 0.02), most=3).configurations
        chosen = replace(plan, configurations=found)
        entry = prepare_entry(table, chosen, name="e", chance=LastingRandomness(key)).entry
        apply(table, chosen, found[0].id, place, accept_unique=True)
        runs.append((found, entry, place.read_text().splitlines()))
    (found, entry, rows), (found_again, entry_again, rows_again) = runs
    assert found == found_again
    assert sorted(rows) == sorted(rows_again)
    assert rows != rows_again
    assert entry != entry_again


SEARCH = """
import sys
from pathlib import Path
from threading import Thread
from aegis_provider import Requirement, find_configurations, load_plan
def busy():
    while True:
        pass
if sys.argv[3] == "busy":
    Thread(target=busy, daemon=True).start()
plan = load_plan(Path(sys.argv[2]), configurations_needed=False)
found = find_configurations(Path(sys.argv[1]), plan, [Requirement({"k": k}, 0.01) for k in (5, 2, 10)], effort="small")
for one, utility in zip(found.configurations, found.utilities):
    print(one.id, dict(one.maskings), dict(one.privacy), one.suppressed, repr(utility))
print([(point.configuration.id, point.at_most_more, point.complete) for point in found.frontier], found.cut)
"""


@pytest.mark.long
def test_a_busy_machine_finds_the_same(tmp_path):
    table, _ = made(tmp_path, 2, 5000, attributes=12)
    told = []
    for nice, beside in (("0", "alone"), ("19", "busy")):
        command = ["nice", "-n", nice, sys.executable, "-c", SEARCH, str(table), str(tmp_path / "plan.yaml"), beside]
        told.append(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines())
    assert told[0] == told[1]
    assert len(told[0]) > 50
    assert told[0][-1].count("False") == 3  # too large to be decided, so it is the work that ends the search
