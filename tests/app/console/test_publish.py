"""Publishing: an entry file is checked, its verdict shown, and then it is published; no table enters the service."""

import gzip
import html
import json
import shlex

import pytest

from app.web.bodies import SMALL_BODY
from tests.app.console.html import SENT, Html, look, send
from tests.console import browsing, csrf_in
from tests.service import create_key, example_entry, publish, running_app

SCRIPT = '<script>alert("1")</script>'


def large_counts(**changes):
    """The example with counts of five and more."""
    entry = example_entry(**changes)
    attribute = entry["attributes"][0]
    entry["records"] *= 100
    for owner, name in ((entry["label"], "histogram"), (attribute, "histogram")):
        owner[name] = [100 * count for count in owner[name]]
    attribute["maskings"][0]["joint"] = [[100 * count for count in row] for row in attribute["maskings"][0]["joint"]]
    return entry


async def check(api, content, file="entry.json", **fields):
    """Send a file from the page, and return the answer."""
    content = json.dumps(content).encode() if isinstance(content, dict) else content
    texts = [(name, (None, text)) for name, text in ({"csrf": ""} | fields).items()]
    return await api.post("/publish", files=[*texts, ("entry", (file, content))], headers=SENT)


def fields_of(answer):
    """The fields of the form on the page of a check, as they are sent without a change."""
    page = Html(answer.text)
    sent = {
        each["name"]: each.get("value") or "" for each in page.all("input") if each.get("type") in ("hidden", "text")
    }
    sent |= {each["name"]: each["value"] for each in page.all("input") if "checked" in each}
    assert "document" in sent, page.text
    return sent


async def confirm(api, answer, **changes):
    return await send(api, "/publish/confirm", fields_of(answer) | changes)


async def entries(api):
    return (await api.get("/v1/entries")).json()["items"]


async def test_a_file_is_checked_and_then_published(api, worker):
    checked = await check(api, large_counts())
    page = Html(checked.text)
    assert checked.status_code == 200
    for words in ("Self-rated health", "health-survey", "CC0-1.0", "entry.json", "k ≥ 5"):
        assert words in page.text
    assert await entries(api) == []
    done = await confirm(api, checked, audience="all")
    (entry,) = await entries(api)
    assert (done.status_code, done.headers["Location"]) == (303, f"/entries/{entry['id']}")
    assert (entry["name"], entry["visibility"], entry["version"]) == ("health-survey", "all", 1)
    await worker.run()
    stored = (await api.get(f"/v1/entries/{entry['id']}")).json()["verdict"]
    assert stored["passed"]
    assert "PASS" in page.text
    summaries = (await api.get(f"/v1/entries/{entry['id']}/summaries")).json()
    assert summaries == large_counts(visibility="all")


async def test_the_verdict_comes_first_and_is_that_of_the_worker(api, worker):
    page = Html((await check(api, example_entry())).text)
    assert page.text.index("FAIL") < page.text.index("What the file says")
    assert "attribute age, masking age-2, joint /attributes/0/maskings/0/joint" in page.text
    head = await publish(api)
    await worker.run()
    verdict = (await api.get(f"/v1/entries/{head['id']}")).json()["verdict"]
    assert not verdict["passed"]
    assert all(finding["pointer"] in page.text for finding in verdict["findings"])


async def test_a_compressed_file_and_one_with_another_name_are_published(api):
    checked = await check(api, gzip.compress(json.dumps(large_counts()).encode()), "größe 😀 'x'.json.gz")
    assert "größe 😀 'x'.json.gz" in Html(checked.text).text
    assert shlex.join(["aegis", "publish", "größe 😀 'x'.json"]) in Html(checked.text).text
    assert (await confirm(api, checked)).status_code == 303


async def test_who_sees_it_is_as_the_file_says_or_as_chosen(api):
    checked = await check(api, large_counts(visibility={"tenants": ["lab", "clinic"]}))
    sent = fields_of(checked)
    assert (sent["audience"], sent["tenants"]) == ("tenants", "lab, clinic")
    wrong = await confirm(api, checked, tenants=" , ")
    assert wrong.status_code == 422
    assert "It is not published" in Html(wrong.text).text
    await confirm(api, wrong, tenants="lab,partner one")
    assert (await entries(api))[0]["visibility"] == {"tenants": ["lab", "partner one"]}


async def test_a_name_that_is_taken_becomes_a_new_version(api):
    head = await publish(api, large_counts())
    await api.patch(f"/v1/entries/{head['id']}", json={"visibility": "all"})
    checked = await check(api, large_counts(title="A better title"))
    page = Html(checked.text)
    assert "This file becomes its version 2" in page.text
    assert "Others see the new version at once" in page.text
    assert "Who sees it, besides" not in page.text
    assert (await confirm(api, checked)).headers["Location"] == f"/entries/{head['id']}"
    (entry,) = await entries(api)
    assert (entry["version"], entry["title"], entry["visibility"]) == (2, "A better title", "all")


