"""The search with several labels, compared with every combination in plain Python."""

import random
from collections import Counter

import pyarrow as pa
import pytest

from aegis_provider.errors import NothingHoldsError
from aegis_provider.plan.reading import load_plan
from aegis_provider.search import Requirement, find_configurations
from tests.provider.privacy.test_labels import MASK, SAME, stay
from tests.provider.search.search_oracle import blocks, joint_utility

PLAN = """
labels: [y, z]
attributes:
  a: {type: string, identity: false, maskings: {a-1: {mapping: {0: 0, 1: 0, 2: 2}}, a-2: {mapping: {0: 0, 1: 2, 2: 2}}}}
  z: {type: string}
"""
CHOICES = {"a-1": MASK, "a-2": {"0": "0", "1": "2", "2": "2"}, "drop": dict.fromkeys("012", "0")}


def random_rows(rng, people):
    """Return rows `(who, a, y, z)` whose labels depend on `a`, each on another difference."""
    for n in range(people):
        a = rng.choice("012")
        y, z = (rng.choice("01") if rng.random() < 0.1 else str(int(a in of)) for of in ("12", "2"))
        yield f"p{n}", a, y, z


def share(records, mask, label):
    """Return what is kept about a label, of what the table as it is tells: the other label stays an attribute."""
    other = 3 - label  # in records `(a, y, z)`
    rows = [(record[0], record[other], record[label]) for record in records]
    plain = blocks(SAME, {row[1] for row in rows})
    values = {row[0] for row in rows}
    kept, whole = (joint_utility(rows, [blocks(each, values), plain], label=2) for each in (mask, SAME))
    return kept / whole


def test_the_best_mean_and_the_best_for_each_label_are_found(tmp_path):
    (tmp_path / "plan.yaml").write_text(PLAN, encoding="utf-8")
    plan, rng, apart = load_plan(tmp_path / "plan.yaml", configurations_needed=False), random.Random(5), 0
    for promise in 2 * ({"k": 3}, {"k": 2, "l": 2}, {"k": 2, "alpha": 0.9}):
        rows = list(random_rows(rng, 150))
        records = [row[1:] for row in rows]
        table = pa.table(dict(zip(("a", "y", "z"), map(list, zip(*records, strict=True)), strict=True)))
        holding = {}
        for name, mask in CHOICES.items():
            out = len(rows) - len(stay(rows, promise, mask))
            if out <= 0.25 * len(rows):
                holding[name] = out, [share(records, mask, label) for label in (1, 2)]
        try:
            result = find_configurations(table, plan, Requirement(promise, 0.25), most=1)
        except NothingHoldsError:
            assert not holding
            continue
        best = {}
        for place, one in enumerate(result.configurations):
            out, expected = holding[one.maskings["a"]]
            assert ((one.suppressed or 0), one.maskings["z"]) == (out, "identity")
            assert [result.by_label[label][place] for label in plan.labels] == pytest.approx(expected)
            assert result.shares[place] == pytest.approx(sum(expected) / 2)
            best = {label: max(best.get(label, 0), each) for label, each in zip(plan.labels, expected, strict=True)}
        assert result.shares[0] == pytest.approx(max(sum(told) / 2 for _, told in holding.values()))
        told = [max(each) for each in zip(*(told for _, told in holding.values()), strict=True)]
        assert list(best.values()) == pytest.approx(told)
        firsts = {max(holding, key=lambda name: holding[name][1][at]) for at in (0, 1)}
        apart += len(firsts) > 1
    assert apart


NUMBERS = """
labels: [y, z]
attributes:
  a: {type: string}
  z:
    discretize: {rule: edges, edges: [0, 1, 2, 3, 4, 5, 6, 7, 8]}
    maskings: {z-4: {bucketize: {edges: [0, 2, 4, 6, 8]}}, z-2: {bucketize: {edges: [0, 4, 8]}}}
"""


def test_a_number_is_shown_in_the_finest_bins_that_the_requirement_allows(tmp_path):
    (tmp_path / "plan.yaml").write_text(NUMBERS, encoding="utf-8")
    plan, rng = load_plan(tmp_path / "plan.yaml", configurations_needed=False), random.Random(7)
    rows = [(rng.choice("012"), rng.choice("01"), str(rng.randrange(8))) for _ in range(240)]
    table = pa.table(dict(zip(("a", "y", "z"), map(list, zip(*rows, strict=True)), strict=True)))
    bins = {"identity": 1, "z-4": 2, "z-2": 4}
    largest = {name: min(Counter(int(z) // width for _, _, z in rows).values()) for name, width in bins.items()}
    for k in range(10, max(largest.values()) + 15, 10):  # with `a` dropped, the attack on y knows z alone
        finest = next((name for name, least in largest.items() if least >= k), None)
        if finest is None:
            with pytest.raises(NothingHoldsError):
                find_configurations(table, plan, Requirement({"k": k}))
            continue
        found = find_configurations(table, plan, Requirement({"k": k}))
        assert {each.maskings["z"] for each in found.configurations} == {finest}
        assert all(each.privacy["k"] >= k for each in found.configurations)
    assert len(set(largest.values())) == 3


def test_a_refusal_says_that_coarser_bins_would_help(tmp_path):
    text = NUMBERS.replace(
        "    maskings: {z-4: {bucketize: {edges: [0, 2, 4, 6, 8]}}, z-2: {bucketize: {edges: [0, 4, 8]}}}\n", ""
    )
    (tmp_path / "plan.yaml").write_text(text, encoding="utf-8")
    plan = load_plan(tmp_path / "plan.yaml", configurations_needed=False)
    table = pa.table({"a": ["0", "1"] * 80, "y": ["0", "0", "1", "1"] * 40, "z": [str(at % 8) for at in range(160)]})
    with pytest.raises(NothingHoldsError, match=r"coarser bins of z: state `maskings` of it under `attributes`$"):
        find_configurations(table, plan, Requirement({"k": 50}))
