"""The two sides of a table: records that a generator learns from, and records that it never sees.

The side of a record follows from its values alone, so that equal records are on one side, and whoever has the table
finds the same sides again. Nobody learns a value from that.
"""

import hashlib
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aegis_provider.records.records import Records

SHARE: Final = 0.2
"""The share of the records that is held out unless another is asked for."""


@dataclass(frozen=True, eq=False)
class Sides:
    """The records that are learnt from, and those that are held out."""

    training: Records
    held_out: Records


def sides_of(records: Records, share: float = SHARE) -> Sides:
    """Hold out about this share of the distinct records, with all records that are equal to them."""
    held_out = held_out_of(records, share)
    return Sides(records.take(~held_out), records.take(held_out))


def held_out_of(records: Records, share: float = SHARE) -> NDArray[np.bool_]:
    """(records,) Return whether `sides_of` holds a record out."""
    first, of_record = records.distinct()
    return np.array([_hash(records, each) < share for each in records.places()[first]], dtype=bool)[of_record]


def _hash(records: Records, places: NDArray[np.intp]) -> float:
    """Return a number in [0, 1) that the texts of a record determine."""
    texts = [column.domain.texts[place] for column, place in zip(records.columns, places, strict=True)]
    digest = hashlib.blake2b("\0".join(texts).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / (1 << 64)
