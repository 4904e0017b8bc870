"""Request bodies: size-limited reading, inflating, and parsing and validating small ones.

`app.entries.api.uploads` parses entries.
"""

import asyncio
import time
import zlib
from collections.abc import AsyncIterator, Callable, Collection, Iterator
from contextlib import contextmanager
from email.message import Message
from typing import TypeVar

from anyio import to_thread
from pydantic import BaseModel, ValidationError
from starlette.requests import ClientDisconnect, Request

from aegis_sdk.wire import NotJsonError, faults_of, read_json, refuse_repeated_members
from app.platform.errors import Fault, InvalidDocumentError, OverloadedError
from app.platform.http.refusals import (
    BodyTooLargeError,
    ContentCodingError,
    MalformedRequestError,
    MediaTypeError,
    SlowBodyError,
)
from app.platform.http.request_scope import answer_headers, refuse_ended

#: The most bytes of a question or a change of visibility.
SMALL_BODY = 256 * 1024

#: Larger bodies are parsed in a thread, so that other requests are served meanwhile.
TINY_BODY = 4 * 1024

#: The most characters of a content type; parsing takes quadratic time in its parameters.
LONGEST_TYPE = 200

#: The timeout for the next part of a body, in seconds.
BODY_SECONDS = 20.0

#: The least average rate, in bytes per second of waiting, of a body that is waited for longer in all.
BYTES_PER_SECOND = 1_000

AnyModel = TypeVar("AnyModel", bound=BaseModel)


class BodyBudget:
    """The memory for the bodies of all requests together, in bytes."""

    def __init__(self, limit: int) -> None:
        self._free = limit

    @contextmanager
    def share(self) -> Iterator[Callable[[int], None]]:
        """A function that reserves bytes until the block ends.

        It raises OverloadedError if too few are free.
        """
        taken = 0

        def take(size: int) -> None:
            nonlocal taken
            if size > self._free:
                raise OverloadedError("Too many large bodies are being read. Try again after Retry-After.")
            self._free -= size
            taken += size

        try:
            yield take
        finally:
            self._free += taken


async def read_body(
    request: Request,
    limit: int,
    types: Collection[str] = ("application/json",),
    take: Callable[[int], None] = lambda _: None,  # small bodies are free of charge
    *,
    may_be_empty: bool = False,
) -> bytes:
    """Read the whole body of a request, inflated if it is compressed.

    An empty body is a valid form but not JSON; it is refused unless it `may_be_empty`.

    Raises:
        MediaTypeError: the body does not have one of the media types in UTF-8, or its coding is unknown.
        BodyTooLargeError: the body exceeds `limit` bytes, inflated or not; reading stops there.
        MalformedRequestError: it is empty, partial or not in its declared coding, or the client closed the connection
            before its end.
        SlowBodyError: it arrives too slowly.
        OverloadedError: `take`, which is called with the size of each part, refuses it.
    """
    if not _is_plain_json(request, types):
        raise MediaTypeError(f"Send the body as {' or '.join(types)} in UTF-8.")
    if "content-range" in request.headers:  # RFC 9110, section 14.5: a part is not the whole
        raise MalformedRequestError("Send the whole body, without Content-Range.")
    coding = ", ".join(request.headers.getlist("content-encoding")).strip().lower().removeprefix("x-")
    if coding not in {"", "identity", "gzip"}:
        raise ContentCodingError("Send the body as it is, or compressed once by gzip.")
    sent = arriving(request, limit)
    pieces = _inflated(sent, limit) if coding == "gzip" else sent
    read = []
    async for piece in pieces:
        take(len(piece))
        read.append(piece)
    if not any(read) and not may_be_empty and any(media_type.endswith("json") for media_type in types):
        raise MalformedRequestError("The body is not JSON: it is empty.")
    return b"".join(read)


async def arriving(request: Request, limit: int) -> AsyncIterator[bytes]:
    """The parts of a body as they are sent.

    Raises:
        BodyTooLargeError: it exceeds `limit` bytes; reading stops there.
        MalformedRequestError: the client closed the connection before its end.
        SlowBodyError: it arrives too slowly.
        UnknownKeyError: the sender's key has ended meanwhile.
    """
    declared = request.headers.get("content-length", "")
    if declared.isdigit() and int(declared) > limit:
        raise BodyTooLargeError(f"The body has {declared} bytes; at most {limit} are accepted.")
    size = 0
    try:
        async for chunk in _in_time(request.stream()):
            size += len(chunk)
            if size > limit:
                raise BodyTooLargeError(f"The body has more than {limit} bytes, the most that are accepted.")
            yield chunk
    except SlowBodyError:  # RFC 9110, section 15.5.9: the rest is not read
        answer_headers(request).append(("Connection", "close"))
        raise
    except ClientDisconnect:
        raise MalformedRequestError("The connection closed before the end of the body.") from None
    await refuse_ended(request)


