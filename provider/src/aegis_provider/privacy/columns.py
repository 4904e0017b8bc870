"""The role of each column of a plan, its masking in a configuration, and plans that consist of roles only."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from aegis_provider.errors import PlanError
from aegis_provider.plan.model import DROP, IDENTITY, Attribute, Configuration, Plan


@dataclass(frozen=True)
class Column:
    """A column in a release.

    `role`: its role in the plan. `masking`: the id of its masking, empty for the label, which is never masked.
    `becomes`: the masked values, described for people.
    """

    name: str
    role: str
    masking: str
    becomes: str


def roles_of(plan: Plan, configurations: Sequence[Configuration]) -> dict[str, str]:
    """Return the role of every column of the plan; for those without one, the number of configurations that share
    them.
    """
    roles = dict.fromkeys(plan.quasi_identifiers, "quasi-identifier") | dict.fromkeys(plan.sensitive, "sensitive")
    others = [name for name in plan.columns if name not in roles]
    return roles | {name: _neither(name, configurations) for name in others}


def columns_of(plan: Plan, configuration: Configuration) -> tuple[Column, ...]:
    """Return the plan's columns with their maskings in the configuration: quasi-identifiers, sensitive attributes,
    others.
    """
    attributes = {attribute.name: attribute for attribute in plan.attributes}
    return tuple(
        Column(name, role, configuration.maskings.get(name, ""), _becomes(attributes.get(name), configuration))
        for name, role in roles_of(plan, [configuration]).items()
    )


def maskings_in_short(plan: Plan, configuration: Configuration) -> str:
    """Return the ids of its maskings, `age-10, zip-2; without income`.

    An id of several attributes is preceded by the attribute's name.
    """
    ids = Counter(masking.id for attribute in plan.attributes for masking in attribute.maskings)
    masked = {name: choice for name, choice in configuration.maskings.items() if choice not in {IDENTITY, DROP}}
    dropped = [name for name, choice in configuration.maskings.items() if choice == DROP]
    short = ", ".join(choice if ids[choice] == 1 else f"{name}: {choice}" for name, choice in masked.items())
    without = f"without {', '.join(dropped)}" if dropped else ""
    return "; ".join(filter(None, (short, without))) or "nothing is masked"


def plan_of_roles(quasi_identifiers: Sequence[str], sensitive: Sequence[str]) -> Plan:
    """Return a plan without maskings and configurations, to measure a table directly, such as an already masked one.

    Raises:
        PlanError: A column is named twice, or none is named.
    """
    columns = [*quasi_identifiers, *sensitive]
    for place, name in enumerate(columns):
        if name in columns[:place]:
            raise PlanError(f"{name!r} is named twice; name each column once, as a quasi-identifier or as sensitive")
    if not columns:
        raise PlanError("no column is named; say which are quasi-identifiers and which are sensitive")
    # Every plan needs a label to count columns with. Any column will do as the label for privacy.
    label = columns[-1]
    attributes = tuple(Attribute(name, None, ()) for name in columns[:-1] or columns)
    return Plan("the columns named", label, attributes, (), {}, tuple(sensitive), tuple(quasi_identifiers))


def _neither(name: str, configurations: Sequence[Configuration]) -> str:
    shared = sum(configuration.maskings.get(name) != DROP for configuration in configurations)
    if shared == len(configurations):
        return "neither: shared"
    return f"neither: shared in {shared} of {len(configurations)}" if shared else "neither: not shared"


def _becomes(attribute: Attribute | None, configuration: Configuration) -> str:
    choice = IDENTITY if attribute is None else configuration.maskings[attribute.name]
    if choice == DROP:
        return "not in the release"
    for masking in () if attribute is None else attribute.maskings:
        if masking.id == choice:
            return masking.function.describe()
    is_binned = attribute is not None and attribute.discretization is not None
    return "as it is, in the plan's bins" if is_binned else "as it is"
