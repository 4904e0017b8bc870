"""`mapping`, hierarchy files and `masked_table`: masked values listed in a plan, a file or another table."""

import csv
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final, TypeAlias, TypeVar

from aegis_provider.errors import PlanError, UnmaskableValueError, shortened
from aegis_provider.masking.function import Function, MaskingFunction
from aegis_provider.table.values import MISSING, Domain, Key, key_of
from aegis_provider.yaml_file import Element

_Masked = TypeVar("_Masked")
_MARKS: Final = (";", ",", "\t", "|")
_Line: TypeAlias = tuple[int, list[str]]


@dataclass(frozen=True)
class HierarchyFile:
    """A hierarchy file: CSV without header, on each line a value, then its masked value at level 1, 2, ...

    Attributes:
        rows: The lines, each with its number.
    """

    path: Path
    delimiter: str
    rows: tuple[_Line, ...]

    @classmethod
    def read(cls, path: Path, delimiter: str | None = None) -> "HierarchyFile":
        """Read the lines of a file. Blanks around fields, and a delimiter at the end of every line, are ignored.

        Args:
            delimiter: By default, the first of semicolon, comma, tab and vertical bar that all lines have.

        Raises:
            PlanError: The file is missing, empty, ragged or not CSV.
        """
        mark = delimiter or _delimiter_in(path)
        rows = _rows(path, mark)
        if not rows:
            raise PlanError(f"{path.name} is empty")
        if not any(row[-1].strip() or len(row) == 1 for _, row in rows):  # a delimiter ends every line
            rows = [(line, row[:-1]) for line, row in rows]
        _refuse_ragged(path, rows)
        return cls(path, mark, tuple(rows))

    @property
    def levels(self) -> int:
        """The number of levels."""
        return len(self.rows[0][1]) - 1

    def level(self, level: int) -> Mapping[str, str]:
        """Return the masked text of each listed value at that level.

        Raises:
            PlanError: The file contradicts itself or lacks the level.
        """
        table: dict[str, str] = {}
        for line, row in self.rows:
            where = f"{self.path.name}, line {line}"
            if len(row) == 1:
                no_level = f"no level found after {shortened(row[0])}; is the delimiter {self.delimiter!r}?"
                raise PlanError(f"{where}: {no_level}")
            if level >= len(row):
                raise PlanError(f"{where}: has levels 1 to {len(row) - 1}, not {level}")
            table.setdefault(row[0], row[level].strip())
            if table.setdefault(row[0].strip(), row[level].strip()) != row[level].strip():
                raise PlanError(f"{where}: {shortened(row[0])} appears twice, with different masked values")
        return table


@dataclass(frozen=True)
class Mapped(MaskingFunction):
    """Masked texts given in the plan; `other`, if any, is the masked text of every value the plan does not name."""

    name: ClassVar[str] = "mapping"
    published: ClassVar[tuple[str, ...]] = ("values", "other")
    keys_beside: ClassVar[tuple[str, ...]] = ("other",)
    values: Mapping[str, str]
    other: str | None = None

    def __post_init__(self) -> None:
        if not self.values:
            raise ValueError("at least one `value: masked value` is needed")

    @classmethod
    def read(cls, parameters: Element) -> "Mapped":
        """Read `{no: "no", yes: "yes"}`, with an optional `other` beside it."""
        table = {value: masked.text() for value, masked in parameters.items()}
        other = parameters.beside.get("other")
        return cls(table, None if other is None else other.text())

    def mask(self, domain: Domain) -> list[str]:
        """Return the masked text of each value; a missing value that is not named stays missing."""
        named = {MISSING: MISSING, **self.values}
        return look_up(domain, named, self.other, "is not in the mapping, which has no `other`")


def _rows(path: Path, delimiter: str) -> list[_Line]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, delimiter=delimiter, strict=True)
            return [(reader.line_num, row) for row in reader if row]
    except OSError as error:
        raise PlanError(f"{path.name} cannot be read in {path.parent}: {error.strerror}") from error
    except (csv.Error, UnicodeDecodeError) as error:
        raise PlanError(f"{path.name} is not CSV in UTF-8: {error}") from error


def _delimiter_in(path: Path) -> str:
    for mark in _MARKS:
        with suppress(PlanError):
            if all(len(row) > 1 for _, row in _rows(path, mark)):
                return mark
    return _MARKS[0]


def _refuse_ragged(path: Path, rows: Sequence[_Line]) -> None:
    (first, model), *others = rows
    for line, row in others:
        if len(row) != len(model):
            raise PlanError(
                f"{path.name}, line {line}: has {len(row)} fields, but line {first} has {len(model)}; every value "
                "needs a masked value at every level"
            )


def look_up(domain: Domain, table: Mapping[str, _Masked], other: _Masked | None, absence: str) -> list[_Masked]:
    """Return the table's item for each value, or else `other`. Values are compared by their type: `1.0` equals `1.00`.

    Raises:
        UnmaskableValueError: There is neither; `absence` is the reason in the message.
    """
    by_key: dict[Key, _Masked] = {}
    for text, masked_by in table.items():
        try:
            key = key_of(text, domain.value_type)
        except UnmaskableValueError:  # records only have values of this type
            continue
        if by_key.setdefault(key, masked_by) != masked_by:
            raise UnmaskableValueError(text, "is listed twice, in two spellings and with different masked values")
    masked = []
    for text, key in zip(domain.texts, domain.keys, strict=True):
        instead = table.get(text, by_key.get(key, other))
        if instead is None:
            raise UnmaskableValueError(text, absence)
        masked.append(instead)
    return masked


@dataclass(frozen=True)
class MaskedTable(Function):
    """The masked values of a table that was masked elsewhere, for example by `aegis independence`.

    There is no mapping. Only the column's joint counts with the label are used.

    Attributes:
        file: The path of that table.
        column: The column in it; `None` for the column with the attribute's name. The path of the file stays private.
    """

    name: ClassVar[str] = "masked_table"
    published: ClassVar[tuple[str, ...]] = ("column",)
    file_keys: ClassVar[tuple[str, ...]] = ("file",)
    file: Path
    column: str | None = None

    @classmethod
    def read(cls, parameters: Element) -> "MaskedTable":
        """Read `{file: masked.csv, column: age}`; the column is optional."""
        fields = parameters.fields("file", optional=("column",))
        column = fields["column"].name() if "column" in fields else None
        # The absolute path, because a plan written to another directory names the same file differently.
        return cls(fields["file"].file().resolve(), column)

    def describe(self) -> str:
        """Return words such as `those of masked.csv, a table masked elsewhere`."""
        column = f"column {self.column} of " if self.column else ""
        return f"those of {column}{self.file.name}, a table masked elsewhere"
