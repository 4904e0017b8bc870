"""The columns of a table, surveyed by its engine."""

from collections.abc import Sequence
from math import isfinite
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from aegis_provider.errors import TableError
from aegis_provider.identifiers.values import Values
from aegis_provider.table import Table
from aegis_provider.table.discretization import is_number, number_of
from aegis_provider.table.files import refuse_more_columns
from aegis_provider.table.values import MISSING

_COLUMNS_PER_READING: Final = 60

#: The most columns of a table to survey.
MOST_COLUMNS: Final = 2_000

# Of so many records, few values of all columns are read at once: a query for each column would parse a file anew.
_READ_AT_ONCE: Final = 100_000

# Of more values, only so many at both ends are sampled, and of those that are neither plain numbers nor dates.
_SAMPLED: Final = 2_000
_PLAIN: Final = "^([+-]?(0|[1-9][0-9]*)?([.][0-9]*)?|[0-9]{4}-[0-9]{2}-[0-9]{2})$"


def values_of(table: Table, names: Sequence[str]) -> list[Values]:
    """Survey these columns. The table is read twice for every 60 of them, and once or twice for each of many values.

    Raises:
        TableError: The table cannot be read, has no records, or there are too many columns.
    """
    refuse_more_columns(table.name, names, MOST_COLUMNS)
    starts = range(0, len(names), _COLUMNS_PER_READING)
    return [each for start in starts for each in _surveyed(table, names[start : start + _COLUMNS_PER_READING])]


def _surveyed(table: Table, names: Sequence[str]) -> list[Values]:
    texts = table.in_memory(names)
    if texts is None:
        return _by_queries(table, names)
    if not len(texts):
        raise _no_records(table)
    return [_of_texts(table, name, column) for name, column in zip(names, texts.columns, strict=True)]


def _of_texts(table: Table, name: str, texts: pa.ChunkedArray) -> Values:
    """Survey a column whose texts are in memory."""
    counted = texts.value_counts()
    records = dict(zip(counted.field(0).to_pylist(), counted.field(1).to_pylist(), strict=True))
    known = len(texts) - records.pop(MISSING, 0)
    sample = tuple(sorted(records)) if len(records) <= _SAMPLED else _sample(table, name, len(records))
    dtype = _type(table, name)
    if dtype.is_string():
        numbers = {text: float(text) for text in records if is_number(text)}
    else:
        each = ((text, float(text)) for text in (records if _is_typed_number(dtype) else ()))
        numbers = {text: number for text, number in each if isfinite(number)}
    extent = max(numbers.values()) - min(numbers.values()) if numbers else None
    return Values(name, len(texts), known, len(records), sum(records[text] for text in numbers), extent, sample)


def _by_queries(table: Table, names: Sequence[str]) -> list[Values]:
    """Survey columns by one query for all, and by others for the values of each."""
    keys = table.keys(names, names)
    asked: dict[str, Any] = {"n": keys.count()}
    for place, name in enumerate(names):
        asked |= {f"known{place}": keys[f"v{place}"].count(), f"distinct{place}": keys[f"v{place}"].nunique()}
        if (dtype := _type(table, name)).is_string() or _is_typed_number(dtype):
            number = number_of(keys[f"{'v' if dtype.is_string() else 'w'}{place}"])
            asked |= {f"numbers{place}": number.count(), f"extent{place}": number.max() - number.min()}
    seen = table.engine.fetch(keys.aggregate(**asked)).to_pylist()[0]
    if not seen["n"]:
        raise _no_records(table)
    few = [name for place, name in enumerate(names) if seen[f"distinct{place}"] <= _SAMPLED]
    whole = _whole(table, few) if few and seen["n"] <= _READ_AT_ONCE else {}
    return [_column(table, name, seen, place, whole.get(name)) for place, name in enumerate(names)]


def _type(table: Table, name: str) -> Any:  # noqa: ANN401 - Ibis has no types
    return table.source[f"c{table.columns.index(name)}"].type()


def _is_typed_number(dtype: Any) -> bool:  # noqa: ANN401 - see above
    return bool(dtype.is_numeric() and not dtype.is_boolean())


def _no_records(table: Table) -> TableError:
    return TableError(f"{table.name}: the table has no records")


def _whole(table: Table, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return all texts of columns, by one reading."""
    texts: dict[str, set[str]] = {name: set() for name in names}
    for batch in table.batches(names):
        for name, column in zip(names, batch.columns, strict=True):
            texts[name].update(pc.unique(column).to_pylist())
    return {name: tuple(sorted(each - {MISSING})) for name, each in texts.items()}


def _column(table: Table, name: str, seen: dict[str, Any], place: int, whole: tuple[str, ...] | None) -> Values:
    distinct = int(seen[f"distinct{place}"])
    sample = _sample(table, name, distinct) if whole is None else whole
    numbers, extent = seen.get(f"numbers{place}", 0), seen.get(f"extent{place}")
    return Values(name, seen["n"], seen[f"known{place}"], distinct, numbers, extent, sample)


def _sample(table: Table, name: str, distinct: int) -> tuple[str, ...]:
    """Return the texts of the values of a column; of many, the first, the last, and the odd ones."""
    reading, key = table.reading(name), table.keys([name])
    values = key.distinct()
    texts = values.select(v0=reading.text(values["v0"]))
    ends = [texts.order_by(order).limit(_SAMPLED) for order in (texts["v0"].asc(), texts["v0"].desc())]
    if key["v0"].type().is_string():
        ends.append(texts.filter(~texts["v0"].re_search(_PLAIN)).order_by("v0").limit(_SAMPLED))
    fetched = [table.engine.fetch(each) for each in ([texts] if distinct <= _SAMPLED else ends)]
    shown = [reading.canonical(each["v0"].combine_chunks()).to_pylist() for each in fetched]
    return tuple(sorted({text for each in shown for text in each} - {MISSING}))
