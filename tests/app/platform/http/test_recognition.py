"""A key that was revoked while a body arrived does nothing, in the API and in the console."""

import json
from urllib.parse import urlencode

import pytest

from app.platform.http import request_scope
from tests.console import ORIGIN, browsing, csrf_in
from tests.service import create_key, keyring_of, prefix_of, running_app


@pytest.fixture(autouse=True)
def _at_once(monkeypatch):
    """Everybody is recognised anew, however fast a body arrives."""
    monkeypatch.setattr(request_scope, "RECENT", 0.0)


def slowly(body, meanwhile):
    """A body, before whose last part something happens."""

    async def parts():
        yield body[:-3]
        await meanwhile()
        yield body[-3:]

    return parts()


def revoking(database_url, key):
    async def revoke():
        async with keyring_of(database_url) as keyring:
            await keyring.revoke(prefix_of(key["Authorization"].split()[1]))

    return revoke


async def nothing():
    """Nothing happens."""


@pytest.mark.parametrize("is_revoked", [True, False])
async def test_a_key_makes_no_other_one_once_it_is_revoked(database_url, is_revoked):
    key = await create_key(database_url, "clinic", "administrator")
    meanwhile = revoking(database_url, key) if is_revoked else nothing
    body = json.dumps({"role": "provider"}).encode()
    async with running_app(database_url) as api:
        headers = key | {"Content-Type": "application/json"}
        answer = await api.post("/v1/keys", content=slowly(body, meanwhile), headers=headers)
    assert answer.status_code == (401 if is_revoked else 201)


@pytest.mark.parametrize("is_revoked", [True, False])
async def test_a_session_does_nothing_once_its_key_is_revoked(database_url, is_revoked):
    key = await create_key(database_url, "clinic", "administrator")
    meanwhile = revoking(database_url, key) if is_revoked else nothing
    async with browsing(database_url) as browser:
        await browser.sign_in(key)
        csrf = csrf_in(await browser.get("/session"))
        fields = {"csrf": csrf, "tenant": "clinic", "role": "provider", "once": "0" * 32}
        headers = {"Origin": ORIGIN, "Content-Type": "application/x-www-form-urlencoded"}
        body = slowly(urlencode(fields).encode(), meanwhile)
        answer = await browser.client.post("/operator/keys", content=body, headers=headers)
    assert answer.status_code == (303 if is_revoked else 201)
    assert ("aegis_" in answer.text) == (not is_revoked)
