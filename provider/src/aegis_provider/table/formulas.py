"""Cells and headers of CSV that a spreadsheet would run as formulas, and the apostrophe that prevents it.

Source: OWASP, CSV injection (owasp.org/www-community/attacks/CSV_Injection). Escaping is reversible: an apostrophe
before a formula gets another one.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import pyarrow as pa

from aegis_provider.table.reading import Reading, translated
from aegis_provider.table.table import Table
from aegis_sdk.reading import shown
from aegis_sdk.texts import escaped, is_formula, unescaped

_MOST_NAMES: Final = 5


def are_escaped(texts: Iterable[str], known: Collection[str]) -> bool:
    """Return whether the texts of a column are escaped; `known`: the possible original texts, if listed."""
    texts = list(texts)
    marked = [text for text in texts if unescaped(text) != text]
    if not marked or any(map(is_formula, texts)):
        return False
    as_they_are = sum(text in known for text in marked)
    return not as_they_are or sum(unescaped(text) in known for text in marked) > as_they_are


class Escaped(Reading):
    """The reading of a column whose formulas are escaped."""

    def canonical(self, texts: pa.Array) -> pa.Array:
        """Return the texts without the apostrophes."""
        return translated(texts, unescaped)

    def key_of(self, text: str) -> object:
        """Return the text with its apostrophe."""
        return escaped(text)


def with_plain_header(table: Table, names: Collection[str]) -> Table:
    """Return the table with unescaped names in its header; `names`: the possible names of its columns."""
    return replace(table, columns=tuple(map(unescaped, table.columns))) if are_escaped(table.columns, names) else table


def unescaped_table(table: Table, names: Collection[str]) -> Table:
    """Return a table whose header and columns of these names are read without the apostrophes."""
    plain = with_plain_header(table, names)
    return plain.read_as({name: Escaped() for name in names if name in plain.columns})


@dataclass(frozen=True)
class Formulas:
    """The headers and cells that a spreadsheet would run as formulas.

    Attributes:
        headers: The names of columns that are formulas.
        cells: By column, the number of cells with formulas; columns without any are left out.
    """

    headers: tuple[str, ...] = ()
    cells: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, columns: Iterable[str], cells: Mapping[str, int]) -> "Formulas":
        """Return the formulas among the names of columns, and the columns with formulas in cells."""
        return cls(tuple(filter(is_formula, columns)), {name: number for name, number in cells.items() if number})

    def in_words(self) -> str:
        """Describe the headers and cells that a spreadsheet would run; empty without any."""
        parts = []
        if self.cells:
            named = [f"{number:,} in {shown(name)}" for name, number in list(self.cells.items())[:_MOST_NAMES]]
            more = len(self.cells) - len(named)
            listed = ", ".join([*named, *([f"and {_many(more, 'more column')}"] if more else [])])
            parts.append(f"{_many(sum(self.cells.values()), 'cell')} ({listed})")
        if self.headers:
            parts.append(f"{_many(len(self.headers), 'header')} ({', '.join(map(shown, self.headers[:_MOST_NAMES]))})")
        return f"a spreadsheet would run {' and '.join(parts)} as formulas" if parts else ""


def _many(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"


@dataclass
class FormulaGuard:
    """Counts the formulas in blocks that are written to CSV, or escapes them.

    Attributes:
        domains: The texts that each column may have.
        escapes: Whether formulas are escaped.
    """

    names: Sequence[str]
    domains: Sequence[Iterable[str]]
    escapes: bool
    _cells: Counter[str] = field(default_factory=Counter)

    @property
    def header(self) -> list[str]:
        """The names to write."""
        return [escaped(name) if self.escapes else name for name in self.names]

    @property
    def warnings(self) -> tuple[str, ...]:
        """A sentence if something that a spreadsheet would run was written."""
        said = "" if self.escapes else Formulas.of(self.names, self._cells).in_words()
        return (f"{said}; --escape-formulas writes ' before each",) if said else ()

    def passed(self, blocks: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the blocks to write."""
        places = [place for place, texts in enumerate(self.domains) if any(escaped(text) != text for text in texts)]
        for block in blocks:
            columns = block.columns
            for place in places:
                if self.escapes:
                    columns[place] = translated(columns[place], escaped)
                else:
                    self._cells[self.names[place]] += _formulas(columns[place])
            yield pa.record_batch(columns, block.schema.names)


def formulas_in(table: Table) -> Formulas:
    """Return the formulas of a table; only CSV has any.

    Raises:
        TableError: The table cannot be read.
    """
    cells: Counter[str] = Counter()
    for batch in table.batches(table.columns) if table.delimiter is not None else ():
        for name, texts in zip(table.columns, batch.columns, strict=True):
            cells[name] += _formulas(texts)
    return Formulas.of(table.columns if table.delimiter is not None else (), cells)


def _formulas(texts: pa.StringArray) -> int:
    counted = texts.value_counts()
    pairs = zip(counted.field("values").to_pylist(), counted.field("counts").to_pylist(), strict=True)
    return sum(records for text, records in pairs if is_formula(text))