async def test_what_is_published_already_is_not_published_again(api):
    head = await publish(api, large_counts())
    page = Html((await check(api, large_counts())).text)
    assert "There is nothing to publish" in page.text
    assert f"/entries/{head['id']}" in page.links
    assert [form["action"] for form in page.all("form")] == []


async def test_a_second_click_leads_to_the_same_entry(api):
    checked = await check(api, large_counts())
    first, second = [await confirm(api, checked) for _ in range(2)]
    assert first.headers["Location"] == second.headers["Location"]
    assert len(await entries(api)) == 1


async def test_an_entry_that_changed_after_the_check_is_checked_again(api):
    fresh = await check(api, large_counts(title="Mine"))
    head = await publish(api, large_counts(title="Theirs"))
    taken = await confirm(api, fresh)
    assert taken.status_code == 409
    assert "becomes its version 2" in Html(taken.text).text
    await api.patch(f"/v1/entries/{head['id']}", json={"visibility": "all"})
    stale = await confirm(api, taken)
    assert stale.status_code == 412
    assert (await entries(api))[0]["version"] == 1
    assert (await confirm(api, stale)).status_code == 303
    assert (await entries(api))[0]["title"] == "Mine"


async def test_a_new_version_keeps_the_name_of_its_entry(api):
    head = await publish(api, large_counts())
    place = f"/publish?version_of={head['id']}"
    assert place in (await look(api, f"/entries/{head['id']}")).links
    page = await look(api, place)
    assert "Publish a new version of Self-rated health" in page.text
    assert {"type": "hidden", "name": "version_of", "value": head["id"]} in page.all("input")
    other = await check(api, large_counts(name="other"), version_of=head["id"])
    assert other.status_code == 422
    assert "The name must stay 'health-survey'" in Html(other.text).text
    good = await check(api, large_counts(title="New"), version_of=head["id"])
    assert (await confirm(api, good)).status_code == 303
    changed = await confirm(api, await check(api, large_counts(name="other")), entry_id=head["id"])
    assert changed.status_code == 422
    await look(api, "/publish?version_of=00000000-0000-4000-8000-000000000000", 404)


async def test_faults_are_shown_by_place(api):
    entry = large_counts(title=7)
    entry["attributes"][0]["maskings"][0]["colour"] = "red"
    refused = await check(api, json.dumps(entry, indent=1).encode(), "wrong.json")
    page = Html(refused.text)
    assert refused.status_code == 422
    assert "wrong.json is refused; nothing was kept" in page.text
    assert "attribute age, masking age-2, colour /attributes/0/maskings/0/colour" in page.text
    assert ': "colour": "red"' in page.text
    assert ': "title": 7' in page.text
    assert "/publish" in [form["action"] for form in page.all("form")]


async def test_sums_that_contradict_each_other_are_shown_by_place(api):
    entry = large_counts()
    entry["attributes"][0]["histogram"][0] += 1
    page = Html((await check(api, entry)).text)
    assert "attribute age, histogram" in page.text


async def test_many_faults_are_cut(api):
    entry = large_counts()
    entry["attributes"] = [entry["attributes"][0] | {"name": f"a{i}", "colour": i} for i in range(150)]
    page = Html((await check(api, entry)).text)
    assert "The first 100 faults" in page.text


@pytest.mark.parametrize("content", [b"", b"{", b'{"format": 1, "name": }'])
async def test_what_is_not_json_says_where(api, content):
    refused = await check(api, content)
    assert refused.status_code == 400
    assert "is not JSON" in Html(refused.text).text


async def test_without_a_file_the_page_asks_for_one(api):
    refused = await check(api, b"", "")
    assert refused.status_code == 400
    assert "Choose an entry file first" in Html(refused.text).text


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("people.csv", "aegis release people.csv --label"),
        ("my people; rm -rf ~.csv", "aegis release 'my people; rm -rf ~.csv' --label"),
        ("it's.csv", "aegis release 'it'\"'\"'s.csv' --label"),
        ("--output.csv", "aegis release ./--output.csv --label"),
        ("größe 😀.tsv", "aegis release 'größe 😀.tsv' --label"),
        ("C:\\data\\people.csv", "aegis release people.csv --label"),
        ("a\u202evsc.exe", "aegis release TABLE.csv --label"),
        ("people.xlsx", "aegis release people.csv --label"),
        (f"{SCRIPT}.csv", "aegis release 'script>.csv' --label"),
    ],
)
async def test_a_table_is_refused_with_the_line_that_makes_its_entry(shared_api, file, line):
    refused = await check(shared_api, b"age,sex\n31,f\n", file)
    page = Html(refused.text)
    assert refused.status_code == 415
    assert line in page.text
    assert "No record may enter this service" in page.text
    assert ("Save it as CSV" in page.text) == (not file.endswith(("csv", "tsv")))
    assert "31" not in page.text
    assert "alert" not in "".join(str(each) for each in page.all("script"))


