"""Writes a table block by block: CSV as RFC 4180 has it, or Parquet, typed where nothing is lost by it."""

import csv
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from io import StringIO
from pathlib import Path
from typing import Any, Final, Self

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from aegis_provider.release.blocks import Texts, block_schema, places_of
from aegis_provider.table.duckdb_engine import quoted
from aegis_provider.table.values import MISSING, Domain, Key, ValueType


def write_csv(path: Path, names: Sequence[str], blocks: Iterable[pa.RecordBatch], delimiter: str) -> None:
    """Writes blocks of texts; a missing value is a blank, or `""` where its line would hold nothing else.

    Raises:
        OSError: and whatever the blocks raise.
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

    Raises:
        OSError: and whatever the blocks raise.
    """
    columns = [ParquetColumn.of(domain) for domain in domains]
    schema = pa.schema([(name, column.type) for name, column in zip(names, columns, strict=True)])
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for block in blocks:
            written = [column.written(texts) for column, texts in zip(columns, block.columns, strict=True)]
            writer.write_batch(pa.record_batch(written, schema=schema))


@dataclass(frozen=True, eq=False)
class ParquetColumn:
    """A column of Parquet. `values`: (values of the domain,) each as it is written, null if missing; `None`: as text.

    `domain`: the texts that occur. Numbers are doubles where the shortest text of each double is the very number.
    """

    domain: Domain
    values: pa.Array | None

    @classmethod
    def of(cls, domain: Domain) -> Self:
        """In the type of the domain, where Parquet has it and it holds every value."""
        if domain.value_type not in _TYPES:
            return cls(domain, None)
        kind, convert, holds = _TYPES[domain.value_type]
        if not all(key is None or holds(key) for key in domain.keys):
            return cls(domain, None)
        return cls(domain, pa.array([None if key is None else convert(key) for key in domain.keys], type=kind))

    @property
    def type(self) -> pa.DataType:
        """Of Arrow."""
        return pa.string() if self.values is None else self.values.type

    def written(self, texts: Texts) -> pa.Array:
        """What stands for these texts."""
        if self.values is not None:
            return self.values.take(pa.array(places_of(texts, self.domain.places)))
        return pc.if_else(pc.equal(texts, MISSING), None, texts)


def _fits(number: Decimal) -> bool:
    return -(1 << 63) <= number < 1 << 63


def _is_double(number: Decimal) -> bool:
    return Decimal(repr(float(number))) == number


_TYPES: Final[dict[ValueType, tuple[pa.DataType, Callable[[Key], Any], Callable[[Key], bool]]]] = {
    ValueType.INTEGER: (pa.int64(), int, _fits),
    ValueType.NUMBER: (pa.float64(), float, _is_double),
    ValueType.BOOLEAN: (pa.bool_(), bool, lambda _: True),
    ValueType.DATE: (pa.date32(), lambda day: day, lambda _: True),
}
