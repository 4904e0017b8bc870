"""The case of an attack (release, training and held-out records), and its outcome against chance and the latter."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import NormalDist
from typing import Final, Self
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from aegis_provider.check import Interval
from aegis_provider.plan.model import Plan
from aegis_provider.records import Records, drawn
from aegis_provider.synth.released.opening import open_release
from aegis_provider.synth.released.released import Released
from aegis_provider.table import Source

CONFIDENCE: Final = 1.96
"""The quantile of the normal distribution for 95 % intervals."""

_FEWEST_TRIED: Final = 20


@dataclass(frozen=True)
class Outcome:
    """The outcome of an attack, in one of its variants.

    Attributes:
        variant: The variant of the attack: what the attacker knows or guesses.
        attacked: The number of attacked records, or guesses.
        measure: The reference of the success share, or `AUC`.
        baseline: The success without the release.
        is_attack: Whether it is an attack. Otherwise it describes the release, and is not compared with attacks.
    """

    name: str
    variant: str
    attacked: int
    measure: str
    success: Interval
    baseline: Interval
    held_out: Interval | None
    sentence: str
    details: Mapping[str, float] = field(default_factory=dict)
    is_attack: bool = True

    @property
    def is_few(self) -> bool:
        """Whether there were too few tries for a meaningful share."""
        return self.attacked < _FEWEST_TRIED

    @property
    def beyond_chance(self) -> Interval:
        """The gain over the baseline, as a share of the possible gain."""
        return beyond(self.success, self.baseline)

    @property
    def risk(self) -> Interval | None:
        """The gain over held-out records, as a share of the possible gain: the risk of being in the table.

        Source: Giomi et al., A Unified Framework for Quantifying Privacy Risk in Synthetic Data, PoPETs 2023, eq. 4.
        """
        return None if self.held_out is None else beyond(self.success, self.held_out)

    def gain(self, variants: int = 1) -> float:
        """Return the certain gain over both references, corrected for the number of variants (see `least`)."""
        compared = [self.beyond_chance] if self.risk is None else [self.beyond_chance, self.risk]
        return min(least(each, variants) for each in compared)


def least(interval: Interval, variants: int) -> float:
    """Return the lower limit of an interval, with Bonferroni's correction for the number of variants.

    The more attacks are tried, the more often one looks better than it is.
    """
    wider = NormalDist().inv_cdf(1 - 0.025 / variants) / CONFIDENCE
    return interval.value - wider * (interval.value - interval.low)


def beyond(success: Interval, reference: Interval) -> Interval:
    """Return (success - reference) / (1 - reference) with its 95 % interval by the delta method, within [-1, 1].

    The two are treated as independent, and half an interval as 1.96 standard errors.
    """
    left = 1.0 - reference.value
    if left <= 0:
        return Interval(0.0, 0.0, 0.0)
    value = (success.value - reference.value) / left
    below = np.hypot(
        (success.value - success.low) / left, (1 - success.value) * (reference.high - reference.value) / left**2
    )
    above = np.hypot(
        (success.high - success.value) / left, (1 - success.value) * (reference.value - reference.low) / left**2
    )
    return Interval(max(-1.0, value), max(-1.0, value - float(below)), min(1.0, value + float(above)))


def wilson(successes: float, attempts: int) -> Interval:
    """Return a share of independent attempts with Wilson's score interval; all of [0, 1] if there is no attempt.

    Source: Wilson, Probable inference, the law of succession, and statistical inference (1927); as in Giomi et al.,
    section 5.
    """
    if not attempts:
        return Interval(0.0, 0.0, 1.0)
    share, z = successes / attempts, CONFIDENCE
    centre = (share + z**2 / (2 * attempts)) / (1 + z**2 / attempts)
    half = z / (1 + z**2 / attempts) * np.sqrt(share * (1 - share) / attempts + z**2 / (4 * attempts**2))
    return Interval(share, max(0.0, min(share, centre - float(half))), min(1.0, max(share, centre + float(half))))


def share_of(hits: NDArray[np.bool_]) -> Interval:
    """Return the share of the hits with Wilson's interval."""
    return wilson(int(hits.sum()), len(hits))


