"""Made-up tables that vary one property at a time and leave everything else equal."""

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from research.drawn_plans import CONFIGURATIONS, drawn_plan
from research.study import Study, Table

RECORDS = 3_000
VALUES = 12
SEED = 7
_SOURCE = "made up, with a fixed seed"

COPIES = (0, 2, 4, 8)
SHARES = (0.0, 0.33, 0.67, 1.0)
DISTINCT = (0.01, 0.1, 0.5, 1.0)
POSITIVE = (0.5, 0.2, 0.05, 0.01)

#: The tables of each kind, in the order of the property that varies.
KINDS: Mapping[str, tuple[str, ...]] = {
    "redundant attributes": tuple(f"copies {copies}" for copies in COPIES),
    "interactions": (*(f"interaction {share:.0%}" for share in SHARES), "interaction with copies", "three together"),
    "near-unique attributes": tuple(f"distinct {share:.0%}" for share in DISTINCT),
    "imbalance": tuple(f"positive {share:.0%}" for share in POSITIVE),
}
NAMES = frozenset(name for names in KINDS.values() for name in names)

Numbers = NDArray[np.int64]


def studies() -> Iterator[Study]:
    """Yield the studies of each kind."""
    yield from map(redundant, COPIES)
    yield from map(interacting, SHARES)
    yield interacting_with_copies()
    yield of_three()
    yield from map(near_unique, DISTINCT)
    yield from map(imbalanced, POSITIVE)


def redundant(copies: int, records: int = RECORDS, configurations: int = CONFIGURATIONS) -> Study:
    """Make one strong attribute with noisy copies of it, and four weaker ones with information of their own.

    Configurations mask either the strong one and its copies finely, or the others.
    """
    rng = np.random.default_rng([SEED, 1])
    strong, *others = (_uniform(rng, records) for _ in range(5))
    score = 1.2 * _scaled(strong) + sum(0.8 * _scaled(each) for each in others)
    label = _drawn(rng, score)
    copied = {f"copy{number}": _noisy(rng, strong, 0.15) for number in range(1, copies + 1)}
    group = {"strong": strong, **copied}
    about = f"{copies} noisy copies of the strongest of five attributes"
    return _study(f"copies {copies}", about, {**group, **_named(others)}, label, group, configurations)


