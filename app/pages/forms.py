"""Submitted forms: their fields and numbers, their faults, and forms that take effect once."""

import re
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Annotated, Any, Final, Self
from urllib.parse import parse_qs

from anyio import to_thread
from fastapi import Depends, Request
from pydantic import ValidationError

from app.edge.state import State, services_of
from app.factory import Factory
from app.pages.viewers import Viewer, ViewerDependency
from app.platform.errors import Fault, InvalidDocumentError, RoleNotAllowedError
from app.platform.http.bodies import SMALL_BODY, AnyModel, invalid_document, read_body
from app.platform.http.rate_limit import refuse_beyond
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

#: Python also accepts `1_000`, `nan` and digits of other scripts.
_NUMBER: Final = re.compile(r"-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)

#: Python refuses longer integers.
_LONGEST: Final = 4_000

#: The remedy for a fault, by pydantic's error type.
_WANTED: Final[Mapping[str, str]] = {
    "finite_number": "give a number, such as 10",
    "float_type": "give a number, such as 10",
    "int_type": "give a whole number, such as 10, or 0",
    "greater_than_equal": "give at least {ge:g}",
    "less_than_equal": "give at most {le:,}",
}

#: The hidden field with the key, which every such form has.
FIELD: Final = "once"

_KEY: Final = re.compile(r"[\w-]{32,64}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Form:
    """The fields of a form as they were sent; `text` and `texts` strip them."""

    fields: Mapping[str, Sequence[str]]

    @classmethod
    def in_address(cls, request: Request) -> Self:
        """The fields in the query of a page's address."""
        fields: dict[str, list[str]] = {}
        for name, text in request.query_params.multi_items():
            fields.setdefault(name, []).append(text)
        return cls(fields)

    def text(self, name: str) -> str:
        """The text of a field; empty if it is missing. The last of several fields with this name counts."""
        return self.fields.get(name, [""])[-1].strip()

    def texts(self, name: str) -> list[str]:
        """The texts of all fields with this name, without empty ones."""
        return [text.strip() for text in self.fields.get(name, ()) if text.strip()]

    @property
    def version(self) -> int | None:
        """The version number in the form; None if there is none."""
        text = self.text("version")
        return int(text) if text.isascii() and text.isdecimal() and len(text) <= _VERSION_DIGITS else None

    def has(self, name: str) -> bool:
        """Whether the form has a field, such as a ticked box."""
        return name in self.fields


async def read_form(request: Request) -> Form:
    """The form in a request (MalformedRequestError: the body is not a form)."""
    return _form(await read_body(request, SMALL_BODY, types=(_TYPE,)))


async def get_form(request: Request, viewer: ViewerDependency) -> Form:
    """The form that a viewer sent from a page of this session (RoleNotAllowedError: another one)."""
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


@dataclass(frozen=True, slots=True)
class NumberField:
    """An optional number field.

    Attributes:
        hint: the meaning of an empty field.
        fault: what is wrong; empty if nothing is.
    """

    name: str
    label: str
    value: str
    hint: str = ""
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Typed:
    """A refused form: what was typed, and its faults.

    Attributes:
        faults: the same by field.
    """

    form: Form
    detail: str
    faults: Mapping[str, str]

    @classmethod
    def of(cls, form: Form, error: InvalidDocumentError) -> Self:
        """The form with the faults of an error."""
        return cls(form, error.detail, {fault.pointer.rpartition("/")[2]: fault.detail for fault in error.faults})


def validated_as(model: type[AnyModel], members: Mapping[str, Any]) -> AnyModel:
    """The fields of a form as a model of the contract (InvalidDocumentError: a field breaks one of its rules)."""
    try:
        return model.model_validate(members)
    except ValidationError as error:
        raise in_forms_words(error) from None


def in_forms_words(error: ValidationError) -> InvalidDocumentError:
    """The error for fields that break rules of the contract, worded for people."""
    lines = error.errors(include_url=False, include_input=False)
    wanted = (_WANTED[line["type"]].format(**line.get("ctx", {})) if line["type"] in _WANTED else "" for line in lines)
    faults = zip(invalid_document(error).faults, wanted, strict=False)  # the first ones of many
    worded = tuple(Fault(fault.pointer, words or fault.detail) for fault, words in faults)
    return InvalidDocumentError("Correct what is marked.", worded)


def number(text: str) -> object:
    """The number in a text; None if it is empty; else the text itself, which the contract refuses.

    A comma is refused, too: some read 1,000 as a thousand, others as one.
    """
    if not text:
        return None
    return float(text) if _NUMBER.fullmatch(text) else text


def written(value: float) -> str:
    """A number as text that `number` reads back exactly."""
    short = f"{value:g}"
    return short if float(short) == value else repr(value)


def whole_number(text: str) -> object:
    """The whole number in a text; None if it is empty; else the text itself, which the contract refuses."""
    if not text:
        return None
    return int(text) if text.isascii() and text.isdigit() and len(text) < _LONGEST else text


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
        # Without the CSRF token, which may differ when the form is sent again.
        said = sorted((name, list(texts)) for name, texts in form.fields.items() if name != "csrf")
        fingerprint = sha256(repr((path, said)).encode()).digest()
        claim = await services.idempotency().claim(viewer.caller, f"{path} {key}", fingerprint)
        if isinstance(claim, bytes):
            return claim.decode()
        name = await carry_out(services)
        await services.idempotency().keep(claim, name.encode())
    return name
