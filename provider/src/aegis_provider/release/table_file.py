"""Writes tables block by block, in random order: CSV by RFC 4180, or Parquet, with types wherever they lose nothing.

A generated table that a plan offers is copied, exactly the file with the stated digest.
"""

import csv
import os
import re
import secrets
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from decimal import Decimal
from io import StringIO
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, Self

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from aegis_provider.errors import OutputError, PlanError, TableError, shortened
from aegis_provider.files import digest_of, none_if_refused, refuse_overwriting, written_whole
from aegis_provider.identifiers import Replayed, refuse_written, texts_written
from aegis_provider.plan.generated import GeneratedTable
from aegis_provider.plan.model import Plan
from aegis_provider.release.blocks import Coded, block_schema, places_of
from aegis_provider.table import Source, open_table
from aegis_provider.table.arrays import number_array, numbers_in
from aegis_provider.table.engine import hide_progress, quoted
from aegis_provider.table.formulas import FormulaGuard, formulas_in, with_plain_header
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


def without_person(blocks: Iterable[pa.RecordBatch], names: Sequence[str], path: Path) -> Iterator[pa.RecordBatch]:
    """Yield blocks without their last column, whose a record is; write them with it to a Parquet file, to be counted.

    People are numbers there, in the order of the blocks; a record without a person has one of its own.

    Args:
        names: The names of the columns, the person's last.
    """
    known: dict[str, int] = {}
    many, writer = 0, None
    with ExitStack() as opened:
        for block in blocks:
            *columns, texts = block.columns
            coded = texts.dictionary_encode()
            new = [text for text in coded.dictionary.to_pylist() if text not in known]
            known.update(zip(new, range(many, many := many + len(new)), strict=True))
            numbers = np.array([known[text] for text in coded.dictionary.to_pylist()], dtype=np.int64)
            people = numbers[numbers_in(coded.indices)]
            alone = people == known.get(MISSING, -1)
            people[alone] = np.arange(many, many := many + int(alone.sum()))
            numbered = pa.RecordBatch.from_arrays([*columns, number_array(people)], list(names))
            writer = writer or opened.enter_context(pq.ParquetWriter(path, numbered.schema))
            writer.write_batch(numbered)
            yield block.select(range(len(columns)))


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


RECORDS_IN_MEMORY: Final = 1 << 18
"""Approximate number of records shuffled at once."""


