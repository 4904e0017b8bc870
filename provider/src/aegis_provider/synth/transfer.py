"""The transfer utilities of a release, and of its original records, rounded for an entry."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, floor
from statistics import fmean
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aegis_advisor.transfer import (
    Figure,
    additive_rule,
    chi_square_transfer,
    g3_transfer,
    information_transfer,
    joint_transfer,
)
from aegis_provider.control.rounded_statistics import step_for
from aegis_provider.counting.counted_table import LEAST
from aegis_provider.counting.counts import Partition
from aegis_provider.counting.published_domain import least_records, merged_values
from aegis_provider.records import Records
from aegis_provider.synth.released.released import Released, ReleasedColumn
from aegis_sdk.wire import Estimate, Holdout, Transfer, figure_limits

Places = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Alignment:
    """The groups of an attribute's values in a release and in its table.

    Attributes:
        released: (released records,) The group of each released value.
        of_value: (values,) The group of each value of the table.
    """

    released: Places
    of_value: Places
    size: int

    @classmethod
    def of(cls, column: ReleasedColumn, seen: Records, label: str) -> Self:
        """Return the groups of a released column.

        A masked value is a group of all values that it stands for, unless another one stands for fewer. Rare generated
        and unmasked values are merged as in an entry's domain, by the seen records, since a rule would learn nothing
        from single ones.
        """
        if any(isinstance(meaning, np.ndarray) and len(meaning) > 1 for meaning in column.meanings):
            of_value = np.full(len(column.original.domain), len(column.texts), dtype=np.intp)
            members = {text: each for text, each in enumerate(column.meanings) if isinstance(each, np.ndarray)}
            for text in sorted(members, key=lambda text: -len(members[text])):
                of_value[members[text]] = text
            return cls(column.codes, of_value, len(column.texts) + 1)
        merged = _merged(column, seen, label)
        of_text = np.array([_group(column, merged, text) for text in range(len(column.texts))], dtype=np.intp)
        return cls(of_text[column.codes], merged.groups, merged.size + 1)


def _merged(column: ReleasedColumn, seen: Records, label: str) -> Partition:
    """Return the groups of values with enough records."""
    own, by = seen.column(column.name), seen.column(label)
    joint = np.zeros((len(own.domain), len(by.domain)), dtype=np.int64)
    np.add.at(joint, (own.places, by.places), 1)
    everything = Partition(np.zeros(len(own.domain), dtype=np.intp), 1)
    least, fewest = least_records(len(seen), seen.rows), LEAST * seen.rows
    merged = merged_values(own.domain, joint, everything, least, binned=False, fewest=fewest)
    return Partition.of(merged.groups)


def _group(column: ReleasedColumn, merged: Partition, text: int) -> int:
    """Return the group of a released value; for a number that no record has, that of the nearest."""
    meaning, numbers = column.meanings[text], column.original.numbers
    if isinstance(meaning, np.ndarray):
        return int(merged.groups[meaning[0]]) if len(meaning) else merged.size
    if numbers is None or np.isnan(numbers).all():
        return merged.size
    return int(merged.groups[np.nanargmin(np.abs(numbers - meaning))])


Numbers: TypeAlias = tuple[float, float, float]
"""A number with the lower and the upper limit of its interval."""


def told_by(transfer: Transfer, holdout: Holdout, measure: str) -> Numbers | None:
    """Return the transfer utility by a measure: `joint` of all attributes together, otherwise the mean over them.

    For g3, it is the reduction of a rule's errors. `None` if there are no such numbers.
    """
    if measure == "joint":
        return None if transfer.joint is None else _numbers(transfer.joint)
    figures = [attribute[measure] for attribute in transfer.attributes.values() if measure in attribute]
    if not figures:
        return None
    value, low, high = (fmean(each) for each in zip(*map(_numbers, figures), strict=True))
    if measure == "g3":
        most = holdout.majority_error or 0.0
        return most - value, most - high, most - low
    return value, low, high


def _numbers(estimate: Estimate) -> Numbers:
    return estimate.value, estimate.low, estimate.high


_DIGITS = 6
"""Maximum decimals of multiples of a decimal fraction."""


def transfer_of(released: Released, seen: Records, held_out: Records, label: str) -> Transfer:
    """Return the utility on held-out records of rules learnt from a release, by attribute and together.

    Source: docs/model.md, "What a release tells about real records".

    Args:
        released: The release. If it is masked, it must contain only seen records.
        seen: The records that it was made from, which determine the values too rare to distinguish.
    """
    compared = _Compared.of(released, seen, held_out, label)
    sizes = len(held_out.column(label).domain), len(released), len(held_out)
    step = _step(seen, held_out)
    by_attribute = {
        name: {measure: _declared(measure, figure, step, *sizes) for measure, figure in compared.figures(name).items()}
        for name in seen.attributes
    }
    return Transfer(attributes=by_attribute, joint=_declared("joint", compared.together(), step, *sizes))


def _step(seen: Records, held_out: Records) -> float:
    """Return the step of numbers on held-out records: as many times coarser as one person has records at most."""
    return step_for(len(held_out) / seen.rows)


def holdout_of(seen: Records, held_out: Records, label: str) -> Holdout:
    """Return an entry's description of held-out records, with the transfer utility of the unmasked seen ones."""
    counts = np.bincount(held_out.column(label).places)
    step = _step(seen, held_out)
    return Holdout(
        records=len(held_out),
        unmasked=transfer_of(Released.as_it_is(seen), seen, held_out, label),
        majority_error=_multiple(round((1 - counts.max() / counts.sum()) / step), step),
        rounded_to=step,
    )


