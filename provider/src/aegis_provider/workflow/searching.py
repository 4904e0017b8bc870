"""The configurations of a release: found by a search, or measured again, and written into its plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from aegis_provider.errors import NothingHoldsError, PlanError
from aegis_provider.files import digest_of
from aegis_provider.plan.model import Plan
from aegis_provider.plan.reading import load_plan
from aegis_provider.plan.writing import write_plan
from aegis_provider.privacy.privacy_table import suppress_cells
from aegis_provider.records import held_out_share
from aegis_provider.search import SearchResult, find_configurations, measure_again
from aegis_provider.workflow.folder import digests_of
from aegis_provider.workflow.generating import Drawn
from aegis_provider.workflow.steps import FOUND, Steps

_AGAIN: Final = "again.yaml"


def found_for(steps: Steps, drawn: Sequence[Drawn] = ()) -> SearchResult:
    """Find the configurations with the required privacy, and write the plan with these and the generated tables.

    If the given plan suppresses single cells, as one by `aegis plan cells` does, configurations suppress cells
    instead of leaving out records, wherever that meets the requirement.

    Raises:
        NothingHoldsError: There is none.
    """
    generated = {"generated": [table.sha256 for table in drawn]} if drawn else {}
    inputs = {**_searched_in(steps), **generated}
    return steps.folder.step(
        "search", inputs, [FOUND], SearchResult, lambda: _found(steps, drawn), partial(_kept, steps)
    )


def _searched_in(steps: Steps) -> dict[str, Any]:
    return {**steps.origin, "plan": digest_of(steps.plan), **({"again": True} if steps.again else {})}


def refuse_unknown(steps: Steps, configuration: str) -> None:
    """Refuse a configuration to share whose id the folder lacks, or may mean by another search.

    A table without files, and one with generated tables, is searched again: equal searches give equal ids.

    Raises:
        PlanError: It is unknown.
    """
    found = steps.folder.file(FOUND)
    if not found.exists():
        raise PlanError(f"{steps.folder.path}: has no configurations yet; make the release without {configuration}")
    load_plan(found, source=str(found)).configuration(configuration)
    is_kept = digests_of(steps.table) is not None and not steps.aim.generates
    if is_kept and not (steps.plan.exists() and steps.folder.remembers("search", _searched_in(steps))):
        raise PlanError(
            f"{found}: {configuration} is from a search of another table or by other options; repeat these, or "
            "make the release without a configuration first"
        )


def _kept(steps: Steps, result: SearchResult) -> bool:
    """Reuse an earlier search, since another would change the release; note if it was unfinished."""
    if not result.complete:
        with steps.stage(
            "keeping what was found until the search ended: another --effort, --seconds or folder may find more"
        ):
            pass
    return True


def _found(steps: Steps, drawn: Sequence[Drawn]) -> SearchResult:
    plan = steps.planned()
    result = _measured_again(steps, plan) if steps.again else _searched(steps, plan)
    fitting = tuple(configuration for configuration in result.configurations if steps.aim.is_met_by(configuration))
    if not fitting:
        why = result.frontier[0].unmet or (
            "require less, let more records be left out, or give the plan coarser maskings"
        )
        raise NothingHoldsError(f"{steps.plan}: no configuration was found that has {steps.aim.described()}; {why}")
    if any(configuration.suppressed_cells is not None for configuration in plan.configurations):
        fitting = _with_cells(steps, replace(plan, configurations=fitting)).configurations
    if drawn:
        generated = (*plan.generated, *(each.stated(steps.folder.path) for each in drawn))
        plan = replace(plan, generated=generated, holdout=held_out_share(plan, None))
    remark = f"Found by `aegis release`, for {steps.aim.described()}"
    if steps.again:
        text = steps.plan.read_text(encoding="utf-8").replace(f"# {remark}\n", "")
        again = steps.folder.file(_AGAIN)  # a plan is not written over itself
        write_plan(steps.plan, plan, fitting, again, remark, text)
        again.replace(steps.folder.file(FOUND))
    else:
        write_plan(steps.plan, plan, fitting, steps.folder.file(FOUND), remark)
    return result


def _searched(steps: Steps, plan: Plan) -> SearchResult:
    with steps.stage("searching the maskings") as progress:
        return find_configurations(
            steps.table,
            plan,
            steps.aim.requirements(),
            measure=steps.aim.measure,
            most=steps.aim.most,
            effort=steps.aim.effort,
            seconds=steps.deadline.for_search,
            progress=progress,
            **steps.how,
        )


def _measured_again(steps: Steps, plan: Plan) -> SearchResult:
    with steps.stage("measuring the configurations again"):
        return measure_again(steps.table, plan, steps.aim.requirements(), measure=steps.aim.measure, **steps.how)


def _with_cells(steps: Steps, plan: Plan) -> Plan:
    """Let configurations suppress single cells instead of leaving out records."""
    if not any(configuration.suppresses for configuration in plan.configurations):
        return plan

    with steps.stage("choosing cells") as progress:
        return suppress_cells(steps.table, plan, progress=progress, **steps.how).plan