def shuffled(
    blocks: Iterable[pa.RecordBatch], records: int, schema: pa.Schema, folder: Path
) -> Iterator[pa.RecordBatch]:
    """Yield the same records in an order drawn from the system's secure random source: theirs can identify people.

    Records are dealt to random parts, on disk if there are several, and each part is then shuffled. All orders are
    equally likely, as in the merge of Rao and Sandelius [@rao1961; @sandelius1962].

    Args:
        blocks: The records.
        records: Their approximate number.
        schema: The schema of the blocks.
        folder: A directory for temporary files, on a disk with room for the records.
    """
    parts = max(1, -(-records // RECORDS_IN_MEMORY))
    if parts == 1:
        yield from _reordered(pa.Table.from_batches(list(blocks), schema))
        return
    with TemporaryDirectory(prefix=".aegis-", dir=folder) as place:
        paths = [Path(place) / str(part) for part in range(parts)]
        _deal(blocks, schema, paths)
        for path in paths:
            with pa.ipc.open_stream(path) as stream:
                yield from _reordered(stream.read_all())
            path.unlink()


def _deal(blocks: Iterable[pa.RecordBatch], schema: pa.Schema, paths: list[Path]) -> None:
    """Write each record to one of the files, chosen at random."""
    with ExitStack() as files:
        writers = [files.enter_context(pa.ipc.new_stream(path, schema)) for path in paths]
        for block in blocks:
            part = _words(block.num_rows) % np.uint64(len(paths))
            for number, writer in enumerate(writers):
                mine = np.flatnonzero(part == number)
                if len(mine):
                    writer.write_batch(block.take(number_array(mine)))


def _reordered(table: pa.Table) -> Iterator[pa.RecordBatch]:
    order = np.argsort(_words(table.num_rows), kind="stable")
    yield from table.take(number_array(order)).to_batches()


def _words(many: int) -> NDArray[np.uint64]:
    """(many,) Unpredictable words; collisions and the bias towards a part are negligible."""
    return np.frombuffer(secrets.token_bytes(8 * many), dtype=np.uint64)


@dataclass(frozen=True)
class HandedOut:
    """A copied generated table.

    Attributes:
        generated: The table.
        output: The file that was written.
        sha256: The SHA-256 of both.
        warning: A warning of spreadsheet formulas in it; empty if there are none.
    """

    generated: GeneratedTable
    output: Path
    sha256: str
    warning: str = ""


def hand_out(
    plan: Plan,
    table_id: str,
    output: Path,
    table: Source,
    delimiter: str = ",",
    *,
    accept_identifiers: bool = False,
    leaves: Callable[[Path], object] = lambda _part: None,
) -> HandedOut:
    """Copy a generated table of a plan to the output, byte for byte the file that the plan states.

    Args:
        table_id: The id of one of its generated tables.
        output: The file to write, with the ending of the generated one.
        table: The original table, which must not be overwritten.
        accept_identifiers: Whether it may contain identifying values.
        leaves: Called with the whole file before it appears; see `apply`.

    Raises:
        PlanError: The plan has no such generated table.
        IdentifierError: It contains an identifying value of the table, or one recognised by its form.
        TableError: Its file cannot be read, is not the stated one, or has columns that the plan never shares.
        OutputError: The output cannot be written.
    """
    generated = plan.generated_table(table_id)
    if generated is None:
        raise PlanError(f"{plan.source}: no generated table {table_id!r}")
    refuse_overwriting(output, table, *plan.files)
    if output.suffix.lower() != generated.file.suffix.lower():
        raise OutputError(
            f"{output}: the generated table is copied unchanged; name an output that ends in {generated.file.suffix}"
        )
    with none_if_refused(output), written_whole(output) as part:
        _copy(generated.file, part)
        refuse_unofferable(plan, generated, part, delimiter)
        if not accept_identifiers:
            _refuse_identifiers(plan, generated, table, part, delimiter)
        with open_table(part, delimiter=delimiter) as opened:
            said = formulas_in(opened).in_words()
        leaves(part)
    warning = f"{said}; generate the table with --escape-formulas" if said else ""
    return HandedOut(generated, output, generated.sha256, warning)


def _refuse_identifiers(plan: Plan, generated: GeneratedTable, table: Source, copy: Path, delimiter: str) -> None:
    with open_table(table, delimiter=delimiter) as real:
        shared = {plan.label, *(attribute.name for attribute in plan.attributes)}
        replayed = Replayed.of(real, [name for name in real.columns if name not in shared], plan.left_out)
    with open_table(copy, delimiter=delimiter) as written:
        refuse_written(texts_written(written), replayed, str(generated.file))


def refuse_unofferable(plan: Plan, generated: GeneratedTable, copy: Path | None = None, delimiter: str = ",") -> None:
    """Refuse a generated table that is not the stated one, or has columns that the plan never shares.

    Args:
        generated: Its entry for the table.
        copy: A copy to check instead of the file.

    Raises:
        TableError: The file cannot be read, is another one, has no records, lacks the label, or has other columns.
    """
    file = copy or generated.file
    digest = digest_of(file)
    if digest != generated.sha256:
        raise TableError(
            f"{generated.file}: is not the table that {plan.source} states: its SHA-256 is {digest}, not "
            f"{generated.sha256}; restore that file, or take {generated.id} out of the plan"
        )
    shared = {plan.label, *(attribute.name for attribute in plan.attributes if attribute.is_generable)}
    with open_table(file, delimiter=delimiter) as given:
        opened = with_plain_header(given, shared)
        opened.positions([plan.label])
        others = [column for column in opened.columns if column not in shared]
        if others:
            raise TableError(
                f"{generated.file}: has the column {shortened(others[0])}, which the plan does not let be shared as it "
                "is; generate a table without it"
            )
        if not opened.records():
            raise TableError(f"{generated.file}: has no records")


def _copy(source: Path, target: Path) -> None:
    """Copy a file; the checks read the copy, so that a later change of the file cannot slip through."""
    try:
        reading = source.open("rb")
    except OSError as error:
        raise TableError(f"{source}: cannot be read: {error.strerror}") from error
    with reading, target.open("wb") as writing:
        shutil.copyfileobj(reading, writing)
