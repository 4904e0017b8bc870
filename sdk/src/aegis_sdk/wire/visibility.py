"""Who can see an entry besides its own tenant."""

from collections.abc import Iterator
from typing import Annotated, Final, Literal

from pydantic import ConfigDict, Field

from aegis_sdk.wire.documents import CheckedRequest, Fault, Request, fault
from aegis_sdk.wire.values import Identifiers, instead_of_pydantic

TENANTS: Final = 1_000


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


class VisibilityPatch(CheckedRequest):
    """A change of an entry's visibility, without a new version."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"visibility": {"tenants": ["partner"]}}]})

    visibility: Visibility = Field(description="`private`, `all` or the named tenants")

    def _faults(self) -> Iterator[Fault]:
        return tenant_faults(self.visibility)


def tenant_faults(visibility: str | VisibleTo) -> Iterator[Fault]:
    """The fault of naming too many tenants."""
    if not isinstance(visibility, str) and len(visibility.tenants) > TENANTS:
        given = len(visibility.tenants)
        yield ("visibility", "tenants"), f"Has {given} items; at most {TENANTS} are accepted. Use all instead"
