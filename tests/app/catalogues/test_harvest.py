"""A harvest while entries come and go: what is there all the time is on one page, and what is not there is on none."""

import asyncio
import random

import psycopg
import pytest

from tests.app.advice.test_views import guarded
from tests.app.catalogues.harvesting import VIEW
from tests.copied_catalogue import fill
from tests.postgres import OWNER, as_role
from tests.service import example_entry, publish

PAGES, PUBLISHED, WITHDRAWN = 21, 200, 50

#: Copies have the configurations of the entry that they were copied from.
OFFERED = """
INSERT INTO configuration_table
SELECT v.id, guarantee, dtype, shape, data FROM entry_version AS v, configuration_table
WHERE version_id = (SELECT min(id) FROM entry_version) ON CONFLICT DO NOTHING
"""


@pytest.fixture
def filled(database_url):
    def copy():
        owner = as_role(database_url, OWNER)
        fill(owner, 1_680)  # of which 60 % are for all
        with psycopg.connect(owner, autocommit=True) as connection:
            connection.execute(OFFERED)

    return copy


async def test_a_harvest_during_changes_loses_and_invents_no_entry(database_url, filled):
    chance, gone, came = random.Random(1), {}, []
    async with guarded(database_url) as (api, _, keys):
        await publish(api, example_entry(visibility="all"), **keys["owner"])
        await asyncio.to_thread(filled)
        before = await seen(api, keys["stranger"])
        assert len(before) == 1_009
        leaving = iter(chance.sample(sorted(before), WITHDRAWN))

        async def change(page):
            if page >= PAGES:
                return
            for number in range(page * PUBLISHED // PAGES, (page + 1) * PUBLISHED // PAGES):
                head = await publish(api, example_entry(name=f"new-{number}", visibility="all"), **keys["owner"])
                came.append(head["id"])
            for number in range(page * WITHDRAWN // PAGES, (page + 1) * WITHDRAWN // PAGES):
                entry_id = next(leaving)
                await withdraw(api, keys["operator"], entry_id, is_deleted=number % 2 == 0)
                gone[entry_id] = page

        found, address, page = [], "/catalog.jsonld?limit=50", 0
        while address:
            known = dict(gone)
            read, _ = await asyncio.gather(api.get(address, headers=keys["stranger"]), change(page))
            ids, address = of_page(read)
            assert not known.keys() & set(ids)
            found += ids
            page += 1
        after = await seen(api, keys["stranger"])
        again = await whole(api, keys["stranger"])
    assert (len(came), len(gone)) == (PUBLISHED, WITHDRAWN)
    assert len(found) == len(set(found))
    assert before & after <= set(found) <= before | set(came)
    assert sorted(again) == sorted(after) == sorted((before | set(came)) - gone.keys())


async def seen(api, key):
    """The ids of the entries that a caller lists."""
    ids, token = set(), {}
    while token is not None:
        page = (await api.get("/v1/entries", params={"limit": 200} | token, headers=key)).json()
        ids |= {head["id"] for head in page["items"]}
        token = {"page_token": page["next_page_token"]} if page["next_page_token"] else None
    return ids


async def withdraw(api, key, entry_id, *, is_deleted):
    path = f"/v1/entries/{entry_id}"
    if is_deleted:
        gone = await api.delete(path, headers=key)
    else:
        gone = await api.patch(path, json={"visibility": "private"}, headers=key)
    assert gone.status_code in (200, 204), gone.text


def of_page(answer):
    """The ids on a page, and the address of the next one."""
    assert answer.status_code == 200, answer.text
    graph = answer.json()["@graph"]
    [view] = [node for node in graph if node["@type"] == VIEW]
    ids = [node["dct:identifier"] for node in graph if node["@type"] == ["dcat:Dataset"]]
    return ids, view.get("hydra:next", {}).get("@id")


async def whole(api, key):
    ids, address = [], "/catalog.jsonld?limit=200"
    while address:
        on_page, address = of_page(await api.get(address, headers=key))
        ids += on_page
    return ids
