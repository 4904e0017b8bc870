"""The routers of the service, in the order of the OpenAPI document.

To add a route, write a function in one of these routers, or in a new router that you add to `ROUTERS`. Its answer is a
model of `aegis_sdk.wire`, and its decisions belong in a method of a service. Then run `make openapi`, and add a row to
the table in `docs/api.md` that says who may use it.
"""

from fastapi import APIRouter

from app.api.routers import (
    advice,
    audit,
    data_requests,
    decisions,
    documentation,
    entries,
    keys,
    leases,
    measures,
    operation,
    policy,
    publishing,
    questions,
    quotas,
    verifications,
    visibility,
    webhooks,
)

ROUTERS: tuple[APIRouter, ...] = (
    entries.router,
    visibility.router,
    publishing.router,
    advice.router,
    data_requests.router,
    decisions.router,
    leases.router,
    verifications.router,
    audit.router,
    measures.router,
    keys.router,
    policy.router,
    quotas.router,
    questions.router,
    webhooks.router,
    operation.router,
    documentation.router,
)
