"""The pages of tenants: policy, quota, keys and webhooks."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request, Response

from aegis_sdk import wire
from app.callers.api import key_answer
from app.edge.state import State, StateDependency, services_of
from app.factory import Factory
from app.pages.commands import Commands, curl, server
from app.pages.forms import Form, FormDependency, NumberField, Typed, number, validated_as, whole_number
from app.pages.page import page, see
from app.pages.page_route import PageRoute
from app.pages.viewers import Viewer, ViewerDependency
from app.pages.words import bound, count
from app.platform.callers import LONGEST_TENANT
from app.platform.errors import InvalidDocumentError
from app.platform.http.refusals import status_and_title
from app.tenants.api import change_policy, change_quota
from app.tenants.model import LIMITS, NO_USAGE, PERSON, Composed, Quota, TenantPolicy, Usage
from app.webhooks.model import Webhook

#: The choices of which configurations of one table a consumer may have, in words.
COMPOSED = {
    "": "the default: nested, or any where no keys are used",
    Composed.NESTED: "nested: those of which one can be made from the other",
    Composed.ONE: "one: only the configuration that it has",
    Composed.ANY: "any: all, without a check",
}

router = APIRouter(route_class=PageRoute)

#: Tenants per page, and keys on the page of a tenant.
PER_PAGE, FEW_KEYS = 50, 5

TenantName = Annotated[str | None, Query(max_length=LONGEST_TENANT)]

#: The messages after saving.
_SAVED = {"policy": "The policy is set, and applies at once.", "quota": "The quota is set, and applies at once."}


@dataclass(frozen=True, slots=True)
class TenantView:
    """A tenant for people."""

    name: str
    policy: TenantPolicy
    criteria: tuple[NumberField, ...]
    demands_sign_off: bool
    requires_people: bool
    composition: str
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


def tenant_commands(viewer: Viewer, view: TenantView) -> Commands:
    """The commands that read and set the same values."""
    policy, query = view.policy, {"tenant": view.name}
    sign_off = "--sign-off" if policy.demands_sign_off else "--no-sign-off"
    quota = ",".join(f"{field.name}={field.value}" for field in view.limits if field.value)
    composition = policy.composition or "default"
    options = ["--require", str(policy.required_privacy), sign_off, "--composition", composition, "--quota", quota]
    body: dict[str, Any] = {"require": policy.required_privacy.numbers, "sign_off": policy.demands_sign_off}
    body |= {} if policy.required_privacy.unit is None else {"unit": policy.required_privacy.unit}
    body |= {} if policy.composition is None else {"composition": policy.composition}
    return Commands(
        (server("tenants", "set", *options, "--", view.name),),
        (
            curl(viewer, "/v1/policy", query),
            curl(viewer, "/v1/policy", query, method="PUT", body=body),
            curl(viewer, "/v1/quota", query),
        ),
    )


@router.get("/operator/tenants")
async def show_tenants(
    request: Request, viewer: ViewerDependency, state: StateDependency, after: TenantName = None
) -> Response:
    """Tenants with their policies and usage, by name."""
    async with state.database.transaction() as session:
        tenants = (
            await services_of(state, session).tenant_administration().tenants(viewer.caller, PER_PAGE, after or None)
        )
    commands = Commands((server("tenants", "list"),), (curl(viewer, "/v1/policy", {"tenant": viewer.caller.tenant}),))
    return page(request, "operator/tenants.html", tenants=tenants, after=after, commands=commands, here="operator")


@router.get("/operator/tenant")
async def show_tenant(
    request: Request,
    viewer: ViewerDependency,
    state: StateDependency,
    name: TenantName = None,
    saved: Annotated[str, Query(max_length=20)] = "",
) -> Response:
    """A tenant, by default the viewer's own."""
    return await _tenant_page(request, viewer, state, name or viewer.caller.tenant, saved=_SAVED.get(saved))


@router.post("/operator/tenant/policy")
async def set_policy(
    request: Request, viewer: ViewerDependency, state: StateDependency, form: FormDependency
) -> Response:
    """Set a tenant's policy."""

    async def change(services: Factory, tenant: str) -> None:
        required = {name: number(form.text(name)) for name in wire.PRIVACY_CRITERIA if form.text(name)}
        unit = PERSON if required and form.has("unit") else None
        composition = form.text("composition") or None
        asked = {"require": required, "unit": unit, "sign_off": form.has("sign_off"), "composition": composition}
        policy = validated_as(wire.PolicyDocument, asked)
        await change_policy(services, viewer.caller, tenant, policy)

    return await _changed(request, viewer, state, form, "policy", change)


@router.post("/operator/tenant/quota")
async def set_quota(
    request: Request, viewer: ViewerDependency, state: StateDependency, form: FormDependency
) -> Response:
    """Set a tenant's quota."""

    async def change(services: Factory, tenant: str) -> None:
        quota = validated_as(wire.QuotaDocument, {name: whole_number(form.text(name)) for name in LIMITS})
        await change_quota(services, viewer.caller, tenant, quota)

    return await _changed(request, viewer, state, form, "quota", change)


async def _changed(
    request: Request,
    viewer: Viewer,
    state: State,
    form: Form,
    what: str,
    change: Callable[[Factory, str], Awaitable[None]],
) -> Response:
    """Change a tenant and redirect to its page, or show the page with the faults of the form."""
    tenant = form.text("tenant")
    try:
        async with state.database.transaction() as session:
            await change(services_of(state, session), tenant)
    except InvalidDocumentError as error:
        if not error.faults:
            raise
        typed = {what: Typed.of(form, error)}
        return await _tenant_page(request, viewer, state, tenant, typed, status=status_and_title(error)[0])
    # Names can have any characters, so they are a parameter.
    return see(f"/operator/tenant?{urlencode({'name': tenant, 'saved': what})}")


async def _tenant_page(
    request: Request,
    viewer: Viewer,
    state: State,
    name: str,
    typed: dict[str, Typed] | None = None,
    *,
    saved: str | None = None,
    status: int = 200,
) -> Response:
    async with state.database.transaction() as session:
        view = await _view(state, services_of(state, session), viewer, name, typed or {})
    return page(
        request,
        "operator/tenant.html",
        status,
        view=view,
        composed=COMPOSED,
        typed=typed or {},
        saved=saved,
        commands=tenant_commands(viewer, view),
        here="operator",
    )


async def _view(state: State, services: Factory, viewer: Viewer, name: str, typed: dict[str, Typed]) -> TenantView:
    caller = viewer.caller
    _, policy = await services.tenant_administration().policy(caller, name)
    own = await services.quotas().own(caller, name)
    _, quota, usage = await services.quotas().read(caller, name)
    keys = await services.key_administration().page(caller, name, FEW_KEYS, None)
    webhooks = await services.webhooks().of_tenant(caller, name)
    asked = typed.get("policy")
    return TenantView(
        name,
        policy,
        criteria_fields(policy, asked),
        policy.demands_sign_off if asked is None else asked.form.has("sign_off"),
        policy.required_privacy.unit == PERSON if asked is None else asked.form.has("unit"),
        (policy.composition or "") if asked is None else asked.form.text("composition"),
        quota,
        usage,
        limit_fields(own, state.limits.quota, usage, typed.get("quota")),
        tuple(map(key_answer, keys.items)),
        keys.next_after is not None,
        tuple(webhooks),
    )
