"""Equivalence classes: records with equal masked quasi-identifiers, and the re-identification risk that follows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from aegis_provider.counting.counted_table import DistinctRecords
from aegis_provider.counting.counts import Counts, Places
from aegis_provider.plan.model import Roles

_LARGEST_KEY = 2**62

# With at most this many possible keys for each row, counting all keys is quicker than sorting the rows.
_KEYS_PER_ROW = 8


@dataclass(frozen=True, eq=False)
class SensitiveCounts:
    """The counts of a sensitive attribute's values by class, without zeros.

    Attributes:
        classes, values, counts: (cells,) `counts[i]` people of class `classes[i]` have value `values[i]`; ascending by
            class, then by value in the domain's order. Who has several values counts for each.
        whole: (values,) the counts of the values in the whole table before suppression, with which classes are
            compared.
        ordered: Whether the order of the values is meaningful.
        people: The number of people in the whole table.
    """

    classes: Places
    values: Places
    counts: Counts
    whole: Counts
    ordered: bool
    people: int


@dataclass(frozen=True, eq=False)
class Classes:
    """The equivalence classes of a table.

    People are records, unless the plan says whose a record is. Then a person is in the class of each of the records,
    so that each class has at least `k` people against whoever knows one record of a person ((X,Y)-anonymity, Wang and
    Fung 2006).

    Attributes:
        sizes: (classes,) the number of people in each, at least 1.
        sensitive: The counts of every sensitive attribute.
        of_records: (classes,) the number of records in each; `None` if records are people.
    """

    sizes: Counts
    sensitive: Mapping[str, SensitiveCounts]
    of_records: Counts | None = None

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def records(self) -> int:
        """The number of records in all classes."""
        return int((self.sizes if self.of_records is None else self.of_records).sum())

    def without(self, broken: NDArray[np.bool_]) -> "Classes":
        """Return the classes that remain when those marked in `broken`, (classes,), are suppressed.

        They are still compared with the whole table, so a class that met a promise still meets it.
        """
        left = ~broken
        numbers = np.cumsum(left) - 1
        counts = {name: _left(each, left, numbers) for name, each in self.sensitive.items()}
        return Classes(self.sizes[left], counts, None if self.of_records is None else self.of_records[left])


def classes_of(
    records: DistinctRecords,
    mappings: Mapping[str, Places],
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str],
    before: Classes | None = None,
) -> Classes:
    """Return the equivalence classes of the records after masking their values by `mappings`.

    Args:
        mappings: By column, (values,) the place of each value's masked value, from 0; a column without a mapping is
            unmasked.
        quasi_identifiers, sensitive: Columns of `records` in the release. Without a quasi-identifier, all records are
            one class.
        before: See `classes_in`.
    """
    groups, size = class_of_each(records, mappings, quasi_identifiers)
    return classes_in(records, mappings, groups, size, sensitive, before)


def classes_by_role(
    records: DistinctRecords,
    mappings: Mapping[str, Places],
    roles: Sequence[Roles],
    before: Sequence[Classes] | None = None,
) -> tuple[Classes, ...]:
    """Return the equivalence classes of each of these attacks, as `classes_of` returns those of one."""
    compared = [None] * len(roles) if before is None else before
    pairs = zip(roles, compared, strict=True)
    return tuple(classes_of(records, mappings, one.quasi_identifiers, one.sensitive, whole) for one, whole in pairs)


def classes_as_written(records: DistinctRecords, quasi_identifiers: Sequence[str], sensitive: Sequence[str]) -> Classes:
    """Return the equivalence classes of a table by its texts, as other programs count them.

    Readers know that two texts of one number are one value. So sensitive attributes with such texts are measured twice,
    by text and by value, and the worse result counts.

    Args:
        records: The distinct records, with a value for each text (`Domain.by_spelling`).
        quasi_identifiers, sensitive: As for `classes_of`.
    """
    by_text = classes_of(records, {}, quasi_identifiers, sensitive)
    keys = {name: records.domains[records.columns.index(name)].keys for name in sensitive}
    values = {name: np.cumsum([False, *(a != b for a, b in pairwise(key))]) for name, key in keys.items()}
    spelled = {name: value for name, value in values.items() if len(set(value.tolist())) < len(value)}
    by_value = classes_of(records, spelled, quasi_identifiers, list(spelled))
    twice = {f"{name}\0": counts for name, counts in by_value.sensitive.items()}  # no column has such a name
    return replace(by_text, sensitive={**by_text.sensitive, **twice})


def classes_in(
    records: DistinctRecords,
    mappings: Mapping[str, Places],
    groups: Places,
    size: int,
    sensitive: Sequence[str],
    before: Classes | None = None,
) -> Classes:
    """Return the classes of records with known `groups`, (combinations,), each below `size`; every group occurs.

    `before`: the classes of the whole table that these are compared with; by default it has only these records.
    """
    of_records = np.bincount(groups, records.counts, size).astype(np.int64)
    sizes = of_records if records.people is None else _people(groups, records.people)[1]
    sensitive_counts = {}
    for name in sensitive:
        column, values = _column(records, mappings, name)
        cells = groups * values + column
        if records.people is None:
            keys, counts = _summed(cells, size * values, records.counts)
        else:
            keys, counts = _people(cells, records.people)
        known = None if before is None else before.sensitive[name]
        whole, people = _whole(records, column, values) if known is None else (known.whole, known.people)
        ordered = records.domains[records.columns.index(name)].ordered
        ordered = ordered and (name not in mappings or is_rising(mappings[name]))
        sensitive_counts[name] = SensitiveCounts(keys // values, keys % values, counts, whole, ordered, people)
    return Classes(sizes, sensitive_counts, None if records.people is None else of_records)


def class_of_each(
    records: DistinctRecords, mappings: Mapping[str, Places], quasi_identifiers: Sequence[str]
) -> tuple[Places, int]:
    """Return (combinations,) the number of each combination's class, and the number of classes."""
    keys, size = np.zeros(len(records.counts), dtype=np.intp), 1
    for name in quasi_identifiers:
        column, radix = _column(records, mappings, name)
        if size * radix > _LARGEST_KEY:
            keys, size = renumbered(keys, size)
        keys, size = keys * radix + column, size * radix
    return renumbered(keys, size)


