"""Entries with generated configurations, by the real service: what is accepted, refused, stored and shown."""

import copy

import pytest

from aegis_sdk.wire import EXAMPLE_GENERATED, EXAMPLE_NOISY_MASKING
from tests.answers import pointers
from tests.app.advice.test_views import guarded
from tests.app.entries.test_policy import noisy
from tests.generated import figure, generated, mixed_entry, told
from tests.service import ACCEPTED, Worker, example_entry, publish, running_app


def changed(path, value, entry=None):
    """The entry with another value at a place, given by the steps to it; None takes the member away."""
    entry = copy.deepcopy(entry or mixed_entry())
    *steps, last = (int(step) if step.isdecimal() else step for step in path.split("/"))
    place = entry
    for step in steps:
        place = place[step]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return entry


async def refused(api, entry):
    answer = await api.post("/v1/entries", params=ACCEPTED, json=entry)
    assert answer.status_code == 422, answer.text
    return pointers(answer)


async def test_its_provider_reads_it_as_it_was_published(api):
    entry = mixed_entry()
    head = await publish(api, entry)
    summaries = (await api.get(f"/v1/entries/{head['id']}/summaries")).json()
    assert summaries == entry
    schema = (await api.get(f"/v1/entries/{head['id']}")).json()["schema"]
    shown = {one["id"]: one for one in schema["configurations"]}
    assert "histogram" not in shown["g1"]  # as no histogram is in a schema
    assert shown["g1"]["transfer"] == entry["configurations"][0]["transfer"]
    assert shown["g1"]["weights"] == EXAMPLE_GENERATED["weights"]
    assert schema["holdout"] == entry["holdout"]


async def test_others_read_shares_to_two_digits_and_no_count(database_url):
    async with guarded(database_url) as (api, _, keys):
        head = await publish(api, mixed_entry(visibility="all"), **keys["owner"])
        schemas = [
            (await api.get(f"/v1/entries/{head['id']}", headers=keys[name])).json()["schema"]
            for name in ("stranger", "consumer")
        ]
    assert schemas[0] == schemas[1]
    shown = {one["id"]: one for one in schemas[0]["configurations"]}
    age = {"mutual_information": 0.75, "chi_square": 0.75, "g3": 0.6}  # 0.3 of 0.4; (0.7 - 0.64) of (0.7 - 0.6)
    sex = {"mutual_information": 0.5, "chi_square": 0.5, "g3": 1.0}  # by g3 sex tells nothing, so nothing is lost
    assert shown["g1"]["transfer"] == {"attributes": {"age": age, "sex": sex}, "joint": 0.84}
    assert shown["g2"]["transfer"]["attributes"]["age"] == {"mutual_information": 0.0, "chi_square": 0.0, "g3": 0.0}
    assert schemas[0]["holdout"]["unmasked"]["joint"] == 1.0
    assert "histogram" not in shown["g1"]
    assert shown["g1"]["weights"] == {"privacy": 5.0, "value": 1.0}
    assert shown["g1"]["attacks"] == EXAMPLE_GENERATED["attacks"]
    assert "suppressed" not in shown["m1"]


FORMATS = {
    "a generated configuration": (
        "configurations",
        [example_entry()["configurations"][0], generated("g", transfer=None)],
        ["/configurations/1/kind"],
    ),
    "the kind of a masked one": ("configurations/0/kind", "masked", ["/configurations/0/kind"]),
    "held-out records": ("holdout", {"records": 10}, ["/holdout"]),
}


@pytest.mark.parametrize(("path", "value", "expected"), FORMATS.values(), ids=FORMATS)
async def test_an_entry_of_the_older_format_has_none_of_it(api, path, value, expected):
    entry = changed(path, value, example_entry(name="older"))
    assert await refused(api, entry) == expected
    assert (await api.post("/v1/entries", params=ACCEPTED, json=entry | {"format": 2})).status_code == 201


async def test_transfer_utilities_need_the_newer_format_too(api):
    entry = mixed_entry() | {"format": 1}
    assert await refused(api, entry) == [
        "/configurations/0/kind",
        "/configurations/0/transfer",
        "/configurations/1/transfer",
        "/configurations/3/kind",
        "/configurations/3/transfer",
        "/configurations/4/kind",
        "/holdout",
    ]


