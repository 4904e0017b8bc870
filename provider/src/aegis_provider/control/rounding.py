"""Random rounding: every count becomes a multiple of a base, up or down by chance, so that none is off on average."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aegis_provider.control.controls import Changes
from aegis_provider.control.declarable import only_declarable, tables_of, with_tables

RandomBytes: TypeAlias = Callable[[int], bytes]
"""So many bytes that nobody can guess."""

_BELOW = 2**64


def round_counts(entry: Mapping[str, Any], base: int, random_bytes: RandomBytes) -> tuple[dict[str, Any], Changes]:
    """The entry with all its counts rounded to multiples of the base, and what was left out since it cannot declare
    that.

    `random_bytes` is to be the system's: whoever guesses the chances undoes the rounding, and a plan's seed would serve
    for every guess at it. Raises `ControlError` for pair counts, and where no record is left.
    """
    declarable, left_out = only_declarable(entry)
    return with_tables(declarable, _rounded(declarable, base, random_bytes)), Changes(tables=left_out)


def _rounded(
    entry: Mapping[str, Any], base: int, random_bytes: RandomBytes
) -> Iterator[tuple[list[list[int]], dict[str, Any]]]:
    for _, counts in tables_of(entry):
        rounded = rounded_to(np.array(counts, dtype=np.int64), base, random_bytes)
        yield rounded.tolist(), {"rounded_to": base}


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
    found = np.empty(0, dtype=np.int64)
    last = _BELOW // below * below - 1
    while len(found) < size:
        words = np.frombuffer(random_bytes(8 * (size - len(found))), dtype=np.uint64)
        found = np.concatenate([found, (words[words <= last] % below).astype(np.int64)])
    return found
