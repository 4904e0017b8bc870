"""The privacy that equivalence classes reach by each criterion, and the classes that break a promise."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from aegis_provider.counting.counted_table import CountedAttribute, CountedTable
from aegis_provider.errors import PlanError, shortened
from aegis_provider.plan.model import DROP, IDENTITY, Masking, Plan
from aegis_provider.privacy.classes import Classes, is_rising
from aegis_provider.privacy.criteria import CRITERIA


def measured_names() -> tuple[str, ...]:
    """Return the names of the criteria that can be measured in a table."""
    return tuple(name for name, each in CRITERIA.items() if each.is_measured)


def measure_privacy(classes: Classes, names: Sequence[str] | None = None) -> dict[str, int | float]:
    """Return the numbers that the classes reach, by name: those of the worst class.

    Without a sensitive attribute, only `k` is measured. Without records, nothing is.

    Args:
        classes: The classes of a release.
        names: The names of the criteria to measure; by default all.
    """
    if not len(classes):
        return {}
    chosen = CRITERIA if names is None else names
    return {name: CRITERIA[name].reached(classes) for name in chosen if CRITERIA[name].shows_in(classes)}


def refuse_without_order(demanded: Iterable[str], counted: CountedTable, plan: Plan) -> None:
    """Refuse what is demanded of the order of sensitive values that have none: that of the alphabet means nothing.

    Args:
        demanded: The names of criteria that are promised or required.
        counted: The table of the plan.
        plan: The plan.

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
                f"{plan.source}: {needed} needs an order of {shortened(name)}, and that of the alphabet is none: state "
                f"`order: [LOWEST, ..., HIGHEST]` in a plan{where}"
            )
        for masking in () if attribute is None else _maskings_out_of_order(counted, attribute, plan):
            raise PlanError(f"{masking.place}: puts values together that are not neighbours, so {needed} has no order")


def _maskings_out_of_order(counted: CountedTable, attribute: CountedAttribute, plan: Plan) -> Iterator[Masking]:
    """Yield the maskings of an attribute that lose its order, although a configuration promises what needs it."""
    ordered = [each for each in plan.configurations if any(CRITERIA[name].needs_order for name in each.privacy)]
    used = {each.maskings[attribute.attribute.name] for each in ordered}
    domains = counted.masked_domains(attribute) if used - {IDENTITY, DROP} else {}
    for masking in attribute.attribute.maskings:
        if masking.id in used and masking.id in domains and not is_rising(domains[masking.id].mapping):
            yield masking


def breaks(classes: Classes, promise: Mapping[str, float]) -> NDArray[np.bool_]:
    """Return (classes,) which classes break a promise; `promise`: privacy by name.

    Nothing breaks a promise that a table cannot show (`epsilon`), or one that needs a sensitive attribute when there
    is none.
    """
    broken = np.zeros(len(classes), dtype=np.bool_)
    for name, limit in promise.items():
        criterion = CRITERIA[name]
        if criterion.shows_in(classes):
            broken |= ~criterion.held(criterion.by_class(classes), limit)
    return broken


def holds(name: str, reached: float, limit: float) -> bool:
    """Return whether a criterion that reaches this number keeps the promise `limit`; rounding breaks none."""
    return bool(CRITERIA[name].held(np.float64(reached), limit))
