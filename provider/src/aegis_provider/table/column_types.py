"""What the types of columns state: CSV forms of values, the index of a frame, and the order of texts."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime
from decimal import Decimal
from numbers import Real
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from aegis_provider.errors import TableError, shortened
from aegis_provider.table.engine import quoted

_LEVEL: Final = re.compile(r"__index_level_\d+__")
_OFFSET: Final = re.compile(r"[+-]\d{2}:\d{2}")

# Pandas stores a period as the number of periods since 1970.
_PERIODS: Final[Mapping[str, str]] = {
    "period[D]": "(DATE '1970-01-01' + {}::INTEGER)::VARCHAR",
    "period[M]": "strftime(DATE '1970-01-01' + to_months({}::INTEGER), '%Y-%m')",
    "period[Q-DEC]": "strftime(DATE '1970-01-01' + to_months(3 * {0}::INTEGER), '%YQ') || (1 + ({0} % 4 + 4) % 4)",
    "period[Y-DEC]": "(1970 + {})::VARCHAR",
}


def index_columns(schema: pa.Schema) -> tuple[str, ...]:
    """Return the columns that were the index of a pandas frame: mostly row numbers, and not data."""
    stated = _pandas(schema).get("index_columns", [])
    return tuple(name for name in schema.names if name in stated or _LEVEL.fullmatch(name))


def selected(schema: pa.Schema, columns: Sequence[str], name: str) -> str:
    """Return the SQL of `columns`, which have the types of a schema, in their CSV form.

    A moment with a time zone has the date and time of its zone; periods and intervals of pandas are texts.

    Args:
        schema: The types of the values, with the metadata of pandas.
        columns: The names of the columns in SQL.
        name: The name of the table in messages.

    Raises:
        TableError: A column has periods that need pandas.
    """
    said = [each for each in _pandas(schema).get("columns", []) if isinstance(each, dict)]
    kinds = {each.get("field_name"): str(each.get("numpy_type")) for each in said}
    selectors = [_selector(field, kinds.get(field.name, ""), name) for field in schema]
    return ", ".join(f"{tell(column)} AS {column}" for tell, column in zip(selectors, columns, strict=True))


def in_words(frame: Any) -> Any:  # noqa: ANN401 - pandas need not be installed
    """Return a pandas frame with the CSV texts of periods, intervals, and columns of mixed types.

    Raises:
        TableError: A column has objects that are not values of a table.
    """
    shown = frame.copy(deep=False)
    for place, dtype in enumerate(frame.dtypes):
        column = frame.iloc[:, place]
        if _is_written_as_text(getattr(dtype, "categories", None)):
            shown.isetitem(place, column.cat.rename_categories(str))
        elif _is_written_as_text(column):
            shown.isetitem(place, column.astype(str).where(column.notna(), None))
        elif str(dtype) == "object":
            try:
                pa.array(column, from_pandas=True)
                continue
            except (pa.ArrowInvalid, pa.ArrowTypeError):  # values of several types
                pass
            name, missing = str(frame.columns[place]), column.isna()
            pairs = zip(column, missing, strict=True)
            shown.isetitem(place, [None if is_missing else _text(value, name) for value, is_missing in pairs])
    return shown


def _text(value: Any, column: str) -> str:  # noqa: ANN401 - see above
    """Return the CSV text of a value in a column of mixed types."""
    if isinstance(value, bool | np.bool_):
        return str(value).lower()
    if isinstance(value, Real | Decimal):
        text = format(Decimal(str(value)), "f")
        return text.rstrip("0").rstrip(".") if "." in text else text
    if isinstance(value, datetime):  # the pandas class of moments is one, too
        written = value.replace(tzinfo=None).isoformat(" ")
        return written.removesuffix(" 00:00:00")
    if isinstance(value, str | date):
        return str(value)
    raise TableError(
        f"the DataFrame: column {shortened(column)} has values of the type {type(value).__name__} among others; make "
        "them texts, numbers or dates"
    )


def _is_written_as_text(values: Any) -> bool:  # noqa: ANN401 - see above
    return str(getattr(values, "dtype", "")).startswith(("period[", "interval["))


def _selector(field: pa.Field, kind: str, name: str) -> Callable[[str], str]:
    """Return the function from the name of a column to the SQL of its values."""
    if pa.types.is_timestamp(field.type) and field.type.tz:
        zone = f"GMT{field.type.tz}" if _OFFSET.fullmatch(field.type.tz) else field.type.tz
        return lambda column: f"timezone({quoted(zone)}, {column})"
    if kind.startswith("interval["):
        left = "[" if kind.endswith(("left]", "both]")) else "("
        right = "]" if kind.endswith(("right]", "both]")) else ")"
        return lambda column: f"'{left}' || {column}.left || ', ' || {column}.right || '{right}'"
    if kind.startswith("period["):
        if kind not in _PERIODS:
            raise TableError(f"{name}: {shortened(field.name)} has periods of pandas ({kind}); write texts or dates")
        return _PERIODS[kind].format
    return str


def _pandas(schema: pa.Schema) -> dict[str, Any]:
    """Return the metadata of pandas; empty if pandas did not write the table."""
    metadata = (schema.metadata or {}).get(b"pandas")
    with suppress(ValueError):
        said = json.loads(metadata or "{}")
        return said if isinstance(said, dict) else {}
    return {}


Orders: TypeAlias = Mapping[str, Sequence[str]]
"""By column, its values from the lowest to the highest; other columns only have the order of their type."""


def orders_in(table: pa.Table) -> Orders:
    """Return the orders of the ordered categoricals of an Arrow table, including enums of Polars.

    A column whose chunks have different values has no order.
    """
    columns = [each for each in zip(table.column_names, table.columns, strict=True) if _states_order(each[1].type)]
    orders = {name: {tuple(part.dictionary.to_pylist()) for part in column.chunks} for name, column in columns}
    return {name: values.pop() for name, values in orders.items() if len(values) == 1}


def orders_in_parquet(paths: Sequence[Path]) -> Orders:
    """Return the orders of the ordered categoricals of Parquet files, which all files must share.

    The order is in the dictionary of a column; a file written without dictionaries has lost it.
    """
    first, *others = map(_orders_in_file, paths)
    return {name: order for name, order in first.items() if all(other.get(name) == order for other in others)}


def _orders_in_file(path: Path) -> Orders:
    with pq.ParquetFile(path) as file:
        groups = [file.metadata.row_group(place) for place in range(file.metadata.num_row_groups)]
        columns = [group.column(place) for group in groups for place in range(group.num_columns)]
        without = {column.path_in_schema for column in columns if not column.has_dictionary_page}
        names = [field.name for field in file.schema_arrow if _states_order(field.type) and field.name not in without]
        first = next(file.iter_batches(1, columns=names), None) if names else None
        return {} if first is None else orders_in(pa.Table.from_batches([first]))


def orders_in_duckdb(backend: Any, query: str) -> Orders:  # noqa: ANN401 - Ibis has no types
    """Return the orders of the enums among the columns of a query.

    Raises:
        duckdb.Error: DuckDB rejects the query.
    """
    relation = backend.con.sql(query)
    enums = (column for column in zip(relation.columns, relation.types, strict=True) if column[1].id == "enum")
    return {name: dict(kind.children)["values"] for name, kind in enums}


def orders_in_postgres(backend: Any, query: str) -> Orders:  # noqa: ANN401 - Ibis has no types
    """Return the orders of the enums among the columns of a query; only of plain columns of such a type.

    Raises:
        psycopg.Error: PostgreSQL rejects the query.
    """
    labels = "SELECT enumtypid, array_agg(enumlabel::text ORDER BY enumsortorder) FROM pg_catalog.pg_enum GROUP BY 1"
    with backend.con.cursor() as cursor:
        cursor.execute(f"SELECT * FROM ({query}) AS held LIMIT 0")  # noqa: S608 - by Ibis
        kinds = {column.name: column.type_code for column in cursor.description}
        enums = dict(cursor.execute(labels).fetchall())
    return {name: tuple(enums[kind]) for name, kind in kinds.items() if kind in enums}


def _states_order(kind: pa.DataType) -> bool:
    if not (pa.types.is_dictionary(kind) and kind.ordered):
        return False
    values = kind.value_type
    return bool(pa.types.is_string(values) or pa.types.is_large_string(values) or pa.types.is_string_view(values))
