"""Every kind of bad input gets a clear answer: the status, and the place of each fault."""

import json
from itertools import product

import pytest

from tests.answers import pointers
from tests.sdk.wire.documents import changed, without
from tests.service import ask, example_entry, publish

ATTRIBUTE = ("attributes", 0)
MASKING = (*ATTRIBUTE, "maskings", 0)
CONFIGURATION = ("configurations", 0)
JSON = {"Content-Type": "application/json"}


async def refused(api, document):
    """The details of an entry's faults, by pointer."""
    answer = await api.post("/v1/entries", json=document)
    assert answer.status_code == 422, answer.text
    found: dict[str, str] = {}
    for fault in answer.json()["errors"]:
        found[fault["pointer"]] = found.get(fault["pointer"], "") + fault["detail"] + "\n"
    return found


async def accepted_at(api, cases):
    """The faults of each document that is not refused at its pointer, of (path, value, pointer)."""
    found = {(path, repr(value), pointer): await refused(api, changed(path, value)) for path, value, pointer in cases}
    return {case: faults for case, faults in found.items() if case[-1] not in faults}


async def test_what_is_no_count(shared_api):
    places = {
        ("label", "histogram", 3): "/label/histogram/3",
        (*ATTRIBUTE, "histogram", 2): "/attributes/0/histogram/2",
        (*MASKING, "joint", 0, 3): "/attributes/0/maskings/0/joint/0/3",
        (*MASKING, "mapping", 7): "/attributes/0/maskings/0/mapping/7",
    }
    counts = [-1, 0.5, 7.0, True, "7", None, 2**53, 10**30, [7]]
    cases = [(path, count, pointer) for path, pointer in places.items() for count in counts]
    assert await accepted_at(shared_api, cases) == {}


async def test_what_is_no_number_of_records(shared_api):
    cases = [(("records",), records, "/records") for records in (0, -1, 1.5, True, "100", None, 2**53)]
    assert await accepted_at(shared_api, cases) == {}


MISFITS = [
    ((*MASKING, "joint"), [[0, 0, 1, 7, 12]], "/attributes/0/maskings/0/joint"),
    ((*MASKING, "joint"), [[0, 0, 1, 7, 12], [15, 25, 29, 9, 2], [0] * 5], "/attributes/0/maskings/0/joint"),
    ((*MASKING, "joint"), [[0, 0, 1, 19], [15, 25, 29, 11]], "/attributes/0/maskings/0/joint"),
    ((*MASKING, "joint"), [[0, 0, 1, 7, 12], [15, 25, 29, 11]], "/attributes/0/maskings/0/joint/1"),
    ((*MASKING, "joint"), [0, 1], "/attributes/0/maskings/0/joint/0"),
    ((*MASKING, "joint"), {}, "/attributes/0/maskings/0/joint"),
    ((*MASKING, "mapping"), [0, 0, 0, 1, 1, 1, 1], "/attributes/0/maskings/0/mapping"),
    ((*ATTRIBUTE, "joint"), [[15, 25, 30, 16, 14]], "/attributes/0/joint"),
    ((*ATTRIBUTE, "histogram"), [50, 50], "/attributes/0/histogram"),
    (("label", "histogram"), [50, 50], "/label/histogram"),
    (("label", "domain"), [], "/label/domain"),
    ((*ATTRIBUTE, "domain"), [], "/attributes/0/domain"),
    (("attributes",), [], "/attributes"),
    (("configurations",), [], "/configurations"),
]


async def test_what_does_not_fit_its_domain(shared_api):
    assert await accepted_at(shared_api, MISFITS) == {}


WRONG_SUMS = [
    (("label", "histogram", 0), 18, "/label/histogram", ("103", "100")),
    ((*ATTRIBUTE, "histogram", 0), 7, "/attributes/0/histogram", ("103", "100", "3 too many")),
    ((*MASKING, "joint", 0, 4), 10, "/attributes/0/maskings/0/joint", ("98", "100", "2 too few")),
    ((*MASKING, "joint", 0), [1, 0, 1, 7, 11], "/attributes/0/maskings/0/joint", ("column 0", "1 too many")),
    ((*MASKING, "joint"), [[15, 25, 29, 9, 2], [0, 0, 1, 7, 12]], "/attributes/0/maskings/0/joint/0", ("80", "20")),
]


async def test_sums_that_disagree_are_named_with_the_difference(shared_api):
    for path, value, pointer, said in WRONG_SUMS:
        faults = await refused(shared_api, changed(path, value))
        assert [part for part in said if part not in faults[pointer]] == [], (path, faults)


