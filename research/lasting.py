"""What a reader of many entries of one table knows of its small counts, with randomness that lasts and with fresh one.

python -m research.lasting     writes its page (a few minutes)
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow.csv as arrow_csv
from numpy.typing import NDArray

from aegis_advisor.arrays import FloatArray, IntArray
from aegis_provider.control import LastingRandomness
from aegis_provider.control.counted_together import rounded_to_sums
from aegis_provider.control.dependent_rounding import rounded_once, rounded_up
from aegis_provider.counting.counts import Partition
from tests import example

PAGE: Final = Path("research/results/lasting.md")
BASE: Final = 5
LOOKS: Final = 32
VERSIONS: Final = 16
SMALL: Final = range(1, BASE)
MOST: Final = 60
"""Counts above this are not told apart by the readers of single cells."""
SURE: Final = 0.9
KINDS: Final = ("random", "moved", "dense")
FEW: Final = ((2, 3, 4, 6, 8), (1, 2, 3, 4, 6, 8, 16))
"""Numbers of entries with other cuts: of those moved or dense, and of those at random."""

HEAD = """\
# What many entries of one table tell

An entry's counts are rounded by numbers that a key gives to each cell (decision 112). `python -m research.lasting`
publishes `visits` by `health` of the example (59 numbers of visits, 20,190 records, base 5), in intervals with a
coarser level above, and measures what a reader knows of each true count of 1 to 4. A row has the mean and the highest
posterior of the true count, and the share of these counts whose posterior is above 0.9. *fresh* draws anew each time,
as before.

* **Same plan, other cuts**: 32 entries. The prior of a value's count is geometric, with the label value's mean. The
  reader of other cuts (8 to 14 of them at random, the same records) walks all tables by single records (Metropolis),
  and gives each distinct published cell, also of the coarser level, its exact probability by itself; the walk begins at
  the truth, which helps it. For comparison, the same reader of one entry, and of a table of single values that is
  rounded once, with the sums of a fixed tree of halves: entries whose counts are its sums would tell no more.
* **Few other cuts**: the same reader of the first entries with cuts at random (six draws of them), with ten cuts that
  are each moved by a value more (*moved*, four draws), and with 20 to 39 at random (*dense*, four).
* **Versions**: 16 entries, between which 1 % of the records are replaced by ones drawn like the table. The reader of
  each cell knows that rate, and follows all its counts (a hidden Markov model); he knows whether the number of a cell
  is the same in all versions.
* **One record**: he knows that one record was added to a cell between two versions, and nothing else; before, each
  count of 0 to 9 is equally probable. By 200 keys for each count, of a table of 24 values.
* **Changed cells**: published cells that differ for each record added, in margins (59 x 4) and in pairs (30 x 30).

