"""Randomness that lasts: a number for each named cell, so that publishing a table again is not another look at it.

A draw is a keyed hash of what it is for: the label, the attribute and the cell. The true count has no part in it:
another count of the cell meets the same number (a permanent random number [@ohlsson1995]). So the published count
changes only where the true one passes that number, and few cells change with few records.
"""

import hmac
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b, sha256
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

KEY_BYTES: Final = 32

_BITS: Final = 53
"""The bits of a draw: those of a number in double precision."""


@dataclass(frozen=True)
class LastingRandomness:
    """Numbers by name. Anyone with the key can undo the rounding.

    Attributes:
        key: 32 secret bytes; by default fresh ones, so that nothing lasts.
        names: What all its numbers are for.
        lasts: Whether the key is kept, so that a later publication draws the same numbers.
        warning: What the provider should know of the key, if anything.
        made: A sentence on the key if it was only just made.
    """

    key: bytes = field(default_factory=lambda: secrets.token_bytes(KEY_BYTES), repr=False)
    names: tuple[str, ...] = ()
    lasts: bool = False
    warning: str = ""
    made: str = ""

    def of(self, *names: str) -> Self:
        """Return the randomness for a part of what this one is for."""
        return replace(self, names=(*self.names, *names))

    def numbers(self, rows: Iterable[str], columns: Sequence[str] = ("",)) -> NDArray[np.float64]:
        """(rows, columns) Numbers between 0 and 1, neither included, for cells with these names."""
        ends = [_encoded([column]) for column in columns]
        words = [
            blake2b(end, digest_size=8, key=mac).digest()
            for mac in (hmac.digest(self.key, _encoded([*self.names, row]), "sha256") for row in rows)
            for end in ends
        ]
        drawn = np.frombuffer(b"".join(words), dtype="<u8").reshape(-1, len(ends)) >> np.uint64(64 - _BITS)
        return np.asarray((drawn + 0.5) / 2**_BITS)

    def number(self, name: str) -> float:
        """Return the number with this name, between 0 and 1."""
        return float(self.numbers([name])[0, 0])

    @property
    def fingerprint(self) -> str:
        """What tells the key from others, and nothing else about it."""
        return hmac.digest(self.key, b"fingerprint", "sha256").hex()[:16]


def _sized(name: str) -> bytes:
    text = name.encode("utf-8", "surrogatepass")
    return b"%d:%b" % (len(text), text)


def _encoded(names: Iterable[str]) -> bytes:
    """Return bytes that only these names have, in this order."""
    return b"".join(map(_sized, names))


def cell_names(rows: Sequence[str], columns: Sequence[str]) -> list[str]:
    """Return a name for each cell of a table, row by row."""
    return [f"{len(row)}:{row}{column}" for row in rows for column in columns]


def merging_ranks(names: Sequence[str]) -> NDArray[np.int64]:
    """(n,) The order in which values are merged with the ones before them, by their names alone.

    A value more or less then changes the order of the others nowhere.
    """
    hashed = [sha256(_sized(name)).digest() for name in names]
    ranks = np.empty(len(names), dtype=np.int64)
    ranks[sorted(range(len(names)), key=lambda place: (hashed[place], place))] = np.arange(len(names))
    return ranks
