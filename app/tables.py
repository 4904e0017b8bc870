"""All tables. Importing this module registers them."""

from app.advice import tables as advice
from app.audit import tables as audit
from app.callers import tables as callers
from app.dataspace import tables as dataspace
from app.entries import tables as entries
from app.platform.database.base import Base
from app.platform.http import idempotency
from app.platform.queue import queue
from app.requests import tables as requests
from app.tenants import tables as tenants
from app.webhooks import tables as webhooks

#: The modules that define tables of `Base`.
MODULES = (advice, audit, callers, dataspace, entries, idempotency, queue, requests, tenants, webhooks)

__all__ = ["MODULES", "Base"]
