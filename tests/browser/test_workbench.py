"""The advice workbench: questions, sliders and answers."""

import pytest

from tests.app.advice.test_views import two_attributes
from tests.browser.keyboard import activate, tab_to
from tests.browser.looks import assert_usable
from tests.service import ACCEPTED

pytestmark = [pytest.mark.long, pytest.mark.processes]


def published(service, tenant="clinic", **changes):
    """Publish an entry with two attributes and return its id."""
    with service.api(tenant, "provider") as api:
        answer = api.post("/v1/entries", params=ACCEPTED, json=two_attributes(**changes))
        assert answer.status_code == 201, answer.text
        return answer.json()["id"]


async def test_a_slider_moves_and_the_answer_weighs_by_it(visit, development):
    entry = published(development, name="sliders")
    page = await (await visit(development)).open(f"/entries/{entry}/ask")
    await page.get_by_label("Measure", exact=True).select_option("mutual_information")
    await page.get_by_label("Weight of age", exact=True).focus()
    await page.keyboard.press("ArrowRight")
    assert await page.locator("output").first.text_content() == "2"
    await assert_usable(page)
    await page.get_by_role("button", name="Ask").click()
    await page.get_by_role("heading", level=1, name="keeps").wait_for()
    await page.get_by_text("Weights: age 2 (1 unless named).").wait_for()
    await assert_usable(page)
    await page.get_by_role("link", name="c3", exact=True).last.click()
    await page.get_by_text("(B), side by side").first.wait_for()
    await assert_usable(page)


async def test_a_question_is_asked_by_keyboard_alone(visit, development):
    entry = published(development, name="by-keyboard")
    page = await (await visit(development)).open(f"/entries/{entry}/ask")
    await tab_to(page, "combobox", "Measure")
    await page.keyboard.type("mutual")
    await activate(page, "button", "Ask")
    await page.get_by_role("heading", level=1, name="keeps").wait_for()
    await activate(page, "button", "Compare")
    await page.wait_for_url("**second=*")


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
async def test_progress_turns_into_the_answer_by_itself(visit, untouched, scripts):
    """Without a worker there is no answer, so the progress page stays until one has run."""
    entry = published(untouched)
    page = await (await visit(untouched, scripts=scripts)).open(f"/entries/{entry}/ask")
    await page.get_by_role("button", name="Ask").click()
    await page.get_by_role("heading", name="Your question is being answered").wait_for()
    await assert_usable(page)
    await untouched.work()
    if not scripts:
        await page.get_by_role("link", name="Refresh").click()
    await page.get_by_role("heading", level=1, name="keeps").wait_for()


async def test_a_wrong_question_is_explained(visit, development):
    entry = published(development, name="wrong")
    looked = await visit(development)
    page = await looked.open(f"/entries/{entry}/ask")
    looked.watch.expected.add(422)
    await page.get_by_label("k, at least", exact=True).fill("many")
    await page.get_by_role("button", name="Ask").click()
    await page.get_by_role("alert").wait_for()
    await assert_usable(page)
    assert await page.get_by_label("k, at least", exact=True).input_value() == "many"
