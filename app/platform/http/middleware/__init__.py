"""ASGI middlewares, one in a file; `app.platform.http.middleware.order` lists them."""

from app.platform.http.middleware.order import middlewares

__all__ = ["middlewares"]