async def test_two_views_that_disagree_on_what_they_share(shared_api):
    entry = without((*ATTRIBUTE, "histogram"))
    entry["attributes"][0]["maskings"].append(
        {"id": "other", "domain": ["-", "+"], "mapping": [0, 0, 0, 1, 1, 1, 1, 1]}
        | {"joint": [[1, 0, 1, 7, 12], [14, 25, 29, 9, 2]]}
    )
    faults = await refused(shared_api, entry)
    assert "too" in faults["/attributes/0/maskings/1/joint"]
    assert "age-2" in faults["/attributes/0/maskings/1/joint"]


BROKEN_RULES = [
    ((*MASKING, "mapping", 4), 2, "/attributes/0/maskings/0/mapping/4"),
    ((*CONFIGURATION, "maskings"), {}, "/configurations/0/maskings/age"),
    ((*CONFIGURATION, "maskings", "age"), "age-3", "/configurations/0/maskings/age"),
    ((*CONFIGURATION, "maskings", "a~/b"), "drop", "/configurations/0/maskings/a~0~1b"),
    ((*CONFIGURATION, "privacy"), {"k": -1}, "/configurations/0/privacy/k"),
    ((*CONFIGURATION, "privacy"), {"k": True}, "/configurations/0/privacy/k"),
    ((*CONFIGURATION, "privacy"), {"m": 1}, "/configurations/0/privacy/m"),
    ((*CONFIGURATION, "privacy"), {"k": 10**400}, "/configurations/0/privacy/k"),
    ((*CONFIGURATION, "suppressed"), -1, "/configurations/0/suppressed"),
    (("configurations", 1, "id"), "c01", "/configurations/1/id"),
    ((*ATTRIBUTE, "domain", 1), "10", "/attributes/0/domain/1"),
    (("label", "domain", 1), "VP", "/label/domain/1"),
    ((*MASKING, "domain", 1), "10-45", "/attributes/0/maskings/0/domain/1"),
    ((*MASKING, "id"), "identity", "/attributes/0/maskings/0/id"),
    ((*MASKING, "id"), "drop", "/attributes/0/maskings/0/id"),
    ((*MASKING, "id"), "a\nb", "/attributes/0/maskings/0/id"),
    ((*MASKING, "function", "parameters"), {"seed": 2**53}, "/attributes/0/maskings/0/function/parameters/seed"),
    ((*ATTRIBUTE, "name"), "", "/attributes/0/name"),
    ((*ATTRIBUTE, "name"), "x" * 256, "/attributes/0/name"),
    ((*ATTRIBUTE, "type"), "float", "/attributes/0/type"),
    ((*ATTRIBUTE, "domain", 0), 10, "/attributes/0/domain/0"),
    ((*ATTRIBUTE, "domain", 0), "1\x000", "/attributes/0/domain/0"),
    (("title",), "\0", "/title"),
    (("keywords",), ["a\0"], "/keywords/0"),
    (("name",), "Health", "/name"),
    (("name",), "-health", "/name"),
    (("name",), "x" * 101, "/name"),
    (("name",), "health\n", "/name"),
    (("format",), 2, "/format"),
    (("format",), 1.0, "/format"),
    (("format",), True, "/format"),
    (("visibility",), "public", "/visibility"),
    (("records_of",), [["Ann", "10"]], "/records_of"),
    ((*ATTRIBUTE, "values"), ["10"], "/attributes/0/values"),
    ((*MASKING, "hierarchy"), {}, "/attributes/0/maskings/0/hierarchy"),
    ((*CONFIGURATION, "note"), "", "/configurations/0/note"),
    (("configuration_table",), {"ids": ["a"], "maskings": {"age": ["drop"]}}, ""),
]


async def test_a_value_that_breaks_a_rule(shared_api):
    assert await accepted_at(shared_api, BROKEN_RULES) == {}


async def test_a_part_that_is_missing(shared_api):
    places = {name: f"/{name}" for name in ("format", "name", "records", "label", "attributes")} | {
        "configurations": ""
    }
    faults = {name: await refused(shared_api, without((name,))) for name in places}
    assert [name for name, place in places.items() if place not in faults[name]] == []


async def test_two_maskings_of_one_id(shared_api):
    entry = example_entry()
    entry["attributes"][0]["maskings"] *= 2
    assert "/attributes/0/maskings/1/id" in await refused(shared_api, entry)