async def test_an_entry_that_needs_no_more_keeps_the_older_format(api):
    assert await refused(api, example_entry(format=2)) == ["/format"]
    assert await refused(api, example_entry(format=3)) == ["/format"]


def number(value, low, high):
    return {"value": value, "low": low, "high": high}


ALL = ("/value", "/low", "/high")
BITS, CHI, ERRORS = (f"transfer/attributes/age/{name}" for name in ("mutual_information", "chi_square", "g3"))
FAULTS = {
    "more bits than labels have": (BITS, number(2.4, 2.35, 2.45), ALL),
    "fewer bits than any rule loses": (BITS, number(-16, -16, 0), ("/value", "/low")),
    "more than chi-square can be": (CHI, figure(4.2), ALL),
    "less than chi-square can be": (CHI, figure(-2100), ALL),
    "more errors than records": (ERRORS, number(0.9, 0.8, 1.2), ("/high",)),
    "more than all labels have": ("transfer/joint", figure(4.5), ALL),
    "a figure outside of its interval": (ERRORS, number(0.5, 0.6, 0.7), ("",)),
    "a figure without limits": (ERRORS, {"value": 0.5}, ("/low", "/high")),
    "a figure that is text": (f"{ERRORS}/value", "0.5", ("",)),
    "an unknown measure": ("transfer/attributes/age/theils_u", figure(0.2), ("",)),
    "joint of one attribute": ("transfer/attributes/age/joint", figure(0.2), ("",)),
    "an unknown attribute": ("transfer/attributes/agge", {}, ("",)),
    "an unknown figure": ("transfer/g3", figure(0.2), ("",)),
    "a negative count": ("histogram", [-1, 23, 27, 15, 26], ("/0",)),
    "a negative number of records": ("records", -90, ("",)),
    "a count for each label but one": ("histogram", [14, 22, 27, 27], ("",)),
    "counts of more records": ("histogram", [15, 22, 27, 15, 12], ("",)),
    "an attack outside of its interval": ("attacks/membership", number(0.5, 0.51, 0.52), ("",)),
    "an attack that always succeeds and more": ("attacks/membership", number(0.5, 0.5, 1.1), ("/high",)),
    "a negative attack": ("attacks/membership", number(-0.1, -0.1, 0.2), ("/value", "/low")),
    "an unknown attack": ("attacks/guessing", number(0.1, 0.1, 0.1), ("",)),
    "a promise that the attack refutes": ("privacy/membership", 0.51, ("",)),
    "a promise that nobody measured": ("privacy/attribute_disclosure", 0.3, ("",)),
    "a promise of more than certainty": ("privacy/membership", 1.5, ("",)),
    "a promise of classes": ("privacy/k", 5, ("",)),
    "a delta without its epsilon": ("delta", 1e-6, ("",)),
    "maskings of a generated table": ("maskings", {"age": "drop"}, ("",)),
    "an unknown kind": ("kind", "drawn", ("",)),
    "no method": ("method", None, ("",)),
    "weights of an unknown attribute": ("weights/attributes/agge", {}, ("",)),
}


async def test_what_is_wrong_in_a_generated_configuration_is_refused_with_its_place(api):
    told, expected = {}, {}
    for name, (place, value, endings) in FAULTS.items():
        told[name] = sorted(await refused(api, changed(f"configurations/0/{place}", value)))
        expected[name] = sorted(f"/configurations/0/{place}{ending}" for ending in endings)
    assert told == expected


async def test_figures_need_what_they_were_evaluated_on(api):
    transfers = [f"/configurations/{place}/transfer" for place in (0, 1, 3)]
    assert await refused(api, changed("holdout", None)) == transfers
    assert await refused(api, changed("holdout/records", 0)) == ["/holdout/records"]
    by_g3 = [f"{where}/attributes/{name}/g3" for where in ("/holdout/unmasked", *transfers) for name in ("age", "sex")]
    assert await refused(api, changed("holdout/majority_error", None)) == by_g3
    unrounded = await refused(api, changed("holdout/rounded_to", 0.2))
    assert {"/holdout/majority_error", "/holdout/unmasked/attributes/sex/mutual_information/value"} <= set(unrounded)
    assert "/configurations/1/transfer/joint/value" in unrounded
    assert (await api.post("/v1/entries", params=ACCEPTED, json=changed("holdout/rounded_to", 0.01))).status_code == 201


