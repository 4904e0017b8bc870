"""Every page of the console is usable in every state: by all people, in all window widths, in light and dark."""

import string
from collections import Counter
from datetime import timedelta
from urllib.parse import quote

import pytest
from fastapi.routing import APIRoute
from sqlalchemy import text

from app.advice.service.advice_input import RecentInputs
from app.console.registry import ROUTERS
from app.factory import Factory
from app.platform.database.session import Database
from app.platform.queue.model import Problem
from app.platform.queue.queue import queue_app
from tests.browser.looks import assert_usable
from tests.browser.services import RunningService
from tests.browser.states import NOTHING, STATES
from tests.browser.world import HOSTILE, survey, world_of
from tests.in_thread import own_database, serving
from tests.service import ACCEPTED

#: Routes that are not pages: parts of pages, files, and steps to a page.
NO_PAGES = {
    "/advice/{advice_id}/progress",
    "/requests/{request_id}/now",
    "/requests/{request_id}/receipt",
    "/operator/health",
    "/sign-in/oidc",
    "/sign-in/callback",
    "/static/{name}",
}

ROUTES = [
    route for router in ROUTERS for route in router.routes if isinstance(route, APIRoute) and "GET" in route.methods
]


def route_of(path):
    """The route of a path in the list."""
    names = [name for _, name, _, _ in string.Formatter().parse(path) if name]
    plain = path.format_map(dict.fromkeys(names, "x")).partition("?")[0]
    return next(route.path for route in ROUTES if route.path_regex.match(plain))


def test_every_page_has_a_main_state():
    main = {route_of(state.path) for state in STATES if state.is_main}
    assert {route.path for route in ROUTES} == main | NO_PAGES
    assert main.isdisjoint(NO_PAGES)


def test_states_have_different_names():
    assert [name for name, times in Counter(state.name for state in STATES + NOTHING).items() if times > 1] == []


@pytest.fixture(scope="module")
async def world(guarded):
    world = world_of(guarded)
    await let_expire(guarded.database_url, world.ids["forgotten"])
    return world


@pytest.fixture(scope="module")
def nothing(_chromium, postgres, migrated):
    with own_database(postgres, migrated) as database_url, serving(database_url, worker=False) as url:
        yield RunningService(url, database_url)


@pytest.mark.long  # some 130 states, a second or two each
@pytest.mark.processes
@pytest.mark.parametrize("state", STATES, ids=lambda state: state.name)
async def test_a_page_can_be_used(visit, world, state):
    coming = await visit(world.service, scripts=state.scripts)
    if state.who != "nobody":
        await world.sign_in(coming.page, state.who)
    page = await coming.open(state.path.format_map(world.ids | {"HOSTILE": quote(HOSTILE)}), status=state.status)
    coming.watch.expected.add(state.then)
    if state.reach is not None:
        await state.reach(page, world)
    await page.get_by_text(state.says).first.wait_for(state="attached")
    await assert_usable(page)


@pytest.mark.long  # some 130 states, a second or two each
@pytest.mark.processes
@pytest.mark.parametrize("state", NOTHING, ids=lambda state: state.name)
async def test_a_page_with_nothing_on_it_can_be_used(visit, nothing, state):
    page = await (await visit(nothing)).open(state.path, status=state.status)
    await page.get_by_text(state.says).first.wait_for()
    await assert_usable(page)


@pytest.mark.long
@pytest.mark.processes
async def test_pages_of_what_waits_for_a_worker_and_of_what_has_failed_can_be_used(visit, untouched):
    """Without a worker, an advice and its request wait until the test makes them fail."""
    with untouched.api() as api:
        head = api.post("/v1/entries", params=ACCEPTED, json=survey()).json()
        asked = {"measure": "mutual_information", "purpose": HOSTILE, "contact": HOSTILE, "terms": head["terms"]}
        request = api.post(f"/v1/entries/{head['id']}/requests", json=asked).json()
    page = await (await visit(untouched)).open(f"/requests/{request['id']}")
    await page.get_by_text("is finding the best configuration").wait_for()
    await assert_usable(page)
    await page.goto(f"/advice/{request['advice']}")
    await page.get_by_role("heading", name="Your question is being answered").wait_for()
    await assert_usable(page)
    await fail_all(untouched.database_url)
    await page.get_by_role("heading", name="The question could not be answered").wait_for()
    await assert_usable(page)
    await page.goto(f"/requests/{request['id']}")
    await page.get_by_text("failed", exact=True).wait_for()
    await assert_usable(page)


async def let_expire(database_url, request_id):
    """Expire a request, as a worker does after a time without actions."""
    database = Database(database_url, pool_size=1)
    async with database.transaction() as session:
        past = text("UPDATE data_request SET changed_at = now() - interval '31 days' WHERE id = :id")
        await session.execute(past, {"id": request_id})
        assert await Factory(session, queue_app(database_url)).data_request_work().expire(timedelta(days=30)) == 1
    await database.close()


async def fail_all(database_url):
    """Give up all questions, as a worker does after a while."""
    database = Database(database_url, pool_size=1)
    async with database.transaction() as session:
        services = Factory(session, queue_app(database_url))
        for advice in await session.scalars(text("SELECT id FROM advice")):
            await services.advice_work(RecentInputs()).fail(str(advice), Problem("too_heavy", "It took too long."))
        assert await services.data_request_work().settle() == 1
    await database.close()