async def test_two_attributes_of_one_name(shared_api):
    entry = example_entry()
    entry["attributes"] *= 2
    assert "/attributes/1/name" in await refused(shared_api, entry)


async def test_a_masking_of_which_nothing_is_known(shared_api):
    entry = example_entry()
    entry["attributes"][0]["maskings"].append({"id": "secret", "domain": ["*"]})
    assert "/attributes/0/maskings/1" in await refused(shared_api, entry)


BROKEN_TABLES = [
    ({"ids": ["a", "b"], "maskings": {"age": ["drop"]}}, "/maskings/age"),
    ({"ids": ["a"], "maskings": {}}, "/maskings/age"),
    ({"ids": ["a"], "maskings": {"age": ["age-3"]}}, "/maskings/age/0"),
    ({"ids": ["a"], "maskings": {"age": ["drop"], "zip": ["drop"]}}, "/maskings/zip"),
    ({"ids": ["a", "a"], "maskings": {"age": ["drop", "drop"]}}, "/ids/1"),
    ({"ids": [], "maskings": {"age": []}}, "/ids"),
    ({"ids": ["a"], "maskings": {"age": ["drop"]}, "privacy": {"k": [1, 2]}}, "/privacy/k"),
    ({"ids": ["a"], "maskings": {"age": ["drop"]}, "privacy": {"k": [-1]}}, "/privacy/k/0"),
]


async def test_a_table_of_configurations_that_breaks_a_rule(shared_api):
    for table, pointer in BROKEN_TABLES:
        entry = without(("configurations",)) | {"configuration_table": table}
        assert f"/configuration_table{pointer}" in await refused(shared_api, entry), table


async def test_no_more_than_a_hundred_faults_are_named(shared_api):
    entry = changed((*ATTRIBUTE, "histogram"), [-1] * 100_000)
    assert len(await refused(shared_api, entry)) == 100


@pytest.fixture(scope="module")
async def entry_id(shared_api):
    """An entry with three attributes: `age`, `town` without known counts, and `sex` without a mapping."""
    entry = example_entry(name="asked")
    town = {"name": "town", "type": "string", "domain": ["a", "b"], "histogram": [40, 60]}
    town["maskings"] = [{"id": "any", "domain": ["*"], "mapping": [0, 0]}]
    sex = {"name": "sex", "type": "string", "domain": ["m", "f"]}
    sex["maskings"] = [{"id": "noisy", "domain": ["m", "f"], "joint": [[5, 5, 10, 6, 4], [10, 20, 20, 10, 10]]}]
    entry["attributes"] += [town, sex]
    entry["configurations"] = [
        {"id": "c1", "maskings": {"age": "age-2", "town": "any", "sex": "noisy"}, "privacy": {"k": 5, "t": 0.3}},
        {"id": "c2", "maskings": {"age": "drop", "town": "drop", "sex": "drop"}, "privacy": {"k": 9}},
        {"id": "c3", "maskings": {"age": "age-2", "town": "identity", "sex": "noisy"}},
    ]
    return (await publish(shared_api, entry))["id"]


WRONG_QUESTIONS = [
    ({"measure": "entropy"}, "/measure"),
    ({"attributes": []}, "/attributes"),
    ({"attributes": ["age", "age"]}, "/attributes/1"),
    ({"attributes": ["zip"]}, "/attributes/0"),
    ({"attributes": "age"}, "/attributes"),
    ({"attributes": ["age"], "weights": {"age": -1}}, "/weights/age"),
    ({"attributes": ["age"], "weights": {"age": True}}, "/weights/age"),
    ({"attributes": ["age"], "weights": {"age": "1"}}, "/weights/age"),
    ({"attributes": ["age"], "weights": {"age": 10**400}}, "/weights/age"),
    ({"attributes": ["age"], "weights": {"age": 0}}, "/weights"),
    ({"weights": {"age": 0, "town": 0, "sex": 0}}, "/weights"),
    ({"attributes": ["age"], "weights": {"town": 1}}, "/weights/town"),
    ({"weights": {"zip/~": 1}}, "/weights/zip~1~0"),
    ({"require": {"m": 1}}, "/require/m"),
    ({"require": {"k": -1}}, "/require/k"),
    ({"bias_correction": 1}, "/bias_correction"),
    ({"bias_correction": True, "measure": "g3"}, "/bias_correction"),
    ({"rounding_seed": 1}, "/rounding_seed"),
    ({"reference": "own", "rounding_seed": -1}, "/rounding_seed"),
    ({"reference": "none"}, "/reference"),
    ({"limit": -1}, "/limit"),
    ({"limit": 1.5}, "/limit"),
    ({"limits": 1}, "/limits"),
]


