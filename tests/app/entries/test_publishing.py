import asyncio
import hashlib
from datetime import UTC, datetime

import pytest
import rfc8785

from tests.answers import pointers
from tests.service import ask, example_entry, publish, state_of


def independent_digest(entry):
    content = {name: value for name, value in entry.items() if name != "visibility"}
    return f"sha256:{hashlib.sha256(rfc8785.dumps(content)).hexdigest()}"


def members(document):
    """The names of all members, at every depth."""
    if isinstance(document, dict):
        for name, value in document.items():
            yield name
            yield from members(value)
    elif isinstance(document, list):
        for item in document:
            yield from members(item)


def changed_entry(**changes):
    """A second version of the example, with one more record of age 10 and label VP."""
    entry = example_entry(records=101, **changes)
    entry["label"]["histogram"][0] += 1
    entry["attributes"][0]["histogram"][0] += 1
    entry["attributes"][0]["maskings"][0]["joint"][0][0] += 1
    return entry


async def put(api, head, entry, etag):
    headers = {} if etag is None else {"If-Match": etag}
    return await api.put(f"/v1/entries/{head['id']}", json=entry, headers=headers)


async def etag_of(api, head, version=None):
    params = {} if version is None else {"version": version}
    return (await api.get(f"/v1/entries/{head['id']}", params=params)).headers["ETag"]


async def test_a_publication_is_answered_with_its_head_and_place(shared_api):
    entry = example_entry(name="first")
    answer = await shared_api.post("/v1/entries", json=entry)
    head = answer.json()
    assert answer.status_code == 201
    assert answer.headers["Location"] == f"/v1/entries/{head['id']}"
    read = await shared_api.get(answer.headers["Location"])
    assert state_of(read.headers["ETag"]) == state_of(answer.headers["ETag"])
    assert {name: head[name] for name in ("name", "title", "description", "keywords", "license", "visibility")} == {
        name: entry[name] for name in ("name", "title", "description", "keywords", "license", "visibility")
    }
    assert (head["label"], head["tenant"], head["version"]) == ("health", "default", 1)
    assert head["created_at"].endswith("Z")
    assert abs((datetime.now(UTC) - datetime.fromisoformat(head["created_at"])).total_seconds()) < 60


async def test_the_digest_is_that_of_the_canonical_json_without_visibility(shared_api):
    entry = example_entry(name="digested", title='Ünïcode €\u2028 \U0001f600 "quoted" \\ \x7f', visibility="all")
    entry["configurations"][0]["privacy"] = {"t": 0.1, "epsilon": 1e-7, "k": 5.0, "beta": 1e21}
    entry["attributes"][0]["maskings"][0]["function"]["parameters"] = {
        "\U0001f600": 1,
        "\ufb33": -0.0,
        "a": [1.5, None],
    }
    assert (await publish(shared_api, entry))["digest"] == independent_digest(entry)


@pytest.mark.parametrize("members_left_out", [(), ("title", "description", "keywords", "license", "visibility")])
async def test_the_summaries_are_the_entry_as_published(shared_api, members_left_out):
    entry = example_entry(name=f"as-published-{len(members_left_out)}")
    for name in members_left_out:
        del entry[name]
    head = await publish(shared_api, entry)
    answer = await shared_api.get(f"/v1/entries/{head['id']}/summaries")
    assert answer.json() == entry


async def test_a_table_of_configurations_is_published_as_it_is(shared_api):
    entry = example_entry(name="columns")
    del entry["configurations"]
    entry["configuration_table"] = {
        "ids": ["a", "b"],
        "maskings": {"age": ["age-2", "identity"]},
        "privacy": {"k": [5, None]},
    }
    head = await publish(shared_api, entry)
    assert (await shared_api.get(f"/v1/entries/{head['id']}/summaries")).json() == entry
    assert head["digest"] == independent_digest(entry)


