"""What an attack is given: a release, and records that it saw and that it never saw."""

from collections.abc import Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np

from aegis_provider.attacks.released import Released
from aegis_provider.records import Records, drawn


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

    def targets(self, attack: str, most: int) -> tuple[Records, Records]:
        """Return records that the release saw, and records that it never saw, drawn at random, at most so many each."""
        first, second = self.rng(f"targets of {attack}").integers(0, 1 << 32, 2)
        return (
            self.seen.take(drawn(len(self.seen), most, int(first))),
            self.held_out.take(drawn(len(self.held_out), most, int(second))),
        )
