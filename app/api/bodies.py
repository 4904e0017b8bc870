"""Request bodies: read up to the limit; small ones parsed and validated. Entries are read by `app.api.uploads`."""

from typing import TypeVar

from fastapi import Request
from pydantic import BaseModel, ValidationError
from starlette.requests import ClientDisconnect

from aegis_sdk.wire import NotJsonError, faults_of, read_json
from app.api.errors import BodyTooLargeError, MalformedRequestError, MediaTypeError
from app.domain.errors import Fault, InvalidDocumentError

#: Bytes of a question or a change of visibility: these are read in the event loop.
SMALL_BODY = 256 * 1024

AnyModel = TypeVar("AnyModel", bound=BaseModel)


async def read_body(request: Request, limit: int) -> bytes:
    """The whole body of a JSON request.

    Raises:
        MediaTypeError: the body is not declared as plain JSON.
        BodyTooLargeError: it has more than `limit` bytes; no more than these have been read then.
        MalformedRequestError: the client left meanwhile.
    """
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json" or "content-encoding" in request.headers:
        raise MediaTypeError("Send the body as plain application/json.")
    declared = request.headers.get("content-length", "")
    if declared.isdigit() and int(declared) > limit:
        raise BodyTooLargeError(f"The body has {declared} bytes; at most {limit} are taken.")
    chunks, size = [], 0
    try:
        async for chunk in request.stream():
            size += len(chunk)
            if size > limit:
                raise BodyTooLargeError(f"The body has more than {limit} bytes, the most that are taken.")
            chunks.append(chunk)
    except ClientDisconnect:
        raise MalformedRequestError("The connection ended before the body did.") from None
    return b"".join(chunks)


def validated(model: type[AnyModel], body: bytes) -> AnyModel:
    """A small body as `model`.

    Raises:
        MalformedRequestError: the body is not JSON.
        InvalidDocumentError: it breaks a rule of the contract.
    """
    try:
        return model.model_validate(read_json(body))
    except NotJsonError as error:
        raise MalformedRequestError(f"The body is not JSON: {error}") from None
    except ValidationError as error:
        raise invalid_document(error) from None


def invalid_document(error: ValidationError) -> InvalidDocumentError:
    """The refusal of a document that breaks rules of the contract, with the place of each fault."""
    faults = tuple(Fault(fault.pointer, fault.detail) for fault in faults_of(error))
    return InvalidDocumentError("The document breaks rules of the contract.", faults)
