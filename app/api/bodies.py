"""Request bodies: read up to the limit, parsed and validated; large ones in a child process."""

from typing import TypeVar

from anyio import BrokenWorkerProcess
from fastapi import Request
from pydantic import BaseModel, ValidationError
from starlette.requests import ClientDisconnect

from aegis_sdk.wire import NotJsonError, faults_of, read_entry, read_json
from app.api.errors import BodyTooLargeError, InterruptedCheckError, MalformedRequestError, MediaTypeError
from app.child_process import ChildProcess
from app.domain.entries import Publication
from app.domain.errors import Fault, InvalidDocumentError
from app.services.policy import NO_POLICY, Policy
from app.services.publications import publication_of

#: Seconds after which an entry that is still being checked is refused; 64 MiB of honest ones take five.
DEADLINE = 120.0

#: Bytes of a question or a change of visibility: these are read in the event loop.
SMALL_BODY = 256 * 1024

AnyModel = TypeVar("AnyModel", bound=BaseModel)


async def read_body(request: Request, limit: int) -> bytes:
    """The whole body of a JSON request.

    Raises MediaTypeError, BodyTooLargeError before more than `limit` bytes have been read, and MalformedRequestError
    when the client leaves meanwhile.
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
    """A small body as `model`. Raises MalformedRequestError, InvalidDocumentError."""
    try:
        return model.model_validate(read_json(body))
    except NotJsonError as error:
        raise MalformedRequestError(f"The body is not JSON: {error}") from None
    except ValidationError as error:
        raise _invalid(error) from None


async def read_publication_in(child: ChildProcess, body: bytes, policy: Policy = NO_POLICY) -> Publication:
    """`read_publication` in a child process. Raises InvalidDocumentError for an entry that takes too long, too."""
    try:
        return await child.run(read_publication, body, policy)
    except TimeoutError:
        detail = f"Checking this entry takes more than {DEADLINE:g} s: publish fewer maskings, or smaller domains."
        raise InvalidDocumentError(detail, code="too_heavy") from None
    except BrokenWorkerProcess:
        raise InterruptedCheckError(
            "The process that checked this entry died; nothing was stored: try again."
        ) from None


def read_publication(body: bytes, policy: Policy = NO_POLICY) -> Publication:
    """Parse an entry, validate it, check its sums and the policy, pack it. Heavy: run it in a child process.

    Raises MalformedRequestError, InvalidDocumentError.
    """
    try:
        document, _ = read_entry(body)
    except NotJsonError as error:
        raise MalformedRequestError(f"The body is not JSON: {error}") from None
    except ValidationError as error:
        raise _invalid(error) from None
    return publication_of(document, policy)


def _invalid(error: ValidationError) -> InvalidDocumentError:
    faults = tuple(Fault(fault.pointer, fault.detail) for fault in faults_of(error))
    return InvalidDocumentError("The document breaks rules of the contract.", faults)
