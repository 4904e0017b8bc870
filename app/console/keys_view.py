"""What the pages of keys show."""

from dataclasses import dataclass

from aegis_sdk import wire
from app.pages.commands import Commands, curl, server
from app.pages.fields import validated_as, whole_number
from app.pages.forms import Form
from app.pages.viewers import Viewer
from app.platform.callers import DEFAULT_TENANT, Role

#: Days for which a new key is valid unless something else is typed.
USUAL_DAYS = 365

#: The most digits of a number of days that lines for a terminal repeat.
_LONGEST_NUMBER = 9

#: What each role is for.
ROLES = {
    Role.CONSUMER: "reads what its tenant may see, asks for advice and requests data",
    Role.PROVIDER: "publishes, reads the counts of its tenant's entries and answers requests",
    Role.REVIEWER: "reads these counts, and signs versions off",
    Role.ADMINISTRATOR: "manages its tenant's keys, policy and webhooks",
    Role.OPERATOR: "may do everything, for every tenant",
}


@dataclass(frozen=True, slots=True)
class KeyForm:
    """The form of a new key, as it is or as it was typed.

    Attributes:
        tenant: of the key.
        role: the chosen one.
        days: how long it is valid; empty: it never expires.
        once: keeps the form from being carried out twice.
    """

    tenant: str
    role: str
    days: str
    once: str


def key_form(viewer: Viewer, tenant: str | None, once: str, *, is_first: bool) -> KeyForm:
    """The form of a new key before anything is typed; the first key of all should be an operator's."""
    role = Role.OPERATOR if is_first else Role.CONSUMER
    return KeyForm(tenant or (DEFAULT_TENANT if is_first else viewer.caller.tenant), role, str(USUAL_DAYS), once)


def key_request_in(form: Form) -> wire.KeyRequest:
    """The key that a form asks for.

    Raises:
        InvalidDocumentError: a field breaks a rule of the contract.
    """
    members = {"tenant": form.text("tenant"), "role": form.text("role")}
    return validated_as(wire.KeyRequest, members | {"expires_days": whole_number(form.text("expires_days"))})


def rotation_in(form: Form) -> wire.RotationRequest:
    """The successor that a form asks for.

    Raises:
        InvalidDocumentError: a field breaks a rule of the contract.
    """
    members = {name: whole_number(form.text(name)) for name in ("overlap_hours", "expires_days") if form.text(name)}
    return validated_as(wire.RotationRequest, members)


def listing_commands(viewer: Viewer, tenant: str | None) -> Commands:
    """The lines that list the same."""
    return Commands(
        (server("keys", "list"),), (curl(viewer, "/v1/keys", {"tenant": tenant} if tenant is not None else None),)
    )


def creation_commands(viewer: Viewer, form: KeyForm) -> Commands:
    """The lines that create the same key."""
    options = ["--tenant", form.tenant, "--role", form.role]
    body: dict[str, object] = {"tenant": form.tenant, "role": form.role}
    if form.days.isascii() and form.days.isdigit() and len(form.days) <= _LONGEST_NUMBER:
        options += ["--expires-days", form.days]
        body["expires_days"] = int(form.days)
    return Commands((server("keys", "create", *options),), (curl(viewer, "/v1/keys", body=body),))


def key_commands(viewer: Viewer, prefix: str) -> Commands:
    """The lines that replace and revoke a key."""
    place = f"/v1/keys/{prefix}"
    return Commands(
        (server("keys", "revoke", prefix),),
        (
            curl(viewer, f"{place}/successor", body={"overlap_hours": 24}),
            curl(viewer, place, method="DELETE"),
        ),
    )