async def test_a_question_that_breaks_a_rule(shared_api, entry_id):
    told = []
    for question, _ in WRONG_QUESTIONS:
        answer = await ask(shared_api, entry_id, **question)
        told.append((question, *([answer.status_code] if answer.status_code != 422 else pointers(answer))))
    assert told == WRONG_QUESTIONS


async def test_where_nothing_is_left_it_is_said_how_many_fell_to_what(shared_api, entry_id):
    answer = await ask(shared_api, entry_id, attributes=["age"], require={"k": 6, "t": 0.2, "l": 2})
    assert (answer.status_code, answer.json()["code"]) == (422, "no_configuration_left")
    for part in ("of 3", "2 do not promise k >= 6", "3 do not promise t <= 0.2", "3 do not promise l >= 2"):
        assert part in answer.json()["detail"]


async def test_what_nothing_is_known_of_cannot_be_compared(shared_api, entry_id):
    answer = await ask(shared_api, entry_id)
    assert (answer.status_code, answer.json()["code"]) == (422, "no_evidence")
    assert "'town'" in answer.json()["detail"]
    without_weight = await ask(shared_api, entry_id, attributes=["age", "town"], weights={"town": 0})
    assert without_weight.status_code == 202


async def test_the_reference_own_needs_mapping_and_counts_of_every_masking(shared_api, entry_id):
    for name, masking in (("town", "any"), ("sex", "noisy")):
        answer = await ask(shared_api, entry_id, reference="own", attributes=[name])
        assert (answer.status_code, answer.json()["code"]) == (422, "no_own_reference")
        assert f"'{masking}'" in answer.json()["detail"]
    assert (await ask(shared_api, entry_id, reference="own", attributes=["age"])).status_code == 202


EXAMPLE = json.dumps(example_entry())


NO_JSON = [
    b"",
    b"{",
    b"{'a': 1}",
    EXAMPLE.encode() + b"{}",
    EXAMPLE.replace("100", "NaN").encode(),
    EXAMPLE.replace("100", "Infinity").encode(),
    EXAMPLE.replace("100", "-Infinity").encode(),
    EXAMPLE.replace("100", "0100").encode(),
    EXAMPLE.replace("100", "1" + "0" * 6000).encode(),
    EXAMPLE.replace("Self", r"\ud800").encode(),
    EXAMPLE.replace("Self", r"\udc00\ud800").encode(),
    EXAMPLE.encode().replace(b"Self", b"\xff"),
    EXAMPLE.encode().replace(b"Self", b"\xed\xa0\x80"),
    EXAMPLE.encode("utf-16"),
    b"\xef\xbb\xbf" * 2 + EXAMPLE.encode(),
    b"[" * 100_000,
    b"[" * 100_000 + b"]" * 100_000,
    b'{"a":' * 50_000,
]


async def test_what_is_no_json(shared_api, entry_id):
    entry = f"/v1/entries/{entry_id}"
    routes = [("POST", "/v1/entries"), ("PUT", entry), ("PATCH", entry), ("POST", f"{entry}/advice")]
    told = {}
    for (method, path), (number, body) in product(routes, enumerate(NO_JSON)):
        if path.endswith("/advice") and not body:  # no member of a question is required
            continue
        answer = await shared_api.request(method, path, content=body, headers=JSON | {"If-Match": "*"})
        told[method, path, number, body[:12]] = answer.status_code, answer.json()["code"]
    assert told == dict.fromkeys(told, (400, "malformed"))
    assert len(told) == len(routes) * len(NO_JSON) - 1


async def test_json_that_is_no_object(shared_api, entry_id):
    bodies = ["null", "1", "true", '"entry"', "[]", "1e400"]
    told = {}
    for path, body in product(("/v1/entries", f"/v1/entries/{entry_id}/advice"), bodies):
        answer = await shared_api.post(path, content=body, headers=JSON)
        told[path, body] = answer.status_code, *pointers(answer)
    assert told == dict.fromkeys(told, (422, ""))


NOT_DECLARED = [
    {},
    {"Content-Type": "text/plain"},
    {"Content-Type": "application/jsonp"},
    {"Content-Type": "application/json; charset=latin-1"},
    {"Content-Type": "application/json;charset=UTF-16"},
    {"Content-Type": "application/json; a=" + ";" * 60_000},
]


