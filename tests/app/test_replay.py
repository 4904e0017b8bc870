"""Stored answers, computed again."""

import asyncio
import sys
import zlib

import orjson
import psycopg
import pytest

from aegis_advisor import MODEL_VERSION
from app.advice.service import replay
from app.advice.service.replay import differing
from app.cli.__main__ import main
from app.cli.environment import with_services
from app.cli.replay import _computed
from app.entries.model.documents import compress, decompress
from app.platform.errors import InvalidDocumentError, NotFoundError
from app.settings import Settings
from app.tenants.model import NOTHING_REQUIRED, RequiredPrivacy, TenantPolicy
from tests.app.worker.database import rows
from tests.for_each import for_each
from tests.generated import mixed_entry
from tests.pairs import associated_entry, paired_entry
from tests.service import ask, example_entry, publish, tenants_of


def execute(database_url, statement, *parameters):
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(statement, parameters)


async def answered(api, worker, entry=None, **question):
    """The id of a new answer, as its caller knows it."""
    head = await publish(api, entry or example_entry())
    queued = await ask(api, head["id"], **question)
    assert queued.status_code == 202, queued.text
    await worker.run()
    answer = (await api.get(f"/v1/advice/{queued.json()['id']}")).json()
    assert answer["status"] == "succeeded", answer
    return answer["id"]


async def loaded_of(database_url, advice_id):
    return await with_services(database_url, lambda services: services.replays().load(advice_id))


async def replayed(database_url, advice_id):
    """What differs when an answer is computed again."""
    loaded = await loaded_of(database_url, advice_id)
    return list(loaded.differences(*await _computed(loaded, Settings(database_url=database_url))))


@pytest.mark.parametrize(
    ("entry", "question"),
    [
        (example_entry, {}),
        pytest.param(example_entry, {"measure": "g2", "reference": "own"}, marks=pytest.mark.long),
        pytest.param(
            example_entry, {"measure": "cramers_v_corrected", "require": {"k": 5}, "limit": 1}, marks=pytest.mark.long
        ),
        pytest.param(
            example_entry, {"measure": "jensen_shannon", "reference": "own", "rounding_seed": 7}, marks=pytest.mark.long
        ),
        pytest.param(paired_entry, {"measure": "joint"}, marks=pytest.mark.long),
        (associated_entry, {"measure": "joint_interactions"}),
        (mixed_entry, {"kinds": ["masked", "generated"]}),
    ],
    ids=lambda given: getattr(given, "__name__", str(given)),
)
async def test_an_answer_that_is_computed_again_is_equal(api, worker, database_url, entry, question):
    advice_id = await answered(api, worker, entry(), **question)
    ((own,),) = rows(database_url, "SELECT id::text FROM advice")
    assert own != advice_id
    assert [await replayed(database_url, known) for known in (advice_id, own)] == [[], []]


async def test_a_changed_answer_is_found_by_its_places_without_its_numbers(api, worker, database_url):
    advice_id = await answered(api, worker)
    ((stored,),) = rows(database_url, "SELECT result FROM advice")
    changed = decompress(stored)
    changed["ranking"][0]["utility"] += 1e-15
    changed["considered"] = float(changed["considered"])
    changed["tied"].append("c99")
    changed["surprise"] = 4711
    del changed["unit"]
    execute(database_url, "UPDATE advice SET result = %s", compress(changed))
    places = ("/tied", "/considered", "/ranking/0/utility", "/surprise", "/unit")
    assert sorted(await replayed(database_url, advice_id)) == sorted(f"answer: {place}" for place in places)


async def test_a_changed_reference_is_found_though_the_answer_was_computed_from_it(api, worker, database_url):
    advice_id = await answered(api, worker)
    execute(database_url, "UPDATE reference SET residual = residual + 1e-12")
    (told,) = await replayed(database_url, advice_id)
    assert told == "reference of age: recomputed from the counts, it differs"
    execute(database_url, "UPDATE reference SET converged = false")
    (told,) = await replayed(database_url, advice_id)
    assert "AEGIS_RECONSTRUCTION_SECONDS" in told
    execute(database_url, "DELETE FROM reference")
    assert await replayed(database_url, advice_id) == ["reference of age: none is stored"]


