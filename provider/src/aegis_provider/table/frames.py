"""Tables in the memory of this process: pandas and Polars data frames, and Arrow tables."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Protocol, TypeAlias

import duckdb
import pyarrow as pa

from aegis_provider.errors import TableError
from aegis_provider.table.column_types import in_words, index_columns, orders_in, selected
from aegis_provider.table.engine import bounded, duckdb_engine, view_of
from aegis_provider.table.files import refuse_repeated
from aegis_provider.table.in_memory import SMALL, InMemory
from aegis_provider.table.table import Table

_LONGEST = 200


class ArrowTable(Protocol):
    """A table that offers its columns as an Arrow C stream: a pandas or Polars DataFrame, or an Arrow table."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the columns."""
        ...


class LazyFrame(Protocol):
    """A Polars frame that is not computed yet."""

    def collect(self) -> Any:  # noqa: ANN401 - Polars need not be installed
        """Compute the frame."""
        ...


Frame: TypeAlias = ArrowTable | LazyFrame


def frame_name(table: object) -> str:
    """Return the name in messages of a table without a name: `the DataFrame` or `the Arrow table`."""
    return f"the {'Arrow table' if isinstance(table, pa.Table | pa.RecordBatch) else type(table).__name__}"


@contextmanager
def open_frame(table: Frame, memory_limit: str) -> Iterator[Table]:
    """Open a frame as a table, with its records in order and with the types of Parquet.

    Columns that are already in Arrow's format, such as those of an Arrow table, are not copied.

    Raises:
        TableError: The argument is not a table, or a column has objects that are not values of a table.
    """
    name = frame_name(table)
    columns = _arrow_table(table)
    refuse_repeated(columns.column_names, name)
    connection = duckdb.connect()
    with bounded(connection, memory_limit):
        engine = duckdb_engine(name, connection)
        places = [f"c{place}" for place in range(columns.num_columns)]
        with engine.complaining():
            connection.register("held", columns.rename_columns(places))
        query = f"SELECT {selected(columns.schema, places, name)} FROM held"  # noqa: S608 - places
        opened = Table.of(engine, view_of(engine, query), columns.column_names)
        memory = InMemory(lambda: 0) if columns.nbytes <= SMALL else None
        index = index_columns(columns.schema)
        yield replace(opened, finder=_Rows(), orders=orders_in(columns), index=index, memory=memory)


class _Rows:
    def whereabouts(self, table: Table, place: int, text: str) -> str:
        """Return the row in words: `row 16`."""
        row = table.first_row(place, text)
        return f"row {row}" if row else ""


def _arrow_table(table: Any) -> pa.Table:  # noqa: ANN401 - anything may be given
    library = type(table).__module__.partition(".")[0]
    is_lazy = library == "polars" and hasattr(table, "collect")
    if isinstance(table, pa.RecordBatchReader):
        raise TableError("a RecordBatchReader can be read only once; give the table that its read_all() returns")
    if not (hasattr(table, "__arrow_c_stream__") or is_lazy):
        raise TableError(
            f"a {type(table).__name__} is not a table; give a path, a URL#table, a DataFrame of pandas or Polars, an "
            "Arrow table or an Ibis table"
        )
    try:
        frame = table.collect() if is_lazy else in_words(table) if library == "pandas" else table
        columns = pa.table(frame)
    except TableError:
        raise
    except Exception as error:  # the errors of Arrow, pandas and Polars have no common base
        message = next(iter(str(error).splitlines()), type(error).__name__)[:_LONGEST]
        raise TableError(f"{frame_name(table)}: cannot be read as columns of one type each: {message}") from error
    if "Object" in map(str, getattr(frame, "dtypes", ())):  # Polars would export the addresses of the objects
        raise TableError(f"{frame_name(table)}: cannot be read as columns of one type each: one has the type Object")
    return columns