async def test_a_body_is_declared_as_json_in_utf_8(shared_api):
    for headers in NOT_DECLARED:
        answer = await shared_api.post("/v1/entries", content=EXAMPLE, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_media_type"), headers
    for content_type in ("application/json; charset=UTF-8", 'Application/JSON;charset="utf-8"'):
        answer = await shared_api.post("/v1/entries", content="[]", headers={"Content-Type": content_type})
        assert (answer.status_code, pointers(answer)) == (422, [""]), content_type


async def test_a_member_that_is_named_twice(shared_api, entry_id):
    for path, body in (
        ("/v1/entries", EXAMPLE.replace('"records"', '"format": 1, "records"', 1)),
        (f"/v1/entries/{entry_id}/advice", '{"measure": "g3", "limit": 1, "measure": "g1"}'),
    ):
        answer = await shared_api.post(path, content=body, headers=JSON)
        assert (answer.status_code, answer.json()["code"], pointers(answer)) == (422, "invalid", [""])
        assert "more than once" in answer.json()["errors"][0]["detail"]


REPEATED = [
    (("label",), '"name": "health"'),
    (ATTRIBUTE, '"type": "integer"'),
    (ATTRIBUTE, '"histogram": [1]'),
    (MASKING, '"joint": [[1]]'),
    (MASKING, '"\\u0069d": "x"'),
    ((*MASKING, "function", "parameters"), '"edges": []'),
    ((*CONFIGURATION, "maskings"), '"age": "drop"'),
    ((*CONFIGURATION, "privacy"), '"k": 9'),
]


async def test_a_member_that_is_named_twice_at_any_depth(shared_api, entry_id):
    routes = [("POST", "/v1/entries"), ("PUT", f"/v1/entries/{entry_id}")]
    for (path, repeat), (method, url) in product(REPEATED, routes):
        body = json.dumps(changed((*path, "REPEAT"), 1)).replace('"REPEAT": 1', repeat)
        answer = await shared_api.request(method, url, content=body, headers=JSON | {"If-Match": "*"})
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid"), (method, repeat)
        assert "more than once" in answer.json()["errors"][0]["detail"], (method, repeat)


SMALL_BODIES = [
    ("PATCH", "", '{"visibility": "all", "visibility": "private"}'),
    ("PATCH", "", '{"visibility": {"tenants": ["a"], "tenants": []}}'),
    ("POST", "/advice", '{"measure": "g3", "require": {"k": 2, "k": 3}}'),
    ("POST", "/advice", '{"measure": "g3", "weights": {"age": 1, "\\u0061ge": 2}}'),
]


async def test_a_member_of_a_small_body_that_is_named_twice(shared_api, entry_id):
    for method, path, body in SMALL_BODIES:
        answer = await shared_api.request(method, f"/v1/entries/{entry_id}{path}", content=body, headers=JSON)
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid"), body
        assert "more than once" in answer.json()["errors"][0]["detail"], body


async def test_a_parameter_that_is_given_twice(shared_api, entry_id):
    for path in ("/v1/entries?limit=1&limit=2", f"/v1/entries/{entry_id}?version=1&version=1", "/v1/measures?a=&a="):
        answer = await shared_api.get(path)
        assert (answer.status_code, answer.json()["code"]) == (400, "malformed")
        assert "more than once" in answer.json()["detail"]


async def test_what_there_is_not(shared_api):
    names = ["nothing", "%00", "00000000-0000-0000-0000-000000000000", "%F0%9F%98%80", "1"]
    things = [
        f"/v1/{kind}" for name in names for kind in (f"entries/{name}", f"entries/{name}/summaries", f"advice/{name}")
    ]
    told = {}
    for path in ("/v1", "/v2/entries", "/v1/entries/", "/v1/entries/a/b", "/docs/", "/%00", *things):
        answer = await shared_api.get(path)
        told[path] = answer.status_code, answer.json()["code"]
    assert told == dict.fromkeys(told, (404, "not_found"))
    assert [(await ask(shared_api, name)).status_code for name in names] == [404] * len(names)


async def test_a_method_that_there_is_not(shared_api):
    routes = [("DELETE", "/v1/entries"), ("POST", "/v1/measures"), ("PUT", "/v1/advice/a"), ("TRACE", "/healthz")]
    for method, path in routes:
        answer = await shared_api.request(method, path)
        assert (answer.status_code, answer.json()["code"]) == (405, "method_not_allowed"), path
        assert answer.headers["Allow"], path
