"""The verdicts of `aegis risk`, whether a table and its releases have the promised privacy, and of `aegis disclose`."""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

from aegis_provider.privacy import CRITERIA, Assessment, ReleasePrivacy
from aegis_sdk.reading import Alone, private_only, shown, some, verdict_in_words, verdict_line
from aegis_sdk.wire import SUPPRESSED

if TYPE_CHECKING:  # slow to load
    from aegis_provider.disclosure import Judged

_MOST_NAMES = 5
_GIVEN_AWAY = 0.98
_REQUIRE = "--require k=5"


def judged_line(name: str, judged: Judged, summarize: str) -> str:
    """Return the verdict on an entry with this name and, on failure, the command that fixes it."""
    return verdict_in_words(name, judged.verdict, f"{summarize} {judged.options}".rstrip())


def leak_warning(telling: Iterable[str], label: str, auc: float = 0.0, scale: str = "AUC") -> str:
    """Return a warning that the label is nearly given away; empty if it is not. Cards show it, so it gives no share.

    Args:
        telling: The columns that tell over 80 % of the label.
        label: The label.
        auc: How well a model predicts it, on this scale.
    """
    said = [f"{shown(name)} tells over 80 % of {shown(label)}" for name in telling]
    said += [f"a model predicts {shown(label)} with an {scale} of {auc:.3f}"] if auc > _GIVEN_AWAY else []
    return f"{'; '.join(said)}: are all columns known before {shown(label)} is?" if said else ""


@dataclass(frozen=True)
class RiskVerdict:
    """Whether every promise holds.

    A value that every table trivially satisfies, such as an l of 1, promises nothing. There is no verdict without
    another promise, nor if no promise is broken but some cannot be measured here.

    Attributes:
        passed: Whether all promises hold; `None` without a verdict.
        reason: Why, in words.
        mend: The command that fixes a failure, or leads to a verdict; empty if it passes.
        against: The only attackers against whom promises hold, if too many records are alone on all shared columns.
    """

    passed: bool | None
    reason: str
    mend: str = ""
    against: str = ""

    @property
    def line(self) -> str:
        """The verdict in one line."""
        if self.against:
            return f"{self.against}: {self.reason}. To mend it: {self.mend}"
        return verdict_line(self.passed, self.reason, self.mend)


def risk_verdict(
    assessment: Assessment, table: str, plan: Path | None, alone: Alone | None = None, *, counted: bool = True
) -> RiskVerdict:
    """Return the verdict on what was measured.

    Args:
        assessment: The measurements, with requirements beyond the promises.
        table: The table, as a command names it.
        plan: The plan, if any.
        alone: The records that are alone on all shared columns.
        counted: Whether to state the numbers of suppressed records and cells.
    """
    judged = assessment.releases or (assessment.as_it_is,)
    by_outcome: dict[_Outcome, list[ReleasePrivacy]] = {outcome: [] for outcome in _Outcome}
    for release in judged:
        by_outcome[_outcome_of(release)].append(release)
    only = judged[0] if len(judged) == 1 else None
    reason = _reason_of(only, assessment.unmasked_name, counted=counted) if only else _tally(by_outcome)
    ways = _Ways(assessment, table, plan)
    if broken := by_outcome[_Outcome.BROKEN]:
        return RiskVerdict(False, reason, ways.mending(broken))
    if unknown := by_outcome[_Outcome.UNKNOWN]:
        return RiskVerdict(None, reason, ways.measuring(unknown[0]))
    if not by_outcome[_Outcome.KEPT]:
        return RiskVerdict(None, reason, ways.requiring(judged))
    if alone is not None and alone.is_much(offered=alone.configuration is None):
        return RiskVerdict(False, reason, ways.sharing_less(alone), private_only(alone.known))
    return RiskVerdict(True, reason)


class _Outcome(Enum):
    """The result for the promises of a release; its values follow a number of configurations."""

    KEPT = ("keeps its promise", "keep their promise")
    BROKEN = ("breaks it", "break it")
    UNKNOWN = ("cannot be checked here", "cannot be checked here")
    NOTHING = ("promises nothing that can be measured", "promise nothing that can be measured")


def _outcome_of(release: ReleasePrivacy) -> _Outcome:
    if release.broken:
        return _Outcome.BROKEN
    promised = [name for name in release.promises if CRITERIA[name].is_measured]
    if any(name in release.unmeasured for name in promised):
        return _Outcome.UNKNOWN
    return _Outcome.KEPT if promised or (release.declared and release.sizes) else _Outcome.NOTHING


def _tally(by_outcome: Mapping[_Outcome, Sequence[ReleasePrivacy]]) -> str:
    """Report the results for several configurations."""
    number = sum(map(len, by_outcome.values()))
    parts = [f"{len(by_outcome[_Outcome.KEPT]):,} of {number:,} configurations {_words(by_outcome, _Outcome.KEPT)}"]
    for outcome in (_Outcome.BROKEN, _Outcome.UNKNOWN):
        if releases := by_outcome[outcome]:
            names = some([shown(release.id) for release in releases], _MOST_NAMES)
            parts.append(f"{len(releases):,} {_words(by_outcome, outcome)}: {names}")
    if nothing := by_outcome[_Outcome.NOTHING]:
        parts.append(f"{len(nothing):,} {_words(by_outcome, _Outcome.NOTHING)}")
    return "; ".join(parts)