async def test_kinds_share_ids_and_only_a_list_has_generated_ones(api):
    assert await refused(api, changed("configurations/0/id", "m1")) == ["/configurations/1/id"]
    columns = {"ids": ["a"], "maskings": {"age": ["drop"], "sex": ["drop"]}, "kind": ["generated"]}
    assert "/configuration_table/kind" in await refused(api, changed("configuration_table", columns))


async def test_all_counts_changed_means_these_figures_too(api):
    entry = mixed_entry(disclosure_control={"min_cell": 2})
    entry["attributes"][0]["maskings"][0] |= {"domain": ["*"], "mapping": [0] * 8, "joint": [[15, 25, 30, 16, 14]]}
    assert await refused(api, entry) == ["/holdout/rounded_to"]
    entry["holdout"]["rounded_to"] = 0.01
    assert (await api.post("/v1/entries", params=ACCEPTED, json=entry)).status_code == 201


async def test_figures_and_declared_noise_exclude_each_other(api):
    entry = noisy() | {"format": 2, "holdout": {"records": 50}}
    scale = EXAMPLE_NOISY_MASKING["noise"]["scale"]
    for part in (entry["label"], entry["attributes"][0]["maskings"][0]):
        part["noise"] = {"kind": "laplace", "scale": scale, "epsilon": 1 / scale}
    entry["disclosure_control"] = {"epsilon": 2 / scale}
    assert await refused(api, entry) == ["/holdout"]


async def test_a_service_that_requires_noise_accepts_only_what_noise_covers(shared_database_url):
    entry = noisy() | {"format": 2, "name": "noisy"}
    vouched = {"privacy": {"epsilon": 1.0}, "attacks": {}, "transfer": None}
    entry["configurations"] += [generated("covered", **vouched), generated("bare", transfer=told(0.1, 0.1, 0.7))]
    entry["configurations"][-1]["transfer"]["attributes"].pop("sex")
    entry["holdout"] = {"records": 1_000, "majority_error": 0.7}
    async with running_app(shared_database_url, require_noise=True) as strict:
        assert sorted(await refused(strict, entry)) == [
            "/configurations/3",
            "/configurations/3/attacks",
            "/configurations/3/transfer",
            "/holdout",
        ]
        del entry["configurations"][-1], entry["holdout"]
        await publish(strict, entry)


async def test_a_policy_is_met_by_a_generated_configuration_too(shared_database_url):
    entry = mixed_entry(name="vouching")
    async with running_app(shared_database_url, require_privacy="membership=0.52") as strict:
        await publish(strict, entry)
        del entry["configurations"][0], entry["configurations"][0]["privacy"]["membership"]
        assert await refused(strict, entry | {"name": "not-vouching"}) == ["/configurations"]


async def test_old_entries_keep_their_digest(api):
    """The digest of the example, computed by the service before there were generated configurations."""
    head = await publish(api)
    assert head["digest"] == "sha256:ed98b101432bd0517ad5fb2e1144d9a34ebeffed17ab4f3bff6386feb45e2ef7"


async def test_places_are_those_of_the_document_whatever_stands_between(database_url):
    """Masked configurations keep their places behind generated ones: in faults, in the verdict, in refusals."""
    entry = mixed_entry()
    entry["configurations"][1] |= {"suppressed": 3}
    async with running_app(database_url) as api, Worker.on(database_url) as worker:
        head = await publish(api, entry)
        await worker.run()
        verdict = (await api.get(f"/v1/entries/{head['id']}")).json()["verdict"]
        assert "/configurations/1/suppressed" in {finding["pointer"] for finding in verdict["findings"]}
        assert await refused(api, changed("configurations/2/privacy/k", 101)) == ["/configurations/2/privacy/k"]
        assert await refused(api, changed("configurations/1/suppressed", 200)) == ["/configurations/1/suppressed"]
        assert await refused(api, changed("configurations/2/maskings/sex", "sex-9")) == [
            "/configurations/2/maskings/sex"
        ]
    async with running_app(database_url, small_counts="refuse") as strict:
        answer = await strict.post("/v1/entries", json=entry | {"name": "small"})
        assert "/configurations/1/suppressed" in pointers(answer)
