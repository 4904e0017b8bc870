"""The helpers of browser tests detect faults."""

from types import SimpleNamespace

import pytest

from tests.browser.accessibility import violations
from tests.browser.journeys import journey
from tests.browser.keyboard import tab_to
from tests.browser.looks import assert_usable
from tests.browser.summary import MISSING, summary

STYLED = "<p style='color: red'>red"
POLICY = {"Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'"}

pytestmark = [pytest.mark.long, pytest.mark.processes]


async def faulty(visit, service, body, headers=None, **how):
    """A visit to a service with an additional, faulty page."""
    begun = await visit(service, **how)
    page = f"<!DOCTYPE html><html lang='en'><title>Faulty</title><main><h1>Faulty</h1>{body}</main>"

    async def answer(route):
        await route.fulfill(body=page, content_type="text/html; charset=utf-8", headers=headers)

    await begun.page.route("**/faulty", answer)
    return begun


@pytest.mark.parametrize("scripts", [True, False])
async def test_what_the_policy_forbids_is_a_fault(visit, development, scripts):
    begun = await faulty(visit, development, STYLED, POLICY, scripts=scripts)
    with pytest.raises(AssertionError, match=r"console: .*Content Security Policy"):
        await begun.open("/faulty")
    begun.watch.faults.clear()


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("<script>throw new Error('oh no')</script>", "script: .*oh no"),
        ("<script>console.error('oh no')</script>", "console: oh no"),
        ("<img src='http://elsewhere.example/' alt=''>", "request to another place: http://elsewhere.example/"),
    ],
    ids=["error of a script", "error on the console", "another place"],
)
async def test_a_fault_of_a_page_is_noticed(visit, development, body, words):
    begun = await faulty(visit, development, body)
    with pytest.raises(AssertionError, match=words):
        await begun.open("/faulty")
    begun.watch.faults.clear()


async def test_a_missing_file_is_a_fault(visit, development):
    begun = await faulty(visit, development, "<img src='/missing.png' alt=''>")
    async with begun.page.expect_response("**/missing.png"):
        await begun.page.goto("/faulty")
    with pytest.raises(AssertionError, match=r"status 404: GET .*/missing\.png"):
        begun.watch.check()
    begun.watch.faults.clear()


async def test_an_error_may_be_expected(visit, development):
    begun = await visit(development)
    with pytest.raises(AssertionError, match="/nothing: 404"):
        await begun.open("/nothing")
    begun.watch.faults.clear()
    await begun.open("/nothing", status=404)


@pytest.mark.parametrize("scripts", [True, False])
async def test_barriers_are_told_in_words(visit, development, scripts):
    begun = await faulty(visit, development, "<input><p>text", POLICY, scripts=scripts)
    [fault] = await violations(await begun.open("/faulty"))
    assert fault.startswith("label (critical): Form elements must have labels")
    assert "    input: <input>" in fault


async def test_what_is_too_wide_is_named(visit, development):
    begun = await faulty(visit, development, "<svg width='700' height='9' role='img' aria-label='wide'></svg>")
    page = await begun.open("/faulty")
    with pytest.raises(
        AssertionError, match=r'360 px: wider than the window: <svg width="700".*: to 7\d\d px'
    ) as failed:
        await assert_usable(page)
    assert "1440 px" not in str(failed.value)


async def test_tab_needs_an_element_and_a_mark_on_it(visit, development):
    begun = await faulty(visit, development, "<style>b {outline: none}</style><b tabindex=0 role=button>Go</b>")
    page = await begun.open("/faulty")
    with pytest.raises(AssertionError, match="nobody sees that button 'Go' has the focus"):
        await tab_to(page, "button", "Go")
    await page.evaluate("document.querySelector('b').tabIndex = -1")
    with pytest.raises(AssertionError, match="button 'Go' is not among the first 3 stops"):
        await tab_to(page, "button", "Go", most=3)


async def test_a_journey_tells_its_clicks(visit, development, request):
    page = await (await visit(development)).open("/")
    with journey(request, "somebody to the reference") as taken:
        await taken.click(page.get_by_role("link", name="Reference of the API"))
        await page.wait_for_url("**/docs")
    [(_, line)] = request.node.user_properties
    assert line.startswith("somebody to the reference: 1 clicks, 0 fields, ")
    request.node.user_properties.clear()


def test_the_summary_names_what_was_skipped_and_how_long_journeys_took():
    skipped = SimpleNamespace(longrepr=("test_a.py", 1, f"Skipped: {MISSING}"))
    other = SimpleNamespace(longrepr=("test_b.py", 1, "Skipped: not on this system"))
    passed = SimpleNamespace(user_properties=[("journey", "a consumer: 3 clicks, 2.0 s")])
    lines = list(summary({"skipped": [skipped, other, skipped], "passed": [passed]}))
    assert lines == [
        f"2 browser tests were skipped, because {MISSING}",
        "journey of a consumer: 3 clicks, 2.0 s",
    ]
    assert list(summary({})) == []