async def test_a_schema_is_the_entry_without_any_count(shared_api):
    entry = example_entry(name="schema")
    attribute = entry["attributes"][0]
    young, old = attribute["maskings"][0]["joint"]
    nobody = [0, 0, 0, 0, 0]
    attribute["joint"] = [young, nobody, nobody, old, nobody, nobody, nobody, nobody]
    attribute["histogram"] = [sum(row) for row in attribute["joint"]]
    head = await publish(shared_api, entry)
    schema = (await shared_api.get(f"/v1/entries/{head['id']}")).json()["schema"]
    assert not {"histogram", "joint"} & set(members(schema))
    assert set(members(entry)) - set(members(schema)) == {"histogram", "joint"}
    assert schema["configurations"] == entry["configurations"]
    assert schema["attributes"][0]["maskings"][0]["mapping"] == entry["attributes"][0]["maskings"][0]["mapping"]


async def test_a_name_is_taken_once_in_its_tenant(shared_api):
    head = await publish(shared_api, example_entry(name="taken"))
    answer = await shared_api.post("/v1/entries", json=changed_entry(name="taken"))
    assert (answer.status_code, answer.json()["code"], answer.json()["entry"]) == (409, "name_taken", head["id"])
    assert (await shared_api.get(f"/v1/entries/{head['id']}")).json()["version"] == 1


async def test_a_change_adds_a_version_and_the_older_one_stays(shared_api):
    head = await publish(shared_api, example_entry(name="versions"))
    answer = await put(shared_api, head, changed_entry(name="versions"), await etag_of(shared_api, head))
    assert (answer.status_code, answer.json()["version"]) == (200, 2)
    assert answer.json()["digest"] == independent_digest(changed_entry(name="versions"))
    path = f"/v1/entries/{head['id']}"
    assert state_of((await shared_api.get(path)).headers["ETag"]) == state_of(answer.headers["ETag"])
    for version, entry in ((1, example_entry(name="versions")), (2, changed_entry(name="versions"))):
        older = await shared_api.get(path, params={"version": version})
        assert (older.json()["version"], older.json()["digest"]) == (version, independent_digest(entry))
        assert (await shared_api.get(f"{path}/summaries", params={"version": version})).json() == entry
    assert (await shared_api.get(f"{path}/summaries")).json() == changed_entry(name="versions")


@pytest.mark.parametrize("version", [3, 2**31, 2**63, 10**30])
async def test_a_version_that_there_is_not_is_not_found(shared_api, version):
    head = await publish(shared_api, example_entry(name=f"unversioned-{version}"))
    for path in (f"/v1/entries/{head['id']}", f"/v1/entries/{head['id']}/summaries"):
        assert (await shared_api.get(path, params={"version": version})).status_code == 404
    advice = await shared_api.post(
        f"/v1/entries/{head['id']}/advice", params={"version": version}, json={"measure": "g3"}
    )
    assert advice.status_code == 404


async def test_a_version_that_is_none_is_refused(shared_api):
    for version in ["0", "-1", "1.5", "latest", ""]:
        answer = await shared_api.get("/v1/entries/any", params={"version": version})
        assert (answer.status_code, pointers(answer)) == (422, ["/version"]), version


async def test_the_same_content_makes_no_version(shared_api):
    entry = example_entry(name="unchanged")
    head = await publish(shared_api, entry)
    answer = await put(shared_api, head, entry | {"visibility": "all"}, "*")
    assert (answer.status_code, answer.json()) == (200, head | {"warnings": []})
    assert (await shared_api.get(f"/v1/entries/{head['id']}", params={"version": 2})).status_code == 404


PRECONDITIONS = [
    (None, 428, "precondition_required"),
    ('"1-0000000000000000"', 412, "stale_version"),
    ('"1-0000000000000000", "2-0000000000000000"', 412, "stale_version"),
    ("", 400, "malformed"),
    ("1-0000000000000000", 400, "malformed"),
    ('"', 400, "malformed"),
    ('"1-0000000000000000",', 412, "stale_version"),
    (",", 400, "malformed"),
    ('"1-0000000000000000" "2-0000000000000000"', 400, "malformed"),
]


