"""How the values of a column become texts, the same on every engine.

The engine groups by a *key*, which is missing where the value is; a text is made of a key only after the counting.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import ibis
import pyarrow as pa

from aegis_provider.table.engine import Expression
from aegis_provider.table.values import MISSING


@dataclass(frozen=True)
class Reading:
    """A column of texts; also the base of the others. `type`: what Ibis calls the type of its keys."""

    type: str = "string"

    def key(self, value: Expression) -> Expression:
        """What the engine tells the column's values by: one key for a value, NULL where it is missing."""
        return value.nullif(MISSING)

    def text(self, key: Expression) -> Expression:
        """The text of a key, as the engine writes it, `""` where it is missing."""
        return self._written(key).fill_null(MISSING)

    def canonical(self, texts: pa.Array) -> pa.Array:
        """The engine's texts as every engine's: (records,) in and out."""
        return texts

    def key_of(self, text: str) -> object:
        """The key of a canonical text other than `""`."""
        return text

    def _written(self, key: Expression) -> Expression:
        return key


@dataclass(frozen=True)
class Integers(Reading):
    """Whole numbers of up to 64 bits."""

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
    """`true` and `false`, which some engines write as 1 and 0."""

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
    """Binary floating point: the shortest decimal that reads as the same number, without `.0`. NaN counts as missing.

    Engines agree on the digits and on nothing else (`1`, `1.0`, `1e+20`, `1.0E20`).
    """

    def key(self, value: Expression) -> Expression:
        """The number, unless it is none."""
        return value.isnan().ifelse(None, value)

    def canonical(self, texts: pa.Array) -> pa.Array:
        """The shortest texts."""
        return translated(texts, _shortest)

    def key_of(self, text: str) -> object:
        """The number."""
        return float(text)

    def _written(self, key: Expression) -> Expression:
        return key.cast("string")


@dataclass(frozen=True)
class Others(Reading):
    """Dates, times, decimals and whatever else, as the engine writes them."""

    def key(self, value: Expression) -> Expression:
        """Its text."""
        return value.cast("string").nullif(MISSING)


def reading_of(dtype: Any) -> Reading:  # noqa: ANN401 - a type of Ibis, which has no types
    """How a column of that Ibis type is read."""
    if dtype.is_string():
        return Reading()
    if dtype.is_boolean():
        return Booleans("boolean")
    if dtype.is_integer():
        return Integers("int64" if not dtype.is_unsigned_integer() else "uint64")
    if dtype.is_floating():
        return Floats(str(dtype.copy(nullable=True)))
    return Others()


def translated(texts: pa.Array, translate: Any) -> pa.Array:  # noqa: ANN401 - from text to text; NumPy's too
    """Each text translated, each distinct one once."""
    coded = texts.dictionary_encode()
    words: Sequence[str] = [translate(text) for text in coded.dictionary.to_pylist()]
    return pa.array(words, pa.string()).take(coded.indices)


def _shortest(text: str) -> str:
    return repr(float(text)).removesuffix(".0") if text else MISSING
