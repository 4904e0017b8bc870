"""What may not be published: faults are shown by place, and no table enters the service."""

import gzip
import html
import json

import pytest

from app.pages.forms import MOST_ESCAPES
from app.platform.http.bodies import SMALL_BODY
from tests.app.console.html import SENT, Html, send
from tests.app.console.publishing import SCRIPT, check, confirm, entries, fields_of, large_counts
from tests.service import example_entry, running_app


async def test_faults_are_shown_by_place(api):
    entry = large_counts(title=7)
    entry["attributes"][0]["maskings"][0]["colour"] = "red"
    refused = await check(api, json.dumps(entry, indent=1).encode(), "wrong.json")
    page = Html(refused.text)
    assert refused.status_code == 422
    assert "wrong.json was refused, and nothing was stored" in page.text
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


TABLES = [
    ("people.csv", "aegis release people.csv --label"),
    ("my people; rm -rf ~.csv", "aegis release 'my people; rm -rf ~.csv' --label"),
    ("it's.csv", "aegis release 'it'\"'\"'s.csv' --label"),
    ("--output.csv", "aegis release ./--output.csv --label"),
    ("größe 😀.tsv", "aegis release 'größe 😀.tsv' --label"),
    ("C:\\data\\people.csv", "aegis release people.csv --label"),
    ("a\u202evsc.exe", "aegis release TABLE.csv --label"),
    ("people.xlsx", "aegis release people.csv --label"),
    (f"{SCRIPT}.csv", "aegis release 'script>.csv' --label"),
]


async def test_a_table_is_refused_with_the_line_that_makes_its_entry(shared_api):
    for file, line in TABLES:
        refused = await check(shared_api, b"age,sex\n31,f\n", file)
        page = Html(refused.text)
        assert refused.status_code == 415, file
        assert line in page.text, file
        assert "No record may enter this service" in page.text, file
        assert ("Save it as CSV" in page.text) == (not file.endswith(("csv", "tsv"))), file
        assert "31" not in page.text, file
        assert "alert" not in "".join(str(each) for each in page.all("script")), file


async def test_no_part_of_a_table_is_logged(shared_api, caplog):
    await check(shared_api, b"name,age\nBob Secretive,31\n", "people.csv")
    assert "Secretive" not in caplog.text
    assert "name,age" not in caplog.text


async def test_small_counts_must_be_accepted_where_the_service_asks(database_url):
    async with running_app(database_url, small_counts="confirm") as api:
        checked = await check(api, example_entry())
        page = Html(checked.text)
        assert "Publish small counts unchanged" in page.text
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
    async with running_app(database_url, require_privacy={"l": 3}) as api:
        page = Html((await check(api, large_counts())).text)
        assert "does not promise the privacy that a policy requires" in page.text
        assert [form["action"] for form in page.all("form")] == []


async def test_files_that_are_too_large_are_refused_as_pages(database_url):
    async with running_app(database_url, max_body_bytes=5_000) as api:
        for content in (b"{" + b" " * 6_000, gzip.compress(b"{" + b" " * 6_000), b"{" + b" " * (6_000 + SMALL_BODY)):
            refused = await check(api, content)
            assert refused.status_code == 413
            assert "accepted" in Html(refused.text).text
        assert (await check(api, large_counts())).status_code == 200


async def test_a_form_that_lost_its_file_is_refused(shared_api):
    for document in ["", "x", "H4sI", "é", "H4sIAAAAAAAAAwMAAAAAAAAAAAA="]:
        refused = await send(shared_api, "/publish/confirm", {"csrf": "", "document": document})
        assert refused.status_code == 400, document


@pytest.mark.parametrize(
    "headers",
    [
        [f"Content-Disposition: form-data; name=csrf{';' * 4_000}"] * 5,
        ["Content-Disposition: form-data; name=csrf"] * 500,
    ],
    ids=["long", "many"],
)
async def test_parts_with_long_headers_and_many_parts_are_refused(shared_api, headers):
    body = "".join(f"--X\r\n{one}\r\n\r\n\r\n" for one in headers) + "--X--\r\n"
    sent = SENT | {"Content-Type": "multipart/form-data; boundary=X"}
    refused = await shared_api.post("/publish", content=body, headers=sent)
    assert refused.status_code == 400
    assert "form" in Html(refused.text).text


async def test_a_form_that_is_escaped_throughout_is_refused_before_it_is_read(shared_api):
    sent = SENT | {"Content-Type": "application/x-www-form-urlencoded"}
    body = "csrf=&document=" + "%41" * (MOST_ESCAPES + 1)
    refused = await shared_api.post("/publish/confirm", content=body, headers=sent)
    assert refused.status_code == 400
    assert "escaped" in Html(refused.text).text


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
