"""Released records as training data, and real records masked like the release.
A masked value is a separate value, as in `aegis check`: models are trained on masked values, and predict real records
masked in the same way. A hidden number (`*`) counts as missing.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aegis_provider.records import Records
from aegis_provider.synth.fidelity.encoding import PlainColumn, PlainRecords
from aegis_provider.synth.released import Released, ReleasedColumn
from aegis_provider.synth.released.meanings import Meaning

Places = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Lesson:
    """A release as training data.

    Attributes:
        released: The released records.
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
