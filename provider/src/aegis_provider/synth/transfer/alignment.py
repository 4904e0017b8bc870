"""Which released value predicts a real one: the groups of values that a rule learned from a release tells apart."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from aegis_provider.counting.counts import Partition
from aegis_provider.counting.published_domain import LEAST, least_records, merged_values
from aegis_provider.records import Records
from aegis_provider.synth.released import ReleasedColumn

Places = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Alignment:
    """The groups of an attribute's values in a release and in its table.

    Attributes:
        released: (released records,) The group of each released value.
        of_value: (values,) The group of each value of the table.
        size: How many groups there are; the last one is that of values which the release lacks.
    """

    released: Places
    of_value: Places
    size: int

    @classmethod
    def of(cls, column: ReleasedColumn, seen: Records, label: str) -> Self:
        """Return the groups of a released column.

        A masked value is a group: of all values that it stands for, unless another one stands for fewer of them. Of
        generated and unmasked values, rare ones are merged as in an entry's domain, by the records that were seen: a
        rule would learn nothing from them one by one.
        """
        if any(isinstance(meaning, np.ndarray) and len(meaning) > 1 for meaning in column.meanings):
            return cls(column.codes, _most_specific(column), len(column.texts) + 1)
        merged = _merged(column, seen, label)
        of_text = np.array([_group(column, merged, text) for text in range(len(column.texts))], dtype=np.intp)
        return cls(of_text[column.codes], merged.groups, merged.size + 1)

    @classmethod
    def dropped(cls, released: int, values: int) -> Self:
        """Return that of an attribute that a release of so many records does not have: all values are alike."""
        return cls(np.zeros(released, dtype=np.intp), np.zeros(values, dtype=np.intp), 1)


def _most_specific(column: ReleasedColumn) -> Places:
    """(values,) The text that stands for each value and for the fewest others; the number of texts if none does."""
    of_value = np.full(len(column.original.domain), len(column.texts), dtype=np.intp)
    members = {text: each for text, each in enumerate(column.meanings) if isinstance(each, np.ndarray)}
    for text in sorted(members, key=lambda text: -len(members[text])):
        of_value[members[text]] = text
    return of_value


def _merged(column: ReleasedColumn, seen: Records, label: str) -> Partition:
    """Return the groups of values with enough records."""
    own, by = seen.column(column.name), seen.column(label)
    joint = np.zeros((len(own.domain), len(by.domain)), dtype=np.int64)
    np.add.at(joint, (own.places, by.places), 1)
    everything = Partition(np.zeros(len(own.domain), dtype=np.intp), 1)
    merged = merged_values(own.domain, joint, everything, least_records(len(seen)), binned=False, fewest=LEAST)
    return Partition.of(merged.groups)


def _group(column: ReleasedColumn, merged: Partition, text: int) -> int:
    """Return the group of a released value; of a number that no record has, that of the nearest one."""
    meaning, numbers = column.meanings[text], column.original.numbers
    if isinstance(meaning, np.ndarray):
        return int(merged.groups[meaning[0]]) if len(meaning) else merged.size
    if numbers is None or np.isnan(numbers).all():
        return merged.size
    return int(merged.groups[np.nanargmin(np.abs(numbers - meaning))])