def mean_of(values: NDArray[np.float64]) -> Interval:
    """Return the mean of values in [0, 1] with its 95 % interval by the normal distribution."""
    if len(values) < 2:  # noqa: PLR2004 - no variance
        return Interval(float(values.mean()) if len(values) else 0.0, 0.0, 1.0)
    value, half = float(values.mean()), CONFIDENCE * float(values.std(ddof=1) / np.sqrt(len(values)))
    return Interval(value, max(0.0, value - half), min(1.0, value + half))


def exactly(value: float) -> Interval:
    """Return an interval without width."""
    return Interval(value, value, value)


_FEWEST_PERSONS: Final = 100
"""With fewer combinations of attributes on a side, many people share each."""


@dataclass(frozen=True, eq=False)
class Case:
    """A release under attack.

    Attributes:
        held_out: Records of the same table that it was not made from; may be empty.
        quasi_identifiers: The released attributes that an attacker may know of a person.
        secrets: The released attributes that nobody should learn about a person.
        masks_all: Whether it masks the whole table, so that no records can be held out.
        is_as_large: Whether it has about as many records as the whole table, so that it may be made from all of them.
        nameable: The column to suggest if no secret was named; may be empty.
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
        """Return the random generator of an attack, independent of other attacks."""
        return np.random.default_rng([self.seed, crc32(attack.encode())])

    @property
    def rows(self) -> int:
        """The most records of one person."""
        return self.seen.rows

    @property
    def persons_by(self) -> tuple[str, ...]:
        """The released attributes; records that are equal in these count as one person, unless the plan says whose."""
        return (
            tuple(attribute for attribute in self.seen.attributes if attribute in self.release.names)
            or self.release.names
        )

    def persons(self, attack: str, most: int) -> tuple[Records, Records]:
        """Return one record per person of each side, drawn at random, at most `most`.

        Equal records are always on the same side, so persons, not records, were assigned independently. Drawing records
        would favour persons with many records, more so on the side of which fewer are drawn.
        """
        first, second = self.rng(f"persons of {attack}").integers(0, 1 << 32, 2)
        return self._drawn(self.seen, most, int(first)), self._drawn(self.held_out, most, int(second))

    def targets(self, attack: str, most: int) -> tuple[Records, Records]:
        """Return at most `most` persons of each side to attack, or randomly drawn records.

        Records are drawn if none are held out, since nothing is compared, and if a side has few combinations of
        attributes, since many people share each.
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
        """Return all records of equally many persons of each side, drawn at random.

        Without held-out records, return all that the release was made from.
        """
        if not len(self.held_out):
            return self.seen, self.held_out
        rng = self.rng(f"sides of {attack}")
        each = [(side, *side.persons(self.persons_by)) for side in (self.seen, self.held_out)]
        size = min(len(first) for _, first, _ in each)
        seen, held_out = (side.take((rng.permutation(len(first)) < size)[of]) for side, first, of in each)
        return seen, held_out

    def fair_to(self, secret: str) -> "Case":
        """Return the case for guessing a secret, without persons who differ from others in the secret alone.

        The side of a record depends on its attributes. If the secret is one of them, the release may lack exactly the
        records with the secret of a held-out person, and then seems to reveal less about held-out persons even if it
        reveals nothing. The label does not affect the side. If too few persons remain, all are retained.
        """
        others = [name for name in self.persons_by if name != secret]
        if secret not in self.persons_by or not others or not len(self.held_out):
            return self
        both = np.concatenate([each.places([*others, secret]) for each in (self.seen, self.held_out)])
        first = np.unique(both, axis=0, return_index=True)[1]
        _, of_record = np.unique(both[:, :-1], axis=0, return_inverse=True)
        of_record = of_record.reshape(-1)
        has_one_secret = np.bincount(of_record[first]) == 1
        seen, held_out = np.split(has_one_secret[of_record], [len(self.seen)])
        fair = replace(self, seen=self.seen.take(seen), held_out=self.held_out.take(held_out))
        enough = min(len(each.persons(self.persons_by)[0]) for each in (fair.seen, fair.held_out)) >= _FEWEST_PERSONS
        return fair if enough else self

    def _drawn(self, records: Records, most: int, seed: int) -> Records:
        rng = np.random.default_rng(seed)
        shuffled = rng.permutation(len(records))
        first, _ = records.take(shuffled).persons(self.persons_by)
        return records.take(np.sort(rng.permutation(shuffled[first])[:most]))


