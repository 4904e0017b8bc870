"""The glossary page."""

from fastapi import APIRouter, Request, Response

from app.pages.commands import Commands, aegis, curl
from app.pages.glossary import glossary
from app.pages.page import page
from app.pages.page_route import PageRoute
from app.pages.viewers import ViewerDependency

router = APIRouter(route_class=PageRoute)


@router.get("/glossary")
async def show_glossary(request: Request, viewer: ViewerDependency) -> Response:
    """Every term of the pages, with its meaning."""
    commands = Commands((aegis("--help"),), (curl(viewer, "/openapi.json"),))
    return page(request, "glossary.html", words=glossary(), commands=commands)
