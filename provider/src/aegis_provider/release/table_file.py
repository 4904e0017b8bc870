"""Writes tables block by block: CSV by RFC 4180, or Parquet, with types wherever they lose nothing."""

import csv
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from io import StringIO
from itertools import chain
from pathlib import Path
from typing import Any, Final, Self

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from aegis_provider.errors import OutputError
from aegis_provider.release.blocks import Coded, block_schema, places_of
from aegis_provider.table.engine import hide_progress, quoted
from aegis_provider.table.formulas import FormulaGuard
from aegis_provider.table.values import MISSING, Domain, Key, ValueType

PARQUET_ENDING: Final = ".parquet"


def write_table(
    path: Path,
    output: Path,
    names: Sequence[str],
    blocks: Iterable[pa.RecordBatch],
    domains: Sequence[Domain],
    delimiter: str,
    *,
    categorical: Collection[str] = (),
    escape_formulas: bool = False,
) -> tuple[str, ...]:
    """Write blocks of texts: as Parquet if the output's name ends so, otherwise as CSV.

    Args:
        path: The file to write.
        output: Its final name.
        names: The names of the columns.
        blocks: The records.
        domains: The values of each column.
        delimiter: The delimiter of CSV.
        categorical: The columns that are ordered categoricals in Parquet.
        escape_formulas: Whether CSV cells that a spreadsheet would run get an apostrophe before them.

    Returns:
        A sentence if a spreadsheet would run something in the file.

    Raises:
        OSError: The file cannot be written. Errors from the blocks also propagate.
    """
    if output.suffix.lower() == PARQUET_ENDING:
        write_parquet(path, names, blocks, domains, categorical)
        return ()
    guard = FormulaGuard(names, [domain.texts for domain in domains], escape_formulas)
    write_csv(path, guard.header, guard.passed(blocks), delimiter)
    return guard.warnings


def refuse_escaping(output: Path) -> None:
    """Refuse to escape formulas in Parquet.

    Raises:
        OutputError: The output is Parquet.
    """
    if output.suffix.lower() == PARQUET_ENDING:
        raise OutputError(f"{output}: only CSV has formulas to escape; omit --escape-formulas for Parquet")


def write_csv(path: Path, names: Sequence[str], blocks: Iterable[pa.RecordBatch], delimiter: str) -> None:
    """Write blocks of texts; a missing value becomes a blank, or `""` if it is alone on its line.

    Raises:
        OSError: The file cannot be written. Errors from the blocks also propagate.
    """
    blank = "nullif({}, '')" if len(names) > 1 else "{}"
    columns = ", ".join(blank.format(f"v{place}") for place in range(len(names)))
    stream = _Stream(len(names), blocks)
    copy = f"COPY (SELECT {columns} FROM masked) TO {quoted(str(path))} {_csv_options(names, delimiter)}"  # noqa: S608 - our own names
    with duckdb.connect() as connection:
        hide_progress(connection)
        connection.register("masked", stream.reader())
        try:
            connection.execute(copy)
        except duckdb.Error as error:
            raise stream.fault or OSError(_explained(error)) from error


def _csv_options(names: Sequence[str], delimiter: str) -> str:
    """Return the options of COPY, with the header as text, since SQL names are case-insensitive."""
    header = StringIO()
    csv.writer(header, delimiter=delimiter, lineterminator="\n").writerow(names)
    prefix, suffix = quoted(header.getvalue()), quoted("\n")
    return f"(FORMAT csv, HEADER false, DELIMITER {quoted(delimiter)}, PREFIX {prefix}, SUFFIX {suffix})"


def _explained(error: duckdb.Error) -> str:
    """Return the system's message within DuckDB's error, such as `No space left on device`."""
    number = re.search(r'"errno":"(\d+)"', str(error))
    return os.strerror(int(number[1])) if number else str(error).partition("\n")[0]


@dataclass
class _Stream:
    """Blocks for DuckDB to pull. DuckDB wraps errors raised in them, so `fault` records the original."""

    columns: int
    blocks: Iterable[pa.RecordBatch]
    fault: BaseException | None = None

    def reader(self) -> pa.RecordBatchReader:
        pulled = self._pulled()
        first = next(pulled, None)
        if first is None:
            return pa.RecordBatchReader.from_batches(block_schema(self.columns), [])
        return pa.RecordBatchReader.from_batches(first.schema, chain([first], pulled))

    def _pulled(self) -> Iterator[pa.RecordBatch]:
        try:
            yield from self.blocks
        except BaseException as fault:
            self.fault = fault
            raise


def write_parquet(
    path: Path,
    names: Sequence[str],
    blocks: Iterable[pa.RecordBatch],
    domains: Sequence[Domain],
    categorical: Collection[str] = (),
) -> None:
    """Write blocks of texts, in the types of their domains where Parquet supports them.

    The columns named in `categorical` become ordered categoricals.

    Raises:
        OSError: The file cannot be written. Errors from the blocks also propagate.
    """
    columns = [
        ParquetColumn(domain, _categories(domain)) if name in categorical else ParquetColumn.of(domain)
        for name, domain in zip(names, domains, strict=True)
    ]
    schema = pa.schema([(name, column.type) for name, column in zip(names, columns, strict=True)])
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for block in blocks:
            written = [column.written(texts) for column, texts in zip(columns, block.columns, strict=True)]
            writer.write_batch(pa.record_batch(written, schema=schema))


@dataclass(frozen=True, eq=False)
class ParquetColumn:
    """A column of Parquet. Numbers are doubles if the shortest text of each double is exactly the number.

    Attributes:
        domain: The texts that occur.
        values: (values of the domain,) Each value as written, null if missing; `None` if the column is written as text.
    """

    domain: Domain
    values: pa.Array | None

    @classmethod
    def of(cls, domain: Domain) -> Self:
        """Return the column in the type of its domain if Parquet has it and it can hold every value."""
        if domain.value_type not in _TYPES:
            return cls(domain, None)
        kind, convert, holds = _TYPES[domain.value_type]
        if not all(key is None or holds(key) for key in domain.keys):
            return cls(domain, None)
        return cls(domain, pa.array([None if key is None else convert(key) for key in domain.keys], type=kind))

    @property
    def type(self) -> pa.DataType:
        """The type in Arrow."""
        return pa.string() if self.values is None else self.values.type

    def written(self, texts: Coded) -> pa.Array:
        """Return the values to write for these texts."""
        if self.values is not None:
            return self.values.take(pa.array(places_of(texts, self.domain.places)))
        plain = texts.cast(pa.string())
        return pc.if_else(pc.equal(plain, MISSING), None, plain)


def _categories(domain: Domain) -> pa.DictionaryArray:
    """Return texts as values of an ordered categorical."""
    texts = [text for text in domain.texts if text != MISSING]
    places = {text: place for place, text in enumerate(texts)}
    codes = pa.array([places.get(text) for text in domain.texts], pa.int32())
    return pa.DictionaryArray.from_arrays(codes, pa.array(texts, pa.string()), ordered=True)


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
