"""Forms that are carried out once, however often they are sent: by a double click, or by loading their answer again."""

import re
import secrets
from collections.abc import Awaitable, Callable
from hashlib import sha256
from typing import Final

from app.edge.state import State, services_of
from app.factory import Factory
from app.pages.forms import Form
from app.pages.viewers import Viewer
from app.platform.http.rate_limit import refuse_beyond
from app.platform.http.refusals import MalformedRequestError

#: The hidden field with the key, which every such form has.
FIELD: Final = "once"

_KEY: Final = re.compile(r"[\w-]{32,64}", re.ASCII)


def draw_key() -> str:
    """A new key for the forms of a page."""
    return secrets.token_urlsafe(24)


async def once(
    state: State, viewer: Viewer, path: str, form: Form, carry_out: Callable[[Factory], Awaitable[str]]
) -> str:
    """Carry a form out, unless that was done before, and return the name of what it has made or changed.

    All is one transaction. Of two at the same time, the second waits for the first and then returns the same name.

    Args:
        state: of the process.
        viewer: who sends it.
        path: where to.
        form: what it says; its key is in the field `once`.
        carry_out: does it with the services that it is given.

    Raises:
        MalformedRequestError: the form has no key.
        KeyReusedError: the key was used for a form that said something else.
    """
    key = form.text(FIELD)
    if not _KEY.fullmatch(key):
        raise MalformedRequestError("The form lacks its hidden fields: load its page again, and send it from there.")
    if state.limits.idempotency_keys is not None:
        refuse_beyond(state.limits.idempotency_keys, viewer.caller.tenant, "forms")
    async with state.database.transaction() as session:
        services = services_of(state, session)
        claim = await services.idempotency().claim(viewer.caller, f"{path} {key}", _fingerprint(path, form))
        if isinstance(claim, bytes):
            return claim.decode()
        name = await carry_out(services)
        await services.idempotency().keep(claim, name.encode())
    return name


def _fingerprint(path: str, form: Form) -> bytes:
    """A hash of what a form asks; the token against forgery may change while the browser keeps the page."""
    said = sorted((name, list(texts)) for name, texts in form.fields.items() if name != "csrf")
    return sha256(repr((path, said)).encode()).digest()
