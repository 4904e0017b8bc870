"""Complete journeys of providers, consumers and operators through the console, by mouse."""

import json
import random
import shlex
from functools import partial
from uuid import uuid4

import pytest
from anyio import to_thread
from playwright.async_api import expect

from aegis_provider import document_of, load_plan, prepare_entry
from tests.app.advice.test_views import two_attributes
from tests.browser.journeys import Journey, journey
from tests.browser.people import follow, press, sign_in
from tests.contract.conftest import PLAN
from tests.file_server import serving
from tests.service import ACCEPTED

VISIBILITY = {"visibility": "all"}

pytestmark = pytest.mark.processes


@pytest.mark.long
async def test_a_provider_publishes_an_entry_file(visit, guarded, request, tmp_path):
    name, file = f"provided-{uuid4().hex[:8]}", tmp_path / "entry.json"
    file.write_text(json.dumps(two_attributes(name=name, title=f"Survey {name}") | {"visibility": "private"}))
    page = await (await visit(guarded)).open("/")
    with journey(request, "a provider, from signing in to an entry that everybody sees") as taken:
        await sign_in(page, taken, guarded, "clinic", "provider")
        await follow(page, taken, "Publish", "Publish an entry")
        await taken.give_file(page.get_by_label("Entry file"), file)
        await press(page, taken, "Check", "FAIL")
        await page.get_by_role("heading", level=1, name=f"Check of Survey {name}").wait_for()
        await taken.click(page.get_by_label("Publish small counts unchanged"))
        await press(page, taken, "Publish", "What the counts disclose")
        await page.get_by_role("heading", level=1, name=f"Survey {name}").wait_for()
        await follow(page, taken, "Change", "Who sees this entry")
        await taken.click(page.get_by_label("Everyone who uses this service"))
        await press(page, taken, "Change who sees it", "Visible to")
    with guarded.api("lab", "consumer") as api:
        [seen] = api.get("/v1/entries", params={"query": name}).json()["items"]
    assert (seen["tenant"], seen["visibility"]) == ("clinic", "all")


@pytest.fixture
def people(tmp_path, guarded):
    """A table, its plan, and the name of its published entry."""
    rng, name = random.Random(5), f"people-{uuid4().hex[:8]}"
    ages = [rng.randint(20, 79) for _ in range(1000)]
    lines = [f"{age},{rng.choice('ABC')},{'yes' if rng.random() < age / 100 else 'no'}" for age in ages]
    table, plan = tmp_path / "people.csv", tmp_path / "plan.yaml"
    table.write_text("\n".join(["age,town,ill", *lines]) + "\n")
    plan.write_text(PLAN)
    entry = document_of(prepare_entry(table, load_plan(plan), name=name, exact=True).entry)
    with guarded.api("clinic", "provider") as api:
        answer = api.post("/v1/entries", params=ACCEPTED, json=entry | VISIBILITY)
    assert answer.status_code == 201, answer.text
    return {"TABLE.csv": str(table), "release/configurations.yaml": str(plan), "NAME": name}


