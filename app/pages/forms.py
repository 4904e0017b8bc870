"""Submitted forms."""

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

#: The most escaped bytes (as in `%C3%A4`) of a form: reading one takes some two hundred bytes of memory.
MOST_ESCAPES: Final = 100_000

#: The most digits of a version number, which has four bytes in the database.
_VERSION_DIGITS: Final = 9

#: The message for a form that is not from a page of its sender's session.
TOO_OLD: Final = "This form has expired: reload its page and send it again."


class Form:
    """The fields of a form, stripped."""

    def __init__(self, fields: Mapping[str, Sequence[str]]) -> None:
        self._fields = fields

    @classmethod
    def in_address(cls, request: Request) -> Self:
        """The fields in the query of a page's address."""
        fields: dict[str, list[str]] = {}
        for name, text in request.query_params.multi_items():
            fields.setdefault(name, []).append(text)
        return cls(fields)

    @property
    def fields(self) -> Mapping[str, Sequence[str]]:
        """All fields as they were sent."""
        return self._fields

    def text(self, name: str) -> str:
        """The text of a field; empty if it is missing. The last of several fields with this name counts."""
        return self._fields.get(name, [""])[-1].strip()

    def texts(self, name: str) -> list[str]:
        """The texts of all fields with this name, without empty ones."""
        return [text.strip() for text in self._fields.get(name, ()) if text.strip()]

    @property
    def version(self) -> int | None:
        """The version number in the form; None if there is none."""
        text = self.text("version")
        return int(text) if text.isascii() and text.isdecimal() and len(text) <= _VERSION_DIGITS else None

    def has(self, name: str) -> bool:
        """Whether the form has a field, such as a ticked box."""
        return name in self._fields


async def read_form(request: Request) -> Form:
    """The form in a request.

    Raises:
        MalformedRequestError: the body is not a form.
    """
    return _form(await read_body(request, SMALL_BODY, types=(_TYPE,)))


async def get_form(request: Request, viewer: ViewerDependency) -> Form:
    """The form that a viewer sent from a page of this session.

    Raises:
        RoleNotAllowedError: the page belongs to another session.
        MalformedRequestError: the body is not a form.
    """
    return _own(viewer, await read_form(request))


async def read_large_form(request: Request, viewer: Viewer, limit: int, take: Callable[[int], None]) -> Form:
    """`get_form` for a form with a long field. `take` is called with the size of each part.

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
