"""The values of a column, as far as the search for identifiers looks at them."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from aegis_provider.identifiers.headers import Header, header_of
from aegis_provider.table.values import ValueType, infer_type

_WHOLE: Final = re.compile(r"[+-]?\d+\.0+")
#: What usually stands for a missing value, in small letters.
MISSING_CODES: Final = frozenset(
    {"?", "-", ".", "na", "n/a", "nan", "null", "none", "unknown", "missing", "not available"}
)


@dataclass(frozen=True)
class Values:
    """The values of a column.

    Attributes:
        name: The name of the column.
        records: The records of the table.
        known: The records in which it is not missing.
        distinct: The number of different values, missing ones not counted.
        numbers: The records in which it is a finite number.
        extent: The largest of these numbers minus the smallest; `None` if there are none.
        sample: Its values; of very many, the first and the last in text order.
        contents: For each kind of content, in how many sampled values there is some, and in how many among other words.
    """

    name: str
    records: int
    known: int
    distinct: int
    numbers: int
    extent: float | None
    sample: tuple[str, ...] = field(repr=False)  # a notebook shows what `start` returns
    contents: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def missing_codes(self) -> tuple[str, ...]:
        """The sampled values that usually stand for a missing one, such as `?` and `NA`."""
        return tuple(text for text in self.sample if text.strip().lower() in MISSING_CODES)

    @cached_property
    def texts(self) -> Sequence[str]:
        """The sampled values that do not stand for a missing one; whole numbers as such: 4711.0 is 4711."""
        codes = set(self.missing_codes)
        texts = [text for text in self.sample if text not in codes]
        return [text.split(".")[0] for text in texts] if texts and all(map(_WHOLE.fullmatch, texts)) else texts

    @cached_property
    def type(self) -> ValueType:
        """The type of the sampled values."""
        return infer_type(self.sample)

    @cached_property
    def kind(self) -> ValueType:
        """The type of the sampled values that do not stand for a missing one."""
        return infer_type(self.texts)

    @property
    def records_per_value(self) -> float:
        """How many records have a value, on average."""
        return self.known / max(1, self.distinct)

    @cached_property
    def header(self) -> Header:
        """What the name of the column says."""
        return header_of(self.name)

    def share(self, matches: Callable[[str], object]) -> float:
        """Return the share of the sampled values that match."""
        return sum(bool(matches(text)) for text in self.texts) / max(1, len(self.texts))
