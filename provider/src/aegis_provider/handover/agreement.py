"""Whether plan, entry and approved request agree: what is delivered is what was published and approved."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from aegis_provider.errors import PlanError, ServiceError, shortened
from aegis_provider.plan.model import DROP, IDENTITY, Plan
from aegis_sdk.reading import generated_of, maskings_of, promises_of
from aegis_sdk.wire import SUPPRESSED, DataRequest, EntryDocument, EntryHead


def refuse_other(head: EntryHead, entry: EntryDocument, request: DataRequest, plan: Plan) -> dict[str, float]:
    """Refuse a plan from which the approved version of the entry was not made.

    Returns:
        The entry's promises for the configuration, by privacy criterion.

    Raises:
        ServiceError: The digest of the entry's version differs.
        PlanError: The plan masks differently from the entry.
    """
    entry_id, version = request.entry.id, request.entry.version
    if head.digest != request.entry.digest:
        raise ServiceError(
            f"entry {entry_id}: version {version} is {head.digest}, but {request.entry.digest} was requested"
        )
    difference = next(_differences(entry, head.entry_schema, request.configuration or "", plan), None)
    if difference is not None:
        raise PlanError(
            f"{plan.source}: {difference}; use the plan that version {version} of {shortened(request.entry.name)} was "
            "made from"
        )
    stated = promises_of(head.entry_schema, [request.configuration or ""])
    vouched = {name: numbers[0] for name, numbers in stated.items() if name not in SUPPRESSED}
    return {name: number for name, number in vouched.items() if number is not None}


def _differences(entry: EntryDocument, schema: Mapping[str, Any], configuration: str, plan: Plan) -> Iterator[str]:
    if entry.label.name != plan.label:
        yield f"its label is {shortened(plan.label)}, but {shortened(entry.label.name)} was published"
    if (entry.labels or [plan.label]) != list(plan.labels):
        own, other = (", ".join(map(shortened, of)) for of in (plan.labels, entry.labels or [plan.label]))
        yield f"its labels are {own}, but {other} were published"
    if generated_of(schema, configuration) is not None:
        if plan.generated_table(configuration) is None:
            yield f"it offers no generated table {configuration!r}"
        return
    as_it_is = {entry.label.name: IDENTITY}  # a label that no configuration masks
    published = as_it_is | maskings_of(schema, configuration)
    mine = as_it_is | dict(plan.configuration(configuration).maskings)
    for name in mine.keys() | published.keys():
        of_plan, of_entry = mine.get(name, DROP), published.get(name, DROP)
        if of_plan != of_entry:
            yield f"{configuration} masks {shortened(name)} by {of_plan!r}, but {of_entry!r} was published"
    yield from _other_functions(entry, published, plan)


def _other_functions(entry: EntryDocument, maskings: Mapping[str, str], plan: Plan) -> Iterator[str]:
    """Yield the masking functions that differ, ignoring parameters that the entry leaves out."""
    of_entry = {(each.name, one.id): one.function for each in entry.attributes for one in each.maskings}
    of_entry |= {(entry.label.name, one.id): one.function for one in entry.label.maskings}
    of_plan = {(each.name, one.id): one.function for each in plan.chosen for one in each.maskings}
    for place in maskings.items():
        if place[1] in (IDENTITY, DROP):
            continue
        published, mine = of_entry[place], of_plan[place]
        if published is None:
            continue
        parameters = json.loads(json.dumps(mine.parameters()))
        others = [name for name, value in published.parameters.items() if parameters.get(name) != value]
        if published.name != mine.name or others:
            yield f"masking {place[1]!r} of {shortened(place[0])} is not the one that was published"
