"""Associations of pairs with the label, and the trace of the unmasked table, rounded to reveal next to nothing of few.

An association is coarse enough to hide a few records, then rounded to a few digits.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from decimal import Context, Decimal
from typing import Any, Final

import numpy as np

from aegis_advisor.evidence import association_unit
from aegis_provider.control.lasting import LastingRandomness
from aegis_provider.counting.counts import Counts
from aegis_provider.counting.pair_tables import PairsTold
from aegis_provider.counting.unmasked_trace import UnmaskedTrace, largest_slope
from aegis_sdk.wire import EntryDocument, JointTrace, LabelAssociation

DIGITS: Final = 3
"""The significant digits."""


def rounded_association(
    chi_square: float,
    combinations: int,
    label: Sequence[int],
    base: int,
    chance: LastingRandomness,
    of_columns: LastingRandomness | None = None,
) -> LabelAssociation:
    """Return the association of two maskings with the label, rounded at random without bias, then to `DIGITS` digits.

    The combinations become a multiple of the base, and chi-square one of `association_unit`. A record of a rare label
    value changes chi-square most in a combination with few records, so these are merged before
    (`PairCells.without_rare`). Three digits alone disclose counts of small tables, since few tables have the same
    chi-square to three digits.

    Args:
        chi_square: The exact chi-square.
        combinations: The number of combinations that occur.
        label: The published records of each label value.
        of_columns: The randomness of the combinations, if it is not that of chi-square.
    """
    unit = association_unit(base, np.asarray(label, dtype=np.int64))
    occurring = base * _next(combinations / base, (of_columns or chance).number("combinations"))
    rounded = unit * _next(chi_square / unit, chance.number("chi-square"))
    digits = [float(Context(prec=DIGITS).create_decimal(Decimal(repr(number)))) for number in (rounded, occurring)]
    return LabelAssociation(
        chi_square=digits[0],
        combinations=max(1, int(digits[1])),
        rounded_to=base,
        digits=DIGITS,
    )


def _next(number: float, drawn: float) -> int:
    """Round a number to the whole number below or above, without bias for a number `drawn` between 0 and 1."""
    below = math.floor(number)
    return below + (drawn < number - below)


_RECORDS: Final = 10
"""The step is at least the share of this many records, the part of the label that such a group could explain."""

_FINEST: Final = 0.001
"""Further digits change no decision."""

_SLOPES: Final = 1.2
"""The least uncertainty of a reader about the trace, as a standard deviation in units of the change by one record."""

_MOST: Final = 0.2
"""A trace with a larger relative error than this is useless as the reference of configurations."""


def rounded_traces(entry: EntryDocument, told: PairsTold, base: int, chance: LastingRandomness) -> dict[str, Any]:
    """Return the fields that change if the traces of an entry are rounded.

    Args:
        told: The contributions of single counts to each trace; one without them is left out.
        base: The base by which other counts are rounded.
    """
    changed: dict[str, Any] = {}
    if entry.joint_trace is not None:
        drawn = chance.of(entry.label.name) if entry.labels else chance
        changed["joint_trace"] = _rounded_trace(
            entry, entry.joint_trace.value, (told.trace, _tables(entry)), base, drawn
        )
    if entry.joint_traces:
        traces = {}
        for name, trace in entry.joint_traces.items():
            tables = (table for (_, label), table in told.with_others.items() if label == name)
            known = told.of_others[name].trace, tables
            traces[name] = _rounded_trace(entry, trace.value, known, base, chance.of(name))
        changed["joint_traces"] = {name: trace for name, trace in traces.items() if trace is not None}
    return changed


def _rounded_trace(
    entry: EntryDocument,
    value: float,
    known: tuple[UnmaskedTrace | None, Iterable[Counts]],
    base: int,
    chance: LastingRandomness,
) -> JointTrace | None:
    """Return a trace rounded to a multiple of a step, up or down at random.

    Rounding by a step adds a variance of `step**2 / 6` to that of the counts that a reader does not know, which are
    rounded by `base`. If the two together do not hide a single person, the trace is left out.

    Args:
        known: The contributions of single counts to the trace; `None` if unknown, which leaves the trace out. And the
            counts of attributes with the label.
    """
    unmasked, tables = known
    if unmasked is None:
        return None
    if value > unmasked.value:  # a single published table exceeds the adjusted trace
        slope = max(unmasked.slope, largest_slope(tables, unmasked.numbers))
        unmasked = UnmaskedTrace(value, slope, numbers=unmasked.numbers)
    unknown, rows = (base * unmasked.spread) ** 2 / 6, entry.rows_per_person or 1
    hidden = math.sqrt(6 * max((_SLOPES * rows * unmasked.slope) ** 2 - unknown, 0.0))
    if hidden > _MOST * value:
        return None
    step = step_for(entry.records / rows, hidden)
    # Dividing by a whole number gives the nearest decimal fraction.
    return JointTrace(value=round(_next(value / step, chance.number("")) * step, 6), rounded_to=step)


def _tables(entry: EntryDocument) -> Iterator[Counts]:
    """Yield the counts of attributes and of their maskings with the label."""
    for attribute in entry.attributes:
        for joint in (attribute.joint, *(masking.joint for masking in attribute.maskings)):
            if joint is not None:
                yield np.array(joint, dtype=np.int64)


def step_for(records: float, at_least: float = 0.0) -> float:
    """Return the step for a table of this size: the smallest of 0.001, 0.002, 0.005 and so on that is coarse enough."""
    least = max(_FINEST, _RECORDS / records, at_least)
    power = 10.0 ** math.floor(math.log10(least))
    steps = (round(factor * power, 6) for factor in (1, 2, 5, 10))
    return next(step for step in steps if step >= least * (1 - 1e-9))
