"""Pages for people: what the service is, and a reference of its API. They need no script and nothing from elsewhere."""

from app.platform.http.reference.site import PAGE_HEADERS, Site

__all__ = ["PAGE_HEADERS", "Site"]