async def test_no_part_of_a_table_is_logged(shared_api, caplog):
    await check(shared_api, b"name,age\nBob Secretive,31\n", "people.csv")
    assert "Secretive" not in caplog.text
    assert "name,age" not in caplog.text


async def test_small_counts_must_be_accepted_where_the_service_asks(database_url):
    async with running_app(database_url, small_counts="confirm") as api:
        checked = await check(api, example_entry())
        page = Html(checked.text)
        assert "Publish small counts as they are" in page.text
        assert "attribute age, masking age-2, joint, 10-45, M /attributes/0/maskings/0/joint/0/2" in page.text
        refused = await confirm(api, checked)
        assert refused.status_code == 422
        assert await entries(api) == []
        assert (await confirm(api, refused, accept_small_counts="on")).status_code == 303
        assert (await entries(api))[0]["accepted_small_counts"]
        assert "nothing to publish" in Html((await check(api, example_entry())).text).text


async def test_small_counts_are_refused_where_the_service_takes_none(database_url):
    async with running_app(database_url, small_counts="refuse") as api:
        checked = await check(api, example_entry())
        assert [form["action"] for form in Html(checked.text).all("form")] == []
        assert "accepts no small count" in Html(checked.text).text


async def test_privacy_that_nobody_vouches_for_is_refused_before_anything_is_published(database_url):
    async with running_app(database_url, min_l=3) as api:
        page = Html((await check(api, large_counts())).text)
        assert "does not vouch for the privacy that a policy requires" in page.text
        assert [form["action"] for form in page.all("form")] == []


async def test_files_that_are_too_large_are_refused_as_pages(database_url):
    async with running_app(database_url, max_body_bytes=5_000) as api:
        for content in (b"{" + b" " * 6_000, gzip.compress(b"{" + b" " * 6_000), b"{" + b" " * (6_000 + SMALL_BODY)):
            refused = await check(api, content)
            assert refused.status_code == 413
            assert "accepted" in Html(refused.text).text
        assert (await check(api, large_counts())).status_code == 200


@pytest.mark.parametrize("document", ["", "x", "H4sI", "é", "H4sIAAAAAAAAAwMAAAAAAAAAAAA="])
async def test_a_form_that_lost_its_file_is_refused(shared_api, document):
    refused = await send(shared_api, "/publish/confirm", {"csrf": "", "document": document})
    assert refused.status_code == 400


async def test_forms_from_elsewhere_publish_nothing(api):
    checked = await check(api, large_counts())
    for headers in (SENT | {"Origin": "http://evil.example"}, {"Accept": "text/html"}):
        for path in ("/publish", "/publish/confirm", "/publish/example"):
            answer = await api.post(path, data=fields_of(checked), headers=headers)
            assert answer.status_code == 403
    assert await entries(api) == []


async def test_texts_of_the_file_are_shown_as_they_are(api):
    texts = {
        "title": SCRIPT,
        "description": f'"{SCRIPT}',
        "license": "'\"><img src=x>",
        "keywords": ["\u202e<b>", "😀"],
    }
    entry = large_counts(**texts)
    entry["attributes"][0]["name"] = f"{SCRIPT}😀"
    entry["configurations"] = [{"id": "c01", "maskings": {f"{SCRIPT}😀": "age-2"}, "privacy": {"k": 5}}]
    checked = await check(api, entry, f"{SCRIPT}.json")
    page = Html(checked.text)
    for text in (SCRIPT, f'"{SCRIPT}', "'\"><img src=x>", f"{SCRIPT}😀"):
        assert text in page.text
        assert text not in checked.text
    assert {each["src"].partition("?")[0] for each in page.all("script")} == {
        "/static/htmx.min.js",
        "/static/console.js",
    }
    wrong = await check(api, entry | {SCRIPT: SCRIPT})
    assert html.escape(SCRIPT)[:10] in wrong.text
    assert SCRIPT not in wrong.text


async def test_a_table_of_many_attributes_stays_short(api):
    entry = large_counts()
    first = entry["attributes"][0]
    entry["attributes"] = [first | {"name": f"attribute {i}", "maskings": []} for i in range(60)]
    entry["configurations"] = [{"id": "c01", "maskings": {f"attribute {i}": "drop" for i in range(60)}}]
    page = Html((await check(api, entry)).text)
    assert "the first 50 of 60" in page.text
    assert "attribute 55 " not in page.text


