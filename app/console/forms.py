"""What forms send."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Final
from urllib.parse import parse_qs

from fastapi import Depends, Request

from app.console.viewers import ViewerDependency
from app.domain.errors import RoleNotAllowedError
from app.web.bodies import SMALL_BODY, read_body
from app.web.errors import MalformedRequestError

_TYPE: Final = "application/x-www-form-urlencoded"

#: The most fields of a form.
MOST_FIELDS: Final = 10_000


class Form:
    """The fields of a form, without blanks around them."""

    def __init__(self, fields: Mapping[str, Sequence[str]]) -> None:
        self._fields = fields

    @property
    def fields(self) -> Mapping[str, Sequence[str]]:
        """All fields as they were sent."""
        return self._fields

    def text(self, name: str) -> str:
        """What a field says; empty if the form does not have it. Of several fields of a name, the last one counts."""
        return self._fields.get(name, [""])[-1].strip()

    def texts(self, name: str) -> list[str]:
        """What all fields of a name say, but for empty ones."""
        return [text.strip() for text in self._fields.get(name, ()) if text.strip()]

    def has(self, name: str) -> bool:
        """Whether the form has a field, such as a box that is ticked."""
        return name in self._fields


async def read_form(request: Request) -> Form:
    """The form that a browser has sent.

    Raises:
        MalformedRequestError: it is no form.
    """
    body = await read_body(request, SMALL_BODY, types=(_TYPE,))
    try:
        fields = parse_qs(body.decode(), keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="strict")
    except ValueError:
        raise MalformedRequestError("The form cannot be read: it must be UTF-8, with at most 10,000 fields.") from None
    return Form(fields)


async def get_form(request: Request, viewer: ViewerDependency) -> Form:
    """The form that a viewer has sent from one of its pages.

    Raises:
        RoleNotAllowedError: the page was another's, or from before the viewer signed in again.
        MalformedRequestError: it is no form.
    """
    form = await read_form(request)
    if not viewer.has_sent(form.text("csrf")):
        raise RoleNotAllowedError("This form is too old: load its page again, and send it from there.")
    return form


FormDependency = Annotated[Form, Depends(get_form)]
