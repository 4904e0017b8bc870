"""Maskings and discretizations of an entry, as JSON values."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from aegis_provider.counting.counted_table import CountedAttribute, MaskedDomain
from aegis_provider.counting.elsewhere import CountsElsewhere
from aegis_provider.counting.listed_masked import ListedMasked
from aegis_provider.counting.published_domain import PublishedDomain
from aegis_provider.masking import Draw, Function, MaskingFunction
from aegis_provider.plan.model import Masking
from aegis_provider.table.discretization import Binned
from aegis_provider.table.reading import Reading
from aegis_provider.table.values import ValueType

MERGED: Final = "merged"
"""The discretization of numbers and dates whose domain is no finer than the shared maskings."""


def discretization_of(counted: CountedAttribute, reading: Reading, published: PublishedDomain) -> dict[str, Any]:
    """Return the `discretization` of an attribute, if it has any."""
    rule = counted.attribute.discretization
    if rule is None or not isinstance(reading, Binned):
        numeric = counted.domain.value_type in {ValueType.INTEGER, ValueType.NUMBER, ValueType.DATE}
        merged = numeric and published.texts != counted.domain.texts
        return {"discretization": {"rule": MERGED, "parameters": {}}} if merged else {}
    return {"discretization": {"rule": rule.name, "parameters": rule.parameters(reading.bins)}}


def masking_by_value(
    counted: CountedAttribute,
    masking_id: str,
    function: MaskingFunction,
    masked: MaskedDomain,
    published: PublishedDomain,
) -> dict[str, Any]:
    """Return a masking that gives each value a masked value."""
    mapping = {} if function.secret else {"mapping": masked.partition().per_group_of(published.partition).tolist()}
    return {
        "id": masking_id,
        "function": _function(function),
        "domain": list(masked.texts),
        **({"deterministic": True} if function.secret else mapping),
        "joint": counted.counts.fold(masked.mapping, len(masked.texts)).tolist(),
    }


def drawn_masking(masking: Masking, draw: Draw, published: PublishedDomain, listed: ListedMasked) -> dict[str, Any]:
    """Return a random masking, with the counts of its draw."""
    transition = None
    if draw.transition is not None:
        transition = np.minimum(listed.summed(published.averages(draw.transition).T).T, 1.0)  # rounding may exceed 1
    return {
        "id": masking.id,
        "function": _function(masking.function),
        "domain": list(listed.texts),
        **({} if transition is None else {"transition": transition.tolist()}),
        "deterministic": False,
        "joint": listed.summed(draw.joint()).tolist(),
    }


def masking_elsewhere(
    masking: Masking, elsewhere: CountsElsewhere, records: int, listed: ListedMasked
) -> dict[str, Any]:
    """Return a masking that was applied elsewhere; `records` are those of the table."""
    return {
        "id": masking.id,
        "function": _function(masking.function),
        "domain": list(listed.texts),
        "deterministic": False,
        **({"records": elsewhere.records} if elsewhere.records < records else {}),
        "joint": listed.summed(elsewhere.joint).tolist(),
    }


def _function(function: Function) -> dict[str, Any]:
    return {"name": function.name, "parameters": function.parameters()}


def without_values(function: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out the parameters that map each value: they name rare values, too."""
    parameters = {name: each for name, each in function["parameters"].items() if not isinstance(each, dict)}
    return {**function, "parameters": parameters}
