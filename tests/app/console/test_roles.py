"""Every route of the console for everybody, as in the table of docs/console.md."""

import re
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from tests.app.console.stage import PEOPLE, Stage, routes, stage_in_development, stage_with_keys
from tests.postgres import SERVICE, as_role, create_database, drop_database

DOCUMENT = Path(__file__).parents[3] / "docs" / "console.md"
SIGN_IN = "sign in"


def table() -> dict[str, dict[str, str]]:
    """What is answered, by route and by who asks; a row can have several routes."""
    _, _, text = DOCUMENT.read_text(encoding="utf-8").partition("\n| Route ")
    lines = [line for line in f"| Route {text}".partition("\n\n")[0].splitlines() if line.startswith("| ")]
    header, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
    return {
        route: dict(zip(header[1:], answers, strict=True))
        for routes, *answers in rows
        for route in re.findall(r"`([^`]+)`", routes)
    }


TABLE = table()


@pytest.fixture(name="stages", scope="module")
async def _stages(_one_loop, postgres, migrated, shared_database_url):
    """The two services: one with keys, and one in development mode."""
    guarded_url = as_role(create_database(postgres.url, "guarded_console", template=migrated), SERVICE)
    async with AsyncExitStack() as stack:
        guarded = await stack.enter_async_context(stage_with_keys(guarded_url))
        yield {
            **dict.fromkeys(("nobody", *PEOPLE), guarded),
            "development": await stack.enter_async_context(stage_in_development(shared_database_url)),
        }
    drop_database(postgres.url, "guarded_console")


def test_every_route_has_its_row_and_every_row_its_route():
    assert sorted(TABLE) == sorted(routes())


def test_the_table_has_everybody():
    assert all(set(row) == {"nobody", *PEOPLE, "development"} for row in TABLE.values())


async def answered(stage: Stage, who: str, route: str) -> str:
    """The status of the answer; `sign in` if it leads to where one can."""
    method, _ = route.split()
    path = await stage.address(route)
    name = "operator" if who == "development" else who
    if method == "POST":
        answer = await stage.send(name, route, path, await stage.form(route, path))
    else:
        answer = await stage.browser(name).get(path)
    if answer.headers.get("Location", "").startswith("/sign-in?next="):
        return SIGN_IN
    assert answer.status_code < 500, answer.text
    return str(answer.status_code)


@pytest.mark.long
async def test_the_answers_are_the_table_s(stages):
    told = {}
    for route, row in TABLE.items():
        told[route] = {who: await answered(stages[who], who, route) for who in row}
        if route in ("POST /sign-out", "POST /sign-in"):
            for who, key in stages["nobody"].keys.items():
                assert (await stages["nobody"].people[who].sign_in(key)).status_code == 303
    assert told == TABLE
