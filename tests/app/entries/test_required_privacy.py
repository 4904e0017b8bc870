"""The privacy that a service and the entry's tenant require of configurations, whatever a question asks."""

import pytest

from aegis_sdk.wire import PRIVACY_CRITERIA
from app.tenants.model import RequiredPrivacy, TenantPolicy
from tests.answers import pointers
from tests.app.entries.test_privacy import vouching
from tests.service import ACCEPTED, create_key, example_entry, publish, running_app, tenants_of

K3 = {"require_privacy": {"k": 3}}


async def asked(api, worker, head, key=None, **question):
    """The answer to a question about an entry, from the worker."""
    body = {"measure": "mutual_information", "limit": None} | question
    headers = {"Prefer": "respond-async"} | (key or {})
    queued = await api.post(f"/v1/entries/{head['id']}/advice", json=body, headers=headers)
    if queued.status_code >= 400:
        return queued.json()
    await worker.run()
    return (await api.get(f"/v1/advice/{queued.json()['id']}", headers=key)).json()


def competing(answer):
    return [row["configuration"] for row in answer["ranking"]]


@pytest.mark.long
async def test_a_configuration_below_it_never_competes(api, worker, database_url):
    """Also where the version was stored before anybody required anything."""
    told = {}
    for name in PRIVACY_CRITERIA:
        head = await publish(api, vouching(name, 2, 4))
        assert len(competing(await asked(api, worker, head))) == 2
        async with running_app(database_url, require_privacy={name: 3}) as strict:
            answer = await asked(strict, worker, head)
        assert (answer["policy"], answer["request"]["require"]) == ({name: 3}, None)
        told[name] = competing(answer)
    assert told == {name: ["c02" if better == "higher" else "c01"] for name, better in PRIVACY_CRITERIA.items()}


async def test_without_any_nothing_is_said(api, worker):
    assert (await asked(api, worker, await publish(api)))["policy"] is None


@pytest.mark.parametrize(("required", "left"), [(1, ["c02"]), (3, ["c02"]), (2, ["c01", "c02"])])
async def test_a_question_may_require_more_and_never_less(api, worker, database_url, required, left):
    head = await publish(api, vouching("k", 2, 4))
    service, question = (3, required) if required != 2 else (2, 1)
    async with running_app(database_url, require_privacy={"k": service}) as strict:
        answer = await asked(strict, worker, head, require={"k": question})
    assert competing(answer) == left
    assert (answer["request"]["require"], answer["policy"]) == ({"k": question}, {"k": service})


async def test_where_none_is_left_the_policy_is_named(api, worker, database_url):
    head = await publish(api, vouching("k", 2, 4))
    async with running_app(database_url, require_privacy={"k": 5}) as strict:
        problem = await asked(strict, worker, head, require={"k": 3})
    assert (problem["status"], problem["code"]) == (422, "no_configuration_left")
    assert problem["detail"] == (
        "No configuration meets all requirements: of 2, 1 do not promise k >= 3, "
        "2 do not promise k >= 5, which a policy requires."
    )


async def test_an_answer_from_before_a_policy_answers_no_question_after_it(api, worker, database_url):
    head = await publish(api, vouching("k", 2, 4))
    before = await asked(api, worker, head)
    async with running_app(database_url, **K3) as strict:
        after = await asked(strict, worker, head)
        assert after["id"] != before["id"]
        assert (await strict.get(f"/v1/advice/{before['id']}")).json() == before
    assert (await asked(api, worker, head))["id"] == before["id"]


async def test_the_stricter_of_service_and_owning_tenant_applies_to_everybody(database_url, worker):
    owner = await create_key(database_url, "owner", "provider")
    stranger = await create_key(database_url, "stranger", "operator")
    async with tenants_of(database_url) as tenants:
        await tenants.set_policy("owner", TenantPolicy(RequiredPrivacy({"k": 3}, {"t": 0.5})))
        await tenants.set_policy("stranger", TenantPolicy(RequiredPrivacy({"k": 99})))
    entry = vouching("k", 2, 4)
    for configuration in entry["configurations"]:
        configuration["privacy"]["t"] = 0.1
    async with running_app(database_url, require_privacy={"k": 1, "t": 0.2}) as api:
        head = await publish(api, entry, **owner)
        for key in (owner, stranger):
            answer = await asked(api, worker, head, key)
            assert competing(answer) == ["c02"]
            assert answer["policy"] == {"k": 3, "t": 0.2}


async def test_an_entry_that_vouches_for_nothing_is_refused(database_url):
    owner = await create_key(database_url, "owner", "provider")
    async with tenants_of(database_url) as tenants:
        await tenants.set_policy("owner", TenantPolicy(RequiredPrivacy({"l": 2})))
    async with running_app(database_url, **K3) as api:  # some configuration promises k, and none l
        answer = await api.post("/v1/entries", json=example_entry(), headers=owner, params=ACCEPTED)
        assert (answer.status_code, pointers(answer)) == (
            422,
            ["/configurations"],
        )
        assert "l >= 2" in answer.json()["errors"][0]["detail"]
        entry = example_entry()
        entry["configurations"][1]["privacy"] = {"l": 2}
        assert (await api.post("/v1/entries", json=entry, headers=owner, params=ACCEPTED)).status_code == 201


async def test_a_new_version_is_held_to_it_and_the_same_content_is_not(api, database_url):
    bare = example_entry()
    del bare["configurations"][0]["privacy"]
    head = await publish(api, bare)
    path, headers = f"/v1/entries/{head['id']}", {"If-Match": "*"}
    async with running_app(database_url, **K3) as strict:
        assert (await strict.put(path, json=bare, headers=headers)).status_code == 200
        changed = await strict.put(path, json=bare | {"title": "new"}, headers=headers)
        assert (changed.status_code, pointers(changed)) == (422, ["/configurations"])
        assert (await strict.put(path, json=example_entry(), headers=headers)).json()["version"] == 2


async def test_whoever_publishes_what_nobody_can_ask_about_is_told(shared_database_url):
    async with running_app(shared_database_url, require_privacy={"k": 6}) as api:
        answer = await api.post("/v1/entries", json=example_entry(name="too-low"), params=ACCEPTED)
    assert answer.status_code == 201
    [warning] = answer.json()["warnings"]
    assert "k >= 6" in warning


async def test_a_promise_that_the_counts_refute_is_refused_by_every_service(shared_api):
    entry = example_entry(name="refuted")
    entry["configurations"][0]["privacy"] = {"k": 101}
    answer = await shared_api.post("/v1/entries", json=entry)
    assert (answer.status_code, pointers(answer)) == (422, ["/configurations/0/privacy/k"])
