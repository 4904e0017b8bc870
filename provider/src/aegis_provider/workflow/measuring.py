"""The steps that measure a release: privacy, what columns keep, models, and the comparison with generated tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from aegis_provider.classifiers import CheckResult
from aegis_provider.counting.kept import Kept, kept_in
from aegis_provider.errors import PlanError
from aegis_provider.files import digest_of
from aegis_provider.plan.model import Configuration, Plan
from aegis_provider.privacy import assess
from aegis_provider.report.verdicts import risk_verdict
from aegis_provider.search import choose_again
from aegis_provider.table import open_table, table_name
from aegis_provider.workflow.card_making import Assessed
from aegis_provider.workflow.deadline import OVER
from aegis_provider.workflow.generating import Comparison
from aegis_provider.workflow.steps import ENTRY, FOUND, Steps
from aegis_sdk import AegisError
from aegis_sdk.reading import Alone
from aegis_sdk.wire import TRANSFER_MEASURES, EntryDocument

if TYPE_CHECKING:  # slow to load
    from aegis_provider.check import Choose

# Fewer than `aegis check` uses: here the check is one step of many.
_FOLDS: Final = 3


def compared(steps: Steps, entry: EntryDocument, masks: Sequence[Configuration]) -> Comparison | None:
    """Compare masked tables with the generated ones of the entry, if it has any.

    Raises:
        PlanError: The measure of utility does not support the comparison.
        AegisError: The extra `synth` is not installed, or time is up.
    """
    if not entry.generated:
        return None
    if steps.aim.measure not in TRANSFER_MEASURES:
        raise PlanError(f"masked and generated tables cannot be compared by {steps.aim.measure}")
    from aegis_provider.synth.offer import compare  # noqa: PLC0415 - loaded only with --also-generate

    plan = _with(steps.found, masks)

    def work() -> Comparison:
        if steps.deadline.is_over():
            raise AegisError(OVER)
        with steps.stage("attacking masked tables") as progress:
            further = (progress, steps.deadline.is_over)
            return compare(steps.table, plan, masks, entry, steps.aim.measure, steps.how, *further)

    inputs = steps.inputs_of(ENTRY, plan=digest_of(steps.folder.file(FOUND)), compared=[mask.id for mask in masks])
    return steps.folder.step("comparison", inputs, [], Comparison, work, partial(_is_finished, steps))


def measured_privacy(steps: Steps, configuration: str, alone: Alone, published: Mapping[str, float]) -> Assessed:
    """Measure the privacy of the table and of the release.

    Args:
        configuration: The id of the configuration of the release.
        alone: The records that are alone in it.
        published: Its privacy in the entry, which the verdict quotes.
    """

    def work() -> Assessed:
        with steps.stage("measuring privacy") as progress:
            how = {"require": steps.aim.require, "progress": progress, **steps.how}
            found = assess(steps.table, steps.found, configuration=configuration, **how)
        [release] = found.releases
        highest, before = (None if each is None else each.highest for each in (release.risk, found.as_it_is.risk))
        judged = replace(found, releases=(replace(release, told=published),))
        verdict = risk_verdict(judged, table_name(steps.table), steps.plan, alone, counted=False)
        told = (verdict.passed, verdict.line)
        certain = (release.certain, release.guessable)
        of = 0 if release.sizes is None else release.sizes.records
        return Assessed(found.columns, *told, highest, before, *certain, alone.in_short(), of, release.known)

    inputs = steps.inputs_of(FOUND, configuration=configuration, alone=alone.document, published=dict(published))
    return steps.folder.step("privacy", inputs, [], Assessed, work)


def kept_of_columns(steps: Steps, configuration: str) -> Mapping[str, Kept]:
    """Return what a configuration keeps of each column, as the draft's plan says it."""

    def work() -> dict[str, Kept]:
        with steps.stage("comparing columns"), open_table(steps.table, **steps.how) as opened:
            return kept_in(opened, steps.found, configuration)

    return steps.folder.step("kept", steps.inputs_of(FOUND, configuration=configuration), [], dict[str, Kept], work)


def trained(steps: Steps, configurations: Sequence[str], further: Sequence[Configuration]) -> CheckResult:
    """Train models on the table, its releases, and releases by further configurations, in the plan or not.

    Raises:
        AegisError: An extra is not installed, or time is up.
    """
    from aegis_provider.check import check  # noqa: PLC0415 - slow to load

    ids = [each.id for each in further]

    def work() -> CheckResult:
        if steps.deadline.is_over_for_models():
            raise AegisError(OVER)
        with steps.stage("training models") as progress:
            seconds, of_a_fold = steps.deadline.for_check(compares=steps.aim.generates)
            how = {"folds": _FOLDS, "further": ids, "choose": _choose(steps, of_a_fold), **steps.how}
            plan = _with(steps.found, further)
            return check(steps.table, plan, configurations, seconds=seconds, progress=progress, **how)

    inputs = steps.inputs_of(FOUND, checked=list(configurations), further=ids)
    return steps.folder.step("check", inputs, [], CheckResult, work, partial(_is_finished, steps))


def _is_finished(steps: Steps, result: CheckResult | Comparison) -> bool:
    """Whether to reuse a result of an earlier run: if it is finished, or too little time remains for more."""
    return not result.unfinished or steps.deadline.is_over_for_models()


def _choose(steps: Steps, seconds: float) -> Choose | None:
    """Return the search on a part of the records; `None` if configurations suppress cells, which it cannot."""
    if any(configuration.suppressed_cells is not None for configuration in steps.found.configurations):
        return None
    required, aim = steps.aim.requirements(), steps.aim
    how = partial(choose_again, effort=aim.effort, of=len(required), requirement=required[0], measure=aim.measure)
    return lambda *of: how(*of, seconds=min(seconds, steps.deadline.left / 2))  # masking follows


def _with(plan: Plan, configurations: Sequence[Configuration]) -> Plan:
    """Return the plan extended by the configurations that it lacks."""
    known = {configuration.id for configuration in plan.configurations}
    return replace(
        plan,
        configurations=(
            *plan.configurations,
            *(configuration for configuration in configurations if configuration.id not in known),
        ),
    )
