"""Views of tenants: policy, quota, keys and webhooks."""

from dataclasses import dataclass
from urllib.parse import urlencode

from aegis_sdk import wire
from app.pages.commands import Commands, curl, server
from app.pages.fields import NumberField, Typed, number, validated_as, whole_number
from app.pages.forms import Form
from app.pages.viewers import Viewer
from app.pages.words import bound, count
from app.tenants.model import LIMITS, NO_USAGE, Quota, TenantPolicy, Usage
from app.webhooks.model import Webhook


@dataclass(frozen=True, slots=True)
class TenantView:
    """A tenant for people.

    Attributes:
        criteria: the fields of the privacy criteria.
        demands_sign_off: whether the sign-off box is ticked.
        limits: the fields of the tenant's quota.
        keys: its newest keys.
        more_keys: whether there are more.
    """

    name: str
    policy: TenantPolicy
    criteria: tuple[NumberField, ...]
    demands_sign_off: bool
    quota: Quota
    usage: Usage
    limits: tuple[NumberField, ...]
    keys: tuple[wire.Key, ...]
    more_keys: bool
    webhooks: tuple[Webhook, ...]

    @property
    def is_new(self) -> bool:
        """Whether the service has no data of this tenant, so that it may not exist yet."""
        return not (self.keys or self.webhooks or self.usage != NO_USAGE) and self.policy == TenantPolicy()


def criteria_fields(policy: TenantPolicy, typed: Typed | None) -> tuple[NumberField, ...]:
    """A field for each privacy criterion."""
    limits = {name: f"{limit:g}" for name, limit in policy.required_privacy.numbers.items()}
    return tuple(
        NumberField(
            name,
            f"{name}, {bound(name)}",
            limits.get(name, "") if typed is None else typed.form.text(name),
            fault="" if typed is None else typed.faults.get(name, ""),
        )
        for name in wire.PRIVACY_CRITERIA
    )


def limit_fields(own: Quota, usual: Quota, used: Usage, typed: Typed | None) -> tuple[NumberField, ...]:
    """A field for each limit."""
    defaults = {name: f"the default {count(limit)}" for name, limit in usual.numbers.items()}
    return tuple(
        NumberField(
            name,
            str(wire.QuotaDocument.model_fields[name].description),
            str(own.numbers.get(name, "")) if typed is None else typed.form.text(name),
            f"{count(getattr(used, name))} used; empty: {defaults.get(name, 'no limit')}",
            "" if typed is None else typed.faults.get(name, ""),
        )
        for name in LIMITS
    )


def policy_in(form: Form) -> wire.PolicyDocument:
    """The policy in a form.

    Raises:
        InvalidDocumentError: a field breaks a rule of the contract.
    """
    required = {name: number(form.text(name)) for name in wire.PRIVACY_CRITERIA if form.text(name)}
    return validated_as(wire.PolicyDocument, {"require": required, "sign_off": form.has("sign_off")})


def quota_in(form: Form) -> wire.QuotaDocument:
    """The quota in a form.

    Raises:
        InvalidDocumentError: a field breaks a rule of the contract.
    """
    return validated_as(wire.QuotaDocument, {name: whole_number(form.text(name)) for name in LIMITS})


def tenant_link(name: str, **fields: str) -> str:
    """The address of a tenant's page. Names can have any characters, so they are a parameter."""
    return f"/operator/tenant?{urlencode({'name': name} | fields)}"


def tenant_commands(viewer: Viewer, view: TenantView) -> Commands:
    """The commands that read and set the same values."""
    policy, query = view.policy, {"tenant": view.name}
    sign_off = "--sign-off" if policy.demands_sign_off else "--no-sign-off"
    quota = ",".join(f"{field.name}={field.value}" for field in view.limits if field.value)
    options = ["--require", str(policy.required_privacy), sign_off, "--quota", quota]
    body = {"require": policy.required_privacy.numbers, "sign_off": policy.demands_sign_off}
    return Commands(
        (server("tenants", "set", *options, "--", view.name),),
        (
            curl(viewer, "/v1/policy", query),
            curl(viewer, "/v1/policy", query, method="PUT", body=body),
            curl(viewer, "/v1/quota", query),
        ),
    )
