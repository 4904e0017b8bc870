"""All attacks on a release, within a time limit."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import ceil, floor
from shlex import quote
from time import monotonic
from types import MappingProxyType
from typing import Final

from aegis_provider.plan.generated import Attacked
from aegis_provider.processes import Progress
from aegis_provider.synth.attacks.article29 import (
    INFERENCE,
    LINKABILITY,
    SINGLING_OUT,
    inference,
    linkability,
    singling_out,
)
from aegis_provider.synth.attacks.attack import Case, Outcome, least
from aegis_provider.synth.attacks.membership import (
    CLOSEST,
    COPIES,
    DENSITY,
    NEAREST,
    closest_records,
    density_membership,
    exact_copies,
    nearest_membership,
)
from aegis_provider.synth.attacks.quasi_identifiers import (
    DISCLOSURE,
    REIDENTIFICATION,
    attribute_disclosure,
    reidentification,
)
from aegis_provider.synth.released.opening import SEEN_ALL
from aegis_provider.synth.released.released import NotUnderstood
from aegis_sdk.reading import shown

_PARTS: Final = 1_000


def declared_attacks(case: Case) -> dict[str, Attacked]:
    """Try the attacks that an entry can declare, where possible; none if too many values are not understood.

    `reidentification` assumes knowledge of half of the quasi-identifiers, `attribute_disclosure` takes the best number
    of neighbours for the attacker, and `membership` goes by the nearest record.
    """
    if case.release.not_judged or case.release.not_read:
        return {}
    known = len(case.quasi_identifiers) // 2
    tried: Mapping[str, Outcome | None] = {
        "reidentification": next(reidentification(case, known=known)) if known else None,
        "attribute_disclosure": max(attribute_disclosure(case), key=lambda each: each.success.high, default=None)
        if case.secrets and case.quasi_identifiers
        else None,
        "membership": next(nearest_membership(case)) if len(case.held_out) else None,
    }
    return {name: _attacked(outcome) for name, outcome in tried.items() if outcome is not None}


def _attacked(outcome: Outcome) -> Attacked:
    success = outcome.success
    low, high = floor(success.low * _PARTS) / _PARTS, ceil(success.high * _PARTS) / _PARTS
    return Attacked(round(success.value, 3), max(0.0, low), min(1.0, high), round(outcome.baseline.value, 3))


ATTACKS: Final[Mapping[str, Callable[[Case], Iterator[Outcome]]]] = MappingProxyType(
    {
        COPIES: exact_copies,
        NEAREST: nearest_membership,
        DENSITY: density_membership,
        CLOSEST: closest_records,
        DISCLOSURE: attribute_disclosure,
        INFERENCE: inference,
        LINKABILITY: linkability,
        SINGLING_OUT: singling_out,
        REIDENTIFICATION: reidentification,
    }
)
"""The attacks by name, the quick ones first."""

_COMPARING: Final = (NEAREST, DENSITY, CLOSEST)
_GUESSING: Final = (DISCLOSURE, INFERENCE)
_KNOWING: Final = (DISCLOSURE, REIDENTIFICATION)
_FEWEST: Final = 10
_NEARLY_ALL: Final = 0.9
_FAR_MORE: Final = 3


class Result(StrEnum):
    """The result of an attack, or of all; the worst comes last."""

    PASS = "pass"  # noqa: S105 - no password
    NOT_JUDGED = "not judged"
    FAIL = "fail"


@dataclass(frozen=True)
class Judgement:
    """The results of attacks on a release.

    Attributes:
        nobody: The attacks that failed because no released record is suitable.
        not_understood: The columns with too many values that are not understood for an attack to count as failed.
        is_as_large: Whether the release is as large as the table, so that it may be made from the held-out records,
            too.
    """

    outcomes: Sequence[Outcome]
    unfinished: Sequence[str] = ()
    impossible: Mapping[str, str] = field(default_factory=dict)
    nobody: Sequence[str] = ()
    not_understood: Mapping[str, NotUnderstood] = field(default_factory=dict)
    not_read: Sequence[str] = ()
    is_as_large: bool = False

    @property
    def results(self) -> Mapping[str, Result]:
        """The result of each attack: it works, fails, or is not judged.

        The comparison of distances is not an attack, so it has no result.
        """
        tried = [outcome.name for outcome in self.outcomes if outcome.is_attack]
        names = dict.fromkeys([*tried, *self.unfinished, *self.impossible, *self.nobody])
        of_name = {name: [each for each in self.outcomes if each.name == name] for name in {**ATTACKS, **names}}
        return {name: self._of(name, of_name[name]) for name in of_name if name in names and name != CLOSEST}

    @property
    def result(self) -> Result:
        """The worst result of an attack."""
        results = set(self.results.values()) or {Result.NOT_JUDGED}
        return next(each for each in reversed(Result) if each in results)

    def result_of(self, variant: Outcome) -> Result | None:
        """Return the result of one variant of an attack; `None` if it had too few tries and other variants decide."""
        result = self._of(variant.name, [variant])
        others_tell = variant.is_few and self.results.get(variant.name) is not Result.NOT_JUDGED
        return None if not variant.is_attack or (result is Result.NOT_JUDGED and others_tell) else result

    def _of(self, name: str, variants: Sequence[Outcome]) -> Result:
        enough = [variant for variant in variants if not variant.is_few]
        if any(self.gain(each) > 0 for each in enough):
            return Result.FAIL
        nobody = name == SINGLING_OUT and not any(
            variant.success.value for variant in variants
        )  # however few there are
        ended = name not in self.unfinished and name not in self.impossible
        compared = not (self.is_too_small or self.copied_held_out or self.is_as_large)
        is_read = compared and not (self.not_understood or self.not_read)
        return Result.PASS if ended and is_read and (enough or nobody) else Result.NOT_JUDGED

    @property
    def copied_held_out(self) -> tuple[int, int] | None:
        """The number of held-out records in the release and their total, if that is much more than chance.

        Then the release was probably made from them, too, and they are useless for comparison. The criteria: it
        contains nearly all of them, or far more released and held-out records are equal than in independent draws, or
        it is a part of the table.
        """
        for copies in (outcome.details for outcome in self.outcomes if outcome.name == COPIES):
            found, records = (int(copies.get(name, 0)) for name in ("held_out_found", "held_out_records"))
            has_all = found > _NEARLY_ALL * records > copies.get("held_out_by_chance", 0)
            most = max(_FEWEST, _FAR_MORE * copies.get("held_out_pairs_by_chance", 0))
            if has_all or copies.get("held_out_pairs", 0) > most or _is_part_of_table(copies):
                return found, records
        return None

    @property
    def _tried(self) -> int:
        return sum(outcome.is_attack for outcome in self.outcomes)

    @property
    def strongest(self) -> Outcome | None:
        """The attack with the highest certain gain over both chance and held-out records.

        Without any, the attack with the highest certain gain over chance; `None` if there is none.
        """
        attacks = [outcome for outcome in self.outcomes if outcome.is_attack and not outcome.is_few]
        strongest = max(attacks, key=self._strength, default=None)
        return None if strongest is None or self._strength(strongest)[1] <= 0 else strongest

    @property
    def is_too_small(self) -> bool:
        """Whether the release has too few records to judge attacks."""
        return any(outcome.name == COPIES and outcome.is_few for outcome in self.outcomes)

    def gain(self, outcome: Outcome) -> float:
        """Return the certain gain of an attack, corrected for the number of attacks."""
        return outcome.gain(self._tried)

    def _strength(self, outcome: Outcome) -> tuple[float, float]:
        """Return the sort key of attacks: the certain gain, if any, then the certain gain over chance."""
        return max(0.0, self.gain(outcome)), least(outcome.beyond_chance, self._tried)

    def best(self) -> Sequence[Outcome]:
        """Return the variant with the highest gain of each attack, and of each attribute that it guesses."""
        best: dict[tuple[str, str], Outcome] = {}
        for outcome in self.outcomes:
            key = (outcome.name, outcome.variant.rpartition(", k = ")[0] if outcome.name == DISCLOSURE else "")
            key = (outcome.name, outcome.variant) if outcome.name in {INFERENCE, SINGLING_OUT} else key
            if key not in best or self._strength(outcome) > self._strength(best[key]):
                best[key] = outcome
        return tuple(best.values())


def _is_part_of_table(copies: Mapping[str, float]) -> bool:
    """Whether all released records, mostly rare ones, match a separate record of the table, some of them held out."""
    matched, released = copies.get("matched", 0.0), copies.get("released", 0.0)
    is_whole = matched + copies.get("frequent", 0.0) >= released > 0
    return is_whole and 2 * matched > released and copies.get("matched_held_out", 0.0) > _FEWEST


def judge(case: Case, seconds: float = 60.0, progress: Progress = lambda _done, _total: None) -> Judgement:
    """Try all attacks on a release.

    Args:
        seconds: No attack or variant starts after this time.
    """
    end = monotonic() + seconds
    outcomes: list[Outcome] = []
    unfinished: list[str] = []
    impossible: dict[str, str] = {}
    nobody: list[str] = []
    for done, (name, attack) in enumerate(ATTACKS.items()):
        progress(done, len(ATTACKS))
        if reason := _reason_against(name, case):
            impossible[name] = reason
            continue
        before = len(outcomes)
        if not _tried(attack(case), outcomes, end):
            unfinished.append(name)
        elif len(outcomes) == before:
            if name == SINGLING_OUT:
                nobody.append(name)
            else:
                impossible[name] = "nothing in the release fits it"
    progress(len(ATTACKS), len(ATTACKS))
    release = case.release
    return Judgement(
        tuple(outcomes),
        tuple(unfinished),
        impossible,
        tuple(nobody),
        release.not_judged,
        release.not_read,
        case.is_as_large,
    )


def _tried(variants: Iterator[Outcome], outcomes: list[Outcome], end: float) -> bool:
    """Try the variants of an attack; return whether all were tried in time."""
    while monotonic() < end:
        outcome = next(variants, None)
        if outcome is None:
            return True
        outcomes.append(outcome)
    return False


def _reason_against(name: str, case: Case) -> str:
    """Return why an attack cannot be tried; empty if it can."""
    known, columns = len(case.quasi_identifiers), len(case.release.columns)
    distinct = len(case.held_out.persons(case.persons_by)[0]) if name in _COMPARING else 0
    few = SEEN_ALL if case.masks_all or case.release.is_masked else "no record is held out (holdout 0)"
    if len(case.held_out):
        few = (
            f"of {len(case.held_out)} held-out records {distinct} differ in an attribute; it compares with at least "
            f"{_FEWEST}"
        )
    nothing_to_guess = "no sensitive attribute is in the release"
    if case.nameable is not None:
        option = f"--sensitive {quote(shown(case.nameable))}" if case.nameable else "--sensitive"
        nothing_to_guess = f"no sensitive attribute was named ({option}, or --plan)"
    reasons = {
        few: name in _COMPARING and distinct < _FEWEST,
        nothing_to_guess: name in _GUESSING and not case.secrets,
        "no quasi-identifier is in the release": name in _KNOWING and not known,
        "the release has one column": name in {INFERENCE, LINKABILITY} and columns == 1,
        "only one quasi-identifier is in the release": name == REIDENTIFICATION and known == 1,
    }
    return next((reason for reason, holds in reasons.items() if holds), "")
