"""What forms send."""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Final, Self
from urllib.parse import parse_qs

from anyio import to_thread
from fastapi import Depends, Request

from app.pages.viewers import Viewer, ViewerDependency
from app.platform.errors import RoleNotAllowedError
from app.platform.http.bodies import SMALL_BODY, read_body
from app.platform.http.refusals import MalformedRequestError

_TYPE: Final = "application/x-www-form-urlencoded"

#: The most fields of a form.
MOST_FIELDS: Final = 10_000

#: The most bytes of a form that are escaped, as in `%C3%A4`: each takes some two hundred bytes of memory to read.
MOST_ESCAPES: Final = 100_000

#: The most digits of a version's number, which the database keeps in four bytes.
_VERSION_DIGITS: Final = 9

#: What is said of a form that is not of a page that was shown to its sender.
TOO_OLD: Final = "This form is too old: load its page again, and send it from there."


class Form:
    """The fields of a form, without blanks around them."""

    def __init__(self, fields: Mapping[str, Sequence[str]]) -> None:
        self._fields = fields

    @classmethod
    def in_address(cls, request: Request) -> Self:
        """The fields that the address of a page fills in."""
        fields: dict[str, list[str]] = {}
        for name, text in request.query_params.multi_items():
            fields.setdefault(name, []).append(text)
        return cls(fields)

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

    @property
    def version(self) -> int | None:
        """The number of the version that the form is about; None if it names none."""
        text = self.text("version")
        return int(text) if text.isascii() and text.isdecimal() and len(text) <= _VERSION_DIGITS else None

    def has(self, name: str) -> bool:
        """Whether the form has a field, such as a box that is ticked."""
        return name in self._fields


async def read_form(request: Request) -> Form:
    """The form that a browser has sent.

    Raises:
        MalformedRequestError: it is no form.
    """
    return _form(await read_body(request, SMALL_BODY, types=(_TYPE,)))


async def get_form(request: Request, viewer: ViewerDependency) -> Form:
    """The form that a viewer has sent from one of its pages.

    Raises:
        RoleNotAllowedError: the page was another's, or from before the viewer signed in again.
        MalformedRequestError: it is no form.
    """
    return _own(viewer, await read_form(request))


async def read_large_form(request: Request, viewer: Viewer, limit: int, take: Callable[[int], None]) -> Form:
    """The same for a form with a long field. `take` is called with the size of each part of it.

    Raises:
        RoleNotAllowedError: as in `get_form`.
        MalformedRequestError: as in `get_form`.
        BodyTooLargeError: it has more than `limit` bytes.
        OverloadedError: `take` refuses it.
    """
    body = await read_body(request, limit, types=(_TYPE,), take=take)
    return _own(viewer, await to_thread.run_sync(_form, body))


def _form(body: bytes) -> Form:
    if body.count(b"%") > MOST_ESCAPES:
        raise MalformedRequestError(f"The form cannot be read: it has more than {MOST_ESCAPES:,} escaped bytes.")
    try:
        fields = parse_qs(body.decode(), keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="strict")
    except ValueError:
        raise MalformedRequestError("The form cannot be read: it must be UTF-8, with at most 10,000 fields.") from None
    return Form(fields)


def _own(viewer: Viewer, form: Form) -> Form:
    if not viewer.has_sent(form.text("csrf")):
        raise RoleNotAllowedError(TOO_OLD)
    return form


FormDependency = Annotated[Form, Depends(get_form)]
