"""The privacy of equivalence classes by each criterion, and the classes that break a promise."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from aegis_provider.counting.counted_table import CountedAttribute, CountedTable, DistinctRecords
from aegis_provider.counting.counts import Places
from aegis_provider.errors import PlanError, shortened
from aegis_provider.plan.model import DROP, IDENTITY, Masking, Plan
from aegis_provider.privacy.classes import Classes, classes_in, is_rising, renumbered
from aegis_provider.privacy.criteria import CRITERIA


def measured_names() -> tuple[str, ...]:
    """Return the names of the criteria that can be measured in a table."""
    return tuple(name for name, criterion in CRITERIA.items() if criterion.is_measured)


def measure_privacy(classes: Classes, names: Sequence[str] | None = None) -> dict[str, int | float]:
    """Return the values of the worst class, by criterion.

    Without a sensitive attribute, only `k` is measured. Without records, nothing is.

    Args:
        classes: The classes of a release.
    """
    if not len(classes):
        return {}
    chosen = CRITERIA if names is None else names
    return {name: CRITERIA[name].reached(classes) for name in chosen if CRITERIA[name].shows_in(classes)}


def refuse_without_order(demanded: Iterable[str], counted: CountedTable, plan: Plan) -> None:
    """Reject criteria that need an order of sensitive values without one: alphabetical order is meaningless.

    Args:
        demanded: The names of the promised or required criteria.

    Raises:
        PlanError: A sensitive attribute has no order, or a masking in a configuration that promises one loses it.
    """
    needed = next((name for name in demanded if CRITERIA[name].needs_order), None)
    if needed is None:
        return
    known = {each.attribute.name: each for each in counted.attributes}
    for name in plan.sensitive:
        attribute = known.get(name) if name != plan.label else None
        if not (counted.label if attribute is None else attribute.domain).ordered:
            where = "" if attribute is None else f" under attributes.{name}"
            raise PlanError(
                f"{plan.source}: {needed} needs an order of {shortened(name)}, and the alphabet is not one: state "
                f"`order: [LOWEST, ..., HIGHEST]` in a plan{where}"
            )
        for masking in () if attribute is None else _maskings_out_of_order(counted, attribute, plan):
            raise PlanError(f"{masking.place}: merges values that are not neighbours, so {needed} has no order")


def _maskings_out_of_order(counted: CountedTable, attribute: CountedAttribute, plan: Plan) -> Iterator[Masking]:
    """Yield the maskings of an attribute that lose its order although a promised criterion needs it."""
    ordered = [
        configuration
        for configuration in plan.configurations
        if any(CRITERIA[name].needs_order for name in configuration.privacy)
    ]
    used = {each.maskings[attribute.attribute.name] for each in ordered}
    domains = counted.masked_domains(attribute) if used - {IDENTITY, DROP} else {}
    for masking in attribute.attribute.maskings:
        if masking.id in used and masking.id in domains and not is_rising(domains[masking.id].mapping):
            yield masking


def breaks(classes: Classes, promise: Mapping[str, float]) -> NDArray[np.bool_]:
    """Return (classes,) whether each class breaks the promise, privacy by name.

    A promise that a table cannot show (`epsilon`), or that needs a sensitive attribute without one, is never broken.
    """
    broken = np.zeros(len(classes), dtype=np.bool_)
    for name, limit in promise.items():
        criterion = CRITERIA[name]
        if criterion.shows_in(classes):
            broken |= ~criterion.held(criterion.by_class(classes), limit)
    return broken


def left_out_people(
    records: DistinctRecords,
    mappings: Mapping[str, Places],
    groups: Places,
    sensitive: Sequence[str],
    promise: Mapping[str, float],
    before: Classes,
    at_most: int | None = None,
) -> NDArray[np.bool_]:
    """(combinations,) Return which records are left out so that the classes of the others meet a promise.

    Who has a record in a class that breaks it is left out, with all records, until no class breaks it: others may do so
    only once somebody is left out. By `k`, these are the fewest people.

    Args:
        groups: (combinations,) the class of each.
        before: The classes of all records, with which the others are compared.
        at_most: Stop once more records than this are left out.
    """
    people = np.arange(len(groups)) if records.people is None else records.people
    left, out = np.ones(len(groups), dtype=np.bool_), np.zeros(int(people.max(initial=0)) + 1, dtype=np.bool_)
    total = int(groups.max(initial=0)) + 1
    classes, own = before, groups
    while (broken := breaks(classes, promise)[own]).any():
        out[people[left][broken]] = True
        left = ~out[people]
        if not left.any() or (at_most is not None and records.counts[~left].sum() > at_most):
            break
        own, size = renumbered(groups[left], total)
        classes = classes_in(records.take(left), mappings, own, size, sensitive, before)
    return ~left


def holds(name: str, reached: float, limit: float) -> bool:
    """Return whether a criterion with this value meets the promise `limit`, within rounding errors."""
    return bool(CRITERIA[name].held(np.float64(reached), limit))
