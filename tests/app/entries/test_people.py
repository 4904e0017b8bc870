"""Entries whose privacy counts people, in the service: published, found, advised, and held against requirements."""

import pytest

from app.entries.service.checks import Policy
from app.platform.errors import InvalidDocumentError
from tests.answers import pointers
from tests.app.entries.test_privacy import vouching
from tests.app.entries.test_required_privacy import asked, competing
from tests.service import ACCEPTED, create_key, publication, publish, running_app

UNIT = {"format": 3, "unit": "person", "people": 40, "rows_per_person": 4}
OF_PEOPLE = {"require_privacy": "k=2,unit=person"}


def of_people(first=2, second=4, **changes):
    """The example with two configurations that promise these numbers of people."""
    return vouching("k", first, second) | {"name": "of-people"} | UNIT | changes


async def test_it_is_read_as_published_and_listed_with_its_people(api):
    head = await publish(api, of_people())
    told = {"unit": "person", "people": 40, "rows_per_person": 4, "records": 100, "k": 4}
    assert told.items() <= head.items()
    assert (await api.get(f"/v1/entries/{head['id']}/summaries")).json() == of_people()
    listed = (await api.get("/v1/entries", params={"require": "k=4,unit=person"})).json()["items"]
    assert [each["people"] for each in listed] == [40]
    await publish(api, vouching("k", 2, 4))
    found = {
        require: [each["name"] for each in (await api.get("/v1/entries", params={"require": require})).json()["items"]]
        for require in ("k=4", "k=4,unit=person", "k=5,unit=person")
    }
    assert found == {"k=4": ["vouches-for-k-2-4", "of-people"], "k=4,unit=person": ["of-people"], "k=5,unit=person": []}
    wrong = await api.get("/v1/entries", params={"require": "unit=person"})
    assert (wrong.status_code, pointers(wrong)) == (422, ["/require"])


async def test_an_older_version_keeps_its_unit(api):
    head = await publish(api, of_people())
    path = f"/v1/entries/{head['id']}"
    plain = vouching("k", 2, 4) | {"name": "of-people"}
    await api.put(path, json=plain, params=ACCEPTED, headers={"If-Match": "*"})
    versions = [(await api.get(path, params={"version": version})).json() for version in (1, 2)]
    assert [(each["unit"], each["people"]) for each in versions] == [("person", 40), (None, None)]


async def test_questions_about_people_are_met_by_promises_about_people_only(api, worker):
    people, records = await publish(api, of_people()), await publish(api, vouching("k", 2, 4))
    require = {"require": {"k": 3}}
    assert competing(await asked(api, worker, people, **require, unit="person")) == ["c02"]
    # k people have at least k records.
    assert competing(await asked(api, worker, people, **require)) == ["c02"]
    assert competing(await asked(api, worker, records, **require)) == ["c02"]
    refused = await asked(api, worker, records, **require, unit="person")
    assert (refused["status"], refused["code"]) == (422, "no_configuration_left")
    assert refused["detail"] == (
        "No configuration meets all requirements: of 2, 2 do not promise k >= 3 people (the entry counts records)."
    )
    answer = await asked(api, worker, people, **require, unit="person")
    assert (answer["request"]["unit"], answer["policy_unit"]) == ("person", None)


async def test_a_policy_on_people_refuses_entries_of_records(database_url, worker):
    owner = await create_key(database_url, "owner", "provider")
    administrator = await create_key(database_url, "owner", "administrator")
    async with running_app(database_url) as api:
        before = await publish(api, vouching("k", 2, 4), **owner)
    async with running_app(database_url, require_privacy={"k": 2}) as api:
        policy = {"require": {"k": 3}, "unit": "person"}
        policy = (await api.put("/v1/policy", json=policy, headers=administrator)).json()
        assert (policy["require"], policy["unit"]) == ({"k": 3}, "person")
        assert (await api.get("/v1/policy", headers=administrator)).json() == policy
        refused = await api.post("/v1/entries", json=vouching("k", 5, 9), params=ACCEPTED, headers=owner)
        assert (refused.status_code, pointers(refused)) == (422, ["/unit"])
        assert "k >= 3 people" in refused.json()["errors"][0]["detail"]
        terms = (await api.get("/v1/publishing", headers=owner)).json()
        assert (terms["require"], terms["unit"]) == ({"k": 3}, "person")
        answer = await asked(api, worker, await publish(api, of_people(), **owner), owner)
        assert (competing(answer), answer["policy"], answer["policy_unit"]) == (["c02"], {"k": 3}, "person")
        # What was stored before anybody asked for people does not pass for them.
        refused = await asked(api, worker, before, owner)
        assert refused["detail"].endswith("k >= 3 people (the entry counts records), which a policy requires.")


async def test_a_service_requires_people_by_its_setting(database_url, worker):
    async with running_app(database_url, **OF_PEOPLE) as api:
        refused = await api.post("/v1/entries", json=vouching("k", 5, 9), params=ACCEPTED)
        assert (refused.status_code, pointers(refused)) == (422, ["/unit"])
        assert competing(await asked(api, worker, await publish(api, of_people(1, 4)))) == ["c02"]


def test_small_counts_are_those_of_fewer_than_five_people():
    histogram = [15, 25, 30, 16, 14]
    small = {fault.pointer: fault.detail for fault in publication(of_people()).small_counts}
    expected = [f"/label/histogram/{place}" for place, count in enumerate(histogram) if count < 20]
    assert [each for each in small if each.startswith("/label")] == expected
    assert small["/label/histogram/0"] == "An exact count of fewer than 5 people (1 to 16 records, at most 4 of each)"
    assert not publication(of_people(people=100, rows_per_person=1) | {"attributes": _counted_by_five()}).small_counts


def _counted_by_five():
    """The example's attribute without its small counts."""
    attribute = vouching("k", 2, 4)["attributes"][0]
    del attribute["histogram"]
    joint = [[5, 10, 15, 8, 7], [10, 15, 15, 8, 7]]
    return [attribute | {"maskings": [attribute["maskings"][0] | {"joint": joint}]}]


@pytest.mark.parametrize(("k", "place"), [(40, None), (41, "/configurations/1/privacy/k")])
def test_no_class_has_more_people_than_the_entry(k, place):
    refused = []
    try:
        publication(of_people(2, k))
    except InvalidDocumentError as error:
        refused = [fault.pointer for fault in error.faults]
    assert refused == [place] * (place is not None)


def test_a_service_that_refuses_small_counts_refuses_those_of_few_people():
    with pytest.raises(InvalidDocumentError) as refused:
        publication(of_people(people=100, rows_per_person=2), Policy(min_cell=7))
    labels = [fault.pointer for fault in refused.value.faults if fault.pointer.startswith("/label")]
    assert labels == []  # the smallest is 14, of at least 7 people
    with pytest.raises(InvalidDocumentError) as refused:
        publication(of_people(people=100, rows_per_person=2), Policy(min_cell=8))
    labels = [fault.pointer for fault in refused.value.faults if fault.pointer.startswith("/label")]
    assert labels == ["/label/histogram/0", "/label/histogram/4"]
