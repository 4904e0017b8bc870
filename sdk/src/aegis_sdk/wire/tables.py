"""Tables of numbers, as lists of rows. Single cells are checked only if a check of the whole table fails."""

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Annotated, cast

from pydantic import Field, ValidationInfo, WrapValidator

from aegis_sdk.wire.faults import Fault, refuse
from aegis_sdk.wire.values import (
    COUNT_MAX,
    Count,
    all_counts,
    as_list,
    count_fault,
    instead_of_pydantic,
    is_count_array,
    item_faults,
    json_name,
)

FaultOf = Callable[[object], str | None]
"""Returns the fault of a value as a cell, or None."""


def _masked_count_fault(value: object) -> str | None:
    """The fault of a value as a count without noise; None if it is one."""
    negative = type(value) is int and value < 0
    return "A count cannot be negative unless the masking declares `noise`" if negative else count_fault(value)


def _noisy_count_fault(value: object) -> str | None:
    """The fault of a value as a count with noise, which may be negative; None if it is one."""
    if type(value) is int and value < 0:
        return None if value >= -COUNT_MAX else f"A noisy count is at least -{COUNT_MAX}"
    return count_fault(value)


def _probability_fault(value: object) -> str | None:
    """The fault of a value as a probability; None if it is one."""
    if type(value) not in (int, float):
        return f"A probability is a number, not {json_name(value)}"
    return None if 0 <= cast("float", value) <= 1 else "A probability lies between 0 and 1"


def _checked(value: object, fault_of: FaultOf, *, least: int = 0) -> list[list[int]]:
    """Return the table if its cells are integers from `least` up and its rows are of equal length; else refuse it."""
    if is_count_array(value, 2, least):
        return cast("list[list[int]]", value)
    table = _as_table(value)
    if not all_counts(lambda: chain.from_iterable(table), least):
        refuse("table", _cell_faults(table, fault_of))
    return cast("list[list[int]]", _rectangular(table))


def _masked_counts(value: object, _: object, info: ValidationInfo) -> list[list[int]]:
    """Return a table of counts; negative counts need a `noise` field before the table, whether it is valid or not."""
    if info.data.get("noise", ...) is None:
        return _checked(value, _masked_count_fault)
    return _checked(value, _noisy_count_fault, least=-COUNT_MAX)


def _probability_table(value: object) -> list[list[float]]:
    """Return the table if its cells are probabilities and its rows are of equal length; else refuse it."""
    table = _as_table(value)
    if not _all_probabilities(table):
        refuse("table", _cell_faults(table, _probability_fault))
    return cast("list[list[float]]", _rectangular(table))


def _all_probabilities(table: list[list[object]]) -> bool:
    """Whether every cell of a table is a probability."""
    if not set(map(type, chain.from_iterable(table))) <= {int, float}:
        return False
    numbers = cast("list[list[float]]", table)
    # The sum finds NaN, which the comparisons of min and max may miss.
    return all(min(row) >= 0 and max(row) <= 1 and sum(row) >= 0 for row in numbers if row)


def _as_table(value: object) -> list[list[object]]:
    """Return the value if it is a list of lists; else refuse it, or each row that is not a list."""
    rows = as_list(value)
    if not set(map(type, rows)) <= {list}:
        refuse("table", item_faults(rows, _row_fault))
    return cast("list[list[object]]", rows)


def _row_fault(value: object) -> str | None:
    return None if type(value) is list else f"A row is a list of numbers, not {json_name(value)}"


def _cell_faults(table: list[list[object]], fault_of: FaultOf) -> Iterator[Fault]:
    """The faults of the cells of a table."""
    for index, row in enumerate(table):
        for location, detail in item_faults(row, fault_of):
            yield (index, *location), detail


def _rectangular(table: list[list[object]]) -> list[list[object]]:
    """Return the table if its rows are of equal length; else refuse each row that is not as long as the first."""
    if len(set(map(len, table))) > 1:
        refuse("table", _ragged_rows(table))
    return table


def _ragged_rows(table: list[list[object]]) -> Iterator[Fault]:
    """A fault at each row that is not as long as the first."""
    width = len(table[0])
    for index, row in enumerate(table):
        if len(row) != width:
            yield (index,), f"The row has {len(row)} items, but the first row has {width}"


CountTable = Annotated[list[list[Count]], instead_of_pydantic(lambda value: _checked(value, count_fault))]
"""A rectangular table of counts, as a list of rows."""

NoisyCount = Annotated[int, Field(ge=-COUNT_MAX, le=COUNT_MAX)]
"""A count that may have noise: an integer from -(2^53-1) to 2^53-1."""

Probability = Annotated[float, Field(ge=0, le=1)]

ProbabilityTable = Annotated[list[list[Probability]], instead_of_pydantic(_probability_table)]
"""A rectangular table of probabilities, as a list of rows."""

MaskedCounts = Annotated[list[list[NoisyCount]], WrapValidator(_masked_counts)]
"""The joint counts of a masking, as a list of rows; the model's field `noise` must stand before this one."""
