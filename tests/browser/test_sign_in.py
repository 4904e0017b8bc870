"""Signing in to the console and out again in a real browser."""

import socket

import pytest

from tests.browser.accessibility import assert_accessible
from tests.browser.keyboard import activate, tab_to
from tests.browser.looks import assert_usable
from tests.browser.services import RunningService
from tests.in_thread import own_database, serving
from tests.issuer import running_issuer

PROVIDER = ("clinic", "provider")

pytestmark = pytest.mark.processes


async def test_the_page_to_sign_in_can_be_used_everywhere_and_says_what_is_wrong(visit, guarded):
    coming = await visit(guarded)
    page = await coming.open("/glossary")
    await page.wait_for_url("**/sign-in?next=%2Fglossary")
    await assert_usable(page, thorough=True)
    coming.watch.expected |= {401}
    await page.get_by_label("API key").fill("aegis_00000000_x")
    await page.get_by_role("button", name="Sign in").click()
    await page.get_by_role("alert").get_by_text("unknown, expired or revoked").wait_for()
    await assert_usable(page)
    await page.get_by_label("API key").fill(guarded.keys[PROVIDER])
    await page.get_by_role("button", name="Sign in").click()
    await page.wait_for_url("**/glossary")


@pytest.mark.long
@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
async def test_people_sign_in_and_out_by_keyboard(visit, guarded, scripts):
    page = await (await visit(guarded, scripts=scripts)).open("/session")
    await page.get_by_label("API key").focus()
    await page.keyboard.type(guarded.keys[PROVIDER])
    await page.keyboard.press("Enter")
    await page.get_by_role("heading", name="Your session").wait_for()
    await assert_accessible(page)
    [cookie] = await page.context.cookies()
    assert (cookie["name"], cookie["httpOnly"], cookie["sameSite"]) == ("aegis_session", True, "Lax")
    await tab_to(page, "link", guarded.keys[PROVIDER][:14])
    await activate(page, "button", "Sign out in all browsers")
    await page.get_by_role("heading", name="Sign in").wait_for()
    assert await page.context.cookies() == []
    await page.go_back()
    await page.reload()
    await page.get_by_role("heading", name="Sign in").wait_for()


@pytest.mark.long
async def test_the_session_can_be_ended_from_every_page(visit, guarded):
    page = await (await visit(guarded)).open("/session")
    await page.get_by_label("API key").fill(guarded.keys[PROVIDER])
    await page.get_by_role("button", name="Sign in").click()
    await page.get_by_role("heading", name="Your session").wait_for()
    await assert_usable(page)
    await page.goto("/")
    await page.get_by_role("button", name="Sign out").click()
    await page.get_by_role("heading", name="Sign in").wait_for()


@pytest.mark.long
@pytest.mark.usefixtures("_chromium")
async def test_people_sign_in_at_their_organisation_by_one_click(visit, postgres, migrated):
    with running_issuer() as issuer, own_database(postgres, migrated) as database_url:
        issuer.signed_in |= {"sub": "bob", "scope": "aegis:provide"}
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        there = {"oidc_issuer": issuer.url, "oidc_client_id": "console", "console_origin": f"http://127.0.0.1:{port}"}
        with serving(database_url, worker=False, port=str(port), **there) as url:
            coming = await visit(RunningService(url, database_url))
            coming.watch.others.add(issuer.url)
            page = await coming.open("/requests")
            await assert_usable(page)
            await page.get_by_role("link", name="Sign in with your organisation").click()
            await page.wait_for_url("**/requests")
            await page.get_by_role("link", name="bob").click()
            await page.get_by_text(issuer.url).wait_for()
            await assert_usable(page)
            issuer.answer = {"error": "access_denied", "code": ""}
            coming.watch.expected |= {401, 403}
            await page.get_by_role("button", name="Sign out", exact=True).first.click()
            await page.get_by_role("link", name="Sign in with your organisation").click()
            await page.get_by_role("alert").wait_for()
            await assert_usable(page)
