"""Whoever keeps an answer asks whether it still holds, and gets 304 if it does."""

import re
from itertools import product

import pytest
from fastapi import Response
from hypothesis import given
from hypothesis import strategies as st

from app.entries.service.catalogue import CatalogueService
from app.platform.http.conditional import KnownTags
from app.platform.http.refusals import MalformedRequestError
from tests.answers import document
from tests.for_each import case
from tests.service import ask, create_key, example_entry, publish, running_app


async def known(api, path, tag, **headers):
    return await api.get(path, headers={"If-None-Match": tag, **headers})


@pytest.fixture(scope="module")
async def entry(shared_api):
    head = await publish(shared_api, example_entry(name="conditional"))
    return f"/v1/entries/{head['id']}"


@pytest.mark.parametrize("path", ["{entry}", "{entry}/summaries", "/v1/measures", "/openapi.json"])
async def test_what_is_known_is_not_sent_again(shared_api, entry, path):
    whole = await shared_api.get(path.format(entry=entry))
    tag = whole.headers["ETag"]
    for header in (tag, f"W/{tag}", "*", f'"other", {tag}', f'W/"a,b" ,\t{tag},, "last"', f",{tag}"):
        unchanged = await known(shared_api, path.format(entry=entry), header)
        assert (unchanged.status_code, unchanged.content) == (304, b""), header
        assert unchanged.headers["Cache-Control"] == whole.headers["Cache-Control"]
        assert unchanged.headers["ETag"].strip('W/"').split("+")[0] in tag
    for header in ('"other"', 'W/"other"', f'"{tag[1:9]}"', '""'):
        again = await known(shared_api, path.format(entry=entry), header)
        assert (again.status_code, again.content) == (200, whole.content), header


async def test_head_is_conditional_too(shared_api, entry):
    tag = (await shared_api.head(entry)).headers["ETag"]
    assert (await shared_api.head(entry, headers={"If-None-Match": tag})).status_code == 304


NO_TAGS = ["", " ", ",", '"', "tag", 'w/"tag"', '"a" "b"', '*, "a"', "**", "'a'", '"a"b', 'W/ "a"', '"a b"', '"\u00e4']


async def test_what_is_no_list_of_tags_is_refused(shared_api, entry):
    told = {}
    for header, path in product(NO_TAGS, (entry, f"{entry}/summaries", "/v1/measures", "/openapi.json")):
        answer = await known(shared_api, path, header.encode("latin-1"))
        told[header, path] = answer.status_code, answer.json()["code"]
    assert told == dict.fromkeys(told, (400, "malformed"))


@given(st.text('*W/"a!\xe4, \t'))
def test_the_document_s_pattern_is_what_is_accepted(header):
    parameters = document()["paths"]["/v1/measures"]["get"]["parameters"]
    (pattern,) = (one["schema"]["pattern"] for one in parameters if one["name"] == "if-none-match")
    try:
        KnownTags(header)
    except MalformedRequestError:
        assert re.search(pattern, header) is None
    else:
        assert re.search(pattern, header)


async def test_lines_of_the_header_are_one_list(shared_api, entry):
    tag = (await shared_api.get(entry)).headers["ETag"]
    lines = [("If-None-Match", '"other"'), ("If-None-Match", tag)]
    assert (await shared_api.get(entry, headers=lines)).status_code == 304


def test_a_long_header_is_read_once():
    for header in ('"' * 60_000, " " * 60_000, "," * 60_000, '"a" ' * 15_000, ' "' + "\t" * 60_000):
        with case(header[:8]), pytest.raises(MalformedRequestError):
            KnownTags(header)
    assert len(KnownTags('"a",' * 15_000 + '"b"')._known) == 2


async def test_a_new_version_and_another_visibility_are_sent(api):
    head = await publish(api)
    path = f"/v1/entries/{head['id']}"
    tags = [(await api.get(path)).headers["ETag"]]
    await api.patch(path, json={"visibility": "all"})
    tags.append((await api.get(path)).headers["ETag"])
    await api.put(path, json=example_entry(title="changed"), headers={"If-Match": "*"})
    for tag in tags:
        answer = await known(api, path, tag)
        assert (answer.status_code, answer.json()["version"]) == (200, 2)
    first = (await api.get(path, params={"version": 1})).headers["ETag"]
    assert first not in tags  # it says when the entry was changed
    assert (await api.get(path, params={"version": 1}, headers={"If-None-Match": first})).status_code == 304


async def test_a_verdict_is_sent_once_it_is_there_and_changes_no_precondition(api, worker):
    head = await publish(api)
    path = f"/v1/entries/{head['id']}"
    before = (await api.get(path)).headers["ETag"]
    await worker.run()
    judged = await known(api, path, before)
    assert (judged.status_code, judged.json()["verdict"]["passed"]) == (200, False)
    assert (await known(api, path, judged.headers["ETag"])).status_code == 304
    for tag in (before, judged.headers["ETag"]):
        headers = {"If-Match": tag}
        assert (await api.patch(path, json={"visibility": "private"}, headers=headers)).status_code == 200


async def test_an_advice_has_a_tag_once_it_is_finished(api, worker):
    head = await publish(api)
    path = (await ask(api, head["id"])).headers["Location"]
    running = await known(api, path, "*")
    assert (running.status_code, running.json()["status"]) == (200, "queued")
    assert "ETag" not in running.headers
    await worker.run()
    finished = await api.get(path)
    assert finished.headers["Cache-Control"] == "no-store"
    assert (await known(api, path, finished.headers["ETag"])).status_code == 304
    assert (await known(api, path, '"other"')).json() == finished.json()


async def test_who_may_not_read_is_told_so_whatever_he_keeps(database_url):
    owner = await create_key(database_url, "owner", "provider")
    consumer = await create_key(database_url, "owner", "consumer")
    async with running_app(database_url) as api:
        head = await publish(api, example_entry(visibility="private"), **owner)
        path = f"/v1/entries/{head['id']}"
        tag = (await api.get(path, headers=owner)).headers["ETag"]
        assert (await known(api, path, tag)).status_code == 401
        assert (await known(api, f"{path}/summaries", tag, **consumer)).status_code == 403
        assert (await known(api, "/v1/entries/none", "*", **owner)).status_code == 404


async def test_a_document_that_is_known_is_not_made(shared_api, entry, monkeypatch):
    tags = {path: (await shared_api.get(path)).headers["ETag"] for path in (entry, f"{entry}/summaries")}

    async def made(*_):
        raise AssertionError

    for method in ("schema", "summaries"):
        monkeypatch.setattr(CatalogueService, method, made)
    for path, tag in tags.items():
        assert (await known(shared_api, path, tag)).status_code == 304


def test_the_answer_has_the_caller_s_own_tag():
    keeps = KnownTags('W/"other", "state+gzip"')
    unchanged = keeps.unchanged('"state"', {"ETag": '"state"'})
    assert isinstance(unchanged, Response)
    assert unchanged.headers["ETag"] == '"state+gzip"'
    assert keeps.unchanged('"state+0123"', {}) is None
