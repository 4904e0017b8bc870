"""Tasks: real tables, each with a sample that no entry uses, and the entries cut from the rest."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aegis_advisor.arrays import IntArray
from research.expected.tables import adult, happiness, injuries, pensions, schools, telco, wives
from research.real_tables import affairs, digits, election, health_table, vote
from research.study import Table

ENTRIES: Final = 26
COPIED: Final = 4
"""The last of so many entries is the first of them with a redundant attribute."""

HELD_OUT: Final = 0.3
FEWEST_HELD_OUT: Final = 300
FEWEST: Final = 200
"""The fewest records of an entry."""

KS: Final = (2, 5, 10, 20)
MOST_NOISE: Final = 0.2
MOST_ATTRIBUTES: Final = 8
REDRAWN: Final = 0.05
"""The share of a redundant attribute's values that are those of other records."""

COPY: Final = "again"


@dataclass(frozen=True, eq=False)
class Cut:
    """An entry's part of a table.

    Attributes:
        number: its place in its task, which is also the order of publication.
        table: its records, with noise in the labels.
        noise: the share of the labels that are wrong.
        k: what each of its configurations promises.
        of: the number of the entry that it is a near-copy of; None if of none.
    """

    number: int
    table: Table
    noise: float
    k: int
    of: int | None = None


@dataclass(frozen=True, eq=False)
class Task:
    """A label of a table, to be predicted of records that no entry has.

    Attributes:
        table: all records.
        held_out: (records,) those that no entry has.
        chosen_on: whether it may be looked at to choose an order.
    """

    table: Table
    held_out: IntArray
    chosen_on: bool

    @classmethod
    def of(cls, table: Table, *, chosen_on: bool) -> "Task":
        """Hold out a sample."""
        size = max(round(HELD_OUT * table.records), FEWEST_HELD_OUT)
        drawn = _random(table.name).choice(table.records, size, replace=False)
        return cls(table, np.sort(drawn), chosen_on)

    @property
    def sample(self) -> Table:
        """The records that no entry has."""
        return part(self.table, self.held_out, tuple(self.table.columns))

    def cuts(self, count: int = ENTRIES) -> Iterator[Cut]:
        """Yield the entries, the first ones the same whatever the count."""
        rest, made = np.setdiff1d(np.arange(self.table.records), self.held_out), []
        for number in range(count):
            if number % COPIED < COPIED - 1:
                made.append(self._cut(number, rest))
            else:
                of = made[1 - COPIED]
                table = with_copy(of.table, _random(self.table.name, number))
                made.append(replace(of, number=number, table=table, of=of.number))
            yield made[-1]

    def _cut(self, number: int, rest: IntArray) -> Cut:
        """Draw records, from 200 to all on a scale of logarithms, attributes, noise for half of the entries, and k."""
        random, names = _random(self.table.name, number), list(self.table.columns)
        size = round(float(np.exp(random.uniform(np.log(FEWEST), np.log(rest.size)))))
        most = min(len(names), MOST_ATTRIBUTES)
        kept = np.sort(random.choice(len(names), random.integers(max(most * 2 // 5, 3), most + 1), replace=False))
        is_noisy = (number + number // COPIED) % 2
        noise = float(random.uniform(0, MOST_NOISE)) if is_noisy else 0.0
        table = part(self.table, random.choice(rest, size, replace=False), [names[place] for place in kept])
        labels = with_noise(table.label, np.unique(self.table.label), noise, random)
        return Cut(number, replace(table, label=labels), noise, int(random.choice(KS)))


def tasks(data: Path) -> Iterator[Task]:
    """Yield the tasks: those that an order may be chosen on, then the held-out ones.

    Args:
        data: the folder with `telco/telco.csv` and `adult/adult.csv`.
    """
    for table in (affairs(), vote(), pensions(), happiness(), telco(data), wives()):
        yield Task.of(table, chosen_on=True)
    for table in (health_table(), adult(data), election(), digits(), schools(), injuries()):
        yield Task.of(table, chosen_on=False)


def part(table: Table, records: IntArray, names: list[str] | tuple[str, ...]) -> Table:
    """Return some records with some attributes."""
    columns = {name: table.columns[name][records] for name in names}
    return replace(table, columns=columns, label=table.label[records])


def with_noise(
    labels: NDArray[np.str_], classes: NDArray[np.str_], noise: float, random: np.random.Generator
) -> NDArray[np.str_]:
    """Return labels of which this share is each another class, all others alike."""
    wrong = random.choice(labels.size, round(noise * labels.size), replace=False)
    places, noisy = np.searchsorted(classes, labels[wrong]), labels.copy()
    noisy[wrong] = classes[(places + random.integers(1, classes.size, wrong.size)) % classes.size]
    return noisy


def with_copy(table: Table, random: np.random.Generator) -> Table:
    """Return the table with one of its attributes twice, once with a few values of other records."""
    name = list(table.columns)[random.integers(len(table.columns))]
    redrawn, copied = random.random(table.records) < REDRAWN, table.columns[name].copy()
    copied[redrawn] = random.choice(table.columns[name], int(redrawn.sum()))
    return replace(table, columns={**table.columns, f"{name} {COPY}": copied})


def _random(*seed: object) -> np.random.Generator:
    return np.random.default_rng([ord(letter) for letter in " ".join(map(str, seed))])
