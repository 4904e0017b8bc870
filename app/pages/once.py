"""Forms that take effect once, even after a double click or a reload of the response."""

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
    """Execute a form unless that was done before; return the name of what it made or changed.

    Everything is one transaction. Of two concurrent calls, the second waits and returns the same name.

    Args:
        path: the address of the form.
        form: the fields, with the key in `once`.
        carry_out: executes the form with the services of the transaction.

    Raises:
        MalformedRequestError: the form has no key.
        KeyReusedError: the key was used for a form with other fields.
    """
    key = form.text(FIELD)
    if not _KEY.fullmatch(key):
        raise MalformedRequestError("The form lacks its hidden fields: reload its page and send it again.")
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
    """A hash of a form's fields without the CSRF token, which may differ when the form is sent again."""
    said = sorted((name, list(texts)) for name, texts in form.fields.items() if name != "csrf")
    return sha256(repr((path, said)).encode()).digest()
