"""Tables in this process's memory: data frames of pandas and Polars, and Arrow tables."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Protocol, TypeAlias

import ibis
import pyarrow as pa

from aegis_provider.errors import TableError
from aegis_provider.table.duckdb_engine import bounded, duckdb_engine, view_of
from aegis_provider.table.files import refuse_repeated
from aegis_provider.table.table import Table

_LONGEST = 200


class ArrowTable(Protocol):
    """Whatever hands its columns over as Arrow's C stream: a DataFrame of pandas or Polars, a table of Arrow."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The columns."""
        ...


class LazyFrame(Protocol):
    """A frame of Polars that is not computed yet."""

    def collect(self) -> Any:  # noqa: ANN401 - Polars need not be installed
        """The frame, computed."""
        ...


Frame: TypeAlias = ArrowTable | LazyFrame


def frame_name(table: object) -> str:
    """What messages call a table that has no name: `the DataFrame`, `the Arrow table`."""
    return f"the {'Arrow table' if isinstance(table, pa.Table | pa.RecordBatch) else type(table).__name__}"


@contextmanager
def open_frame(table: Frame, memory_limit: str) -> Iterator[Table]:
    """The records of a frame, in its order, with the types that it would have in Parquet.

    Its columns are not copied where they are Arrow's already, as those of an Arrow table.

    Raises:
        TableError: what is given is no table, or a column of it has values of several types.
    """
    name = frame_name(table)
    columns = _arrow_table(table)
    refuse_repeated(columns.column_names, name)
    backend = ibis.duckdb.connect()
    with bounded(backend, memory_limit):
        engine = duckdb_engine(name, backend)
        with engine.complaining():
            backend.con.register("held", columns.rename_columns([f"c{n}" for n in range(columns.num_columns)]))
        opened = Table.of(engine, view_of(engine, "SELECT * FROM held"), columns.column_names)
        yield replace(opened, finder=_Rows())


class _Rows:
    def whereabouts(self, table: Table, place: int, text: str) -> str:
        """`row 16`."""
        row = table.first_row(place, text)
        return f"row {row}" if row else ""


def _arrow_table(table: Any) -> pa.Table:  # noqa: ANN401 - anything may be given
    _refuse_other_kinds(table)
    try:
        frame = table.collect() if _is_lazy(table) else table
        columns = pa.table(frame)
    except Exception as error:  # what Arrow, pandas and Polars raise has no base in common
        message = next(iter(str(error).splitlines()), type(error).__name__)[:_LONGEST]
        raise TableError(f"{frame_name(table)}: cannot be read as columns of one type each: {message}") from error
    if "Object" in map(str, getattr(frame, "dtypes", ())):  # of Polars, which would hand over addresses
        raise TableError(f"{frame_name(table)}: cannot be read as columns of one type each: one has the type Object")
    return columns


def _refuse_other_kinds(table: object) -> None:
    if isinstance(table, pa.RecordBatchReader):
        raise TableError("a RecordBatchReader can be read only once; give the table that its read_all() returns")
    if not (hasattr(table, "__arrow_c_stream__") or _is_lazy(table)):
        raise TableError(
            f"a {type(table).__name__} is not a table; give a path, a URL#table, a DataFrame of pandas or Polars, an "
            "Arrow table or an Ibis table"
        )


def _is_lazy(table: object) -> bool:
    """Whether it is a frame of Polars that is not computed yet; Polars is not imported to know that."""
    return type(table).__module__.partition(".")[0] == "polars" and hasattr(table, "collect")
