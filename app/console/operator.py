"""The operator's overview: health checks, queue, workers and tenants."""

from fastapi import APIRouter, Request, Response

from app.console.health_view import Overview
from app.edge.state import State, StateDependency, services_of
from app.pages.commands import Commands, curl, server
from app.pages.page import page
from app.pages.page_route import PageRoute
from app.pages.service_settings import service_settings
from app.pages.viewers import Viewer, ViewerDependency
from app.platform.callers import administered_tenant
from app.tenants.service import TenantPage

router = APIRouter(route_class=PageRoute)

#: Tenants on the overview.
FEW_TENANTS = 10


@router.get("/operator")
async def show_overview(request: Request, viewer: ViewerDependency, state: StateDependency) -> Response:
    """The current health of the service; the page updates itself."""
    overview, tenants = await _overview(state, viewer, FEW_TENANTS)
    commands = Commands((server("tenants", "list"), server("keys", "list")), (curl(viewer, "/readyz"),))
    return page(
        request, "operator/overview.html", overview=overview, tenants=tenants, commands=commands, here="operator"
    )


@router.get("/operator/health")
async def show_health(request: Request, viewer: ViewerDependency, state: StateDependency) -> Response:
    """The part of the overview that is updated."""
    overview, _ = await _overview(state, viewer, 0)
    return page(request, "operator/health.html", overview=overview)


@router.get("/operator/settings")
async def show_settings(request: Request, viewer: ViewerDependency, state: StateDependency) -> Response:
    """The settings for all tenants."""
    administered_tenant(viewer.caller, None)
    commands = Commands((server("serve", "--help"),), (curl(viewer, "/readyz"),))
    return page(request, "operator/settings.html", groups=service_settings(state), commands=commands, here="operator")


async def _overview(state: State, viewer: Viewer, most_tenants: int) -> tuple[Overview, TenantPage | None]:
    """The health of the service and its first tenants; no tenants while the database does not respond."""
    administered_tenant(viewer.caller, None)
    reading = await state.probe.read()
    if reading.pulse is None:
        return Overview.of(state, reading, None, ()), None
    workers = await state.probe.workers()
    async with state.database.transaction() as session:
        services = services_of(state, session)
        health = await services.health().look(viewer.caller)
        tenants = (
            await services.tenant_administration().tenants(viewer.caller, most_tenants, None) if most_tenants else None
        )
    return Overview.of(state, reading, health, workers), tenants
