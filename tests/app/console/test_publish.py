"""Publishing: an entry file is checked, its verdict shown, and then it is published."""

import asyncio
import gzip
import json
import re
import shlex

from tests.app.console.html import Html, look, send
from tests.app.console.publishing import check, confirm, entries, fields_of, large_counts
from tests.service import example_entry, publish


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
    assert page.text.index("FAIL") < page.text.index("Content of the file")
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
    assert (sent["audience"], sent["tenants"]) == ("tenants", "lab\nclinic")
    wrong = await confirm(api, checked, tenants=" , ")
    assert wrong.status_code == 422
    assert "It was not published" in Html(wrong.text).text
    wrong = await confirm(api, wrong, tenants="lab\r\n" + "x" * 256)
    assert "A name has 1 to 255 characters, not 256" in Html(wrong.text).text
    await confirm(api, wrong, tenants="lab\r\n partner one,clinic")
    assert (await entries(api))[0]["visibility"] == {"tenants": ["lab", "partner one", "clinic"]}


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


async def test_two_clicks_at_the_same_time_publish_once(api):
    checked = await check(api, large_counts())
    answers = await asyncio.gather(*(confirm(api, checked) for _ in range(4)))
    assert {(each.status_code, each.headers.get("Location")) for each in answers} == {
        (303, f"/entries/{(await entries(api))[0]['id']}")
    }


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


async def test_the_line_of_a_new_version_names_the_state_that_it_replaces(api):
    head = await publish(api, large_counts())
    page = Html((await check(api, large_counts(title="New"), version_of=head["id"])).text)
    line = shlex.split(re.search(r'curl -s -X PUT .*?"\$AEGIS_URL[^"]*"', page.text)[0])
    header, place = line[line.index("-H") + 1], line[-1].removeprefix("$AEGIS_URL")
    for status in (200, 412):  # by the second time, the entry has changed
        headers = dict([header.split(": ")])
        changed = await api.put(place, json=large_counts(title=f"New {status}"), headers=headers)
        assert changed.status_code == status


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


async def test_an_example_that_leaves_many_records_alone_is_one_click_away_too(api, tmp_path):
    rows = [{"id": "c01", "maskings": {"age": "age-2"}, "alone": 0.91}]
    (tmp_path / "example.json").write_text(json.dumps(large_counts(configurations=rows)))
    api._transport.app.state.example = str(tmp_path / "example.json")
    await send(api, "/publish/example", {"csrf": ""})
    assert [each["alone"] for each in await entries(api)] == [0.91]


async def test_the_page_says_how_to_get_a_file(shared_api):
    page = await look(shared_api, "/publish")
    assert "aegis release TABLE.csv --label LABEL" in page.text
    (chosen,) = [each for each in page.all("input") if each.get("type") == "file"]
    assert chosen["id"] in [label["for"] for label in page.all("label")]
    assert {"method": "post", "enctype": "multipart/form-data"}.items() <= page.all("form")[0].items()
