"""The routers of the service, in the order of the OpenAPI document.

To add a route, write a function in one of these routers, or in a new router that you add to `ROUTERS`. Its response is
a model of `aegis_sdk.wire`, and its decisions belong in a method of a service. A new tag is described in `openapi.py`.
Then run `make openapi`, and add a row to the table in `docs/api.md` that says who may use it.
"""

from fastapi import APIRouter

from app.about import documentation, operation
from app.advice.api import measures, questions
from app.advice.api import routes as advice
from app.audit.api import routes as audit
from app.callers import api as keys
from app.entries.api import routes as entries
from app.requests.api import routes as data_requests
from app.tenants.api import routes as tenants
from app.webhooks import api as webhooks

ROUTERS: tuple[APIRouter, ...] = (
    entries.router,
    advice.router,
    data_requests.router,
    audit.router,
    measures.router,
    keys.router,
    tenants.router,
    questions.router,
    webhooks.router,
    operation.router,
    documentation.router,
)
