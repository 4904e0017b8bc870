"""The values of an attribute: their type, their order, and their spellings."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, TypeAlias

from aegis_provider.errors import UnmaskableValueError
from aegis_sdk.texts import MISSING, ValueType, date_in, infer_type, is_written_as, number_in

# Types and their texts have their home in the SDK, since consumers read delivered tables by the same rules.
__all__ = [
    "IN_ORDER",
    "MISSING",
    "Domain",
    "Key",
    "ValueType",
    "decimal_of",
    "infer_type",
    "is_whole",
    "key_of",
    "possible_code",
]

Key: TypeAlias = Any
"""The key by which values are compared: `Decimal`, `date`, `bool` or `str`, the same for all values of a type."""


IN_ORDER: Final = (ValueType.INTEGER, ValueType.NUMBER, ValueType.DATE)
"""The types whose values have a meaningful order; that of texts is only alphabetical."""

_TRUTH = {"false": False, "no": False, "0": False, "true": True, "yes": True, "1": True}

_BARE_EXPONENT = re.compile(r"[+-]?\d+[eE]\d+", re.ASCII)


def decimal_of(text: str) -> Decimal:
    """Return the exact number in `text`.

    Raises:
        UnmaskableValueError: The text is not a finite number.
    """
    number = number_in(text)
    if number is None:
        raise UnmaskableValueError(text, "is not a number")
    return number


def is_whole(number: Decimal) -> bool:
    """Return whether the number is an integer."""
    return number == number.to_integral_value()


def key_of(text: str, value_type: ValueType) -> Key:
    """Return the key by which `text` is compared as a value of this type.

    Raises:
        UnmaskableValueError: The text is not a value of this type.
    """
    match value_type:
        case ValueType.INTEGER:
            if not is_whole(number := decimal_of(text)):
                raise UnmaskableValueError(text, "is not an integer")
            return number
        case ValueType.NUMBER:
            return decimal_of(text)
        case ValueType.BOOLEAN:
            if text.lower() not in _TRUTH:
                raise UnmaskableValueError(text, "is not true, false, yes, no, 1 or 0")
            return _TRUTH[text.lower()]
        case ValueType.DATE:
            day = date_in(text)
            if day is None:
                raise UnmaskableValueError(text, "is not a date (YYYY-MM-DD)")
            return day
        case _:
            return text


def possible_code(texts: Iterable[str]) -> str | None:
    """Return a text of decimals that may be a code instead, such as `1E1`; `None` without one."""
    present = [text for text in texts if text != MISSING]
    bare = next((text for text in present if _BARE_EXPONENT.fullmatch(text)), None)
    return bare if bare is not None and all(is_written_as(text, ValueType.NUMBER) for text in present) else None


@dataclass(frozen=True)
class Domain:
    """The distinct values of an attribute, in order.

    Attributes:
        texts: One text per value, `MISSING` first: the only spelling that is written. Among several texts of a value
            ("1.0", "1.00"), it is the shortest without an exponent, and the first of these in text order.
        keys: The typed value of each text (`None` if missing).
        places: The index of the value of each text in the table.
        ordered: Whether the order is meaningful: that of numbers or dates, or a stated one.
    """

    value_type: ValueType
    texts: tuple[str, ...]
    keys: tuple[Key, ...]
    places: Mapping[str, int]
    ordered: bool = False

    @classmethod
    def of(
        cls, texts: Iterable[str], declared: ValueType | None = None, order: Sequence[str] | None = None
    ) -> "Domain":
        """Return the domain of a column with these texts.

        Args:
            declared: The type of the values; inferred if `None`.
            order: The values from the lowest to the highest, instead of the order of their type.

        Raises:
            UnmaskableValueError: A text is not a value of the type, or the order lacks it.
        """
        distinct = set(texts)
        value_type = declared or infer_type(distinct)
        spellings: dict[Key, list[str]] = {}
        for text in sorted(distinct - {MISSING}, key=_plainness):
            spellings.setdefault(key_of(text, value_type), []).append(text)
        groups = [(None, [MISSING])] if MISSING in distinct else []
        groups += sorted(spellings.items()) if order is None else _in_stated_order(spellings, value_type, order)
        return cls(
            value_type=value_type,
            texts=tuple(group[0] for _, group in groups),
            keys=tuple(key for key, _ in groups),
            places={text: place for place, (_, group) in enumerate(groups) for text in group},
            ordered=order is not None or value_type in IN_ORDER,
        )

    @classmethod
    def in_order(cls, texts: Iterable[str], place: Callable[[str], int]) -> "Domain":
        """Return the domain of a column of texts in the order of their `place`, with missing values first."""
        distinct = set(texts)
        ordered = [MISSING] * (MISSING in distinct) + sorted(distinct - {MISSING}, key=place)
        keys = tuple(None if text == MISSING else text for text in ordered)
        places = {text: place for place, text in enumerate(ordered)}
        return cls(ValueType.STRING, tuple(ordered), keys, places, ordered=True)

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def has_one_spelling(self) -> bool:
        """Whether every value has one text in the table."""
        return len(self.places) == len(self.texts)

    def by_spelling(self) -> "Domain":
        """Return the domain in which every text of the table is a separate value, as for other programs."""
        texts = tuple(sorted(self.places, key=lambda text: (self.places[text], _plainness(text))))
        keys = tuple(self.keys[self.places[text]] for text in texts)
        return Domain(self.value_type, texts, keys, {text: place for place, text in enumerate(texts)}, self.ordered)


def _in_stated_order(
    spellings: Mapping[Key, list[str]], value_type: ValueType, order: Sequence[str]
) -> list[tuple[Key, list[str]]]:
    """Return values with their spellings in a stated order, which may have further values."""
    places: dict[Key, int] = {}
    for text in order:
        with suppress(UnmaskableValueError):  # values of another type do not occur
            places.setdefault(key_of(text, value_type), len(places))
    for key, group in spellings.items():
        if key not in places:
            raise UnmaskableValueError(group[0], "is not in the stated `order`")
    return sorted(spellings.items(), key=lambda item: places[item[0]])


def _plainness(text: str) -> tuple[bool, int, str]:
    """Return the sort key of the spellings of a value, the plainest first."""
    return "e" in text.lower() and text[-1].isdigit(), len(text), text
