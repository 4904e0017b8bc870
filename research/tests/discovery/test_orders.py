"""The pieces of the benchmark against plain Python."""

import math
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from research.discovery.catalogue import lower_ends, phi_square, usual
from research.discovery.entries import UNKNOWN, nearest_places
from research.discovery.figures import Agreement, regret, spearman
from research.discovery.rivals import DELTA, bm25, noise_scale, private_r_squared
from research.discovery.tasks import COPY, with_copy, with_noise
from research.study import Table


def concordance_free_ranks(values):
    """Return the mean rank of each value, counted one by one."""
    return [sum(other < one for other in values) + (sum(other == one for other in values) + 1) / 2 for one in values]


def test_agreement_counts_ranks_and_losses():
    draw = np.random.default_rng(3)
    key, truth = draw.integers(0, 5, 30).astype(float), draw.random(30).round(1)
    ranks = [concordance_free_ranks(each.tolist()) for each in (key, truth)]
    means = [sum(each) / 30 for each in ranks]
    shared = sum((one - means[0]) * (other - means[1]) for one, other in zip(*ranks, strict=True))
    spreads = [sum((one - mean) ** 2 for one in each) for each, mean in zip(ranks, means, strict=True)]
    assert spearman(key, truth) == pytest.approx(shared / math.sqrt(spreads[0] * spreads[1]))
    assert spearman(np.ones(30), truth) == 0.0

    order = sorted(range(30), key=lambda place: (-key[place], place))
    for count in (1, 3):
        assert regret(key, truth, count) == max(truth) - max(truth[place] for place in order[:count])
    clean = np.arange(30) % 2 == 0
    agreement = Agreement.of(key, truth, clean)
    assert (agreement.clean, agreement.few) == (spearman(key[::2], truth[::2]), regret(key, truth, 3))


def test_words_are_weighed_as_bm25_has_it():
    documents = [["age", "income", "age"], ["income"], ["sex", "race", "age", "hours"]]
    mean = sum(map(len, documents)) / 3
    wanted = []
    for words in documents:
        total = 0.0
        for word in ("age", "sex", "height"):
            containing = sum(word in each for each in documents)
            often = words.count(word)
            rarity = math.log(1 + (3 - containing + 0.5) / (containing + 0.5))
            total += rarity * often * 2.2 / (often + 1.2 * (0.25 + 0.75 * len(words) / mean))
        wanted.append(total)
    assert bm25(["age", "sex", "height", "age"], documents) == pytest.approx(wanted)


def test_noise_hides_a_record_and_little_else():
    draw = np.random.default_rng(0)
    # A record's products of 1 and four numbers from -1 to 1, each once: 5 * 6 / 2 sums, all of which it can move by 1.
    corner = [1, *draw.choice([-1, 1], 4)]
    products = [one * one for one in corner] + [one * other for one, other in combinations(corner, 2)]
    moved = math.sqrt(sum(each**2 for each in products))
    assert noise_scale(15) == pytest.approx(moved * math.sqrt(2 * math.log(1.25 / DELTA)))

    masked = draw.integers(0, 4, (200_000, 3))
    classes = (draw.random(len(masked)) < (masked @ [1, 2, 0] + 1) / 12).astype(int)
    design = np.column_stack([np.ones(len(masked)), masked])
    residual = classes - design @ np.linalg.lstsq(design, classes, rcond=None)[0]
    explained = 1 - residual.var() / classes.var()
    assert private_r_squared(masked, classes, draw) == pytest.approx(explained, abs=0.005)
    few = [private_r_squared(masked[:300], classes[:300], draw) for _ in range(20)]
    assert np.std(few) > 0.05  # noise of 19 in sums of 300


def test_entries_are_cut_as_stated():
    draw, classes = np.random.default_rng(1), np.array(["a", "b", "c"])
    labels = draw.choice(classes, 1000)
    noisy = with_noise(labels, classes, 0.2, draw)
    assert np.count_nonzero(noisy != labels) == 200
    assert set(noisy) == {"a", "b", "c"}

    table = with_copy(Table("t", "", "", {"x": draw.integers(0, 50, 1000).astype(str)}, labels), draw)
    assert list(table.columns) == ["x", f"x {COPY}"]
    assert 900 < np.count_nonzero(table.columns["x"] == table.columns[f"x {COPY}"]) < 1000

    assert nearest_places(np.array(["0", "3", "2.5", "9"]), ("1", "2", "4")).tolist() == [0, 1, 1, 2]
    assert nearest_places(np.array(["b", "z"]), ("a", "b")).tolist() == [1, UNKNOWN]


def test_offers_beside_others_are_taken_for_what_their_attributes_usually_say():
    counts = np.array([[30, 10, 5], [8, 40, 2], [0, 0, 0], [12, 9, 60]])
    statistic = chi2_contingency(counts[[0, 1, 3]], correction=False).statistic
    assert phi_square(counts.astype(float)) == pytest.approx((statistic - 4) / counts.sum() / 2)
    assert phi_square(np.array([[5.0, 5.0], [5.0, 5.0]])) == 0.0

    clean, noisy = {"age": 0.2, "sex": 0.1}, {"age": 0.05, "sex": 0.025}
    records = np.array([9000.0, 9000.0, 1000.0])
    assert usual([clean, noisy, {"age": 0.3}], records) == {"age": 0.2, "sex": 0.1}
    first, second, _ = lower_ends([clean, noisy, {"age": 0.3}], np.array([0.2, 0.05, 0.3]), records)
    alone = lower_ends([noisy], np.array([0.05]), records[:1])[0]
    assert alone < second < first
    assert second > 0.7 * first  # the rest is the larger part of its standard error
