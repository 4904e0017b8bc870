"""What an attack is given: a release, and records that it saw and that it never saw."""

from collections.abc import Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np

from aegis_provider.records import Records, drawn
from aegis_provider.released import Released


@dataclass(frozen=True, eq=False)
class Case:
    """A release under attack.

    Attributes:
        release: The release.
        seen: The records that it was made of.
        held_out: Records of the same table that it was not made of; none if there are no such records.
        quasi_identifiers: The released attributes that someone may know of a person.
        secrets: The released attributes that nobody should learn about a person.
        seed: The seed of all random choices.
    """

    release: Released
    seen: Records
    held_out: Records
    quasi_identifiers: Sequence[str]
    secrets: Sequence[str]
    seed: int = 0

    def rng(self, attack: str) -> np.random.Generator:
        """Return the source of randomness of an attack, the same whatever other attacks are tried."""
        return np.random.default_rng([self.seed, crc32(attack.encode())])

    def persons(self, attack: str, most: int) -> tuple[Records, Records]:
        """Return distinct records of each side, drawn at random, at most so many.

        Equal records are on one side together. So distinct records went to a side at random, whereas the distinct ones
        among some drawn records are more frequent, the fewer of a side are drawn.
        """
        first, second = self.rng(f"persons of {attack}").integers(0, 1 << 32, 2)
        return _distinct(self.seen, most, int(first)), _distinct(self.held_out, most, int(second))

    def equal_sides(self, attack: str) -> tuple[Records, Records]:
        """Return as many distinct records of each side, drawn at random, with all records that equal them.

        All that the release saw, if none are held out.
        """
        if not len(self.held_out):
            return self.seen, self.held_out
        rng = self.rng(f"sides of {attack}")
        each = [(side, *side.distinct()) for side in (self.seen, self.held_out)]
        size = min(len(first) for _, first, _ in each)
        seen, held_out = (side.take((rng.permutation(len(first)) < size)[of]) for side, first, of in each)
        return seen, held_out

    def targets(self, attack: str, most: int) -> tuple[Records, Records]:
        """Return records that the release saw, and records that it never saw, drawn at random, at most so many each."""
        first, second = self.rng(f"targets of {attack}").integers(0, 1 << 32, 2)
        return (
            self.seen.take(drawn(len(self.seen), most, int(first))),
            self.held_out.take(drawn(len(self.held_out), most, int(second))),
        )


def _distinct(records: Records, most: int, seed: int) -> Records:
    first, _ = records.distinct()
    return records.take(np.sort(first[drawn(len(first), most, seed)]))
