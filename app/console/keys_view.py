"""Views of API keys."""

from dataclasses import dataclass

from aegis_sdk import wire
from app.pages.commands import Commands, curl, server
from app.pages.fields import validated_as, whole_number
from app.pages.forms import Form
from app.pages.viewers import Viewer
from app.platform.callers import DEFAULT_TENANT, Role

#: Default lifetime of a new key in days.
USUAL_DAYS = 365

#: The most digits of a number of days in the commands.
_LONGEST_NUMBER = 9

#: The purposes of the roles.
ROLES = {
    Role.CONSUMER: "reads what its tenant may see, asks for advice and requests data",
    Role.PROVIDER: "publishes, reads the counts of its tenant's entries and answers requests",
    Role.REVIEWER: "reads these counts and signs off versions",
    Role.ADMINISTRATOR: "manages its tenant's keys, policy and webhooks",
    Role.OPERATOR: "may do everything, for every tenant",
}


@dataclass(frozen=True, slots=True)
class KeyForm:
    """The form of a new key, with defaults or as typed.

    Attributes:
        days: the lifetime; empty for a key that never expires.
        once: makes the form take effect only once.
    """

    tenant: str
    role: str
    days: str
    once: str


def key_form(viewer: Viewer, tenant: str | None, once: str, *, is_first: bool) -> KeyForm:
    """The empty form of a new key; the first key of a service should be an operator's."""
    role = Role.OPERATOR if is_first else Role.CONSUMER
    return KeyForm(tenant or (DEFAULT_TENANT if is_first else viewer.caller.tenant), role, str(USUAL_DAYS), once)


def key_request_in(form: Form) -> wire.KeyRequest:
    """The key request in a form.

    Raises:
        InvalidDocumentError: a field breaks a rule of the contract.
    """
    members = {"tenant": form.text("tenant"), "role": form.text("role")}
    return validated_as(wire.KeyRequest, members | {"expires_days": whole_number(form.text("expires_days"))})


def rotation_in(form: Form) -> wire.RotationRequest:
    """The rotation request in a form.

    Raises:
        InvalidDocumentError: a field breaks a rule of the contract.
    """
    members = {name: whole_number(form.text(name)) for name in ("overlap_hours", "expires_days") if form.text(name)}
    return validated_as(wire.RotationRequest, members)


def listing_commands(viewer: Viewer, tenant: str | None) -> Commands:
    """The commands for the same list."""
    return Commands(
        (server("keys", "list"),), (curl(viewer, "/v1/keys", {"tenant": tenant} if tenant is not None else None),)
    )


def creation_commands(viewer: Viewer, form: KeyForm) -> Commands:
    """The commands that create the same key."""
    options = ["--tenant", form.tenant, "--role", form.role]
    body: dict[str, object] = {"tenant": form.tenant, "role": form.role}
    if form.days.isascii() and form.days.isdigit() and len(form.days) <= _LONGEST_NUMBER:
        options += ["--expires-days", form.days]
        body["expires_days"] = int(form.days)
    return Commands((server("keys", "create", *options),), (curl(viewer, "/v1/keys", body=body),))


def key_commands(viewer: Viewer, prefix: str) -> Commands:
    """The commands that replace and revoke a key."""
    place = f"/v1/keys/{prefix}"
    return Commands(
        (server("keys", "revoke", prefix),),
        (
            curl(viewer, f"{place}/successor", body={"overlap_hours": 24}),
            curl(viewer, place, method="DELETE"),
        ),
    )
