"""The privacy of equivalence classes by each criterion, and the classes that break a promise."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aegis_provider.counting.counted_table import CountedAttribute, CountedTable, DistinctRecords
from aegis_provider.counting.counts import Places
from aegis_provider.errors import PlanError, shortened
from aegis_provider.plan.model import DROP, IDENTITY, Masking, Plan, Roles
from aegis_provider.privacy.classes import Classes, class_of_each, classes_in, is_rising, renumbered
from aegis_provider.privacy.criteria import CRITERIA

BY_LABEL: Final = ("k", "l")
"""The criteria that an entry states for each of several labels: whole numbers, which need no steps to be published."""


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


def measure_worst(attacks: Sequence[Classes], names: Sequence[str] | None = None) -> dict[str, int | float]:
    """Return the values of the worst class of all attacks, by criterion that can be measured in each.

    Args:
        attacks: The classes of a release in the attack on each label.
    """
    each = [measure_privacy(classes, names) for classes in attacks]
    common = [name for name in (each[0] if each else ()) if all(name in one for one in each)]
    return {name: (min if CRITERIA[name].at_least else max)(one[name] for one in each) for name in common}


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
    known = {each.attribute.name: each for each in counted.chosen(plan)}
    for name in plan.sensitive:
        attribute = known.get(name)
        if not (counted.label if attribute is None else attribute.domain).ordered:
            where = "" if name == plan.label else f" under attributes.{name}"
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
    roles: Sequence[Roles],
    promise: Mapping[str, float],
    at_most: int | None = None,
) -> tuple[NDArray[np.bool_], tuple[Classes, ...]]:
    """Return (combinations,) which records are left out so that the others meet a promise, and the classes before.

    Who has a record in a class that breaks it is left out, with all records, until no class breaks it: others may do so
    only once somebody is left out. That holds in the attack on each label. By `k` and `l` of records, these are the
    fewest records; by `k`, the fewest people.

    Args:
        at_most: Stop once more records than this are left out.
    """
    grouped = [class_of_each(records, mappings, one.quasi_identifiers) for one in roles]
    pairs = list(zip(roles, grouped, strict=True))
    before = tuple(classes_in(records, mappings, *own, one.sensitive) for one, own in pairs)
    people = np.arange(len(records.counts)) if records.people is None else records.people
    left, out = np.ones(len(people), dtype=np.bool_), np.zeros(int(people.max(initial=0)) + 1, dtype=np.bool_)
    attacks = [(groups, classes) for (groups, _), classes in zip(grouped, before, strict=True)]
    while (broken := np.any([breaks(classes, promise)[own] for own, classes in attacks], axis=0)).any():
        out[people[left][broken]] = True
        left = ~out[people]
        if not left.any() or (at_most is not None and records.counts[~left].sum() > at_most):
            break
        rest, attacks = records.take(left), []
        for (one, (groups, total)), whole in zip(pairs, before, strict=True):
            own, size = renumbered(groups[left], total)
            attacks.append((own, classes_in(rest, mappings, own, size, one.sensitive, whole)))
    return ~left, before


def holds(name: str, reached: float, limit: float) -> bool:
    """Return whether a criterion with this value meets the promise `limit`, within rounding errors."""
    return bool(CRITERIA[name].held(np.float64(reached), limit))
