"""Bodies with more of everything than anybody needs are refused, and before each part of them is looked at."""

import pytest

from app.entries.api.uploads import read_publication
from app.platform.errors import InvalidDocumentError
from tests.service import example_entry, publish

JSON = {"Content-Type": "application/json"}
MILLION = b"[" + b",".join([b"{}"] * 10**6) + b"]"
LEVELS = 100_000


@pytest.mark.parametrize("body", [b'{"%b": %b}', b'{"%b": %b, "unknown": 0}'], ids=["an entry", "none"])
@pytest.mark.parametrize(("name", "most"), [(b"attributes", 20_000), (b"pairs", 50_000)])
def test_a_million_attributes_or_pairs_are_refused_for_their_number(body, name, most):
    with pytest.raises(InvalidDocumentError) as refused:
        read_publication(body % (name, MILLION))
    (fault,) = refused.value.faults  # not one for each of them
    assert (fault.pointer, fault.detail) == (f"/{name.decode()}", f"Has 1000000 items; at most {most} are accepted")


@pytest.fixture(scope="module")
async def entry(shared_api):
    head = await publish(shared_api, example_entry(name="huge"))
    return f"/v1/entries/{head['id']}"


LISTS, OBJECTS = b"[" * LEVELS + b"]" * LEVELS, b'{"a":' * LEVELS + b"0" + b"}" * LEVELS


@pytest.mark.parametrize(
    ("method", "place", "body"),
    [
        ("POST", "/v1/entries", b'{"attributes": [{"maskings": %b}]}' % LISTS),
        ("POST", "/v1/entries", OBJECTS),
        ("PUT", "{entry}", b"[" * LEVELS),
        ("PATCH", "{entry}", b'{"visibility": %b}' % LISTS),
        ("POST", "{entry}/advice", b'{"weights": %b}' % LISTS),
        ("POST", "{entry}/requests", LISTS),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_a_hundred_thousand_levels_are_no_json(shared_api, entry, method, place, body):
    answer = await shared_api.request(method, place.format(entry=entry), content=body, headers=JSON | {"If-Match": "*"})
    assert (answer.status_code, answer.json()["code"]) == (400, "malformed")
    assert "recursion limit" in answer.text
