"""Splits released and real records, so that no model is tested on its training records.

A masked value is a separate value, as in `aegis check`: models are trained on masked values, and predict real records
masked in the same way. A hidden number (`*`) counts as missing.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aegis_provider.errors import TableError, shortened
from aegis_provider.records import SHARE, Records
from aegis_provider.synth.fidelity.encoding import PlainColumn, PlainRecords, stacked
from aegis_provider.synth.fidelity.result import Relation
from aegis_provider.synth.released.meanings import Meaning
from aegis_provider.synth.released.opening import FEWEST, Opened
from aegis_provider.synth.released.released import Released, ReleasedColumn

_FOR_DRAWING, _FOR_TESTING = 1, 2
_LARGEST: Final = 1e100
_MASKED: Final = 0.95
"""A release of which a smaller share of rows may mask a record was made differently."""


@dataclass(frozen=True, eq=False)
class Parts:
    """The records of a comparison.

    Attributes:
        released: The release, without the rows of test records if these can be identified.
        learnt: The same records as training data.
        real: The real records that it was made from, without test records.
        read: The test records in the form of the release's training data.
    """

    released: PlainRecords
    learnt: PlainRecords
    real: PlainRecords
    tested: PlainRecords
    read: PlainRecords
    tested_on: Relation

    def shown_in(self, released: PlainRecords) -> float:
        """Return the share of test records that occur exactly among released ones, in their columns."""
        tested = self.tested.only(released.names)
        rows = np.stack([column.of_record for column in stacked([released, tested]).columns], axis=1)
        _, of_record = np.unique(np.nan_to_num(rows, nan=np.inf), axis=0, return_inverse=True)
        theirs, mine = np.split(of_record.reshape(-1), [len(released)])
        return float(np.isin(mine, theirs).mean())


def parts_of(opened: Opened, name: str, seed: int) -> Parts:
    """Return the records to compare.

    Models are tested on the held-out records. If there are too few, a fifth of the real ones is drawn for tests, and
    their rows are removed from the release if each of its rows masks a record.

    Raises:
        TableError: There are too few records.
    """
    released = PlainRecords.released(opened.released, np.random.default_rng([seed, _FOR_DRAWING]))
    if len(opened.held_out) >= FEWEST:
        split = _Split(np.ones(len(released), dtype=bool), opened.seen, opened.held_out, Relation.UNSEEN)
    else:
        split = _drawn(opened, np.random.default_rng([seed, _FOR_TESTING]))
    parts = split.parts(opened, released)
    for what, records in (("{} real records to test on", parts.tested), (f"{name}: {{}} records", parts.released)):
        if len(records) < FEWEST:
            raise TableError(f"{what.format(len(records))}; a comparison needs at least {FEWEST}")
        _refuse_huge(records)
    _refuse_huge(parts.real)
    return parts


def _refuse_huge(records: PlainRecords) -> None:
    """Refuse numbers whose squares, needed for distances, overflow."""
    for column in records.columns:
        if column.is_numeric and (np.abs(np.nan_to_num(column.of_record)) > _LARGEST).any():
            raise TableError(
                f"{shortened(column.name)} has numbers beyond {_LARGEST:g}, of which no distance can be computed; "
                "correct them, or make categories of them"
            )


@dataclass(frozen=True, eq=False)
class _Split:
    """The training rows of the release, the real training records, and the test records."""

    rows: NDArray[np.bool_]
    real: Records
    tested: Records
    tested_on: Relation

    def parts(self, opened: Opened, released: PlainRecords) -> Parts:
        lesson = Lesson.of(opened.released, released, opened.label)
        return Parts(
            released=released.take(self.rows),
            learnt=lesson.released.take(self.rows),
            real=PlainRecords.real(self.real),
            tested=PlainRecords.real(self.tested),
            read=lesson.read(self.tested),
            tested_on=self.tested_on,
        )


def _drawn(opened: Opened, rng: np.random.Generator) -> _Split:
    """Return the split without held-out records. Rows that match no record are not trained on, either."""
    tested = rng.random(len(opened.seen)) < SHARE
    if opened.seen.people is not None:  # of one side, with all their records
        tested = tested[opened.seen.persons(())[1]]
    records, relation = records_of_rows(opened.released, opened.seen, rng), Relation.RELEASED
    rows = np.ones(len(records), dtype=bool)
    if (records >= 0).mean() >= _MASKED:
        rows, relation = (records >= 0) & ~tested[records], Relation.TAKEN_OUT
    return _Split(rows, opened.seen.take(~tested), opened.seen.take(tested), relation)


Places = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Lesson:
    """A release as training data.

    Attributes:
        of_value: By masked column, (values of the domain,) the value that models read instead.
    """

    released: PlainRecords
    of_value: dict[str, NDArray[np.float64]]

    @classmethod
    def of(cls, released: Released, plain: PlainRecords, label: str) -> "Lesson":
        """Return the training data of a release with these plain values; the label stays unchanged."""
        columns, of_value = [], {}
        for column, values in zip(released.columns, plain.columns, strict=True):
            sizes, hidden = np.array([size_of(meaning) for meaning in column.meanings]), hides(column)
            if column.name == label or (sizes <= 1).all():
                columns.append(values)
            elif column.is_numeric and (hidden | (sizes <= 1)).all():
                columns.append(PlainColumn(column.name, True, np.where(hidden[column.codes], np.nan, values.of_record)))
            else:
                ranks = np.argsort(np.argsort(_keys(column), kind="stable")).astype(np.float64)
                columns.append(PlainColumn(column.name, False, ranks[column.codes]))
                of_value[column.name] = np.append(ranks, len(ranks))[_shown(column)]
        return cls(PlainRecords(tuple(columns)), of_value)

    def read(self, records: Records) -> PlainRecords:
        """Return real records masked like the release, in its columns."""
        plain = PlainRecords.real(records).only(self.released.names)
        columns = []
        for each in plain.columns:
            column = each
            if each.name in self.of_value:
                of_record = self.of_value[each.name][records.column(each.name).places]
                column = PlainColumn(each.name, False, of_record)
            columns.append(column)
        return PlainRecords(tuple(columns))


def hides(column: ReleasedColumn) -> NDArray[np.bool_]:
    """(texts,) Return whether a text may stand for every value."""
    return np.array([size_of(meaning) == len(column.original.domain) for meaning in column.meanings])


def narrowest(column: ReleasedColumn) -> Places:
    """(values,) Return the text of each value that stands for the fewest others; -1 if all its texts hide it."""
    texts = np.full(len(column.original.domain), -1)
    hidden = hides(column)
    for text in sorted(range(len(column.texts)), key=lambda text: -size_of(column.meanings[text])):
        meaning = column.meanings[text]
        if isinstance(meaning, np.ndarray) and not hidden[text]:
            texts[meaning] = text
    return texts


def size_of(meaning: Meaning) -> int:
    """Return the number of table values that a text stands for."""
    return 0 if isinstance(meaning, float) else len(meaning)


def _keys(column: ReleasedColumn) -> NDArray[np.float64]:
    """(texts,) Return the mean value of each text, so that texts have the order of their values."""
    numbers = column.original.numbers
    values = np.arange(len(column.original.domain), dtype=np.float64) if numbers is None else numbers
    keys = []
    for meaning in column.meanings:
        known = np.array([meaning]) if isinstance(meaning, float) else values[meaning]
        known = known[~np.isnan(known)]
        keys.append(known.mean() if len(known) else -np.inf)
    return np.where(hides(column), -np.inf, keys)


def _shown(column: ReleasedColumn) -> Places:
    """(values,) Return the text of each value; for a number without one, the nearest; otherwise -1."""
    texts, hidden = narrowest(column), np.flatnonzero(hides(column))
    if len(hidden):
        return np.where(texts < 0, hidden[0], texts)
    numbers, keys = column.original.numbers, _keys(column)
    if numbers is not None and np.isfinite(keys).any():
        for value in np.flatnonzero((texts < 0) & ~np.isnan(numbers)):
            texts[value] = np.abs(keys - numbers[value]).argmin()
    return texts


# Matches released rows to real records, so that the rows of some records can be taken out of a release.
#
# Rows with equal texts are interchangeable, so only the number of removed ones matters. It is exact if the release
# masks equal values equally, apart from left-out records and hidden cells (`*`).


def records_of_rows(released: Released, records: Records, rng: np.random.Generator) -> Places:
    """(released,) Return the place of a separate real record that each row may mask; -1 if none remains.

    Rows with the fewest hidden cells choose first; among equally masked records, one is drawn at random.
    """
    found = np.full(len(released), -1)
    order = rng.permutation(len(records))
    masked = np.stack(
        [narrowest(column)[records.column(column.name).places[order]] for column in released.columns], axis=1
    )
    texts = np.stack([column.codes for column in released.columns], axis=1)
    hidden = np.stack([hides(column)[column.codes] for column in released.columns], axis=1)
    patterns, of_row = np.unique(hidden, axis=0, return_inverse=True)
    left = np.arange(len(records))
    for number in np.argsort(patterns.sum(axis=1), kind="stable"):
        rows, shown = np.flatnonzero(of_row.reshape(-1) == number), ~patterns[number]
        mine, theirs = _pairs(texts[rows][:, shown], masked[left][:, shown])
        found[rows[mine]] = order[left[theirs]]
        left = np.delete(left, theirs)
    return found


def _pairs(one: Places, other: Places) -> tuple[Places, Places]:
    """Return the places of all pairs of equal rows of two tables, each row in at most one pair."""
    _, group = np.unique(np.concatenate([one, other]), axis=0, return_inverse=True)
    first, second = np.split(group.reshape(-1), [len(one)])
    ours, others = (each * (len(group) + 1) + _repetition(each) for each in (first, second))
    _, mine, theirs = np.intersect1d(ours, others, assume_unique=True, return_indices=True)
    return mine, theirs


def _repetition(groups: Places) -> Places:
    """(rows,) The number of earlier rows in the same group."""
    order = np.argsort(groups, kind="stable")
    sorted_groups = groups[order]
    repetition = np.empty(len(groups), dtype=np.intp)
    repetition[order] = np.arange(len(groups)) - np.searchsorted(sorted_groups, sorted_groups)
    return repetition
