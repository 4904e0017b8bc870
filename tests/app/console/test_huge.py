"""Entries as large as the contract allows: pages stay paged, and none grows with what it is about."""

from collections.abc import Iterator
from time import perf_counter

import pytest

from tests.app.console.harmless import harmless
from tests.app.console.stage import Stage, stage_in_development
from tests.console import Browser
from tests.postgres import SERVICE, as_role, create_database, drop_database
from tests.service import example_entry

ATTRIBUTES, CONFIGURATIONS = 10_000, 100_000
#: The most bytes of a page, and the most seconds until it is there, the first time, on a machine that does much else.
BYTES, SECONDS = 300_000, 60


def wide_entry():
    """An entry with many attributes."""
    [first] = example_entry()["attributes"]
    names = [f"attribute {at:05} with a name that is longer than most" for at in range(ATTRIBUTES)]
    attributes = [{**first, "name": name} for name in names]
    configurations = [{"id": f"c{at}", "maskings": dict.fromkeys(names, "age-2")} for at in range(3)]
    return example_entry(name="wide", attributes=attributes, configurations=configurations)


def long_entry():
    """An entry with many configurations."""
    ids = [f"configuration {at:06}" for at in range(CONFIGURATIONS)]
    table = {"ids": ids, "maskings": {"age": ["age-2"] * CONFIGURATIONS}, "privacy": {"k": [5.0] * CONFIGURATIONS}}
    entry = example_entry(name="long", configuration_table=table)
    del entry["configurations"]
    return entry


@pytest.fixture(name="huge_url", scope="module")
def _huge_url(postgres, migrated) -> Iterator[str]:
    yield as_role(create_database(postgres.url, "huge_console", template=migrated), SERVICE)
    drop_database(postgres.url, "huge_console")


@pytest.fixture(name="stage", scope="module")
async def _stage(_one_loop, huge_url):
    async with stage_in_development(huge_url) as stage:
        yield stage


async def opened(browser: Browser, path: str) -> str:
    started = perf_counter()
    answer = await browser.get(path)
    assert answer.status_code == 200, (path, answer.text[:500])
    assert perf_counter() - started < SECONDS
    assert len(answer.content) < BYTES, path
    harmless(answer.text)
    return answer.text


@pytest.mark.long
async def test_pages_of_many_attributes_are_bounded(stage: Stage):
    head = await stage.call("POST", "/v1/entries?accept_small_counts=true", json=wide_entry())
    place, last = f"/entries/{head['id']}", f"attribute {ATTRIBUTES - 1:05}"
    for path in ("", "?attributes=200", "/configuration?place=2&maskings=7", "/counts", "/ask", "/delete"):
        await opened(stage.owner, place + path)
    assert last in await opened(stage.owner, f"{place}?attributes=999999999")
    asked = {"measure": "g3", "csrf": ""}
    answer = await stage.owner.post(f"{place}/ask", **asked)
    assert answer.status_code == 303
    for path in (f"/requests/new?entry={head['id']}", "/", answer.headers["Location"]):
        await opened(stage.owner, path)


@pytest.mark.long
async def test_pages_of_many_configurations_are_bounded(stage: Stage):
    head = await stage.call("POST", "/v1/entries?accept_small_counts=true", json=long_entry())
    place, last = f"/entries/{head['id']}", f"configuration {CONFIGURATIONS - 1:06}"
    for path in ("", "?configurations=77", f"/configuration?place={CONFIGURATIONS - 1}", "/ask"):
        await opened(stage.owner, place + path)
    assert last in await opened(stage.owner, f"{place}?configurations=999999999")
