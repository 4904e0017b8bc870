"""The paths of the service: a router for each kind of thing, in the order in which the OpenAPI document lists them.

A new route is a function in one of these routers, or in a new one with a record here. Its answer is a model of
`aegis_sdk.wire`; what it decides is a method of a service. The OpenAPI document follows (`make openapi`); the
table of `docs/api.md` wants a row that says who may.
"""

from fastapi import APIRouter

from app.api.routers import advice, entries, measures, operation

ROUTERS: tuple[APIRouter, ...] = (entries.router, advice.router, measures.router, operation.router)