async def test_changed_counts_are_found(api, worker, database_url):
    advice_id = await answered(api, worker)
    ((packed,),) = rows(database_url, "SELECT data FROM count_table WHERE kind = 'masked_joint'")
    counts = bytearray(zlib.decompress(packed))
    counts[0], counts[1] = counts[1] + 1, counts[0]
    execute(database_url, "UPDATE count_table SET data = %s WHERE kind = 'masked_joint'", zlib.compress(counts))
    told = await replayed(database_url, advice_id)
    assert any(line.startswith("reference of age") for line in told)
    assert any(line.startswith("answer: ") for line in told)


async def test_another_model_is_named(api, worker, database_url, monkeypatch):
    advice_id = await answered(api, worker)
    monkeypatch.setattr(replay, "MODEL_VERSION", "next")
    assert await replayed(database_url, advice_id) == [f"model version: stored {MODEL_VERSION}, computed next"]


async def test_a_policy_that_has_changed_is_noted(api, worker, database_url):
    advice_id = await answered(api, worker)
    assert list((await loaded_of(database_url, advice_id)).notes(NOTHING_REQUIRED)) == []
    async with tenants_of(database_url) as tenants:
        await tenants.set_policy("default", TenantPolicy(RequiredPrivacy(at_least={"k": 5.0})))
    loaded = await loaded_of(database_url, advice_id)
    (note,) = loaded.notes(NOTHING_REQUIRED)
    assert note == "policy: nothing was required then, k=5 is now; this answer uses the former"
    assert await replayed(database_url, advice_id) == []


async def test_what_cannot_be_replayed_is_refused(api, database_url):
    for unknown in ("nonsense", "00000000-0000-0000-0000-000000000000"):
        with pytest.raises(NotFoundError, match="There is no advice"):
            await loaded_of(database_url, unknown)
    head = await publish(api)
    waiting = await ask(api, head["id"])
    with pytest.raises(InvalidDocumentError, match="is queued"):
        await loaded_of(database_url, waiting.json()["id"])


DIFFERENCES = [
    ({"a": 0.0}, {"a": -0.0}, ["/a"]),
    ({"a": 1}, {"a": 1.0}, ["/a"]),
    ({"a": True}, {"a": 1}, ["/a"]),
    ({"a": 0.1 + 0.2}, {"a": 0.3}, ["/a"]),
    ({"a/b": {"~": [1, 2]}}, {"a/b": {"~": [1, 3]}}, ["/a~1b/~0/1"]),
    ({"a": [1]}, {"a": [1, 2]}, ["/a"]),
    ([], {}, [""]),
    ({"a": None}, {}, ["/a"]),
    ({"a": [{"b": 1}]}, {"a": [{"b": 1}]}, []),
]


@for_each(("stored", "computed", "places"), DIFFERENCES)
def test_differences_are_told_by_their_places(stored, computed, places):
    assert list(differing(orjson.loads(orjson.dumps(stored)), orjson.loads(orjson.dumps(computed)))) == places


@pytest.mark.long
async def test_the_exit_code_says_how_it_has_ended(api, worker, database_url, monkeypatch, capsys):
    advice_id = await answered(api, worker)
    monkeypatch.setenv("AEGIS_DATABASE_URL", database_url)

    async def run(known):
        monkeypatch.setattr(sys, "argv", ["aegis-server", "replay", known])
        with pytest.raises(SystemExit) as ended:
            await asyncio.to_thread(main)
        printed = capsys.readouterr()
        return ended.value.code, printed.out, printed.err

    assert await run(advice_id) == (0, "equal\n", "")
    assert await run("nonsense") == (2, "", "aegis-server: There is no advice nonsense.\n")
    execute(database_url, "UPDATE reference SET residual = residual + 1e-12")
    assert await run(advice_id) == (1, "reference of age: recomputed from the counts, it differs\n", "")
