"""Visibility: who may see an entry besides its own tenant."""

from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from aegis_sdk.wire.documents import Request
from aegis_sdk.wire.faults import fault, refuse
from aegis_sdk.wire.sizes import tenant_faults
from aegis_sdk.wire.values import Identifiers, instead_of_pydantic


class VisibleTo(Request):
    """Visibility to the named tenants."""

    tenants: Identifiers = Field(description="Tenants that see the entry besides its own")


def _visibility(value: object) -> object:
    """Validate a visibility. Pydantic's own check of a union would add its alternatives to the pointers."""
    if isinstance(value, VisibleTo) or value in ("private", "all"):
        return value
    if isinstance(value, dict):
        return VisibleTo.model_validate(value)
    raise fault('Visibility must be "private", "all" or {"tenants": [...]}')


Visibility = Annotated[Literal["private", "all"] | VisibleTo, instead_of_pydantic(_visibility)]
"""`private`: only its own tenant; `all`: every caller; or its own tenant and the named ones."""


class VisibilityPatch(Request):
    """A change of an entry's visibility, without a new version."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"visibility": {"tenants": ["partner"]}}]})

    visibility: Visibility = Field(description="`private`, `all` or the named tenants")

    @model_validator(mode="after")
    def _names_few_tenants(self) -> Self:
        refuse("visibility", tenant_faults(self.visibility))
        return self
