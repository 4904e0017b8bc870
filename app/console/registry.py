"""The routers of the console.

To add a page, write a function in the `pages` of its feature, or in a new router that you add to `ROUTERS`. It calls a
service, makes a view of the result, and renders it with one of its `templates`.
"""

from fastapi import APIRouter

from app.advice.pages import advice, questions
from app.console import audit, keys, operator, sign_in, tenants
from app.entries.pages import catalogue, entry, publish
from app.pages import glossary
from app.pages import page as static
from app.requests.pages import data_requests, new_request

ROUTERS: tuple[APIRouter, ...] = (
    catalogue.router,
    entry.router,
    advice.router,
    new_request.router,  # before the pages of requests: `new` is not an id
    data_requests.router,
    operator.router,
    tenants.router,
    keys.router,
    audit.router,
    questions.router,
    publish.router,
    glossary.router,
    sign_in.router,
    static.router,
)
