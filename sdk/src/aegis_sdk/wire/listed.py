"""The list of masked and generated configurations, and the entry format that it needs."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, TypeAlias

from pydantic import Field, TypeAdapter, ValidationError

from aegis_sdk.wire.bounded import LONG_LIST
from aegis_sdk.wire.configuration import Configuration, masking_faults
from aegis_sdk.wire.faults import Fault, fault, raised, refuse
from aegis_sdk.wire.generated import GeneratedConfiguration, generated_faults
from aegis_sdk.wire.transfer import Holdout, transfer_faults
from aegis_sdk.wire.values import FORMAT_OF_MASKS, FORMAT_WITH_GENERATED, as_list, instead_of_pydantic, repeats

_MASKED = TypeAdapter(list[Configuration])


def _listed(value: object) -> list[Any]:
    """Validate a list of configurations. Pydantic's own check of a union would add its alternatives to the pointers."""
    values = as_list(value)
    if not values:
        raise fault("The list is empty")
    if not any(isinstance(item, GeneratedConfiguration) or _kind(item) != "masked" for item in values):
        return _MASKED.validate_python(values)  # much faster than one by one
    valid: list[Any] = []
    faults: list[Fault] = []
    for index, item in enumerate(values):
        try:
            valid.append(_one(item))
        except ValidationError as error:
            faults += (((index, *location), detail) for location, detail in raised(error))
    refuse("configurations", faults)
    return valid


def _kind(value: object) -> object:
    return value.get("kind", "masked") if isinstance(value, dict) else "masked"


def _one(value: object) -> Configuration | GeneratedConfiguration:
    """Validate a configuration by its kind."""
    if _kind(value) not in ("masked", "generated"):
        refuse("configuration", [(("kind",), 'Must be "masked" or "generated"')])
    is_generated = _kind(value) == "generated" or isinstance(value, GeneratedConfiguration)
    return (GeneratedConfiguration if is_generated else Configuration).model_validate(value)


ListedConfigurations = Annotated[
    list[Configuration | GeneratedConfiguration], Field(min_length=1), instead_of_pydantic(_listed), LONG_LIST
]
"""Configurations of either kind; `masked` if there is no `kind`."""

ListedConfiguration: TypeAlias = Configuration | GeneratedConfiguration
"""A configuration of either kind."""


def configurations_faults(
    listed: Sequence[ListedConfiguration],
    known: Mapping[str, frozenset[str]],
    labels: int,
    records: int,
    holdout: Holdout | None,
) -> Iterator[Fault]:
    """The faults of a list of configurations.

    Args:
        listed: the configurations.
        known: the known masking ids of each attribute.
        labels: the number of label values.
        records: the entry's records.
        holdout: the records that transfer utilities were evaluated on.
    """
    for location, detail in repeats([item.id for item in listed]):
        yield (*location, "id"), detail
    for index, item in enumerate(listed):
        if isinstance(item, GeneratedConfiguration):
            faults, most = generated_faults(item, known, labels), item.records
        else:
            faults, most = masking_faults(item.maskings, known), records
        for location, detail in faults:
            yield (index, *location), detail
        if item.transfer is not None:
            for location, detail in transfer_faults(item.transfer, holdout, known, labels, most):
                yield (index, "transfer", *location), detail


def format_faults(form: int, listed: Sequence[ListedConfiguration], holdout: Holdout | None) -> Iterator[Fault]:
    """The faults of an entry whose format is older or newer than it needs.

    Equal content must have one format and so one digest, and readers of format 1 can read every entry that needs no
    more.
    """
    newer = [
        (index, member)
        for index, configuration in enumerate(listed)
        if configuration.transfer is not None or "kind" in configuration.model_fields_set
        for member in _newer(configuration)
    ]
    if form == FORMAT_OF_MASKS:
        needed = f"Needs format {FORMAT_WITH_GENERATED}, but `format` says that the entry has format {form}"
        yield from ((("configurations", index, member), needed) for index, member in newer)
        if holdout is not None:
            yield ("holdout",), needed
    elif not newer and holdout is None:
        yield ("format",), f"Nothing in this entry needs format {form}: say {FORMAT_OF_MASKS}"


def _newer(each: ListedConfiguration) -> Iterator[str]:
    """The members of a configuration that format 1 does not have; for a generated one, its `kind`."""
    if "kind" in each.model_fields_set:
        yield "kind"
    if each.transfer is not None:
        yield "transfer"