def _column(records: DistinctRecords, mappings: Mapping[str, Places], name: str) -> tuple[Places, int]:
    """Return (combinations,) the places of the masked values of a column, and the number of masked values."""
    place = records.columns.index(name)
    codes = records.codes[:, place]
    if name not in mappings:
        return codes, len(records.domains[place])
    mapping = np.asarray(mappings[name], dtype=np.intp)
    return mapping[codes], int(mapping.max()) + 1


def is_rising(mapping: Sequence[int] | Places) -> bool:
    """Return whether a mapping of values to the places of their masked values preserves their order."""
    return bool(np.all(np.diff(np.asarray(mapping)) >= 0))


def renumbered(keys: Places, size: int) -> tuple[Places, int]:
    """Renumber keys below `size` as 0, 1, ... without gaps, in the same order; return also how many are distinct."""
    if size > _KEYS_PER_ROW * len(keys):
        occurring, places = np.unique(keys, return_inverse=True)
        return places, len(occurring)
    occurs = np.zeros(size, dtype=np.bool_)
    occurs[keys] = True
    numbers = np.cumsum(occurs) - 1
    return numbers[keys], int(numbers[-1]) + 1


def _summed(keys: Places, size: int, counts: Counts) -> tuple[Places, Counts]:
    """Return the keys that occur, ascending, each with the sum of its counts."""
    if size > _KEYS_PER_ROW * len(keys):
        occurring, places = np.unique(keys, return_inverse=True)
        return occurring, np.bincount(places, counts).astype(np.int64)
    sums = np.bincount(keys, counts, size).astype(np.int64)
    occurring = np.flatnonzero(sums)
    return occurring, sums[occurring]


def _whole(records: DistinctRecords, column: Places, values: int) -> tuple[Counts, int]:
    """Return (values,) how many people have each value of a column, and the number of people."""
    if records.people is None:
        return np.bincount(column, records.counts, values).astype(np.int64), int(records.counts.sum())
    whole = np.zeros(values, dtype=np.int64)
    had, by_value = _people(column, records.people)
    whole[had] = by_value
    return whole, int(np.count_nonzero(np.bincount(records.people)))


def _people(keys: Places, people: Places) -> tuple[Places, Counts]:
    """Return the keys that occur, ascending, each with its number of different people."""
    bits, most, occurring = int(people.max(initial=0)).bit_length(), int(keys.max(initial=0)), None
    if most >= _LARGEST_KEY >> bits:
        occurring, keys = np.unique(keys, return_inverse=True)
    pairs = np.sort(keys << bits | people)  # several times as fast as `np.unique`
    found = pairs[changes(pairs)] >> bits
    starts = np.flatnonzero(changes(found))
    found, counts = found[starts], np.diff(starts, append=len(found))
    return (found if occurring is None else occurring[found]), counts