@dataclass(frozen=True, eq=False)
class OpenedCase:
    """A case, and facts about it for reports.

    Attributes:
        lacking: The columns of the table or the plan that the release lacks.
    """

    case: Case
    released: int
    of_records: int
    share: float
    lacking: tuple[str, ...]


@dataclass(frozen=True)
class Roles:
    """The roles of columns in attacks; by default those of the plan, or of the release.

    Attributes:
        label: The label; it is the secret if no other column is.
        quasi_identifiers: The columns that an attacker may know; by default all that are not secret.
    """

    label: str | None = None
    quasi_identifiers: Sequence[str] = ()
    sensitive: Sequence[str] = ()

    @classmethod
    def of(cls, plan: Plan) -> Self:
        """Return the roles of a plan; an attacker on one of several labels may know the others."""
        return cls(plan.label, plan.all_roles.quasi_identifiers, plan.sensitive)


def open_case(
    release: Source,
    table: Source,
    *,
    plan: Plan | None = None,
    configuration: str | None = None,
    roles: Roles | None = None,
    holdout: float | None = None,
    delimiter: str | None = None,
    memory_limit: str = "1GB",
    seed: int = 0,
    is_sure: bool = False,
    person: str | None = None,
    rows_per_person: int | None = None,
) -> OpenedCase:
    """Read a release and its original table.

    Args:
        release: The release: anything that `open_table` accepts.
        plan: The plan of the release. Held-out records are then those that the generator held out.
        holdout: The share of records held out from the release; see `open_release`.
        delimiter: The delimiter of CSV files; by default, the one in each header.
        is_sure: Whether the release certainly never saw the held-out records, whatever its size.
        person: The column of the table that says whose a record is, by default that of the plan: people are attacked.
        rows_per_person: The most records of a person that are used; see `People.of`.

    Raises:
        PlanError: The plan has no such configuration.
        TableError: A table cannot be read, is too small, lacks a column, or shares none with the other.
    """
    roles = (roles or Roles()) if plan is None else Roles.of(plan)
    opened = open_release(
        release,
        table,
        plan=plan,
        configuration=configuration,
        label=roles.label,
        named=[*roles.quasi_identifiers, *roles.sensitive],
        holdout=holdout,
        delimiter=delimiter,
        memory_limit=memory_limit,
        seed=seed,
        person=person,
        rows_per_person=rows_per_person,
    )
    nameable = None
    if not roles.label and not roles.sensitive:
        others = (name for name in reversed(opened.released.names) if name not in roles.quasi_identifiers)
        nameable = next(others, "")
    case = Case(
        opened.released,
        opened.seen,
        opened.held_out,
        *_attacked(opened.released, roles, opened.label),
        seed,
        masks_all=opened.is_masked and not len(opened.held_out),
        is_as_large=opened.is_as_large and not is_sure,
        nameable=nameable,
    )
    return OpenedCase(case, opened.size, opened.of_records, opened.share, opened.lacking)


def case_by_plan(released: Released, seen: Records, held_out: Records, plan: Plan) -> Case:
    """Return the case of a release in memory, with the roles of its plan."""
    roles = Roles.of(plan)
    return Case(released, seen, held_out, *_attacked(released, roles, plan.label))


def _attacked(released: Released, roles: Roles, label: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the quasi-identifiers and the secrets in the release."""
    secrets = tuple(roles.sensitive) or ((label,) if roles.label else ())
    others = [name for name in released.names if name not in secrets and name != roles.label]
    known = [name for name in released.names if name in roles.quasi_identifiers] or others
    return tuple(known), tuple(secret for secret in secrets if secret in released.names)
