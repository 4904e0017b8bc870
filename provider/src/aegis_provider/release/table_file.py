"""Writes a table block by block: CSV as RFC 4180 has it, or Parquet."""

import csv
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from aegis_provider.release.blocks import block_schema
from aegis_provider.release.parquet_values import ParquetColumn
from aegis_provider.table.duckdb_engine import quoted
from aegis_provider.table.values import Domain


def write_csv(path: Path, names: Sequence[str], blocks: Iterable[pa.RecordBatch], delimiter: str) -> None:
    """Writes blocks of texts; a missing value is a blank, or `""` where its line would hold nothing else.

    Raises `OSError`, and whatever the blocks raise.
    """
    blank = "nullif({}, '')" if len(names) > 1 else "{}"
    columns = ", ".join(blank.format(f"v{place}") for place in range(len(names)))
    stream = _Stream(len(names), blocks)
    copy = f"COPY (SELECT {columns} FROM masked) TO {quoted(str(path))} {_csv_options(names, delimiter)}"  # noqa: S608 - our own names
    with duckdb.connect() as connection:
        connection.execute("SET enable_progress_bar = false")
        connection.register("masked", stream.reader())
        try:
            connection.execute(copy)
        except duckdb.Error as error:
            raise stream.fault or OSError(_explained(error)) from error


def _csv_options(names: Sequence[str], delimiter: str) -> str:
    """The header is written as text, since two names may differ in case only, which SQL does not see."""
    header = StringIO()
    csv.writer(header, delimiter=delimiter, lineterminator="\n").writerow(names)
    prefix, suffix = quoted(header.getvalue()), quoted("\n")
    return f"(FORMAT csv, HEADER false, DELIMITER {quoted(delimiter)}, PREFIX {prefix}, SUFFIX {suffix})"


def _explained(error: duckdb.Error) -> str:
    """What the system says, out of DuckDB's words: `No space left on device`."""
    number = re.search(r'"errno":"(\d+)"', str(error))
    return os.strerror(int(number[1])) if number else str(error).partition("\n")[0]


@dataclass
class _Stream:
    """Blocks for DuckDB to pull; it wraps what goes wrong while it pulls, so that is kept in `fault`."""

    columns: int
    blocks: Iterable[pa.RecordBatch]
    fault: BaseException | None = None

    def reader(self) -> pa.RecordBatchReader:
        return pa.RecordBatchReader.from_batches(block_schema(self.columns), self._pulled())

    def _pulled(self) -> Iterator[pa.RecordBatch]:
        try:
            yield from self.blocks
        except BaseException as fault:
            self.fault = fault
            raise


def write_parquet(
    path: Path, names: Sequence[str], blocks: Iterable[pa.RecordBatch], domains: Sequence[Domain]
) -> None:
    """Writes blocks of texts in the types of their domains where Parquet has them.

    Raises `OSError`, and whatever the blocks raise.
    """
    columns = [ParquetColumn.of(domain) for domain in domains]
    schema = pa.schema([(name, column.type) for name, column in zip(names, columns, strict=True)])
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for block in blocks:
            written = [column.written(texts) for column, texts in zip(columns, block.columns, strict=True)]
            writer.write_batch(pa.record_batch(written, schema=schema))
