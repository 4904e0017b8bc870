"""What an attack is given: a release, and records that it saw and that it never saw."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final
from zlib import crc32

import numpy as np

from aegis_provider.records import Records, drawn
from aegis_provider.synth.released import Released

_FEWEST_PERSONS: Final = 100
"""With fewer combinations of attributes on a side, many people have each."""


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
        masks_all: Whether it masks the records of the whole table, so that none can be held out.
        is_as_large: Whether it has about as many records as the whole table, so that it may be made of all of them.
        nameable: If no column was named as a secret, the one that may be meant; it may be empty.
    """

    release: Released
    seen: Records
    held_out: Records
    quasi_identifiers: Sequence[str]
    secrets: Sequence[str]
    seed: int = 0
    masks_all: bool = False
    is_as_large: bool = False
    nameable: str | None = None

    def rng(self, attack: str) -> np.random.Generator:
        """Return the source of randomness of an attack, the same whatever other attacks are tried."""
        return np.random.default_rng([self.seed, crc32(attack.encode())])

    @property
    def persons_by(self) -> tuple[str, ...]:
        """The released attributes: records that are equal in these are taken to be of one person."""
        return tuple(each for each in self.seen.attributes if each in self.release.names) or self.release.names

    def persons(self, attack: str, most: int) -> tuple[Records, Records]:
        """Return a record of each person of each side, drawn at random, at most so many.

        Equal records are on one side together. So persons went to a side at random and independently, whereas records
        did not, and the persons of some drawn records have more records each, the fewer of a side are drawn.
        """
        first, second = self.rng(f"persons of {attack}").integers(0, 1 << 32, 2)
        return self._drawn(self.seen, most, int(first)), self._drawn(self.held_out, most, int(second))

    def targets(self, attack: str, most: int) -> tuple[Records, Records]:
        """Return persons to attack, at most so many of each side; or records, drawn at random, where persons mean less.

        That is so if no side is held out, since nothing is compared, and if a side has few combinations of attributes,
        since many people have each of them.
        """
        persons = self.persons(attack, most)
        if min(map(len, persons)) >= _FEWEST_PERSONS:
            return persons
        first, second = self.rng(f"targets of {attack}").integers(0, 1 << 32, 2)
        return (
            self.seen.take(drawn(len(self.seen), most, int(first))),
            self.held_out.take(drawn(len(self.held_out), most, int(second))),
        )

    def equal_sides(self, attack: str) -> tuple[Records, Records]:
        """Return all records of as many persons of each side, drawn at random.

        All that the release saw, if none are held out.
        """
        if not len(self.held_out):
            return self.seen, self.held_out
        rng = self.rng(f"sides of {attack}")
        each = [(side, *side.distinct(self.persons_by)) for side in (self.seen, self.held_out)]
        size = min(len(first) for _, first, _ in each)
        seen, held_out = (side.take((rng.permutation(len(first)) < size)[of]) for side, first, of in each)
        return seen, held_out

    def fair_to(self, secret: str) -> "Case":
        """Return the case without persons who differ from others in a secret alone, if an attack guesses that.

        The side of a record follows from its attributes. Where the secret is one of them, those with the secret of a
        held-out person may be missing from the release, and only those, so that a release which tells nothing of anyone
        would seem to tell less of the held-out persons. A label decides no side. If too few persons are left, all stay.
        """
        others = [each for each in self.persons_by if each != secret]
        if secret not in self.persons_by or not others or not len(self.held_out):
            return self
        both = np.concatenate([each.places([*others, secret]) for each in (self.seen, self.held_out)])
        first = np.unique(both, axis=0, return_index=True)[1]
        _, of_record = np.unique(both[:, :-1], axis=0, return_inverse=True)
        of_record = of_record.reshape(-1)
        has_one_secret = np.bincount(of_record[first]) == 1
        seen, held_out = np.split(has_one_secret[of_record], [len(self.seen)])
        fair = replace(self, seen=self.seen.take(seen), held_out=self.held_out.take(held_out))
        enough = min(len(each.distinct(self.persons_by)[0]) for each in (fair.seen, fair.held_out)) >= _FEWEST_PERSONS
        return fair if enough else self

    def _drawn(self, records: Records, most: int, seed: int) -> Records:
        rng = np.random.default_rng(seed)
        shuffled = rng.permutation(len(records))
        first, _ = records.take(shuffled).distinct(self.persons_by)
        return records.take(np.sort(rng.permutation(shuffled[first])[:most]))