@dataclass(frozen=True, eq=False)
class _Compared:
    """A release and held-out records in common groups.

    Attributes:
        alignments: The groups of each attribute, by name.
        rows: (released records with a label,) Their places.
        labels: (released records with a label,) The place of each one's label.
    """

    alignments: Mapping[str, Alignment]
    rows: NDArray[np.intp]
    labels: NDArray[np.intp]
    held_out: Records
    label: str

    @classmethod
    def of(cls, released: Released, seen: Records, held_out: Records, label: str) -> Self:
        alignments = {}
        for name in seen.attributes:
            if name in released.names:
                alignments[name] = Alignment.of(released.column(name), seen, label)
            else:  # all values are in one group
                values = np.zeros(len(seen.column(name).domain), dtype=np.intp)
                alignments[name] = Alignment(np.zeros(len(released), dtype=np.intp), values, 1)
        own = released.column(label)
        labels = own.only[own.codes]
        rows = np.flatnonzero(labels >= 0)
        return cls(alignments, rows, labels[rows], held_out, label)

    @property
    def classes(self) -> int:
        """The number of label values."""
        return len(self.held_out.column(self.label).domain)

    def figures(self, name: str) -> dict[str, Figure]:
        """Return the figures of one attribute by measure."""
        aligned = self.alignments[name]
        release, holdout = np.zeros((2, aligned.size, self.classes))
        np.add.at(release, (aligned.released[self.rows], self.labels), 1)
        np.add.at(holdout, (self._held_out(name), self.held_out.column(self.label).places), 1)
        return {
            "mutual_information": information_transfer(release, holdout),
            "chi_square": chi_square_transfer(release, holdout),
            "g3": g3_transfer(release, holdout),
        }

    def together(self) -> Figure:
        """Return the figure of all attributes together."""
        codes = np.stack([alignment.released[self.rows] for alignment in self.alignments.values()], axis=1)
        sizes = [alignment.size for alignment in self.alignments.values()]
        rule = additive_rule(codes.astype(np.int64), self.labels.astype(np.int64), sizes, self.classes)
        tested = np.stack([self._held_out(name) for name in self.alignments], axis=1)
        return joint_transfer(rule, tested.astype(np.int64), self.held_out.column(self.label).places.astype(np.int64))

    def _held_out(self, name: str) -> NDArray[np.intp]:
        """(held-out records,) The group of each one's value."""
        return self.alignments[name].of_value[self.held_out.column(name).places]


def _declared(measure: str, figure: Figure, step: float, labels: int, records: int, held_out: int) -> Estimate:
    """Return a number for an entry: rounded, with an interval rounded outwards, within the limits of the measure."""
    least, most = (limit / step for limit in figure_limits(measure, labels, records, held_out))
    low, high = max(floor(figure.low / step), ceil(least)), min(ceil(figure.high / step), floor(most))
    value = min(max(round(figure.value / step), low), high)
    return Estimate(value=_multiple(value, step), low=_multiple(low, step), high=_multiple(high, step))


def _multiple(times: int, step: float) -> float:
    return round(times * step, _DIGITS)