def interacting(share: float) -> Study:
    """Make two attributes that predict the label only together (exclusive or), in that share of the records.

    In the other records three attributes predict it, each by itself. Configurations mask either the two or the three
    finely.
    """
    rng = np.random.default_rng([SEED, 2])
    first, second, *others = (_uniform(rng, RECORDS) for _ in range(5))
    exclusive = (first >= VALUES // 2) ^ (second >= VALUES // 2)
    additive = np.sum([_scaled(each) for each in others], axis=0)
    label = _drawn(rng, np.where(rng.random(RECORDS) < share, np.where(exclusive, 2.5, -2.5), 2.0 * additive))
    pair = {"first": first, "second": second}
    about = f"two attributes predict only together, in {share:.0%} of the records"
    return _study(f"interaction {share:.0%}", about, {**pair, **_named(others)}, label, pair)


def interacting_with_copies(copies: int = 3) -> Study:
    """Make two pairs of attributes that predict only together, the first pair with noisy copies of one of the two.

    Configurations mask either the pair with its copies or the other pair finely.
    """
    rng = np.random.default_rng([SEED, 5])
    first, second, third, fourth, alone = (_uniform(rng, RECORDS) for _ in range(5))
    copied = {f"copy{number}": _noisy(rng, first, 0.15) for number in range(1, copies + 1)}
    score = 1.2 * _exclusive(first, second) + 1.5 * _exclusive(third, fourth) + 0.5 * _scaled(alone)
    group = {"first": first, "second": second, **copied}
    about = f"two pairs of attributes predict only together, one of them with {copies} noisy copies"
    columns = {**group, **_named([third, fourth, alone])}
    return _study("interaction with copies", about, columns, _drawn(rng, score), group)


def of_three() -> Study:
    """Make three attributes that predict the label only all together, and three that do so each by itself, weakly.

    Configurations mask either the former or the latter finely.
    """
    rng = np.random.default_rng([SEED, 6])
    *three, fourth, fifth, sixth = (_uniform(rng, RECORDS) for _ in range(6))
    others = [fourth, fifth, sixth]
    score = 2.5 * np.prod([_sign(each) for each in three], axis=0) + 0.4 * sum(map(_scaled, others))
    group = {f"together{place}": each for place, each in enumerate(three, start=1)}
    about = "three attributes predict only all together"
    return _study("three together", about, {**group, **_named(others)}, _drawn(rng, score), group)


def near_unique(share: float) -> Study:
    """Make an uninformative attribute with that many distinct values per record, and four informative ones.

    Configurations mask either the uninformative one or the others finely.
    """
    rng = np.random.default_rng([SEED, 3])
    others = [_uniform(rng, RECORDS) for _ in range(4)]
    label = _drawn(rng, np.sum([_scaled(each) for each in others], axis=0))
    number = rng.permutation(np.arange(RECORDS) % round(share * RECORDS))
    about = f"an uninformative attribute has {share:.0%} as many values as there are records"
    return _study(f"distinct {share:.0%}", about, {"number": number, **_named(others)}, label, {"number": number})


def imbalanced(share: float) -> Study:
    """Make six attributes of falling strength; that share of the records has the rarer label."""
    rng = np.random.default_rng([SEED, 4])
    columns = [_uniform(rng, RECORDS) for _ in range(6)]
    score = sum(1.5 / place * _scaled(each) for place, each in enumerate(columns, start=1))
    noisy = score + rng.logistic(size=RECORDS)
    label = np.where(noisy > np.quantile(noisy, 1 - share), "yes", "no")
    return _study(
        f"positive {share:.0%}", f"{share:.0%} of the records have the rarer label", _named(columns), label, {}
    )


def _study(
    name: str,
    about: str,
    columns: Mapping[str, Numbers],
    label: NDArray[np.str_],
    against: Mapping[str, Numbers],
    configurations: int = CONFIGURATIONS,
) -> Study:
    table = Table(name, about, _SOURCE, {key: column.astype(str) for key, column in columns.items()}, label)
    return Study.of(table, drawn_plan(table, SEED, against=against, count=configurations))


def _named(columns: list[Numbers]) -> dict[str, Numbers]:
    return {f"own{place}": column for place, column in enumerate(columns, start=1)}


def _uniform(rng: np.random.Generator, records: int) -> Numbers:
    return rng.integers(VALUES, size=records)


def _noisy(rng: np.random.Generator, column: Numbers, share: float) -> Numbers:
    """Return the column with that share of its values drawn anew."""
    return np.where(rng.random(column.size) < share, _uniform(rng, column.size), column)


def _sign(column: Numbers) -> NDArray[np.float64]:
    """Return 1 for the upper half of the values, and -1 for the lower."""
    return np.where(column >= VALUES // 2, 1.0, -1.0)


def _exclusive(first: Numbers, second: Numbers) -> NDArray[np.float64]:
    """Return 1 where just one of the two is in the upper half of the values, and -1 elsewhere."""
    return -_sign(first) * _sign(second)


def _scaled(column: Numbers) -> NDArray[np.float64]:
    """Scale uniform values to mean 0 and variance 1."""
    return (column - (VALUES - 1) / 2) / np.sqrt((VALUES**2 - 1) / 12)


def _drawn(rng: np.random.Generator, score: NDArray[np.float64]) -> NDArray[np.str_]:
    """Draw the label, with the scores as its log odds."""
    return np.where(rng.random(score.size) < expit(score), "yes", "no")