def changes(ascending: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return where a number differs from the one before; the first one counts as different."""
    differs: NDArray[np.bool_] = np.ones(len(ascending), dtype=np.bool_)
    np.not_equal(ascending[1:], ascending[:-1], out=differs[1:])
    return differs


def _left(counts: SensitiveCounts, left: NDArray[np.bool_], numbers: Places) -> SensitiveCounts:
    cells = left[counts.classes]
    return replace(
        counts, classes=numbers[counts.classes[cells]], values=counts.values[cells], counts=counts.counts[cells]
    )


THRESHOLDS = (0.05, 0.2)
"""Risks that are often considered acceptable: 1 in 20 for public tables, 1 in 5 for tables shared under contract."""


@dataclass(frozen=True, eq=False)
class ClassSizes:
    """The number of equivalence classes of each size, which determines re-identification risk and suppression.

    With several records a person, `records` are people, each once for every class that the person is in.

    Attributes:
        sizes: (distinct sizes,) in people, ascending, from 1.
        classes: (distinct sizes,) the number of classes of each size.
        of_people: Whether people can have several records.
        of_labels: Whether there are such classes for several labels; these are of the one with the highest risk.
    """

    sizes: Counts
    classes: Counts
    of_people: bool = False
    of_labels: bool = False

    @classmethod
    def of(cls, classes: Classes) -> "ClassSizes":
        """Count the classes of each size."""
        sizes, counts = np.unique(classes.sizes, return_counts=True)
        return cls(sizes, counts.astype(np.int64), classes.of_records is not None)

    @property
    def records(self) -> int:
        """The number of records in all classes."""
        return int(self.sizes @ self.classes)

    @property
    def is_apart(self) -> bool:
        """Whether a class can be left out without a change to others, so that sizes show what suppression takes."""
        return not (self.of_people or self.of_labels)

    def within(self, least: int, most: int | None = None) -> tuple[int, int]:
        """Return the number of classes with `least` to `most` records (`None`: or more), and of their records."""
        among = (self.sizes >= least) & (True if most is None else self.sizes <= most)
        return int(self.classes[among].sum()), int(self.sizes[among] @ self.classes[among])

    def suppressed_for(self, ks: Sequence[int]) -> Counts:
        """Return (ks,) the minimum number of records to suppress for k-anonymity of the others, for each k.

        They are all records of the classes smaller than k: suppressing only some would leave a still smaller class.
        """
        below = np.append(0, np.cumsum(self.sizes * self.classes))
        fewest: Counts = below[np.searchsorted(self.sizes, ks)]
        return fewest


@dataclass(frozen=True)
class Risk:
    """Risks of a release, as probabilities and shares of its records (El Emam 2013).

    Attributes:
        records, classes: Their numbers.
        highest, average: Prosecutor risk: someone knows that a person is in the table and knows all of the person's
            quasi-identifiers. It is `1 / size` of the person's equivalence class.
        marketer: Marketer risk: someone links all records with a register of the same people. It is the share expected
            to be matched correctly. Such a register has the same classes, so it equals `average`: classes over records.
        above: For each threshold, the share of records whose prosecutor risk is above it.
        uniques, unique_share: Records that are alone in their class.
    """

    records: int
    classes: int
    highest: float
    average: float
    marketer: float
    above: Mapping[float, float]
    uniques: int
    unique_share: float

    @classmethod
    def of(cls, sizes: ClassSizes, thresholds: Sequence[float] = THRESHOLDS) -> "Risk | None":
        """Return the risk of a release with classes of these sizes; `None` if it has no records."""
        records, classes = sizes.records, int(sizes.classes.sum())
        if not records:
            return None
        _, uniques = sizes.within(1, 1)
        above = {}
        for threshold in thresholds:
            at_risk = 1 / sizes.sizes > threshold
            above[threshold] = int(sizes.sizes[at_risk] @ sizes.classes[at_risk]) / records
        return cls(
            records=records,
            classes=classes,
            highest=1 / int(sizes.sizes[0]),
            average=classes / records,
            marketer=classes / records,
            above=above,
            uniques=uniques,
            unique_share=uniques / records,
        )
