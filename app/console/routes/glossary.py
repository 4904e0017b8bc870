"""The words of the project."""

from fastapi import APIRouter, Request, Response

from app.console.commands import Commands, aegis, curl
from app.console.glossary import glossary
from app.console.page import page
from app.console.page_route import PageRoute
from app.console.viewers import ViewerDependency

router = APIRouter(route_class=PageRoute)


@router.get("/glossary")
async def show_glossary(request: Request, viewer: ViewerDependency) -> Response:
    """Every word that pages use, with what it means."""
    commands = Commands((aegis("--help"),), (curl(viewer, "/openapi.json"),))
    return page(request, "glossary.html", words=glossary(), commands=commands)
