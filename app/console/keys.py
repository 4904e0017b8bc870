"""The pages that list, create, replace and revoke API keys."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from aegis_sdk import wire
from app.callers.api import end_key, key_answer, make_key, replace_key
from app.edge.state import State, StateDependency, services_of
from app.factory import Factory
from app.pages.commands import Commands, curl, server
from app.pages.forms import FormDependency, Typed, draw_key, once, validated_as, whole_number
from app.pages.page import page, see
from app.pages.page_route import PageRoute
from app.pages.viewers import Viewer, ViewerDependency
from app.platform.callers import DEFAULT_TENANT, LONGEST_TENANT, ApiKey, Role, administered_tenant, is_prefix
from app.platform.errors import Fault, InvalidDocumentError, KeyReusedError
from app.platform.http.refusals import status_and_title

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

router = APIRouter(route_class=PageRoute)

#: Keys per page.
PER_PAGE = 50

_SENT_BEFORE = "This form was already sent with other fields. Send it again to create another key."

TenantName = Annotated[str, Query(max_length=LONGEST_TENANT)]


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


@router.get("/operator/keys")
async def show_keys(
    request: Request,
    viewer: ViewerDependency,
    state: StateDependency,
    tenant: TenantName = "",
    page_token: Annotated[str, Query(max_length=255)] = "",
) -> Response:
    """The keys of one tenant or of all that the viewer administers, newest first."""
    if page_token and not is_prefix(page_token):
        fault = Fault("/page_token", "Not a page token; use the link to the next page.")
        raise InvalidDocumentError("The page token is invalid.", (fault,))
    async with state.database.transaction() as session:
        administration = services_of(state, session).key_administration()
        keys = await administration.page(viewer.caller, tenant or None, PER_PAGE, page_token or None)
        successors = await administration.successors(keys.items)
    return page(
        request,
        "operator/keys.html",
        keys=list(map(key_answer, keys.items)),
        successors=successors,
        tenant=tenant,
        page_token=page_token,
        next_token=keys.next_after,
        commands=Commands(
            (server("keys", "list"),), (curl(viewer, "/v1/keys", {"tenant": tenant} if tenant else None),)
        ),
        here="operator",
    )


@router.get("/operator/keys/new")
async def show_key_form(
    request: Request, viewer: ViewerDependency, state: StateDependency, tenant: TenantName = ""
) -> Response:
    """The form of a new key."""
    administered_tenant(viewer.caller, tenant or None)
    role, usual_tenant = Role.CONSUMER, viewer.caller.tenant
    if await _would_be_first(state):  # the first key of a service should be an operator's
        role, usual_tenant = Role.OPERATOR, DEFAULT_TENANT
    form = KeyForm(tenant or usual_tenant, role, str(USUAL_DAYS), draw_key())
    return await _form_page(request, viewer, state, form)


@router.post("/operator/keys")
async def create(request: Request, viewer: ViewerDependency, state: StateDependency, form: FormDependency) -> Response:
    """Create a key and show it once."""
    try:
        members = {"tenant": form.text("tenant"), "role": form.text("role")}
        asked = validated_as(wire.KeyRequest, members | {"expires_days": whole_number(form.text("expires_days"))})
    except InvalidDocumentError as error:
        typed = KeyForm(form.text("tenant"), form.text("role"), form.text("expires_days"), form.text("once"))
        return await _form_page(request, viewer, state, typed, Typed.of(form, error))

    made: list[tuple[str, ApiKey]] = []

    async def carry_out(services: Factory) -> str:
        made.append(await make_key(services, viewer.caller, asked))
        return made[0][1].prefix

    try:
        prefix = await once(state, viewer, request.url.path, form, carry_out)
    except KeyReusedError:
        again = KeyForm(form.text("tenant"), form.text("role"), form.text("expires_days"), draw_key())
        return await _form_page(request, viewer, state, again, Typed(form, _SENT_BEFORE, {}))
    return _made_page(request, viewer, state, prefix, made)


@router.get("/operator/keys/{prefix}")
async def show_key(prefix: str, request: Request, viewer: ViewerDependency, state: StateDependency) -> Response:
    """A key without its secret, and the form that replaces it."""
    return await _key_page(request, viewer, state, prefix)


@router.post("/operator/keys/{prefix}/successor")
async def rotate(
    prefix: str, request: Request, viewer: ViewerDependency, state: StateDependency, form: FormDependency
) -> Response:
    """Replace a key and show the new one once."""
    members = {name: whole_number(form.text(name)) for name in ("overlap_hours", "expires_days") if form.text(name)}
    try:
        asked = validated_as(wire.RotationRequest, members)
    except InvalidDocumentError as error:
        return await _key_page(request, viewer, state, prefix, Typed.of(form, error))

    made: list[tuple[str, ApiKey]] = []

    async def carry_out(services: Factory) -> str:
        made.append(await replace_key(services, viewer.caller, prefix, asked))
        return made[0][1].prefix

    successor = await once(state, viewer, request.url.path, form, carry_out)
    return _made_page(request, viewer, state, successor, made)


@router.get("/operator/keys/{prefix}/revoke")
async def confirm_revocation(
    prefix: str, request: Request, viewer: ViewerDependency, state: StateDependency
) -> Response:
    """Ask for confirmation before revoking a key."""
    return await _key_page(request, viewer, state, prefix, template="operator/revoke_key.html")


@router.post("/operator/keys/{prefix}/revoke")
async def revoke(prefix: str, viewer: ViewerDependency, state: StateDependency, _: FormDependency) -> Response:
    """Revoke a key."""
    async with state.database.transaction() as session:
        key = await end_key(services_of(state, session), viewer.caller, prefix)
    return see(f"/operator/keys/{key.prefix}")


def _made_page(
    request: Request, viewer: Viewer, state: State, prefix: str, made: Sequence[tuple[str, ApiKey]]
) -> Response:
    """The only page that shows the secret of a key; for a resent form, whose key was made before, only its prefix."""
    commands = key_commands(viewer, prefix)
    if not made:
        return page(request, "operator/known_key.html", prefix=prefix, commands=commands, here="operator")
    text, key = made[0]
    answer = page(
        request,
        "operator/new_key.html",
        201,
        text=text,
        key=key_answer(key),
        may_need_restart=state.development_mode,
        commands=commands,
        here="operator",
    )
    answer.headers["Cache-Control"] = "no-store"
    return answer


async def _form_page(
    request: Request, viewer: Viewer, state: State, form: KeyForm, typed: Typed | None = None
) -> Response:
    return page(
        request,
        "operator/key_form.html",
        200 if typed is None else status_and_title(InvalidDocumentError(""))[0],
        form=form,
        roles={role: words for role, words in ROLES.items() if viewer.caller.is_operator or role is not Role.OPERATOR},
        typed=typed,
        is_first=await _would_be_first(state),
        needs_restart=state.development_mode,
        commands=creation_commands(viewer, form),
        here="operator",
    )


async def _key_page(
    request: Request,
    viewer: Viewer,
    state: State,
    prefix: str,
    typed: Typed | None = None,
    template: str = "operator/key.html",
) -> Response:
    async with state.database.transaction() as session:
        administration = services_of(state, session).key_administration()
        key = await administration.find(viewer.caller, prefix)
        successors = await administration.successors([key])
    return page(
        request,
        template,
        200 if typed is None else status_and_title(InvalidDocumentError(""))[0],
        key=key_answer(key),
        successor=successors.get(prefix),
        is_own=viewer.caller.subject == prefix,
        once=draw_key(),
        typed=typed,
        commands=key_commands(viewer, prefix),
        here="operator",
    )


async def _would_be_first(state: State) -> bool:
    """Whether a new key would be the first, which ends development mode at the next start."""
    async with state.database.transaction() as session:
        return state.development_mode and not await services_of(state, session).keyring().any_created()
