"""Answers by gzip, for clients that prefer that."""

from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware.gzip import GZipResponder, IdentityResponder
from starlette.types import Message, Receive, Scope, Send

from app.platform.http.middleware.http_middleware import HttpMiddleware
from app.platform.http.negotiation import preferred

#: Shorter answers are hardly any shorter when they are compressed.
SHORTEST = 1_000

# Of long answers, the next levels save a few percent and take twice as long.
_LEVEL = 2


class Compression(HttpMiddleware):
    """Compresses answers as Starlette does, if that is what the client prefers, and names what was sent in its tag.

    Compression can tell what is secret in an answer to whoever sees its length and has a part of it repeat their
    guesses (the BREACH attack). Programs send keys, which no page can make a browser do. Browsers send the console's
    cookie when a page elsewhere leads to it, so the token of its forms is masked anew each time, and a new key is shown
    only in the answer to such a form.
    """

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""

        async def send_tagged(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if message["status"] == 304:  # noqa: PLR2004 -- it names what the whole answer depends on
                    headers.add_vary_header("Accept-Encoding")
                if headers.get("content-encoding") == "gzip" and "etag" in headers:
                    headers["ETag"] = f'{headers["ETag"][:-1]}+gzip"'
            await send(message)

        # Starlette's own middleware takes `gzip;q=0` for a wish.
        accepted = Headers(scope=scope).get("accept-encoding")
        if preferred(accepted, ("gzip", "identity")) == "gzip":
            await GZipResponder(self._app, SHORTEST, _LEVEL)(scope, receive, send_tagged)
        else:
            await IdentityResponder(self._app, SHORTEST)(scope, receive, send_tagged)
