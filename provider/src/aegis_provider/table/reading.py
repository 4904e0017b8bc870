"""Conversion of the values of a column to texts, the same on every engine.

The engine groups by a *key*, which is missing if the value is. A key becomes a text only after counting.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa

from aegis_provider.table.arrays import text_array
from aegis_provider.table.engine import Engine, Expression, ibis
from aegis_provider.table.values import MISSING


@dataclass(frozen=True)
class Reading:
    """The reading of a column of texts, and the base of the others. `type` is the type of its keys in Ibis."""

    type: str = "string"

    def key(self, value: Expression) -> Expression:
        """Return the key by which the engine distinguishes values: one for each value, NULL if it is missing."""
        return value.nullif(MISSING)

    def text(self, key: Expression) -> Expression:
        """Return the text of a key as the engine writes it, `""` if it is missing."""
        return self._written(key).fill_null(MISSING)

    def canonical(self, texts: pa.Array) -> pa.Array:
        """(records,) Convert an engine's texts (records,) to the texts that are the same on every engine."""
        return texts

    def key_of(self, text: str) -> object:
        """Return the key of a canonical text other than `""`."""
        return text

    def _written(self, key: Expression) -> Expression:
        return key


AS_TEXT: Final = Reading()
"""The reading of a column of unchanged texts."""


@dataclass(frozen=True)
class Integers(Reading):
    """The reading of integers of up to 64 bits."""

    def key(self, value: Expression) -> Expression:
        """The number."""
        return value

    def key_of(self, text: str) -> object:
        """The number."""
        return int(text)

    def _written(self, key: Expression) -> Expression:
        return key.cast("string")


@dataclass(frozen=True)
class Booleans(Reading):
    """The reading of `true` and `false`, which some engines write as 1 and 0."""

    def key(self, value: Expression) -> Expression:
        """The truth value."""
        return value

    def key_of(self, text: str) -> object:
        """The truth value."""
        return text == "true"

    def _written(self, key: Expression) -> Expression:
        return ibis.cases((key, "true"), (~key, "false"))


@dataclass(frozen=True)
class Floats(Reading):
    """The reading of binary floats as the shortest decimal of the same value, without `.0`. NaN counts as missing.

    Engines agree only on the digits, not on the notation (`1`, `1.0`, `1e+20`, `1.0E20`).
    """

    def key(self, value: Expression) -> Expression:
        """Return the number, or NULL for NaN; 0.0 for -0.0, which some engines distinguish."""
        zero = ibis.literal(0.0).cast(value.type())
        return value.isnan().ifelse(None, (value == 0).ifelse(zero, value))

    def canonical(self, texts: pa.Array) -> pa.Array:
        """Return the shortest texts."""
        return translated(texts, _shortest)

    def key_of(self, text: str) -> object:
        """The number."""
        return float(text)

    def _written(self, key: Expression) -> Expression:
        return key.cast("string")


@dataclass(frozen=True)
class Others(Reading):
    """The reading of dates, times, decimals and all other values, as written by the engine."""

    def key(self, value: Expression) -> Expression:
        """Return the text of the value."""
        return value.cast("string").nullif(MISSING)


def reading_of(dtype: Any) -> Reading:  # noqa: ANN401 - a type of Ibis, which has no types
    """Return the reading of a column of this Ibis type."""
    if dtype.is_string():
        return AS_TEXT
    if dtype.is_boolean():
        return Booleans("boolean")
    if dtype.is_integer():
        return Integers("int64" if not dtype.is_unsigned_integer() else "uint64")
    if dtype.is_floating():
        return Floats(str(dtype.copy(nullable=True)))
    return Others()


def with_dates(engine: Engine, source: Expression) -> Expression:
    """Return a table in which moments become dates where a column has only midnights, as in CSV.

    This reads the table once if it has moments.

    Raises:
        TableError: The engine fails.
    """
    moments = [name for name, kind in source.schema().items() if kind.is_timestamp()]
    if not moments:
        return source
    midnight = {f"m{n}": source[name] == source[name].truncate("D") for n, name in enumerate(moments)}
    whole = source.aggregate(**{name: is_midnight.all() for name, is_midnight in midnight.items()})
    are_dates = engine.fetch(whole).to_pylist()[0].values()
    dates = {name: source[name].cast("date") for name, is_date in zip(moments, are_dates, strict=True) if is_date}
    return source.mutate(**dates) if dates else source


def translated(texts: pa.Array, translate: Any) -> pa.Array:  # noqa: ANN401 - from text to text; NumPy's too
    """Return the translated texts, translating each distinct text once."""
    coded = texts.dictionary_encode()
    words: Sequence[str] = [translate(text) for text in coded.dictionary.to_pylist()]
    return text_array(words).take(coded.indices)


def _shortest(text: str) -> str:
    return repr(float(text)).removesuffix(".0") if text else MISSING
