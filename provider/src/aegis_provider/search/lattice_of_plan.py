"""The lattice of a plan's maskings, and what every release does with the attributes that are not searched."""

from collections.abc import Iterator

import numpy as np

from aegis_provider.counting.counted_table import CountedAttribute, CountedTable
from aegis_provider.counting.counts import Partition, Places
from aegis_provider.counting.published_domain import listed_values
from aegis_provider.errors import PlanError
from aegis_provider.plan.model import DROP, IDENTITY, Plan
from aegis_provider.search.lattice import Choices, Lattice
from aegis_provider.table.discretization import Binned


def lattice_of(counted: CountedTable, plan: Plan) -> Lattice:
    """Return the choices for every quasi-identifier, chains first, since these are faster to search.

    Raises:
        PlanError: The default of a quasi-identifier does not give each value one masked value.
    """
    attributes = {each.attribute.name: each for each in counted.attributes}
    choices = [_choices(counted, plan, name, attributes.get(name)) for name in plan.quasi_identifiers]
    return Lattice(tuple(sorted(choices, key=lambda each: not each.is_chain)))


def _choices(counted: CountedTable, plan: Plan, name: str, attribute: CountedAttribute | None) -> Choices:
    """Return the choices for an attribute, or, without one, for the label, which nothing masks.

    An attribute with a secret masking, such as tokens, does not get the choice `identity`, because it must not be
    shared unmasked. Nothing is finer than a default other than `identity`.
    """
    if attribute is None:
        return Choices.of(name, {IDENTITY: Partition.identity(len(counted.label))})
    values, default = len(attribute.domain), attribute.attribute.default
    masked = {masking: domain.partition() for masking, domain in counted.masked_domains(attribute).items()}
    unmasked = attribute.attribute.identity and not attribute.attribute.is_secret
    choices = {IDENTITY: Partition.identity(values)} if unmasked else {}
    choices |= {**masked, DROP: Partition(np.zeros(values, dtype=np.intp), 1)}
    listed = {IDENTITY: listed_partition(counted, attribute)}
    if default == IDENTITY:
        return Choices.of(name, choices, listed)
    if default not in choices:
        raise PlanError(_undecidable(attribute, plan, "quasi-identifier"))
    finest = choices[default]
    coarser = {id_: of for id_, of in choices.items() if of.follows_from(finest)}
    return Choices.of(name, {default: finest} | coarser, listed)


def listed_partition(counted: CountedTable, attribute: CountedAttribute) -> Partition:
    """Return the groups of an attribute's values that an entry lists by default if it is shared unmasked."""
    shared = [domain.partition() for domain in counted.masked_domains(attribute).values()]
    binned = isinstance(counted.table.reading(attribute.attribute.name), Binned)
    return listed_values(attribute, shared, binned=binned)


def unsearched(counted: CountedTable, plan: Plan) -> dict[str, Partition]:
    """Return how an entry groups the values of each attribute that is not a quasi-identifier.

    Attributes that are left out, or left to chance or to another table, have no grouping.
    """
    groups = {}
    for each in counted.attributes:
        name, choice = each.attribute.name, each.attribute.kept_as
        if name not in plan.quasi_identifiers and choice == IDENTITY:
            groups[name] = listed_partition(counted, each)
        elif name not in plan.quasi_identifiers and choice in (domains := counted.masked_domains(each)):
            groups[name] = domains[choice].partition()
    return groups


def masked_always(counted: CountedTable, plan: Plan) -> Iterator[tuple[str, Places]]:
    """Yield each sensitive attribute that every release masks, with the place of each value's masked value.

    Raises:
        PlanError: Its default does not give each value one masked value.
    """
    for each in counted.attributes:
        default = each.attribute.kept_as
        if each.attribute.name not in plan.sensitive or default in {IDENTITY, DROP}:
            continue
        domains = counted.masked_domains(each)
        if default not in domains:
            raise PlanError(_undecidable(each, plan, "sensitive attribute"))
        yield each.attribute.name, domains[default].partition().groups


def _undecidable(counted: CountedAttribute, plan: Plan, role: str) -> str:
    name, default = counted.attribute.name, counted.attribute.kept_as
    masking = counted.attribute.masking(default)
    to = "another table" if masking is not None and masking.is_elsewhere else "chance"
    return (
        f"{plan.source}: {default!r} leaves the {role} {name!r} to {to}, which the search cannot evaluate; choose "
        "another default"
    )
