"""ASGI middlewares, one in a file; `app.api.middleware.order` lists them."""

from app.api.middleware.order import middlewares

__all__ = ["middlewares"]
