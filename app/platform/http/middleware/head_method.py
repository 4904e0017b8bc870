"""HEAD wherever there is GET."""

from starlette.types import Message, Receive, Scope, Send

from app.platform.http.middleware.http_middleware import HttpMiddleware


class HeadMethod(HttpMiddleware):
    """Answers HEAD as GET, without the body."""

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, HEAD as GET."""
        if scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return

        async def send_without_body(message: Message) -> None:
            scope["method"] = "HEAD"  # by then the route is found; the server wants a body as long as it says after GET
            await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

        scope["method"] = "GET"  # in place, so that those outside learn the route that is found
        await self._app(scope, receive, send_without_body)