async def _in_time(sent: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The parts of a body while they arrive in time. Only the time that the service waits for them counts."""
    size, waited = 0, 0.0
    while True:
        start = time.monotonic()
        try:
            async with asyncio.timeout(min(BODY_SECONDS, max(BODY_SECONDS, size / BYTES_PER_SECOND) - waited)):
                chunk = await anext(sent, None)
        except TimeoutError:
            least = f"{BYTES_PER_SECOND} bytes per second, with no pause of {BODY_SECONDS:g} s"
            raise SlowBodyError(f"The body arrives too slowly: send at least {least}.") from None
        if chunk is None:
            return
        waited += time.monotonic() - start
        size += len(chunk)
        yield chunk


async def _inflated(sent: AsyncIterator[bytes], limit: int) -> AsyncIterator[bytes]:
    """The inflated parts of a compressed body. A thread inflates them, so that others are served meanwhile."""
    inflater = Inflater(limit)
    try:
        async for chunk in sent:
            for piece in await to_thread.run_sync(inflater.feed, chunk):
                yield piece
    except InflatedSizeError:
        most = f"at most {limit} bytes, and beyond {BOMB_BYTES} at most {BOMB_RATIO} times the compressed size"
        raise BodyTooLargeError(f"The inflated body is too large: {most}, are accepted.") from None
    except CodingError:
        raise MalformedRequestError("The body is not gzip, as Content-Encoding says.") from None
    if not inflater.is_complete:
        raise MalformedRequestError("The body ends before its gzip does.")


def _is_plain_json(request: Request, types: Collection[str]) -> bool:
    """Whether the body is declared as JSON in UTF-8, the only encoding of JSON (RFC 8259, section 8.1)."""
    header = request.headers.get("content-type", "")
    if len(header) > LONGEST_TYPE:
        return False
    declared = Message()
    declared["content-type"] = header
    charset = str(declared.get_param("charset", "utf-8")).lower()
    return declared.get_content_type() in types and charset in {"utf-8", "utf8"}


async def validated(model: type[AnyModel], body: bytes) -> AnyModel:
    """Parse and validate a small body as `model`; an empty one counts as `{}`.

    Raises:
        MalformedRequestError: the body is not JSON.
        InvalidDocumentError: the body breaks a rule of the contract.
    """
    body = body or b"{}"
    try:
        if len(body) <= TINY_BODY:
            return _parsed(model, body)
        return await to_thread.run_sync(_parsed, model, body)
    except NotJsonError as error:
        raise MalformedRequestError(f"The body is not JSON: {error}") from None
    except ValidationError as error:
        raise invalid_document(error) from None


def _parsed(model: type[AnyModel], body: bytes) -> AnyModel:
    document = read_json(body)
    refuse_repeated_members(body, document)
    return model.model_validate(document)


def invalid_document(error: ValidationError) -> InvalidDocumentError:
    """The error for a document that breaks rules of the contract, with all faults and their places."""
    faults = tuple(Fault(fault.pointer, fault.detail) for fault in faults_of(error))
    return InvalidDocumentError("The document breaks rules of the contract.", faults)


#: A body above this size that inflates by more than this factor is a bomb. Counts that are mostly zeros inflate up to
#: 300 times; gzip's limit is 1,030.
BOMB_RATIO, BOMB_BYTES = 500, 4 * 2**20

#: The most gzip members of a body; even an empty one costs time.
MOST_MEMBERS = 2_000

#: Bytes that go in and come out at a time, so that little exceeds the limits before it is refused.
_IN, _OUT = 16 * 1024, 256 * 1024


class CodingError(Exception):
    """The bytes are not valid in their declared coding."""


class InflatedSizeError(Exception):
    """The inflated body exceeds the limit or the ratio."""


class Inflater:
    """Inflates gzip (RFC 1952) in pieces. It is the only supported content coding (RFC 9110, section 8.4.1).

    Args:
        limit: the most inflated bytes.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._member = zlib.decompressobj(zlib.MAX_WBITS | 16)
        self._members = self._taken = self._given = 0
        self.is_complete = False
        """Whether the body may end here: it is not empty, and its last member is complete."""

    def feed(self, data: bytes) -> list[bytes]:
        """Inflate the next piece. Slow: run large pieces in a thread.

        Raises:
            CodingError: not gzip, or too many members.
            InflatedSizeError: the inflated body is too large.
        """
        slices = (data[start : start + _IN] for start in range(0, len(data), _IN))
        return [out for piece in slices for out in self._inflated(piece)]

    def _inflated(self, data: bytes) -> Iterator[bytes]:
        self._taken += len(data)
        has_more = False
        while data or has_more:
            if self.is_complete:
                self._member = zlib.decompressobj(zlib.MAX_WBITS | 16)
            try:
                out = self._member.decompress(data, _OUT)
            except zlib.error:
                raise CodingError from None
            self.is_complete = self._member.eof
            data = self._member.unused_data if self.is_complete else self._member.unconsumed_tail
            has_more = len(out) == _OUT and not self.is_complete
            self._count(len(out))
            yield out

    def _count(self, size: int) -> None:
        self._given += size
        self._members += self.is_complete
        if self._members > MOST_MEMBERS:
            raise CodingError
        if self._given > self._limit or self._given > max(BOMB_BYTES, BOMB_RATIO * self._taken):
            raise InflatedSizeError
