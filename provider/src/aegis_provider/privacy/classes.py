"""Equivalence classes: records that nobody can tell apart by their masked quasi-identifiers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from aegis_provider.counting.counted_table import DistinctRecords
from aegis_provider.counting.counts import Counts, Places

_LARGEST_KEY = 2**62

# With at most this many possible keys for each row, counting all keys is quicker than sorting the rows.
_KEYS_PER_ROW = 8


@dataclass(frozen=True, eq=False)
class SensitiveCounts:
    """How often each class has each value of a sensitive attribute, without the zeros.

    Attributes:
        classes, values, counts: (cells,) `counts[i]` records of class `classes[i]` have value `values[i]`; ascending by
            class, then by value in the domain's order.
        whole: (values,) how many records of the whole table have each value before anything is suppressed. Classes
            are compared with these.
        ordered: Whether the order of the values means something.
    """

    classes: Places
    values: Places
    counts: Counts
    whole: Counts
    ordered: bool


@dataclass(frozen=True, eq=False)
class Classes:
    """The equivalence classes of a table.

    Attributes:
        sizes: (classes,) how many records are in each, at least 1.
        sensitive: The counts of every sensitive attribute.
    """

    sizes: Counts
    sensitive: Mapping[str, SensitiveCounts]

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def records(self) -> int:
        """The number of records in all classes."""
        return int(self.sizes.sum())

    def compared_with(self, before: "Classes") -> "Classes":
        """Return the same classes, compared with the whole table that `before` was counted in."""
        whole = {name: each.whole for name, each in before.sensitive.items()}
        return Classes(self.sizes, {name: replace(each, whole=whole[name]) for name, each in self.sensitive.items()})

    def without(self, broken: NDArray[np.bool_]) -> "Classes":
        """Return the classes that remain when those marked in `broken`, (classes,), are suppressed.

        They are still compared with the whole table, so a class that kept a promise still keeps it.
        """
        left = ~broken
        numbers = np.cumsum(left) - 1
        counts = {name: _left(each, left, numbers) for name, each in self.sensitive.items()}
        return Classes(self.sizes[left], counts)


def classes_of(
    records: DistinctRecords,
    mappings: Mapping[str, Places],
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str],
) -> Classes:
    """Return the equivalence classes of the records after masking their values by `mappings`.

    Args:
        records: The distinct records.
        mappings: By column, (values,) the place of each value's masked value, from 0; a column without a mapping stays
            as it is.
        quasi_identifiers, sensitive: Columns of `records` in the release. Without a quasi-identifier, all records are
            one class.
    """
    groups, size = class_of_each(records, mappings, quasi_identifiers)
    return classes_in(records, mappings, groups, size, sensitive)


def classes_as_written(records: DistinctRecords, quasi_identifiers: Sequence[str], sensitive: Sequence[str]) -> Classes:
    """Return the equivalence classes of a table by its texts, as any other program counts them.

    Readers know that two texts of one number are one value. So the sensitive attributes that have such texts count
    twice, by text and by value, and the worse counts.

    Args:
        records: The distinct records, with a value for each text (`Domain.by_spelling`).
        quasi_identifiers, sensitive: As for `classes_of`.
    """
    by_text = classes_of(records, {}, quasi_identifiers, sensitive)
    keys = {name: records.domains[records.columns.index(name)].keys for name in sensitive}
    values = {name: np.cumsum([False, *(a != b for a, b in pairwise(each))]) for name, each in keys.items()}
    spelled = {name: each for name, each in values.items() if len(set(each.tolist())) < len(each)}
    by_value = classes_of(records, spelled, quasi_identifiers, list(spelled))
    twice = {f"{name}\0": each for name, each in by_value.sensitive.items()}  # no column has such a name
    return Classes(by_text.sizes, {**by_text.sensitive, **twice})


def classes_in(
    records: DistinctRecords, mappings: Mapping[str, Places], groups: Places, size: int, sensitive: Sequence[str]
) -> Classes:
    """Return the classes of records that are grouped already: `groups`, (combinations,), each below `size`."""
    sizes = np.bincount(groups, records.counts, size).astype(np.int64)
    counts = {
        name: _counted(
            groups, size, records.counts, *_column(records, mappings, name), _is_ordered(records, mappings, name)
        )
        for name in sensitive
    }
    return Classes(sizes, counts)


def class_of_each(
    records: DistinctRecords, mappings: Mapping[str, Places], quasi_identifiers: Sequence[str]
) -> tuple[Places, int]:
    """Return (combinations,) the number of each combination's class, and how many classes there are."""
    keys, size = np.zeros(len(records.counts), dtype=np.intp), 1
    for name in quasi_identifiers:
        column, radix = _column(records, mappings, name)
        if size * radix > _LARGEST_KEY:
            keys, size = _renumbered(keys, size)
        keys, size = keys * radix + column, size * radix
    return _renumbered(keys, size)


def _column(records: DistinctRecords, mappings: Mapping[str, Places], name: str) -> tuple[Places, int]:
    """Return (combinations,) the places of the masked values of a column, and the number of masked values."""
    place = records.columns.index(name)
    codes = records.codes[:, place]
    if name not in mappings:
        return codes, len(records.domains[place])
    mapping = np.asarray(mappings[name], dtype=np.intp)
    return mapping[codes], int(mapping.max()) + 1


def _is_ordered(records: DistinctRecords, mappings: Mapping[str, Places], name: str) -> bool:
    """Return whether the masked values of a column are in an order: no lower value becomes a higher one."""
    ordered = records.domains[records.columns.index(name)].ordered
    return ordered and (name not in mappings or is_rising(mappings[name]))


def is_rising(mapping: Sequence[int] | Places) -> bool:
    """Return whether a mapping of values to the places of their masked values keeps their order."""
    return bool(np.all(np.diff(np.asarray(mapping)) >= 0))


def _renumbered(keys: Places, size: int) -> tuple[Places, int]:
    """Renumber keys below `size` as 0, 1, ... without gaps, in the same order; also return how many differ."""
    if size > _KEYS_PER_ROW * len(keys):
        occurring, places = np.unique(keys, return_inverse=True)
        return places, len(occurring)
    occurs = np.zeros(size, dtype=np.bool_)
    occurs[keys] = True
    numbers = np.cumsum(occurs) - 1
    return numbers[keys], int(numbers[-1]) + 1


def _counted(
    groups: Places,
    classes: int,
    counts: Counts,
    column: Places,
    values: int,
    ordered: bool,  # noqa: FBT001 - beside arrays
) -> SensitiveCounts:
    keys, records = _summed(groups * values + column, classes * values, counts)
    whole = np.bincount(column, counts, values).astype(np.int64)
    return SensitiveCounts(keys // values, keys % values, records, whole, ordered)


def _summed(keys: Places, size: int, counts: Counts) -> tuple[Places, Counts]:
    """Return the keys that occur, ascending, each with the sum of its counts."""
    if size > _KEYS_PER_ROW * len(keys):
        occurring, places = np.unique(keys, return_inverse=True)
        return occurring, np.bincount(places, counts).astype(np.int64)
    sums = np.bincount(keys, counts, size).astype(np.int64)
    occurring = np.flatnonzero(sums)
    return occurring, sums[occurring]


def _left(counts: SensitiveCounts, left: NDArray[np.bool_], numbers: Places) -> SensitiveCounts:
    cells = left[counts.classes]
    return replace(
        counts, classes=numbers[counts.classes[cells]], values=counts.values[cells], counts=counts.counts[cells]
    )
