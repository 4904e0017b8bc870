"""Reads what a plan demands, whatever it costs: attributes kept, how fine or coarse, weights, whose records are."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from aegis_provider.errors import PlanError, nearest
from aegis_provider.plan.model import DROP, IDENTITY, Attribute, Limits, Masking, Plan
from aegis_provider.yaml_file import Element
from aegis_sdk.reading import some
from aegis_sdk.wire.values import ROWS_PER_PERSON

LIMITS: Final = ("finest", "coarsest")
"""The fields of an attribute that limit its choices."""

DEMANDS: Final = ("keep", "weights")
"""The members of a plan that do so for attributes by name, or weigh them."""

PERSON: Final = ("person", "rows_per_person")
"""The members of a plan that say whose a record is, and how many of a person are used."""

_NAMES: Final = 5


def read_limits(fields: Mapping[str, Element], maskings: Sequence[Masking]) -> Limits:
    """Read the limits of an attribute with these maskings.

    Raises:
        PlanError: One is not a choice that can limit others.
    """
    stated: dict[str, str] = {}
    known = [IDENTITY, *(masking.id for masking in maskings if masking.is_by_value)]
    for key in (key for key in LIMITS if key in fields):
        choice = fields[key].text()
        if choice not in known:
            fields[key].fail(f"{choice!r} is no masking by value of this attribute; {nearest(choice, known)}")
        stated[key] = choice
    return Limits(finest=stated.get("finest"), coarsest=stated.get("coarsest"))


def read_weights(element: Element) -> dict[str, float]:
    """Read how much attributes count in a mean over the attributes; others count 1.

    Raises:
        PlanError: A weight is not a number of at least 0.
    """
    weights = {name: float(weight.decimal()) for name, weight in element.items()}
    for name, weight in weights.items():
        if weight < 0:
            element.fail(f"{name!r}: a weight must be 0 or more, not {weight:g}")
    return weights


def read_kept(element: Element) -> dict[str, str | None]:
    """Read the attributes to keep, each with its coarsest masking; `None` if any but `drop` will do.

    The form is `[race, sex]`, `{race: race-4}`, or both: `[sex, {race: race-4}]`.

    Raises:
        PlanError: An attribute is named twice, or the form is another one.
    """
    kept: dict[str, str | None] = {}
    for each in [element] if isinstance(element.value, dict) else element.elements():
        pairs = each.items() if isinstance(each.value, dict) else [(each.name(), None)]
        for name, masking in pairs:
            if name in kept:
                each.fail(f"{name!r} appears twice")
            kept[name] = None if masking is None else masking.text()
    return kept


def with_demands(plan: Plan, keep: Mapping[str, str | None], weights: Mapping[str, float]) -> Plan:
    """Return the plan that also keeps these attributes, and weighs these.

    Args:
        keep: The coarsest masking of each attribute to keep; `None` if any but `drop` will do.
        weights: How much attributes count in a mean over the attributes.

    Raises:
        PlanError: An attribute cannot be kept, or not as that masking, or the plan says otherwise.
    """
    attributes = {attribute.name: attribute for attribute in plan.attributes}
    for name, coarsest in keep.items():
        if fault := _unknown(plan, name) or _fault(attributes[name], coarsest):
            raise PlanError(f"{plan.source}: keep: {fault}")
        limits = attributes[name].limits
        limits = replace(limits, kept=True, coarsest=coarsest or limits.coarsest)
        attributes[name] = replace(attributes[name], limits=limits)
    for name, weight in weights.items():
        if fault := _unknown(plan, name):
            raise PlanError(f"{plan.source}: weights: {fault}")
        if attributes[name].weight not in {1.0, weight}:
            raise PlanError(f"{plan.source}: weights: {name!r} has {attributes[name].weight:g}, not {weight:g}")
        attributes[name] = replace(attributes[name], weight=weight)
    plan = replace(plan, attributes=tuple(attributes.values()))
    refuse_dropped(replace(plan, configurations=()))
    return plan


def with_person(plan: Plan, person: str | None, rows: int | None) -> Plan:
    """Return the plan whose privacy counts people.

    Args:
        person: The column that says whose a record is; `None` for that of the plan, if any.
        rows: The most records of a person to use; `None` for that of the plan, or the default.

    Raises:
        PlanError: The plan shares the column, names another or another number, or there is a number but no column.
    """
    named = plan.person if person is None else person
    for name, asked, stated in (("person", person, plan.person), ("rows_per_person", rows, plan.rows_per_person)):
        if asked is not None and stated not in {None, asked}:
            raise PlanError(f"{plan.source}: {name}: the plan says {stated!r}, not {asked!r}; change one of them")
    if named is None and rows is not None:
        raise PlanError(f"{plan.source}: rows_per_person: of no column; name the person column, too")
    if named in plan.labels:
        what = "a label" if plan.other_labels else "the label"
        raise PlanError(f"{plan.source}: person: {named!r} is {what}, which is shared; name the identifier of people")
    if named in {attribute.name for attribute in plan.attributes}:
        raise PlanError(f"{plan.source}: person: {named!r} is shared; delete it under `attributes`")
    plan = replace(plan, person=named, rows_per_person=plan.rows_per_person if rows is None else rows)
    if (plan.rows_per_person or 1) > ROWS_PER_PERSON:
        raise PlanError(
            f"{plan.source}: rows_per_person: more than {ROWS_PER_PERSON:,}, the most of an entry; use fewer"
        )
    if any(each.suppressed_cells is not None for each in plan.configurations):
        refuse_several(plan, "suppressed cells")
    return plan


def refuse_several(plan: Plan, what: str) -> None:
    """Refuse a plan that says whose a record is or has several labels, for what counts records and protects one label.

    Args:
        what: What that is, in the plural.

    Raises:
        PlanError: The plan does so.
    """
    if plan.person is not None:
        raise PlanError(f"{plan.source}: person: {what} do not count people yet; omit the person column")
    if plan.other_labels:
        raise PlanError(f"{plan.source}: labels: {what} protect one label only; suppress whole records instead")


def _unknown(plan: Plan, name: str) -> str:
    names = [attribute.name for attribute in plan.attributes]
    if name == plan.label:
        return f"{name!r} is the label, which is always shared; name attributes"
    if name in plan.left_out:
        return f"{name!r} is left out: {plan.left_out[name]}; describe it under `attributes` instead"
    return "" if name in names else f"unknown attribute {name!r}; {nearest(name, names)}"


def _fault(attribute: Attribute, coarsest: str | None) -> str:
    """Return why an attribute cannot be kept as this masking or a finer one; empty if it can."""
    name, limits = attribute.name, attribute.limits
    known = [masking.id for masking in attribute.maskings]
    named = attribute.masking(coarsest or IDENTITY)
    if coarsest not in {None, IDENTITY, *known}:
        return f"unknown masking {coarsest!r} of {name!r}; {nearest(str(coarsest), [*known, IDENTITY])}"
    if limits.coarsest not in {None, coarsest} and coarsest is not None:
        return f"{name!r} as {coarsest}, but the plan says {limits.coarsest}; change one of them"
    if not attribute.identity and not any(masking.is_by_value for masking in attribute.maskings):
        return f"{name!r} has `identity: false` and no masking by value, so it can only be dropped; add a masking"
    if coarsest == IDENTITY and not attribute.is_generable:
        return f"{name!r} cannot be shared unmasked (`identity: false`, or a token); name a masking, or none"
    if named is not None and not named.is_by_value:
        return f"{name!r} as {coarsest}: it does not mask by value, so no masking is finer; name another one"
    return ""


def refuse_dropped(plan: Plan) -> None:
    """Reject a plan that drops an attribute that it keeps.

    Raises:
        PlanError: It does so by default, or in a configuration.
    """
    for attribute in (each for each in plan.attributes if each.limits.is_kept):
        kept = f"{plan.source}: attributes.{attribute.name}: the plan keeps it, but"
        if attribute.default == DROP:
            raise PlanError(f"{kept} it has `default: drop`; delete one of the two")
        if attribute.name not in plan.quasi_identifiers and attribute.kept_as == DROP:
            raise PlanError(f"{kept} it is no quasi-identifier and has `identity: false`; give it a `default`")
        dropping = [each.id for each in plan.configurations if each.maskings[attribute.name] == DROP]
        if dropping:
            raise PlanError(f"{kept} {dropping[0]} drops it; delete `configurations` and search again")


def without_limits(plan: Plan) -> Plan:
    """Return the plan without limits of its attributes."""
    return replace(plan, attributes=tuple(replace(attribute, limits=Limits()) for attribute in plan.attributes))


def limits_in_words(plan: Plan) -> str:
    """Return what the limits of a plan do, as a subject: `keeping race and sex`; empty without limits."""
    kept = [attribute.name for attribute in plan.attributes if attribute.limits.is_kept]
    other = [each.name for each in plan.attributes if each.limits.finest is not None and each.name not in kept]
    parts = {"keeping": kept, "limiting": other}
    return " and ".join(f"{what} {some(names, _NAMES)}" for what, names in parts.items() if names)
