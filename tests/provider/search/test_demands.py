"""Searches within limits of attributes and by weights: what they cost, and which requirement gives way."""

import math
from collections import Counter
from itertools import product
from random import Random

import pytest

from aegis_provider import NothingHoldsError, PlanError, Requirement, find_configurations, load_plan
from aegis_provider.counting import published_domain, unmasked_trace
from aegis_provider.plan.limits import with_demands
from aegis_sdk.reading import Share
from tests.for_each import for_each
from tests.provider.search import search_oracle as oracle

RECORDS = [(draw.choice("aaab"), draw.choice("uuvw"), draw.choice("mn")) for draw in [Random(5)] for _ in range(60)]
PLAN = "label: y\nattributes:\n  a: {}\n  b: {maskings: {two: {mapping: {u: U, v: VW, w: VW}}}}\n  c: {}\n"


@pytest.fixture
def searched(write, monkeypatch):
    """Return a search of 60 records, in which `c` is a copy of the label but for every fifth."""
    monkeypatch.setattr(published_domain, "least_records", lambda _records, _rows=1: 1)
    monkeypatch.setattr(unmasked_trace, "LEAST", 1)
    rows = [(a, b, y if n % 5 else "m", y) for n, (a, b, y) in enumerate(RECORDS)]
    table = write("t.csv", "\n".join(["a,b,c,y", *(",".join(row) for row in rows)]) + "\n")
    plan = load_plan(write("plan.yaml", PLAN), configurations_needed=False)

    def search(k, share=0.0, keep=(), weights=None, **more):
        return find_configurations(
            table,
            with_demands(plan, dict.fromkeys(keep), weights or {}),
            Requirement({"k": k}, share),
            **more,
        )

    return search, rows


def information(pairs):
    """Return the mutual information of pairs, in bits."""
    both, first, second = Counter(pairs), Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    n = len(pairs)
    return sum(count / n * math.log2(count * n / (first[a] * second[b])) for (a, b), count in both.items())


MASKINGS = (
    {"identity": str, "drop": lambda _: "*"},
    {"identity": str, "two": lambda value: "U" if value == "u" else "VW", "drop": lambda _: "*"},
    {"identity": str, "drop": lambda _: "*"},
)


@for_each(("weights", "k"), [({}, 6), ({"a": 30}, 6), ({"b": 9, "c": 0}, 8), ({"a": 0.2, "b": 5}, 3)])
def test_weights_count_as_in_a_weighted_mean(searched, weights, k):
    search, rows = searched
    best = (-1.0, None)
    for chosen in product(*MASKINGS):
        masked = [tuple(MASKINGS[at][name](row[at]) for at, name in enumerate(chosen)) for row in rows]
        if min(Counter(masked).values()) >= k:
            shares = [weights.get(name, 1) * information([(m[at], r[3]) for m, r in zip(masked, rows, strict=True)])
                      for at, name in enumerate("abc")]  # fmt: skip
            best = max(best, (sum(shares) / sum(weights.get(name, 1) for name in "abc"), chosen))
    found = search(k, weights=weights, measure="mutual_information")
    assert found.frontier[0].utility == pytest.approx(best[0], abs=1e-12)
    assert tuple(found.configurations[0].maskings.values()) == best[1]


def test_a_joint_measure_takes_no_weights_but_0(searched):
    search, rows = searched
    with pytest.raises(PlanError, match=r"takes attributes together, so it cannot weigh them: .* mutual_information"):
        search(5, weights={"a": 2})
    pairs = [(row[0], row[1], row[3]) for row in rows]
    nodes = product([("a", "b"), ("ab",)], [("u", "v", "w"), ("u", "vw"), ("uvw",)])
    expected = max(oracle.joint_utility(pairs, [list(map(set, blocks)) for blocks in node], label=2) for node in nodes)
    assert search(1, weights={"c": 0}).frontier[0].utility == pytest.approx(expected, abs=1e-9)
    assert search(1).frontier[0].utility > expected + 0.1


def test_what_is_kept_costs_what_the_best_without_it_keeps_more(searched):
    search, _ = searched
    free, kept = search(12), search(12, keep=["b"])
    assert "b" not in {name for name, choice in free.configurations[0].maskings.items() if choice != "drop"}
    assert all(each.maskings["b"] != "drop" for each in kept.configurations)
    assert free.limits is None
    assert (kept.limits.kept, kept.limits.proven) == (kept.shares[0], True)
    assert kept.limits.without == pytest.approx(free.shares[0], abs=1e-12)
    points = round(100 * free.shares[0]) - round(100 * kept.shares[0])
    assert points > 1
    assert kept.limits.in_words.startswith(f"keeping b costs {points} points: without that, {100 * free.shares[0]:.0f}")


@for_each(("required", "share", "first"), [(10, 0.15, "the share left out"), (5, 0.0, "k")])
def test_what_cannot_hold_together_is_said_with_what_each_would_have_to_be(searched, required, share, first):
    """Each way out is tried: it holds, and a little less does not. The one that changes least is first."""
    search, rows = searched
    with pytest.raises(NothingHoldsError) as refused:
        search(required, share, keep=["a", "b"])
    sizes = Counter((row[0], "U" if row[1] == "u" else "VW") for row in rows).values()
    out = sum(size for size in sizes if size < required)
    enough = math.ceil(1000 * out / 60) / 1000
    k = max(size for size in sizes if sum(of for of in sizes if of < size) <= 60 * share)
    below = sum(size for size in sizes if size < k)
    asked, _, said = str(refused.value).rpartition("suppressed; ")[2].partition(" gives way first: ")
    assert asked == f"with a, b kept, k={required} and at most {Share(share)} left out cannot hold together; {first}"
    ways = [
        (k / required, f"k={k} holds with {Share(math.ceil(1000 * below / 60) / 1000)}"),
        (60 * share / out, f"{Share(enough)} would have to be left out"),
    ]
    dropped = [f"all else holds with 0 % if {name} may be dropped" for name in "ab"]
    assert said.split(", or ") == [*(words for _, words in sorted(ways, reverse=True)), *dropped]
    assert search(required, enough, keep=["a", "b"]).frontier[0].configuration.suppressed == out
    assert (search(k, share, keep=["a", "b"]).frontier[0].configuration.suppressed or 0) <= 60 * share
    for less, number, kept in [(out / 60 - 0.001, required, "ab"), (share, k + 1, "ab")]:
        with pytest.raises(NothingHoldsError):
            search(number, less, keep=kept)
    assert all(search(required, share, keep=kept).configurations for kept in "ab")