async def test_the_example_is_one_click_away_in_development_mode(api):
    first, second = [await send(api, "/publish/example", {"csrf": ""}) for _ in range(2)]
    (entry,) = await entries(api)
    assert first.headers["Location"] == second.headers["Location"] == f"/entries/{entry['id']}"
    assert entry["name"] == "health-survey"
    changed = await api.put(f"/v1/entries/{entry['id']}", json=large_counts(), headers={"If-Match": "*"})
    assert changed.status_code == 200
    assert (await send(api, "/publish/example", {"csrf": ""})).headers["Location"] == first.headers["Location"]


@pytest.fixture
async def market(database_url):
    """Browsers of people of two tenants, by role."""
    keys = {role: await create_key(database_url, "clinic", role) for role in ("consumer", "reviewer", "provider")}
    keys["rival"] = await create_key(database_url, "rival", "provider")
    async with browsing(database_url) as anybody:
        browsers = {"nobody": anybody}
        for role, key in keys.items():
            browsers[role] = anybody.another()
            await browsers[role].sign_in(key)
        yield browsers


async def upload(browser, entry, **fields):
    """Send a file from the page, in the session of a browser."""
    texts = {"csrf": csrf_in(await browser.get("/session")), **fields}
    parts = [*((name, (None, text)) for name, text in texts.items()), ("entry", ("entry.json", json.dumps(entry)))]
    return await browser.client.post("/publish", files=parts, headers={"Origin": browser.origin})


async def test_only_providers_publish_and_others_learn_whom_to_ask(market):
    for role in ("consumer", "reviewer"):
        browser = market[role]
        page = await browser.get("/publish")
        assert page.status_code == 403
        assert "Ask an administrator of clinic" in Html(page.text).text
        assert "/publish" not in Html((await browser.get("/session")).text).links
        assert (await upload(browser, large_counts())).status_code == 403
        for path in ("/publish/confirm", "/publish/example"):
            assert (await browser.send(path, document="H4sI")).status_code in (403, 404)
    for path in ("/publish", "/publish/confirm", "/publish/example"):
        assert (await market["nobody"].post(path)).headers["Location"].startswith("/sign-in")
    assert "/publish" in Html((await market["provider"].get("/session")).text).links


async def test_forged_forms_of_somebody_who_is_signed_in_publish_nothing(market):
    browser = market["provider"]
    checked = await upload(browser, large_counts())
    assert checked.status_code == 200
    for csrf in ("", "forged", csrf_in(await market["rival"].get("/session"))):
        assert (await upload(browser, large_counts(), csrf=csrf)).status_code == 403
        sent = fields_of(checked) | {"csrf": csrf}
        assert (await browser.post("/publish/confirm", **sent)).status_code == 403
    assert (await browser.post("/publish/confirm", **fields_of(checked))).status_code == 303


async def test_there_is_no_example_where_keys_are(market):
    assert (await market["provider"].send("/publish/example")).status_code == 404
    assert "Publish the example" not in (await market["provider"].get("/publish")).text


async def test_the_name_of_another_tenants_entry_is_free_and_stays_unknown(market):
    theirs = await upload(market["rival"], large_counts(title="Theirs"))
    entry = (await market["rival"].post("/publish/confirm", **fields_of(theirs))).headers["Location"]
    mine = await upload(market["provider"], large_counts(title="Mine"))
    assert mine.status_code == 200
    assert "becomes its version" not in mine.text
    assert "Theirs" not in mine.text
    entry_id = entry.rpartition("/")[2]
    assert (await market["provider"].get(f"/publish?version_of={entry_id}")).status_code == 404
    assert (await upload(market["provider"], large_counts(), version_of=entry_id)).status_code == 404
    taken_over = fields_of(mine) | {"entry_id": entry_id}
    assert (await market["provider"].post("/publish/confirm", **taken_over)).status_code == 404
    own = (await market["provider"].post("/publish/confirm", **fields_of(mine))).headers["Location"]
    assert own != entry


async def test_people_with_keys_must_accept_small_counts(market):
    checked = await upload(market["provider"], example_entry())
    refused = await market["provider"].post("/publish/confirm", **fields_of(checked))
    assert refused.status_code == 422
    accepted = fields_of(refused) | {"accept_small_counts": "on"}
    assert (await market["provider"].post("/publish/confirm", **accepted)).status_code == 303


async def test_the_page_says_how_to_get_a_file(shared_api):
    page = await look(shared_api, "/publish")
    assert "aegis release TABLE.csv --label LABEL" in page.text
    (chosen,) = [each for each in page.all("input") if each.get("type") == "file"]
    assert chosen["id"] in [label["for"] for label in page.all("label")]
    assert {"method": "post", "enctype": "multipart/form-data"}.items() <= page.all("form")[0].items()