@pytest.fixture
def terminal(aegis, guarded, monkeypatch, tmp_path):
    """Run a command from a page, with its words in capitals replaced."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AEGIS_URL", guarded.url)
    monkeypatch.setenv("AEGIS_LINKS_ALLOW_PRIVATE", "true")

    async def run(line, tenant, role, words):
        monkeypatch.setenv("AEGIS_API_KEY", guarded.keys[tenant, role])
        command, *arguments = shlex.split(line)
        assert command == "aegis"
        code, out, err = await to_thread.run_sync(
            partial(aegis, *(words.get(argument, argument) for argument in arguments))
        )
        assert (code, err) == (0, ""), out
        return out

    return run


async def test_a_consumer_finds_asks_requests_and_receives_a_table(visit, guarded, request, people, terminal, tmp_path):
    asking, giving = [await (await visit(guarded)).open(path) for path in ("/", "/requests")]
    with journey(request, "a consumer, from signing in to a request") as taken:
        await sign_in(asking, taken, guarded, "lab", "consumer")
        await taken.type(asking.get_by_label("Words"), people["NAME"])
        await press(asking, taken, "Search", f"{people['NAME']} of clinic")
        await follow(asking, taken, people["NAME"], people["NAME"])
        await follow(asking, taken, "Ask for advice", "Which configuration keeps the most utility?")
        await taken.choose(asking.get_by_label("Measure", exact=True), "mutual_information")
        await taken.type(asking.get_by_label("k, at least", exact=True), "5")
        await taken.slide(asking.get_by_label("Weight of age", exact=True), 0.99)
        await expect(asking.locator("output").first).to_have_text("4")
        await press(asking, taken, "Ask", "Weights: age 4 (1 unless named).")
        await follow(asking, taken, "Request this table", "Request a masked table")
        assert await asking.get_by_label("Weight of age", exact=True).input_value() == "5"
        await taken.type(asking.get_by_label("Purpose", exact=True), "A study of local care")
        await taken.type(asking.get_by_label("Contact", exact=True), "data@lab.example")
        await taken.click(asking.get_by_label("We accept these terms"))
        await press(asking, taken, "Request", "Request details")
        await asking.get_by_text("advised", exact=True).wait_for()  # the page updates itself
    with journey(request, "a provider, from signing in to an approved request") as taken:
        await sign_in(giving, taken, guarded, "clinic", "provider")
        await taken.click(giving.get_by_role("link", name=f"{people['NAME']}, version 1"))
        await giving.get_by_text("A study of local care").wait_for()
        await press(giving, taken, "Approve", "aegis requests fulfil")
    fulfil = await giving.locator("code[data-copy]", has_text="aegis requests fulfil").first.text_content()
    with serving(b"") as files:
        (tmp_path / "shared").mkdir()
        words = people | {"FOLDER": "shared", "URL": f"http://127.0.0.1:{files.port}"}
        await terminal(fulfil, "clinic", "provider", words)
        [masked] = (tmp_path / "shared").glob("*.csv")
        files.content = masked.read_bytes()
        with journey(request, "a consumer, from an approved request to the line that receives its table") as taken:
            await follow(asking, taken, "All requests", "Data requests")
            await taken.click(asking.get_by_role("link", name=f"{people['NAME']}, version 1"))
            await asking.get_by_role("heading", name="Receive and verify").wait_for()
        receive = await asking.locator("code[data-copy]", has_text="aegis receive").first.text_content()
        assert "received: tens of" in await terminal(receive, "lab", "consumer", {})
    for page in (giving, asking):
        await page.reload()
        await page.get_by_role("heading", name="Verification").wait_for()
        await page.get_by_text("none differ").wait_for()


@pytest.mark.long
async def test_a_consumer_finds_compares_previews_and_requests_in_eight_clicks(visit, guarded, request, people):
    page = await (await visit(guarded)).open("/")
    await sign_in(page, Journey(), guarded, "lab", "consumer")
    with journey(request, "a consumer, from the catalogue to a request after a preview") as taken:
        await taken.type(page.get_by_label("Words"), people["NAME"])
        await press(page, taken, "Search", f"{people['NAME']} of clinic")
        await follow(page, taken, people["NAME"], people["NAME"])
        await follow(page, taken, "Ask for advice", "Which configuration keeps the most utility?")
        await press(page, taken, "Ask", "Preview this table")
        await follow(page, taken, "Preview this table", people["NAME"])
        rows = page.get_by_role("group", name="Made-up rows").get_by_role("row")
        assert await rows.count() == 11
        assert set(await rows.locator("td:first-child").all_text_contents()) == {"true"}
        await follow(page, taken, "Request this table", "Request a masked table")
        await taken.type(page.get_by_label("Purpose", exact=True), "A study of local care")
        await taken.type(page.get_by_label("Contact", exact=True), "data@lab.example")
        await taken.click(page.get_by_label("We accept these terms"))
        await press(page, taken, "Request", "Request details")
    assert taken.clicks <= 8


@pytest.mark.long
async def test_an_operator_makes_a_key_changes_a_policy_and_checks_the_log(visit, guarded, request):
    tenant = f"ward-{uuid4().hex[:8]}"
    page = await (await visit(guarded)).open("/operator")
    with journey(request, "an operator, from signing in to a checked audit log") as taken:
        await sign_in(page, taken, guarded, "default", "operator")
        await follow(page, taken, "Keys", "Keys")
        await follow(page, taken, "Create a key", "Create a key")
        await taken.type(page.get_by_label("Tenant", exact=True), tenant)
        await taken.click(page.get_by_label("provider:"))
        await press(page, taken, "Create the key", "Copy the key now")
        key = await page.get_by_label("The key", exact=True).locator("code").text_content()
        await follow(page, taken, tenant, f"Tenant {tenant}")
        assert key not in await page.content()
        await taken.type(page.get_by_label("k, at least", exact=True), "5")
        await taken.click(page.get_by_label("A reviewer must sign off every new version before others see it"))
        await press(page, taken, "Set the policy", "The policy is set")
        await follow(page, taken, "Audit log", "Audit log")
        await page.get_by_text(tenant).first.wait_for()
        await follow(page, taken, "Check the whole log", "Check of the audit log")
        await page.get_by_text("The log is intact").wait_for()
    with guarded.api("default", "operator") as api:
        policy = api.get("/v1/policy", params={"tenant": tenant}).json()
        assert (policy["require"], policy["sign_off"]) == ({"k": 5}, True)
        assert api.get("/v1/entries", headers={"Authorization": f"Bearer {key}"}).status_code == 200
