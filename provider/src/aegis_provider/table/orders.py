"""The order of texts by the type of a column: ordered categoricals of data frames and Parquet, and enums."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

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
        names = [
            field.name for field in file.schema_arrow if _states_order(field.type) and _has_dictionary(file, field.name)
        ]
        first = next(file.iter_batches(1, columns=names), None) if names else None
        return {} if first is None else orders_in(pa.Table.from_batches([first]))


def _has_dictionary(file: pq.ParquetFile, name: str) -> bool:
    groups = [file.metadata.row_group(place) for place in range(file.metadata.num_row_groups)]
    columns = [group.column(place) for group in groups for place in range(group.num_columns)]
    return all(column.has_dictionary_page for column in columns if column.path_in_schema == name)


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
