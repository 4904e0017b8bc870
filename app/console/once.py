"""Forms that are carried out once, however often they are sent: by pressing twice, or by loading the answer again."""

import secrets
from hashlib import sha256
from typing import Final

from fastapi import Request
from pydantic import BaseModel

from app.console.forms import Form
from app.console.viewers import Viewer
from app.web.errors import MalformedRequestError
from app.web.once import Once
from app.web.state import State

#: The hidden field of such a form, and the fewest characters that it has: short ones could be guessed.
FIELD: Final = "once"
_SHORTEST: Final = 32


def once_token() -> str:
    """What such a form sends, different each time that it is shown."""
    return secrets.token_urlsafe(_SHORTEST)


def once_of(request: Request, state: State, viewer: Viewer, form: Form, asked: BaseModel) -> tuple[Once, bytes]:
    """What carries a form out at most once, and what the form asks. A form with other fields is another one.

    Raises:
        MalformedRequestError: the form is none that is carried out once.
    """
    token = form.text(FIELD)
    if len(token) < _SHORTEST:
        raise MalformedRequestError("This form cannot be sent: load its page again, and send it from there.")
    body = asked.model_dump_json().encode()
    key = sha256(b"\n".join((token.encode(), request.url.path.encode(), body))).hexdigest()
    return Once(request, state, viewer.caller, key), body
