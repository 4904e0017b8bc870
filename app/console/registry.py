"""The routers of the console.

To add a page, write a function in one of `app/console/routes/`, or in a new router that you add to `ROUTERS`. It calls
a service, makes a view of what the service returns (`app/console/views/`), and shows it with a template.
"""

from fastapi import APIRouter

from app.console.routes import advice, audit, catalogue, glossary, keys, operator, questions, static, tenants

ROUTERS: tuple[APIRouter, ...] = (
    catalogue.router,
    advice.router,
    operator.router,
    tenants.router,
    keys.router,
    audit.router,
    questions.router,
    glossary.router,
    static.router,
)
