"""Who may see an entry besides its own tenant."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from aegis_sdk.wire.documents import Request
from aegis_sdk.wire.faults import fault
from aegis_sdk.wire.values import Identifiers, instead_of_pydantic


class VisibleTo(Request):
    """The entry is visible to the tenants named."""

    tenants: Identifiers = Field(description="Tenants that see the entry, besides its own")


def _visibility(value: object) -> object:
    """Checked here, since the faults of a union would name its alternatives in their pointers."""
    if isinstance(value, VisibleTo) or value in ("private", "all"):
        return value
    if isinstance(value, dict):
        return VisibleTo.model_validate(value)
    raise fault('Visibility is "private", "all" or {"tenants": [...]}')


Visibility = Annotated[Literal["private", "all"] | VisibleTo, instead_of_pydantic(_visibility)]
"""`private`: its tenant only; `all`: every caller; or the tenants named."""


class VisibilityPatch(Request):
    """Changes who sees an entry; makes no new version."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"visibility": {"tenants": ["partner"]}}]})

    visibility: Visibility = Field(description="`private`, `all` or the tenants named")