"""


def counts_of(name: str, label: str) -> IntArray:
    """(values, labels) The exact counts of two columns of the example, values in order."""
    table = arrow_csv.read_csv(example.TABLE)
    values, labels = (np.array(table[each].to_pylist()) for each in (name, label))
    _, row = np.unique(values, return_inverse=True)
    _, column = np.unique(labels, return_inverse=True)
    joint = np.zeros((row.max() + 1, column.max() + 1), dtype=np.int64)
    np.add.at(joint, (row, column), 1)
    return joint


@dataclass(frozen=True)
class Cuts:
    """Intervals of values, and the coarser ones of every three of them."""

    fine: IntArray
    coarse: IntArray

    @classmethod
    def at(cls, places: IntArray, values: int) -> "Cuts":
        """Cut before these values."""
        fine = np.searchsorted(np.sort(places), np.arange(values), side="right")
        return cls(fine, fine // 3)

    def published(self, joint: IntArray, chance: LastingRandomness) -> list[tuple[IntArray, IntArray]]:
        """The members (values,) of each cell, and what is published of each label value."""
        size = int(self.fine.max()) + 1
        counts = np.zeros((size, joint.shape[1]), dtype=np.int64)
        np.add.at(counts, self.fine, joint)
        ends = [np.flatnonzero(self.fine == each)[[0, -1]] for each in range(size)]
        names = [f"{first}-{last}" for first, last in ends]
        over = np.arange(size) // 3
        up = rounded_up(counts.sum(axis=0), BASE, chance.of("label"))
        rounded = rounded_once(counts, [Partition(over, int(over.max()) + 1)], BASE, up, chance, names)
        fine = [(self.fine == each, rounded[each]) for each in range(size)]
        return fine + [(self.coarse == each, rounded[over == each].sum(axis=0)) for each in range(int(over.max()) + 1)]


def fixed(joint: IntArray, chance: LastingRandomness) -> tuple[list[tuple[IntArray, IntArray]], IntArray]:
    """Round single values once, so that the sums of a fixed tree of halves are rounded, too; return its nodes."""
    values = np.arange(len(joint))
    halves = [values >> level for level in range(len(joint).bit_length())]
    views = [Partition(each, int(each.max()) + 1) for each in halves[1:]]
    up = rounded_up(joint.sum(axis=0), BASE, chance.of("label"))
    rounded = rounded_once(joint, views, BASE, up, chance)
    nodes = [half == each for half in halves for each in range(int(half.max()) + 1)]
    return [(members, rounded[members].sum(axis=0)) for members in nodes], rounded


def likelihood(count: IntArray, published: IntArray) -> FloatArray:
    return np.clip(1 - np.abs(count - published) / BASE, 0.0, None)


@dataclass
class Known:
    """The posterior of each true count of 1 to 4."""

    posteriors: list[float]

    def row(self, name: str) -> str:
        """The line of the page."""
        each = np.array(self.posteriors)
        return f"| {name} | {each.size} | {each.mean():.2f} | {each.max():.2f} | {(each > SURE).mean():.0%} |"


def by_cell(looks: Sequence[Sequence[tuple[IntArray, IntArray]]], joint: IntArray) -> Known:
    """A reader of each cell by itself, of entries of the same plan, each with numbers of its own."""
    known, counts = [], np.arange(MOST)
    for place, (members, _) in enumerate(looks[0]):
        for label, true in enumerate(joint[members].sum(axis=0)):
            if true in SMALL:
                mean = joint[:, label].mean() * members.sum()
                prior = (mean / (1 + mean)) ** counts
                seen = [likelihood(counts, look[place][1][label]) for look in looks]
                weights = prior * np.prod(seen, axis=0)
                known.append(float(weights[true] / weights.sum()))
    return Known(known)


def by_walk(
    plans: Sequence[Sequence[tuple[IntArray, IntArray]]],
    joint: IntArray,
    label: int,
    rng: np.random.Generator,
    asked: Sequence[Sequence[tuple[IntArray, IntArray]]] = (),
) -> Known:
    """A reader of cells of many plans, who walks tables of single values; each distinct cell counts once.

    He is asked for the true counts of the cells of other plans, or of these.
    """
    distinct = {members.tobytes(): (members, rounded[label]) for plan in plans for members, rounded in plan}
    members = np.array([each for each, _ in distinct.values()])
    published = np.array([each for _, each in distinct.values()])
    true = joint[:, label]
    chains, sweeps = 48, 260
    state = np.repeat(true[np.newaxis], chains, axis=0)
    sums = state @ members.T
    mean = true.mean()
    step = np.log(mean / (1 + mean))
    cells = {each.tobytes(): each for plan in (asked or plans) for each, _ in plan}.values()
    wanted = np.array([each for each in cells if each @ true in SMALL]).reshape(-1, true.size)
    right = np.zeros(len(wanted))
    for sweep in range(sweeps):
        for value in rng.permutation(true.size):
            other = rng.integers(true.size) if rng.random() < 0.5 else min(value + 1, true.size - 1)
            moves = np.zeros((chains, true.size), dtype=np.int64)
            moves[:, value] = rng.choice([-1, 1], chains)
            if rng.random() < 0.7 and other != value:  # from one value to another
                moves[:, other] -= moves[:, value]
            touched = np.flatnonzero((moves[:1] @ members.T)[0])
            before = sums[:, touched]
            after = before + moves @ members[touched].T
            change = _log(after, published[touched]) - _log(before, published[touched]) + step * moves.sum(axis=1)
            takes = ((state + moves) >= 0).all(axis=1) & (np.log(rng.random(chains)) < change)
            state[takes] += moves[takes]
            sums[np.ix_(takes, touched)] = after[takes]
        if sweep >= sweeps // 4:
            right += (state @ wanted.T == wanted @ true).mean(axis=0)
    return Known((right / (sweeps - sweeps // 4)).tolist())


def _log(counts: IntArray, published: IntArray) -> FloatArray:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(likelihood(counts, published)).sum(axis=1))


def versions(joint: IntArray, rng: np.random.Generator) -> list[IntArray]:
    """The counts of each version: 1 % of the records are replaced each time."""
    shares, all_counts = (joint / joint.sum()).ravel(), [joint]
    for _ in range(VERSIONS - 1):
        many = int(joint.sum()) // 100
        leave = rng.multivariate_hypergeometric(all_counts[-1].ravel(), many)
        all_counts.append(all_counts[-1] + (rng.multinomial(many, shares) - leave).reshape(joint.shape))
    return all_counts


def by_versions(published: FloatArray, true: IntArray, *, lasts: bool) -> list[float]:
    """The posterior of each true count of 1 to 4 of a cell over its versions, by forward and backward sums.

    Its number lies in one of five parts, between which a remainder is rounded up or down.
    """
    counts = np.arange(MOST)
    arrive = max(true.mean(), 0.5) / 100
    moves = np.zeros((MOST, MOST))
    for count in counts:
        leave = count / 100
        for change, share in ((-1, leave), (1, arrive), (-2, leave**2 / 2), (2, arrive**2 / 2)):
            if 0 <= count + change < MOST:
                moves[count, count + change] += share
        moves[count, count] += 1 - moves[count].sum()
    prior = (true.mean() / (1 + true.mean())) ** counts
    parts = np.arange(BASE) if lasts else [-1]
    joint = np.zeros((len(true), MOST))
    for part in parts:
        sees = np.array([_seen(counts, each, int(part)) for each in published])
        forward, backward = np.zeros((len(true), MOST)), np.ones((len(true), MOST))
        forward[0] = prior * sees[0]
        for at in range(1, len(true)):
            forward[at] = forward[at - 1] @ moves * sees[at]
        for at in range(len(true) - 2, -1, -1):
            backward[at] = moves @ (backward[at + 1] * sees[at + 1])
        joint += forward * backward
    joint /= joint.sum(axis=1, keepdims=True)
    return [float(joint[at, count]) for at, count in enumerate(true) if count in SMALL]


def _seen(counts: IntArray, published: float, part: int) -> FloatArray:
    """The probability of a published count, by the part of its cell's number; -1 if that is drawn each time.

    One in fifty is turned: cells of a tree do not follow their own numbers alone.
    """
    if part < 0:
        return likelihood(counts, np.array(published))
    up = counts - counts % BASE + BASE * (counts % BASE > part)
    by_number = (up == published).astype(float)
    return np.where(by_number > 0, 0.98, 0.02 * likelihood(counts, np.array(published)))


def one_record(rng: np.random.Generator, draws: int = 200) -> float:
    """The highest posterior of a count of 1 to 4, of who knows that it grew by one and sees it before and after."""
    seen: dict[tuple[int, ...], FloatArray] = {}
    table = rng.integers(0, 12, (24, 1))
    for count in range(2 * BASE):
        for _ in range(draws):
            chance = LastingRandomness(rng.bytes(32))
            outcome = []
            for more in (0, 1):
                table[7] = count + more
                up = rounded_up(table.sum(axis=0), BASE, chance.of("label"))
                outcome.append(int(rounded_once(table, [], BASE, up, chance)[7, 0]))
            seen.setdefault(tuple(outcome), np.zeros(2 * BASE))[count] += 1
    return max(float(each[1:BASE].max() / each.sum()) for each in seen.values() if each.sum() >= draws / 20)


def changed_cells(joint: IntArray, rng: np.random.Generator) -> tuple[float, float]:
    """The mean of published cells that differ by one record more, in margins and in pairs."""
    key = LastingRandomness(rng.bytes(32))
    changed: tuple[list[int], list[int]] = ([], [])
    pair = rng.poisson(rng.gamma(0.5, 12, (30, 30)))
    for _ in range(60):
        more, more_pair = joint.copy(), pair.copy()
        more[tuple(rng.integers(joint.shape))] += 1
        more_pair[tuple(rng.integers(pair.shape))] += 1
        changed[0].append(int(np.count_nonzero(_margin(joint, key) != _margin(more, key))))
        changed[1].append(int(np.count_nonzero(_pair(pair, key) != _pair(more_pair, key))))
    return float(np.mean(changed[0])), float(np.mean(changed[1]))


def _margin(joint: IntArray, key: LastingRandomness) -> NDArray[np.int64]:
    return rounded_once(joint, [], BASE, rounded_up(joint.sum(axis=0), BASE, key.of("label")), key)


def _pair(pair: IntArray, key: LastingRandomness) -> NDArray[np.int64]:
    up = rounded_up(np.array([pair.sum()]), BASE, key.of("label"))
    margins = [pair.sum(axis=1 - axis)[:, np.newaxis] for axis in (0, 1)]
    rows, columns = (rounded_once(each, [], BASE, up, key.of(str(at)))[:, 0] for at, each in enumerate(margins))
    return rounded_to_sums(pair, (rows, columns), BASE, key)[0]


def rows(joint: IntArray, rng: np.random.Generator) -> Iterator[str]:
    """Yield the rows of the page."""
    values, key = len(joint), LastingRandomness(rng.bytes(32))
    cuts = Cuts.at(np.arange(3, values, 3), values)
    yield by_cell([cuts.published(joint, key)], joint).row("one entry")
    again = [cuts.published(joint, key) for _ in range(LOOKS)]
    same = all(np.array_equal(one[1], other[1]) for look in again for one, other in zip(again[0], look, strict=True))
    yield by_cell(again[:1] if same else again, joint).row(f"{LOOKS} of the same plan, lasting")
    drawn = [cuts.published(joint, LastingRandomness(rng.bytes(32))) for _ in range(LOOKS)]
    yield by_cell(drawn, joint).row(f"{LOOKS} of the same plan, fresh")
    yield from of_versions(joint, cuts, key, rng)
    yield from of_other_cuts(joint, key, rng)


def of_other_cuts(joint: IntArray, key: LastingRandomness, rng: np.random.Generator) -> Iterator[str]:
    """Yield the rows of plans with other cuts."""
    values, labels = len(joint), range(joint.shape[1])
    places = [rng.choice(np.arange(1, values), rng.integers(8, 15), replace=False) for _ in range(LOOKS)]
    for name in ("lasting", "fresh"):
        chances = [key if name == "lasting" else LastingRandomness(rng.bytes(32)) for _ in places]
        plans = [Cuts.at(each, values).published(joint, one) for each, one in zip(places, chances, strict=True)]
        if name == "lasting":
            walks = [by_walk([plan], joint, label, rng) for label in labels for plan in plans[:4]]
            yield Known([each for walk in walks for each in walk.posteriors]).row("one of other cuts")
        every = [each for label in labels for each in by_walk(plans, joint, label, rng).posteriors]
        yield Known(every).row(f"{LOOKS} of other cuts, {name}")
    nodes, rounded = fixed(joint, key)
    every = [each for label in labels for each in by_walk([nodes], joint, label, rng, plans).posteriors]
    yield Known(every).row(f"{LOOKS} of other cuts, sums of one table")
    cells = [(joint[members].sum(axis=0), now, rounded[members].sum(axis=0)) for plan in plans for members, now in plan]
    errors = [np.sqrt(np.mean([(true - each[at]) ** 2 for true, *each in cells])) for at in range(2)]
    worst = [max(int(np.abs(true - each[at]).max()) for true, *each in cells) for at in range(2)]
    of_one = f"of sums of one table {errors[1]:.2f}, at most {worst[1]}"
    yield f"\nError of a cell, root mean square: {errors[0]:.2f}, at most {worst[0]}; {of_one}."


def drawn_cuts(kind: str, values: int, rng: np.random.Generator) -> list[IntArray]:
    """Draw the cuts of several plans: at random, the same ten each moved by a value more, or many."""
    if kind == "moved":
        first = rng.choice(np.arange(1, values - 8), 10, replace=False)
        return [np.unique(first + by) for by in range(8)]
    count, fewest, most = (32, 8, 15) if kind == "random" else (8, 20, 40)
    return [rng.choice(np.arange(1, values), rng.integers(fewest, most), replace=False) for _ in range(count)]


def of_few_cuts(joint: IntArray) -> Iterator[str]:
    """Yield the highest posteriors by how many entries with other cuts there are, over several draws of cuts."""
    highest: dict[tuple[str, int], float] = {}
    for kinds in (["random"] * 6, ["moved"] * 4 + ["dense"] * 4):
        rng = np.random.default_rng(1)
        for kind in kinds:
            key = LastingRandomness(rng.bytes(32))
            plans = [Cuts.at(each, len(joint)).published(joint, key) for each in drawn_cuts(kind, len(joint), rng)]
            for looks in FEW[kind == "random"]:
                walks = [by_walk(plans[:looks], joint, label, rng) for label in range(joint.shape[1])]
                most = max(each for walk in walks for each in walk.posteriors)
                highest[kind, looks] = max(most, highest.get((kind, looks), 0.0))
    for looks in FEW[1]:
        cells = [f"{highest[kind, looks]:.2f}" if (kind, looks) in highest else "" for kind in KINDS]
        yield f"| {looks} | {' | '.join(cells)} |"


def of_versions(joint: IntArray, cuts: Cuts, key: LastingRandomness, rng: np.random.Generator) -> Iterator[str]:
    """Yield the rows of versions of a table that changes."""
    changing = versions(joint, rng)
    for name in ("lasting", "fresh"):
        chances = [key if name == "lasting" else LastingRandomness(rng.bytes(32)) for _ in changing]
        seen = [cuts.published(each, chance) for each, chance in zip(changing, chances, strict=True)]
        known = []
        for at, (members, _) in enumerate(seen[0]):
            for label in range(joint.shape[1]):
                true = np.array([each[members, label].sum() for each in changing])
                if true.max() < MOST - BASE:
                    published = np.array([look[at][1][label] for look in seen])
                    known += by_versions(published, true, lasts=name == "lasting")
        yield Known(known).row(f"{VERSIONS} versions, {name}")


def main() -> None:
    rng = np.random.default_rng(0)
    joint = counts_of("visits", "health")
    lines = ["| entries | true counts of 1 to 4 | mean posterior | highest | above 0.9 |", "|---|---|---|---|---|"]
    for line in rows(joint, rng):
        print(line, flush=True)
        lines.append(line)
    margins, pairs = changed_cells(joint, rng)
    sure = one_record(rng)
    changes = f"Changed cells for each record: {margins:.2f} in margins, {pairs:.2f} in pairs."
    lines += ["", f"One record: at most {sure:.2f} for a count of 1 to 4. {changes}"]
    print(lines[-1])
    lines += ["", "Highest posterior by how many entries with other cuts there are:", ""]
    lines += ["| entries | random | moved | dense |", "|---|---|---|---|", *of_few_cuts(joint)]
    PAGE.write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
