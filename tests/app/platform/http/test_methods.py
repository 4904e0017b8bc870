"""The methods that HTTP has for every path, and preconditions of changes."""

from tests.service import create_key, example_entry, publish, running_app, state_of

METHODS = {
    "/v1/entries": "GET, HEAD, OPTIONS, POST",
    "/v1/entries/x": "DELETE, GET, HEAD, OPTIONS, PATCH, PUT",
    "/v1/entries/x/summaries": "GET, HEAD, OPTIONS",
    "/v1/entries/x/advice": "OPTIONS, POST",
    "/v1/advice/x": "GET, HEAD, OPTIONS",
    "/v1/publishing": "GET, HEAD, OPTIONS",
    "/v1/measures": "GET, HEAD, OPTIONS",
    "/healthz": "GET, HEAD, OPTIONS",
    "/readyz": "GET, HEAD, OPTIONS",
    "/metrics": "GET, HEAD, OPTIONS",
    "/openapi.json": "GET, HEAD, OPTIONS",
    "/": "GET, HEAD, OPTIONS",
    "/docs": "GET, HEAD, OPTIONS",
    "/docs/style.css": "GET, HEAD, OPTIONS",
}
ALL = ("DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE", "FOO")


async def test_a_method_that_a_path_lacks_is_refused_with_those_that_it_has(shared_api):
    told = {}
    for path, allowed in METHODS.items():
        for method in set(ALL) - set(allowed.split(", ")):
            answer = await shared_api.request(method, path)
            told[method, path] = answer.status_code, answer.headers["Allow"]
    assert told == {(method, path): (405, METHODS[path]) for method, path in told}


async def test_options_tells_the_methods(shared_api):
    told = {}
    for path in METHODS:
        answer = await shared_api.options(path)
        assert (answer.status_code, answer.content) == (204, b""), path
        told[path] = answer.headers["Allow"], answer.headers.get("Accept-Patch")
    patches = "application/json, application/merge-patch+json"
    assert told == {path: (allowed, patches if "PATCH" in allowed else None) for path, allowed in METHODS.items()}


async def test_a_path_that_is_not_there_has_no_methods(shared_api):
    for method in ("OPTIONS", "GET", "PATCH"):
        answer = await shared_api.request(method, "/v2/entries")
        assert (answer.status_code, "Allow" in answer.headers) == (404, False)


async def test_head_is_get_without_the_body(shared_api):
    head = await publish(shared_api, example_entry(name="head"))
    for path in ("/v1/entries", f"/v1/entries/{head['id']}", f"/v1/entries/{head['id']}/summaries", "/v1/measures"):
        whole, only_head = await shared_api.get(path), await shared_api.head(path)
        assert (only_head.status_code, only_head.content) == (200, b"")
        seen = [dict(answer.headers) | {"x-request-id": None} for answer in (only_head, whole)]
        assert seen[0] == seen[1]
    missing = await shared_api.head("/v1/advice/nothing")
    assert (missing.status_code, missing.content) == (404, b"")


async def test_head_needs_a_key_where_get_does(database_url):
    await create_key(database_url, "owner", "provider")
    async with running_app(database_url) as guarded:
        assert (await guarded.head("/v1/entries")).status_code == 401
        assert (await guarded.head("/healthz")).status_code == 200


async def patch(api, head, visibility, **headers):
    return await api.patch(f"/v1/entries/{head['id']}", json={"visibility": visibility}, headers=headers)


async def test_a_change_of_visibility_moves_the_tag_and_names_the_tag_that_it_has_seen(shared_api):
    head = await publish(shared_api, example_entry(name="tags", visibility="private"))
    seen = (await shared_api.get(f"/v1/entries/{head['id']}")).headers["ETag"]
    changed = await patch(shared_api, head, "all", **{"If-Match": seen})
    assert (changed.status_code, changed.json()["version"]) == (200, 1)
    assert state_of(changed.headers["ETag"]) != state_of(seen)
    stale = await patch(shared_api, head, {"tenants": ["lab"]}, **{"If-Match": seen})
    assert (stale.status_code, stale.json()["code"]) == (412, "stale_version")
    assert (await shared_api.get(f"/v1/entries/{head['id']}")).json()["visibility"] == "all"
    for refused in (
        await shared_api.delete(f"/v1/entries/{head['id']}", headers={"If-Match": seen}),
        await shared_api.put(
            f"/v1/entries/{head['id']}", json=example_entry(name="tags"), headers={"If-Match": f"W/{seen}, {seen}"}
        ),
    ):
        assert refused.status_code == 412
    back = await patch(shared_api, head, "private", **{"If-Match": changed.headers["ETag"]})
    assert state_of(back.headers["ETag"]) == state_of(seen)


async def test_others_see_that_an_entry_was_changed_but_not_which_tenants_were_named(database_url):
    owner = await create_key(database_url, "owner", "provider")
    lab = await create_key(database_url, "lab", "provider")
    async with running_app(database_url) as api:
        head = await publish(api, example_entry(visibility={"tenants": ["lab"]}), **owner)
        before = [(await api.get(f"/v1/entries/{head['id']}", headers=key)).json() for key in (owner, lab)]
        await patch(api, head, {"tenants": ["lab", "rival"]}, **owner)
        after = [(await api.get(f"/v1/entries/{head['id']}", headers=key)).json() for key in (owner, lab)]
        moved = [{name for name in one if one[name] != other[name]} for one, other in zip(before, after, strict=True)]
        assert moved == [{"changed_at", "visibility", "schema"}, {"changed_at"}]


async def test_a_patch_may_be_declared_as_a_merge_patch_and_nothing_else(shared_api):
    head = await publish(shared_api, example_entry(name="merge"))
    body = b'{"visibility": "private"}'
    for content_type, status in (("application/merge-patch+json", 200), ("application/json-patch+json", 415)):
        answer = await shared_api.patch(
            f"/v1/entries/{head['id']}", content=body, headers={"Content-Type": content_type}
        )
        assert answer.status_code == status
    assert answer.headers["Accept-Patch"] == "application/json, application/merge-patch+json"


async def test_a_part_of_a_body_is_not_taken_for_the_whole(shared_api):
    head = await publish(shared_api, example_entry(name="range"))
    answer = await shared_api.put(
        f"/v1/entries/{head['id']}",
        json=example_entry(name="range"),
        headers={"If-Match": "*", "Content-Range": "bytes 0-99/200"},
    )
    assert (answer.status_code, answer.json()["code"]) == (400, "malformed")
