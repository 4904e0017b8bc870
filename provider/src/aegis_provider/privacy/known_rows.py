"""How many people look alike to someone who knows some of a person's records, each as it is masked.

`k` counts the people who have one record in common. Who knows two records of a person looks for people who have both,
and who knows all of them, for people with exactly these: of both there may be fewer than `k`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from aegis_provider.counting.counted_table import DistinctRecords
from aegis_provider.counting.counts import Counts, Places
from aegis_provider.plan.model import Roles
from aegis_provider.privacy.classes import class_of_each
from aegis_sdk.reading import Share

USUAL_K: Final = 5
"""The `k` to compare with where none is promised."""

_MOST_PAIRS: Final = 50_000_000
_FEW: Final = 5
_STEPS: Final = tuple(Fraction(percent, 100) for percent in (1, 2, 5, 10, 20, 50, 100))


@dataclass(frozen=True)
class KnownShares:
    """The shares of people with fewer than `k` alike, to someone who knows one, two or all records of theirs.

    Each is as `share_of_people` rounds it, so they give no count of 1 to 4 away. `two` is `None` if it was not counted.
    """

    k: int
    one: float
    two: float | None
    all: float

    @property
    def sentence(self) -> str:
        """Say it in a sentence, without a full stop."""
        said = {"one row": self.one, "two rows": self.two, "all rows": self.all}
        parts = (f"{rows}: {_of_people(share, place == 0)}" for place, (rows, share) in enumerate(said.items()))
        return f"fewer than {self.k} people look alike to someone who knows of a person {', '.join(parts)}"


def _of_people(share: float | None, first: bool) -> str:  # noqa: FBT001 - one word more
    if share is None:
        return "not counted"
    return "for nobody" if not share else f"for {Share(share).whole}{' of the people' * first}"


@dataclass(frozen=True)
class KnownRows:
    """The numbers of people with fewer than `k` alike, to someone who knows some of their records.

    Attributes:
        people: The number of all people.
        one: By any one record: others have such a record, too.
        two: By any two of them, or the only one; `None` if there are too many pairs to count.
        all: By all of them, and how many there are of each kind.
    """

    people: int
    k: int
    one: int
    two: int | None
    all: int

    @classmethod
    def of(cls, records: DistinctRecords, classes: Places, k: float = USUAL_K) -> Self | None:
        """Count them; `None` if no person has several records.

        Args:
            records: The distinct records of a release, with their people.
            classes: (combinations,) the number of the class of each.
            k: The promised `k`; one that promises nothing is taken for the usual one.
        """
        if records.people is None or not len(classes):
            return None
        k = int(k) if k > 1 else USUAL_K
        whose, people = np.unique(records.people, return_inverse=True)
        kinds = int(classes.max()) + 1
        cells, places = np.unique(people.reshape(-1) * kinds + classes, return_inverse=True)
        rows = np.bincount(places.reshape(-1), records.counts).astype(np.int64)
        people, classes = np.divmod(cells, kinds)
        by_one = _few(classes, people, len(whose), k)
        pairs = _pairs(people, classes, rows, kinds)
        two = None if pairs is None else int((by_one | _few(*pairs, len(whose), k)).sum())
        by_all = _few(_sets(people, classes, rows, len(whose)), np.arange(len(whose)), len(whose), k)
        return cls(len(whose), k, int(by_one.sum()), two, int(by_all.sum()))

    @classmethod
    def of_worst(
        cls, records: DistinctRecords, mappings: Mapping[str, Places], roles: Sequence[Roles], k: float
    ) -> Self | None:
        """Count them in the attack on each label, and return the most of each kind."""
        each = [cls.of(records, class_of_each(records, mappings, one.quasi_identifiers)[0], k) for one in roles]
        known = [one for one in each if one is not None]
        if not known:
            return None
        two = [one.two for one in known]
        most = None if None in two else max(number for number in two if number is not None)
        return replace(known[0], one=max(of.one for of in known), two=most, all=max(of.all for of in known))

    @property
    def shares(self) -> KnownShares:
        """The shares that may be published."""
        one, two, every = (
            None if some is None else share_of_people(Fraction(some, self.people), self.people)
            for some in (self.one, self.two, self.all)
        )
        return KnownShares(self.k, one or 0.0, two, every or 0.0)


def share_of_people(share: Fraction | float, people: int) -> float:
    """Return a share as a multiple of a step that is at least 1 % and more than five people, and 0 only if it is."""
    step = next((each for each in _STEPS if each * people > _FEW), _STEPS[-1])
    return float(max(step, round(Fraction(share) / step) * step)) if share else 0.0


def _few(known: Places, people: Places, many: int, k: int) -> NDArray[np.bool_]:
    """Return (people,) who has something that fewer than `k` people have.

    Args:
        known: (pairs,) what somebody has, by a number.
        people: (pairs,) who has it; each person once for the same.
        many: The number of people.
    """
    order = np.argsort(known, kind="stable")
    begins = np.flatnonzero(np.diff(known[order], prepend=-1) != 0)
    sizes = np.diff(begins, append=len(order))
    few = np.zeros(many, dtype=np.bool_)
    few[people[order[np.repeat(sizes < k, sizes)]]] = True
    return few


def _pairs(people: Places, classes: Places, rows: Counts, kinds: int) -> tuple[Places, Places] | None:
    """Return (pairs,) any two records of a person as a number, and whose they are; `None` if there are too many.

    Args:
        people, classes, rows: (cells,) the records of each person in each class, ascending.
        kinds: The number of classes.
    """
    each = np.bincount(people)
    if int((each * (each + 1) // 2).sum()) > _MOST_PAIRS:
        return None
    twice = rows > 1
    found = [(classes[twice] * (kinds + 1), people[twice])]
    for apart in range(1, int(each.max())):
        first = np.flatnonzero(people[:-apart] == people[apart:])
        found.append((classes[first] * kinds + classes[first + apart], people[first]))
    pairs, whose = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return pairs, whose


def _sets(people: Places, classes: Places, rows: Counts, many: int) -> Places:
    """Return (people,) a number that is equal for people with equally many records in the same classes."""
    kinds, kind = np.unique(classes * (int(rows.max()) + 1) + rows, return_inverse=True)
    each = np.bincount(people, minlength=many)
    begins, numbers, used = np.cumsum(each) - each, np.zeros(many, dtype=np.int64), 1
    for place in range(int(each.max())):
        more = np.flatnonzero(each > place)
        joined = numbers[more] * len(kinds) + kind.reshape(-1)[begins[more] + place]
        distinct, own = np.unique(joined, return_inverse=True)
        numbers[more] = used + own.reshape(-1)
        used += len(distinct)
    return numbers
