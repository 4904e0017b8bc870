"""The notation of a column of texts: decimal commas and thousands, orders of dates, odd texts, and case.

A column has one notation, which all its texts decide together: `01.02.1999` is in January or in February, and `1,045`
is above or below 2. The engine then reads it as plain decimals and dates (YYYY-MM-DD), so that all later steps see a
plain table.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from aegis_provider.errors import TableError
from aegis_provider.table.engine import Expression
from aegis_provider.table.forms import Form, Plain
from aegis_provider.table.late import ibis
from aegis_provider.table.reading import AS_TEXT, Reading
from aegis_provider.table.table import Table
from aegis_provider.table.values import MISSING

MOST_ODD: Final = 0.01
"""The largest share of a column's cells that may be odd texts read as missing."""


@dataclass(frozen=True)
class Writing:
    """The notation of a column.

    Attributes:
        form: The form of its numbers or dates; `None` for texts.
        odd_as_missing: Whether odd texts are missing values; otherwise they do not change.
        fold_case: Whether values that differ only in case or surrounding blanks are merged, in lower case.
    """

    form: Form | None = None
    odd_as_missing: bool = False
    fold_case: bool = False

    @property
    def values(self) -> str:
        """The kind of values: `numbers`, `dates` or `texts`."""
        return "texts" if self.form is None else self.form.values

    @property
    def fields(self) -> Sequence[str]:
        """The fields of an attribute in a plan that state it, besides its type."""
        form = [] if self.form is None or isinstance(self.form, Plain) else [self.form.field]
        odd = ["odd_as_missing: true"] if self.odd_as_missing else []
        return [*form, *odd, *(["fold_case: true"] if self.fold_case else [])]

    @property
    def is_plain(self) -> bool:
        """Whether texts are read unchanged."""
        return self.form is None and not self.fold_case


PLAINLY: Final = Writing()


@dataclass(frozen=True, kw_only=True)
class Written(Reading):
    """The reading of a column of texts by its notation: its keys are plain texts."""

    writing: Writing

    def key(self, value: Expression) -> Expression:
        """Return the plain text."""
        text = super().key(value.strip().lower() if self.writing.fold_case else value)
        if self.writing.form is None:
            return text
        plain = self.writing.form.key(text)
        return plain if self.writing.odd_as_missing else ibis.coalesce(plain, text)


def plainly(table: Table, writings: Mapping[str, Writing]) -> Table:
    """Return the table with these columns of texts read by their notation; others do not change.

    Raises:
        TableError: More than one cell in a hundred would become missing.
    """
    stated = [name for name, writing in writings.items() if not writing.is_plain and name in table.columns]
    readings = {name: Written(writing=writings[name]) for name in stated if is_text(table, name)}
    _refuse_many_odd(table, {name: reading for name, reading in readings.items() if reading.writing.odd_as_missing})
    return table.read_as(readings) if readings else table


def is_text(table: Table, name: str) -> bool:
    """Return whether a column has texts that are read unchanged."""
    return table.reading(name) == AS_TEXT


def _refuse_many_odd(table: Table, readings: Mapping[str, Written]) -> None:
    if not readings:
        return
    asked: dict[str, Expression] = {}
    for n, (name, reading) in enumerate(readings.items()):
        text = table.source[f"c{table.columns.index(name)}"].nullif(MISSING)
        asked |= {f"known{n}": text.count(), f"odd{n}": text.count() - reading.key(text).count()}
    [seen] = table.engine.fetch(table.source.aggregate(**asked)).to_pylist()
    for n, name in enumerate(readings):
        if seen[f"odd{n}"] > MOST_ODD * seen[f"known{n}"]:
            share = f"{seen[f'odd{n}']:,} of its {seen[f'known{n}']:,} values"
            raise TableError(
                f"{table.name}: {name}: {share} are not {readings[name].writing.values}, more than one in a "
                "hundred, so they cannot be left out as missing; clean them, or share them as `type: string`"
            )