def _words(by_outcome: Mapping[_Outcome, Sequence[ReleasePrivacy]], outcome: _Outcome) -> str:
    one, several = outcome.value
    return one if len(by_outcome[outcome]) == 1 else several


def _reason_of(release: ReleasePrivacy, unmasked: str, *, counted: bool) -> str:
    """Report the result for the only release, or the table."""
    name = shown(release.id) if release.id else f"the {unmasked}{',' * (',' in unmasked)}"
    breaches = release.breaches_in_words(counted=counted)
    if release.broken:
        return f"{name} {'breaks its promise' if release.id else 'lacks what is required'}: {breaches}"
    if release.sizes is None:
        return f"{name} is {release.in_words()}"
    if not release.sizes.records:
        return f"{name} has no record left"
    if _outcome_of(release) is _Outcome.UNKNOWN:
        return f"{name} has no sensitive column, so {', '.join(release.unmeasured)} cannot be measured"
    if _outcome_of(release) is _Outcome.NOTHING:
        return f"{name} promises nothing{' that can be measured' if release.promises else ''}"
    return f"{name} {release.in_words(counted=counted)}"


@dataclass(frozen=True)
class _Ways:
    """The commands that fix failures, or lead to a verdict."""

    assessment: Assessment
    table: str
    plan: Path | None

    def mending(self, broken: Sequence[ReleasePrivacy]) -> str:
        """Return the command that masks as promised; if only numbers in the plan are wrong, the correction."""
        wrong = [(release.id, breach) for release in broken for breach in release.broken]
        if all(each.name in SUPPRESSED for _, each in wrong):
            [(release, each), *_] = wrong
            return f"write {each.name}: {{{shown(release)}: {each.reached:g}}} into {self.plan}"
        return self._masking(_options(_strictest(broken)))

    def measuring(self, release: ReleasePrivacy) -> str:
        """Return the command that measures a release whose privacy cannot be measured here."""
        required = _options(_strictest([release])) or _REQUIRE
        if release.sizes is None:
            return f"aegis risk MASKED {self._columns()} {required}"
        if self.plan is None:
            return f"aegis risk {self.table} {self._columns()} --sensitive NAME {required}"
        return f"name a column under sensitive: in {self.plan}"

    def sharing_less(self, alone: Alone) -> str:
        """Return advice for leaving fewer records alone on all shared columns."""
        if alone.known is None:
            return self._masking("--require k=2")
        if self.plan is None:
            return "name all columns that someone may know with --quasi-identifiers"
        return f"add what else someone may know to quasi_identifiers in {self.plan}, or mask it there, and search again"

    def requiring(self, judged: Sequence[ReleasePrivacy]) -> str:
        """Return the command that states requirements for releases without promises."""
        if len(judged) == 1 and judged[0].sizes is None:
            return self.measuring(judged[0])
        where = self._columns() if self.plan is None else f"--plan {self.plan}"
        chosen = f" --configuration {shlex.quote(shown(judged[0].id))}" if len(judged) == 1 and judged[0].id else ""
        return f"aegis risk {self.table} {where}{chosen} {_REQUIRE}"

    def _masking(self, required: str) -> str:
        if self.plan is None:
            label = next(iter(self.assessment.plan.sensitive), "LABEL")
            return f"aegis release {self.table} --label {shlex.quote(shown(label))} {required} --output DIR"
        share = "--suppress-at-most 0.01"
        return f"aegis plan configurations {self.table} --plan {self.plan} {required} {share} --output FOUND"

    def _columns(self) -> str:
        """Return the options that name the columns of a table without a plan."""
        plan = self.assessment.plan
        roles = {"--quasi-identifiers": plan.quasi_identifiers, "--sensitive": plan.sensitive}
        return " ".join(f"{option} {shlex.quote(_fields(names))}" for option, names in roles.items() if names)


def _strictest(releases: Sequence[ReleasePrivacy]) -> dict[str, float]:
    """Return the strictest measurable promise, by name."""
    strictest: dict[str, float] = {}
    for name, promise in (item for release in releases for item in release.promises.items()):
        if CRITERIA[name].is_measured:
            choose = max if CRITERIA[name].at_least else min
            strictest[name] = choose(promise, strictest.get(name, promise))
    return strictest


def _options(privacy: Mapping[str, float]) -> str:
    return " ".join(f"--require {name}={number:g}" for name, number in privacy.items())


def _fields(names: Sequence[str]) -> str:
    """Return comma-separated names; one that contains a comma is quoted."""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow([shown(name) for name in names])
    return line.getvalue()
