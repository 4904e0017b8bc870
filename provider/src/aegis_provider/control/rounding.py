"""Random rounding: every count is rounded up or down at random to a multiple of a base, without bias."""

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
"""Returns the given number of unpredictable bytes."""

_BELOW = 2**64


@dataclass(frozen=True)
class RandomRounding(Control):
    """Rounding of every count to a multiple of `base`, up or down at random.

    Attributes:
        base: The base of the multiples.
        random_bytes: The source of randomness, which should be the system's. Whoever can predict it can undo the
            rounding, and whoever guesses a seed can check the guess against the entry.

    Raises:
        ControlError: The base is not a valid count of at least 2.
    """

    base: int
    random_bytes: RandomBytes = field(default=secrets.token_bytes, compare=False, repr=False)

    def __post_init__(self) -> None:
        refuse_parameter("base", self.base)

    def declared(self) -> dict[str, Any]:
        """Return the base, which every table also declares."""
        return {"rounded_to": self.base}

    def in_words(self) -> str:
        """Describe what the control did, in words that follow `with`."""
        return f"counts rounded to multiples of {self.base}"

    def apply(self, entry: EntryDocument, roles: Roles, progress: Progress) -> tuple[EntryDocument, Changes]:  # noqa: ARG002 - the signature of every control
        """Return the entry with all counts rounded, and the changes; tables that cannot declare rounding are left out.

        Raises:
            ControlError: There are pair counts, or no record is left.
        """
        declarable, left_out = only_declarable(entry)
        return with_tables(declarable, self._rounded(declarable)), Changes(tables=left_out)

    def may_publish(self, suppressed: int) -> bool:  # noqa: ARG002 - the signature of every control
        """Return false: the number of suppressed records cannot declare that it is inexact."""
        return False

    def _rounded(self, entry: EntryDocument) -> Iterator[Declared]:
        for _, counts in tables_of(entry):
            rounded = rounded_to(np.array(counts, dtype=np.int64), self.base, self.random_bytes)
            yield rounded.tolist(), {"rounded_to": self.base}


def rounded_to(counts: NDArray[np.int64], base: int, random_bytes: RandomBytes) -> NDArray[np.int64]:
    """Round each count independently, up with probability remainder / base and otherwise down, which is unbiased.

    Fellegi, "Controlled random rounding" (1975), without the control of sums.
    """
    remainder = counts % base
    up = _uniform(base, counts.size, random_bytes).reshape(counts.shape) < remainder
    rounded: NDArray[np.int64] = counts - remainder + base * up
    return rounded


def _uniform(below: int, size: int, random_bytes: RandomBytes) -> NDArray[np.int64]:
    """(size,) Uniform numbers from 0 to `below` - 1: words beyond the last multiple of `below` are drawn again."""
    uniform = np.empty(0, dtype=np.int64)
    last = _BELOW // below * below - 1
    while len(uniform) < size:
        words = np.frombuffer(random_bytes(8 * (size - len(uniform))), dtype=np.uint64)
        uniform = np.concatenate([uniform, (words[words <= last] % below).astype(np.int64)])
    return uniform
