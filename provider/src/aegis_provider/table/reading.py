"""Conversion of the values of a column to texts, the same on every engine.

The engine groups by a *key*, which is missing if the value is. A key becomes a text only after counting. A text of
spaces alone is missing, too: nobody sees how it differs from an empty cell.
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
        return (value.replace(" ", "") == MISSING).ifelse(None, value)

    def text(self, key: Expression) -> Expression:
        """Return the text of a key as the engine writes it, `""` if it is missing."""
        return key.fill_null(MISSING)

    def canonical(self, texts: pa.Array) -> pa.Array:
        """(records,) Convert an engine's texts (records,) to the texts that are the same on every engine."""
        return texts

    def key_of(self, text: str) -> object:
        """Return the key of a canonical text other than `""`."""
        return text


AS_TEXT: Final = Reading()
"""The reading of a column of unchanged texts."""

TEXT_IN_DUCKDB: Final = "CASE WHEN replace({0}, ' ', '') <> '' THEN {0} ELSE '' END"
"""Its texts in the SQL of DuckDB, for a column of this name."""


@dataclass(frozen=True)
class Typed(Reading):
    """The reading of integers, truth values, binary floats and all others, whose keys are the engine's texts.

    Integers have up to 64 bits. Some engines write `true` and `false` as 1 and 0.

    A float is the shortest decimal of the same value, without `.0`; NaN counts as missing. Engines agree only on the
    digits, not on the notation (`1`, `1.0`, `1e+20`, `1.0E20`).
    """

    def key(self, value: Expression) -> Expression:
        """Return the value, or NULL for NaN; 0.0 for -0.0, which some engines distinguish."""
        if self.type == "string":
            return super().key(value.cast("string"))
        if not self.type.startswith("float"):
            return value
        zero = ibis.literal(0.0).cast(value.type())
        return value.isnan().ifelse(None, (value == 0).ifelse(zero, value))

    def text(self, key: Expression) -> Expression:
        """Return the text of a key as the engine writes it, `""` if it is missing."""
        if self.type == "boolean":
            return ibis.cases((key, "true"), (~key, "false")).fill_null(MISSING)
        return super().text(key if self.type == "string" else key.cast("string"))

    def canonical(self, texts: pa.Array) -> pa.Array:
        """Return the shortest texts of floats."""
        if not self.type.startswith("float"):
            return texts
        return translated(texts, lambda text: repr(float(text)).removesuffix(".0") if text else MISSING)

    def key_of(self, text: str) -> object:
        """Return the key of a canonical text other than `""`."""
        if self.type == "boolean":
            return text == "true"
        if self.type == "string":
            return text
        return float(text) if self.type.startswith("float") else int(text)


def reading_of(dtype: Any) -> Reading:  # noqa: ANN401 - a type of Ibis, which has no types
    """Return the reading of a column of this Ibis type."""
    if dtype.is_string():
        return AS_TEXT
    if dtype.is_boolean():
        return Typed("boolean")
    if dtype.is_integer():
        return Typed("int64" if not dtype.is_unsigned_integer() else "uint64")
    if dtype.is_floating():
        return Typed(str(dtype.copy(nullable=True)))
    return Typed()


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
