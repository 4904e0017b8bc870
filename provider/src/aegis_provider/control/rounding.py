"""Random rounding: every count becomes a multiple of a base, up or down by chance, so that none is off on average."""

import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aegis_provider.control.control import Changes, Control, refuse_parameter
from aegis_provider.control.declarable import Declared, only_declarable, tables_of, with_tables
from aegis_provider.control.promises import Roles
from aegis_provider.progress import Progress
from aegis_sdk.wire import EntryDocument

RandomBytes: TypeAlias = Callable[[int], bytes]
"""So many bytes that nobody can guess."""

_BELOW = 2**64


@dataclass(frozen=True)
class RandomRounding(Control):
    """Every count becomes a multiple of `base`, up or down by chance.

    Attributes:
        random_bytes: Is to be the system's: whoever guesses the chances undoes the rounding, and a plan's seed would
            serve for every guess at it.

    Raises:
        ControlError: The base is no number from 2 up.
    """

    base: int
    random_bytes: RandomBytes = field(default=secrets.token_bytes, compare=False, repr=False)

    def __post_init__(self) -> None:
        refuse_parameter("base", self.base)

    def declared(self) -> dict[str, Any]:
        """The base, which every table declares too."""
        return {"rounded_to": self.base}

    def in_words(self) -> str:
        """What was done, to stand after `with`."""
        return f"counts rounded to multiples of {self.base}"

    def apply(self, entry: EntryDocument, roles: Roles, progress: Progress) -> tuple[EntryDocument, Changes]:  # noqa: ARG002 - the signature of every control
        """The entry with all its counts rounded, and what was left out since it cannot declare that.

        Raises:
            ControlError: There are pair counts, or no record is left.
        """
        declarable, left_out = only_declarable(entry)
        return with_tables(declarable, self._rounded(declarable)), Changes(tables=left_out)

    def may_publish(self, suppressed: int) -> bool:  # noqa: ARG002 - the signature of every control
        """Never: a number of records cannot declare that it is not exact."""
        return False

    def _rounded(self, entry: EntryDocument) -> Iterator[Declared]:
        for _, counts in tables_of(entry):
            rounded = rounded_to(np.array(counts, dtype=np.int64), self.base, self.random_bytes)
            yield rounded.tolist(), {"rounded_to": self.base}


def rounded_to(counts: NDArray[np.int64], base: int, random_bytes: RandomBytes) -> NDArray[np.int64]:
    """Each count rounded up with the probability remainder / base, otherwise down, independently: unbiased.

    Fellegi, "Controlled random rounding" (1975), without the control of sums.
    """
    remainder = counts % base
    up = _uniform(base, counts.size, random_bytes).reshape(counts.shape) < remainder
    rounded: NDArray[np.int64] = counts - remainder + base * up
    return rounded


def _uniform(below: int, size: int, random_bytes: RandomBytes) -> NDArray[np.int64]:
    """(size,) numbers from 0 to `below` - 1, all equally likely: words beyond the last multiple are drawn again."""
    uniform = np.empty(0, dtype=np.int64)
    last = _BELOW // below * below - 1
    while len(uniform) < size:
        words = np.frombuffer(random_bytes(8 * (size - len(uniform))), dtype=np.uint64)
        uniform = np.concatenate([uniform, (words[words <= last] % below).astype(np.int64)])
    return uniform
