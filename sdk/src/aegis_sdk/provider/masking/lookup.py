"""`hierarchy` and `mapping`: masked values looked up by value."""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from aegis_sdk.provider.errors import PlanError, UnmaskableValueError
from aegis_sdk.provider.values import MISSING, Domain, Key, ValueType, key_of


@dataclass(frozen=True)
class Hierarchy:
    """One level of a hierarchy file: `table` holds the masked text of each value the file lists."""

    name: ClassVar[str] = "hierarchy"
    file: str
    level: int
    table: Mapping[str, str]

    @classmethod
    def read(cls, path: Path, level: int, delimiter: str) -> "Hierarchy":
        """
        The file is CSV without header: the value, then its masked value at level 1, 2, ...

        Raises `PlanError` for a file that is absent, ragged, contradicts itself or has no such level.
        """
        table: dict[str, str] = {}
        for line, row in _rows(path, delimiter):
            if level >= len(row):
                raise PlanError(_no_such_level(path, line, row, level, delimiter))
            if table.setdefault(row[0], row[level]) != row[level]:
                raise PlanError(f"{path.name}, line {line}: {row[0]!r} stands twice, with different masked values")
        if not table:
            raise PlanError(f"{path.name} is empty")
        return cls(file=path.name, level=level, table=table)

    def parameters(self) -> dict[str, object]:
        """The file's name and the level."""
        return {"file": self.file, "level": self.level}

    def mask(self, domain: Domain) -> list[str]:
        """The masked text of each value; a missing value that the file lacks stays missing."""
        return _look_up(domain, self.table, None, f"is not in {self.file}")


@dataclass(frozen=True)
class Mapped:
    """Masked texts given in the plan; `other`, if any, is that of every value the plan does not name."""

    name: ClassVar[str] = "mapping"
    table: Mapping[str, str]
    other: str | None = None

    def parameters(self) -> dict[str, object]:
        """The plan's texts."""
        values: dict[str, object] = {"values": dict(self.table)}
        return values if self.other is None else {**values, "other": self.other}

    def mask(self, domain: Domain) -> list[str]:
        """The masked text of each value; a missing value that is not named stays missing."""
        return _look_up(domain, self.table, self.other, "is not in the mapping, which has no `other`")


def _rows(path: Path, delimiter: str) -> list[tuple[int, list[str]]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, delimiter=delimiter, strict=True)
            return [(reader.line_num, row) for row in reader if row]
    except OSError as error:
        raise PlanError(f"{path.name} cannot be read in {path.parent}: {error.strerror}") from error
    except (csv.Error, UnicodeDecodeError) as error:
        raise PlanError(f"{path.name} is not CSV in UTF-8: {error}") from error


def _no_such_level(path: Path, line: int, row: list[str], level: int, delimiter: str) -> str:
    if len(row) == 1:
        return f"{path.name}, line {line}: no level found after {row[0]!r}; is its delimiter {delimiter!r}?"
    return f"{path.name}, line {line}: has levels 1 to {len(row) - 1}, not {level}"


def _look_up(domain: Domain, table: Mapping[str, str], other: str | None, absence: str) -> list[str]:
    """Looks values up by what they are compared by, so that `1.0` finds `1.00`."""
    by_text = {MISSING: MISSING, **table}
    by_key = dict(_typed(table, domain.value_type))
    masked = []
    for text, key in zip(domain.texts, domain.keys, strict=True):
        found = by_text.get(text, by_key.get(key, other))
        if found is None:
            raise UnmaskableValueError(text, absence)
        masked.append(found)
    return masked


def _typed(table: Mapping[str, str], value_type: ValueType) -> list[tuple[Key, str]]:
    pairs = []
    for text, masked in table.items():
        try:
            pairs.append((key_of(text, value_type), masked))
        except UnmaskableValueError:
            continue  # a text that is no value of this type, which the table may list and no record holds
    return pairs