async def test_a_change_names_the_version_that_it_has_seen(shared_api):
    head, told = await publish(shared_api, example_entry(name="preconditions")), []
    for etag, *_ in PRECONDITIONS:
        answer = await put(shared_api, head, changed_entry(name="preconditions"), etag)
        told.append((etag, answer.status_code, answer.json()["code"]))
    assert told == PRECONDITIONS
    assert (await shared_api.get(f"/v1/entries/{head['id']}")).json()["version"] == 1


async def test_who_has_seen_an_older_version_is_told_so(shared_api):
    head = await publish(shared_api, example_entry(name="overtaken"))
    seen = await etag_of(shared_api, head)
    await put(shared_api, head, changed_entry(name="overtaken"), seen)
    answer = await put(shared_api, head, example_entry(name="overtaken"), seen)
    assert (answer.status_code, answer.json()["code"]) == (412, "stale_version")
    deletion = await shared_api.delete(f"/v1/entries/{head['id']}", headers={"If-Match": seen})
    assert deletion.status_code == 412


async def test_a_version_keeps_the_name(shared_api):
    head = await publish(shared_api, example_entry(name="kept"))
    answer = await put(shared_api, head, example_entry(name="renamed"), "*")
    assert (answer.status_code, pointers(answer)) == (422, ["/name"])


@pytest.mark.parametrize("visibility", ["all", {"tenants": ["a", "Ünï ☃"]}, {"tenants": []}])
async def test_visibility_changes_without_a_version(shared_api, visibility):
    entry = example_entry(name=f"visibility-{hashlib.sha256(str(visibility).encode()).hexdigest()}")
    head = await publish(shared_api, entry)
    path = f"/v1/entries/{head['id']}"
    answer = await shared_api.patch(path, json={"visibility": visibility})
    assert (answer.status_code, answer.json()) == (
        200,
        head | {"visibility": visibility, "changed_at": answer.json()["changed_at"]},
    )
    assert (await shared_api.get(f"{path}/summaries")).json() == entry | {"visibility": visibility}


NO_VISIBILITY = [
    ({}, "/visibility"),
    ({"visibility": "public"}, "/visibility"),
    ({"visibility": None}, "/visibility"),
    ({"visibility": {"tenants": [1]}}, "/visibility/tenants/0"),
    ({"visibility": {"tenants": ["a\0"]}}, "/visibility/tenants/0"),
    ({"visibility": {"tenants": [], "more": 1}}, "/visibility/more"),
    ({"visibility": "all", "name": "x"}, "/name"),
    ([], ""),
]


async def test_a_visibility_that_is_none_is_refused(shared_api):
    answers = [(given, await shared_api.patch("/v1/entries/any", json=given)) for given, _ in NO_VISIBILITY]
    assert {answer.status_code for _, answer in answers} == {422}
    assert [(given, *pointers(answer)) for given, answer in answers] == NO_VISIBILITY


async def test_whoever_waits_for_advice_on_an_entry_that_is_deleted_is_told_at_once(api):
    head = await publish(api)
    waiting = asyncio.create_task(ask(api, head["id"], prefer="wait=60"))
    while (await api.get("/v1/questions")).json()["items"] == []:
        pass
    assert (await api.delete(f"/v1/entries/{head['id']}")).status_code == 204
    answer = await asyncio.wait_for(waiting, 30)
    assert (answer.status_code, "has just been deleted" in answer.json()["detail"]) == (404, True)


async def test_a_deleted_entry_leaves_its_name_and_takes_its_advice(shared_api):
    head = await publish(shared_api, example_entry(name="deleted"))
    advice = await ask(shared_api, head["id"])
    assert (await shared_api.get(advice.headers["Location"])).status_code == 200
    deletion = await shared_api.delete(f"/v1/entries/{head['id']}")
    assert (deletion.status_code, deletion.content) == (204, b"")
    for path in (f"/v1/entries/{head['id']}", advice.headers["Location"]):
        assert (await shared_api.get(path)).status_code == 404
    assert (await shared_api.delete(f"/v1/entries/{head['id']}")).status_code == 404
    assert (await publish(shared_api, example_entry(name="deleted")))["id"] != head["id"]
