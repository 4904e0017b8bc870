"""Noise for differential privacy: its distribution, its budget, and the counts to which it is added."""

import copy
from fractions import Fraction
from math import exp, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from aegis_provider import document_of
from aegis_provider.control import Beside, ControlError, Roles, apply_controls
from aegis_provider.control.noise import shares_of
from aegis_provider.control.noisy_association import epsilon_of, scale_for
from aegis_provider.counting.pair_cells import UNIT
from aegis_provider.counting.pair_tables import PairsTold
from aegis_sdk.wire import EntryDocument
from tests.for_each import for_each
from tests.provider.control.counted_entries import all_counts, controlled, controls_of, entry_of
from tests.service import publication

ROLES = Roles(("a", "b"), ("y",))
CONFIGURATIONS = [
    {"id": "raw", "maskings": {"a": "identity", "b": "identity"}, "suppressed": 3},
    {"id": "fine", "maskings": {"a": "twos", "b": "as-it-is"}, "privacy": {"k": 2}},
]
RECORDS = [(str(number % 8), ("xa", "yb")[number % 3 % 2], "ny"[number // 2 % 2]) for number in range(400)]
EPSILONS = st.floats(1e-6, 1e6)
CELLS = st.lists(st.integers(1, 10**7), min_size=1, max_size=40)


def noisy(epsilon=1.0, split="equal", entry=None):
    entry = entry or entry_of(RECORDS, CONFIGURATIONS, joint=("a",))
    return controlled(entry, controls_of(epsilon=epsilon, split=split), ROLES)


def declared(entry):
    """Return the noise that each table declares: the label's, then the maskings'."""
    return [entry["label"]["noise"]] + [one["noise"] for each in entry["attributes"] for one in each["maskings"]]


@given(EPSILONS, CELLS, st.sampled_from(["equal", "cube_root"]))
def test_what_the_tables_take_is_no_more_than_epsilon_and_nearly_all_of_it(epsilon, cells, split):
    shares = shares_of(epsilon, cells, split)
    taken = sum(map(Fraction, shares))
    assert taken <= Fraction(epsilon)
    assert float(taken) == pytest.approx(epsilon, rel=1e-12)
    ratios = [share / (1 if split == "equal" else size ** (1 / 3)) for share, size in zip(shares, cells, strict=True)]
    assert ratios == pytest.approx([ratios[0]] * len(ratios))


@given(CELLS, st.lists(st.floats(0.05, 1), min_size=40, max_size=40))
def test_no_split_has_less_variance_than_the_cube_root(cells, weights):
    def variance(shares):
        return sum(size / share**2 for size, share in zip(cells, shares, strict=True))

    other = [weight / sum(weights[: len(cells)]) for weight in weights[: len(cells)]]
    assert variance(shares_of(1.0, cells, "cube_root")) <= variance(other) * (1 + 1e-9)


@given(EPSILONS)
def test_the_library_proves_that_the_scale_takes_no_more_than_the_share(epsilon):
    scale = scale_for(epsilon)
    assert epsilon_of(scale) <= epsilon
    assert scale == pytest.approx(1 / epsilon, rel=1e-12)


@for_each("split", ["equal", "cube_root"])
def test_an_entry_declares_what_each_table_took_and_is_taken(split):
    held = noisy(2.0, split)
    entry, noise = held.entry, declared(held.entry)
    assert entry["disclosure_control"] == {"epsilon": 2.0, "split": split}
    assert [(each["scale"], each["epsilon"]) for each in noise] == [
        (each.scale, each.epsilon) for each in held.changes.noise
    ]
    assert sum(Fraction(epsilon_of(each["scale"])) for each in noise) <= 2
    assert [each.cells for each in held.changes.noise] == [2, 8, 4, 2, 16, 4, 4]
    assert entry["records"] == sum(entry["label"]["histogram"])
    assert min(entry["label"]["histogram"]) >= 0
    assert "suppressed" not in entry["configurations"][0]
    assert not any({"histogram", "joint"} & each.keys() for each in entry["attributes"])
    EntryDocument.model_validate(copy.deepcopy(entry))
    publication(entry)


def test_cells_without_records_get_noise_too_and_may_be_negative():
    entry = entry_of([("0", "z", "n"), ("2", "z", "y")] * 5, CONFIGURATIONS[1:], joint=())
    masking = entry["attributes"][0]["maskings"][0]
    masking["domain"] += [f"{number}+" for number in range(1000, 2000)]
    masking["joint"] += [[0, 0]] * 1000
    [counts] = [each["joint"] for each in noisy(1.0, entry=entry).entry["attributes"][0]["maskings"][:1]]
    empty = np.array(counts[2:]).ravel()
    # With 1/7 of epsilon, a cell is unchanged with a chance of 7 percent; all 2000 signs are never alike.
    assert (empty > 0).sum() > 500
    assert (empty < 0).sum() > 500


def test_the_noise_is_discrete_laplace():
    cells, epsilon = 60_000, 1.0
    entry = entry_of([("0", "z", "n"), ("2", "z", "y")] * 5, CONFIGURATIONS[1:], joint=())
    masking = entry["attributes"][0]["maskings"][0]
    masking["domain"] += [str(number) for number in range(cells // 2 - 2)]
    masking["joint"] = [[1000, 1000]] * (cells // 2)
    after = noisy(epsilon, "cube_root", entry).entry["attributes"][0]["maskings"][0]
    noise, scale = np.array(after["joint"]).ravel() - 1000, after["noise"]["scale"]
    q = exp(-1 / scale)
    inner = np.arange(-10, 11)
    chances = (1 - q) / (1 + q) * q ** abs(inner)
    found = np.array([(noise == value).sum() for value in inner])
    beyond = [(noise < -10).sum(), (noise > 10).sum()]
    expected = cells * np.append(chances, [q**11 / (1 + q)] * 2)
    # One in a billion runs may fail.
    assert chisquare(np.append(found, beyond), expected).pvalue > 1e-9
    variance = 2 * q / (1 - q) ** 2
    assert abs(noise.mean()) < 7 * sqrt(variance / cells)


def test_a_label_that_noise_leaves_nothing_of_keeps_a_record():
    entry = entry_of([("0", "z", "n"), ("1", "z", "y")], CONFIGURATIONS[1:], joint=())
    for _ in range(20):
        after = noisy(0.01, entry=entry).entry
        assert after["records"] == sum(after["label"]["histogram"]) >= 1


def test_noise_differs_from_run_to_run():
    assert list(all_counts(noisy(0.1).entry)) != list(all_counts(noisy(0.1).entry))


PAIRS = [("twos", "as-it-is"), ("identity", "identity")]


def with_pairs():
    """An entry with two pairs, of which the first has a label association, and the label sums of that."""
    entry = entry_of(RECORDS, CONFIGURATIONS, joint=("a",), pairs=PAIRS)
    entry["pairs"][0]["with_label"] = {"chi_square": 5.0, "combinations": 8}
    return entry, {(("a", "b"), ("twos", "as-it-is")): (100 * UNIT, 120 * UNIT)}


@for_each("split", ["equal", "cube_root"])
def test_pairs_and_what_they_tell_of_the_label_are_in_the_same_budget(split):
    entry, sums = with_pairs()
    held = apply_controls(
        EntryDocument.model_validate(entry),
        controls_of(epsilon=2.0, split=split),
        ROLES,
        beside=Beside(PairsTold(sums=sums)),
    )
    after = document_of(held.entry)
    (first, second), noise = after["pairs"], held.changes.noise
    declared_by = [*declared(after), first["noise"], second["noise"], first["with_label"]["noise"]]
    assert [(each["scale"], each["epsilon"]) for each in declared_by] == [(each.scale, each.epsilon) for each in noise]
    assert [each.cells for each in noise[-3:]] == [8, 16, 3]
    assert [each.table for each in noise[-2:]] == [
        "a: identity with b: identity",
        "a: twos with b: as-it-is, with the label",
    ]
    assert sum(Fraction(each.epsilon) for each in noise) <= 2
    assert float(sum(Fraction(each.epsilon) for each in noise)) == pytest.approx(2)
    assert first["with_label"]["noise"]["scale"] == pytest.approx(2 / noise[-1].epsilon, rel=1e-5)
    EntryDocument.model_validate(copy.deepcopy(after))
    publication(after)


def test_counts_of_pairs_get_noise():
    entry, _ = with_pairs()
    drawn = np.array([noisy(1.0, entry=entry).entry["pairs"][0]["joint"] for _ in range(50)])
    noise = drawn - np.array(entry["pairs"][0]["joint"])
    assert noise.std() == pytest.approx(sqrt(2) * 9, rel=0.2)  # nine tables, each of sensitivity 1


def test_what_pairs_tell_of_the_label_is_left_out_without_the_table():
    entry, _ = with_pairs()
    held = noisy(entry=entry)
    assert "the association of 1 pairs with the label (with_label)" in held.changes.tables
    assert all("with_label" not in pair for pair in held.entry["pairs"])
    del entry["pairs"][0]["joint"]
    assert [pair["maskings"] for pair in noisy(entry=entry).entry["pairs"]] == [["identity", "identity"]]


def test_what_is_left_to_chance_is_refused():
    entry = entry_of(RECORDS, CONFIGURATIONS)
    masking = entry["attributes"][1]["maskings"][0]
    del masking["mapping"]
    masking["deterministic"] = False
    with pytest.raises(ControlError, match="'b': masking 'first' is random"):
        noisy(entry=entry)
