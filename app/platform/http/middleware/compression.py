"""Answers in the content coding that the client prefers."""

from anyio import to_thread
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import Message, Receive, Scope, Send

from app.platform.http.codings import CODINGS, deflated
from app.platform.http.conditional import with_coding
from app.platform.http.middleware.http_middleware import HttpMiddleware
from app.platform.http.negotiation import preferred

#: Shorter answers are hardly any shorter when they are compressed.
SHORTEST = 1_000

#: Answers with more bytes are compressed in a thread, so that others are served meanwhile.
LARGE = 32 * 1024

_IDENTITY = "identity"


class Compression(HttpMiddleware):
    """Compresses answers of text that are sent as a whole.

    Compression can tell what is secret in an answer to whoever sees its length and has a part of it repeat their
    guesses (the BREACH attack). Programs send keys, which no page can make a browser do. Browsers send the console's
    cookie when a page elsewhere leads to it, so the token of its forms is masked anew each time, and a new key is shown
    only in the answer to such a form.
    """

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        coding = _coding_for(Headers(scope=scope).get("accept-encoding"))
        begun: Message | None = None

        async def send_compressed(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = message  # the length is known only with the body
                return
            if begun is not None:
                start, begun = begun, None
                message = await _compressed(start, message, coding)
                await send(start)
            await send(message)

        await self._app(scope, receive, send_compressed)


def _coding_for(accepted: str | None) -> str | None:
    """The coding that a client prefers to none; None if it prefers none, or says nothing."""
    best = preferred(accepted, (*CODINGS, _IDENTITY))
    return None if best == _IDENTITY else best


async def _compressed(start: Message, message: Message, coding: str | None) -> Message:
    """The body in a coding, if that is of use; the headers of the answer's start say so."""
    headers = MutableHeaders(scope=start)
    body = message.get("body", b"")
    is_whole = not message.get("more_body", False) and "content-encoding" not in headers
    is_text = headers.get("content-type", "").startswith(("text/", "application/"))
    if start["status"] == 304:  # noqa: PLR2004 -- it names what the whole answer depends on
        headers.add_vary_header("Accept-Encoding")
    if not is_whole or not is_text or len(body) < SHORTEST:
        return message
    headers.add_vary_header("Accept-Encoding")
    if coding is None:
        return message
    body = await to_thread.run_sync(deflated, body, coding) if len(body) > LARGE else deflated(body, coding)
    headers["Content-Encoding"] = coding
    headers["Content-Length"] = str(len(body))
    if "etag" in headers:
        headers["ETag"] = with_coding(headers["ETag"], coding)
    return {**message, "body": body}
