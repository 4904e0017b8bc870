"""Small bodies that ask for too much work, and attempts to undo, forge or bypass something."""

import json
import os
import pickle
import signal
import time
from dataclasses import replace
from math import isqrt

import numpy as np
import pytest

from aegis_advisor.errors import NoConfigurationError, NoEvidenceError, OwnReferenceError, UnknownMeasureError
from aegis_advisor.evidence import AttributeEvidence, Masking, PairCounts
from aegis_advisor.measures import MEASURES
from aegis_advisor.ranking import assess
from aegis_advisor.reconstruction import reconstruct
from aegis_sdk import wire
from app.advice.model import Status
from app.advice.store.advice import AdviceStore
from app.entries.api.uploads import published_entry, read_publication_in
from app.entries.service.checks import PAIR_CELLS, PAIRS, excess_work
from app.platform.errors import InterruptedWorkError
from app.platform.http.bodies import SMALL_BODY
from app.platform.process.child import ChildProcess
from app.platform.queue.model import Lane, Problem
from tests.service import ask, example_entry, publish


@pytest.mark.long
async def test_more_maskings_than_are_compared_are_refused(api):
    entry = example_entry()
    masking = entry["attributes"][0]["maskings"][0]
    entry["attributes"][0]["maskings"] = [masking | {"id": f"m{i}"} for i in range(2 * isqrt(PAIRS))]
    entry["configurations"] = [{"id": "c", "maskings": {"age": "m0"}}]
    answer = await api.post("/v1/entries", json=entry)
    assert answer.status_code == 422
    assert [fault["pointer"] for fault in answer.json()["errors"]] == ["/attributes"]


def test_more_pair_counts_than_are_loaded_are_refused():
    def entry(*pairs):
        document = published_entry(wire.EntryDocument.model_validate(example_entry()), example_entry())
        return replace(document, pairs=dict(enumerate(pairs)))

    small = PairCounts((0, 1), ("a", "b"), np.zeros((1, 1), dtype=np.int64))
    large = PairCounts((0, 1), ("a", "c"), np.broadcast_to(np.int64(0), (1, PAIR_CELLS)))
    assert not list(excess_work(entry(large)))
    [fault] = excess_work(entry(large, small))
    assert (fault.pointer, str(PAIR_CELLS + 1) in fault.detail) == ("/pairs", True)


async def test_a_table_that_no_worker_could_hold_is_refused(api):
    values, labels = 7_000, 3_000
    entry = example_entry(records=labels)
    entry["label"] = {"name": "class", "domain": [str(i) for i in range(labels)], "histogram": [1] * labels}
    texts = [str(i) for i in range(values)]
    masking = {"id": "fine", "domain": texts, "mapping": list(range(values))}
    entry["attributes"] = [{"name": "age", "type": "integer", "domain": texts, "maskings": [masking]}]
    entry["configurations"] = [{"id": "c", "maskings": {"age": "fine"}}]
    answer = await api.post("/v1/entries", json=entry)
    assert answer.status_code == 422
    assert "21000000 cells" in answer.json()["errors"][0]["detail"]
    coarse = masking | {"mapping": [0] * values}
    entry["attributes"][0]["maskings"] = [coarse]
    assert (await api.post("/v1/entries", json=entry)).status_code == 201


async def test_a_question_is_small(api):
    head = await publish(api)
    body = json.dumps({"measure": "g3", "attributes": ["age" + "x" * SMALL_BODY]})
    answer = await api.post(
        f"/v1/entries/{head['id']}/advice", content=body, headers={"Content-Type": "application/json"}
    )
    assert answer.status_code == 413


async def test_a_hundred_faults_of_a_question_are_enough(api):
    head = await publish(api)
    answer = await ask(api, head["id"], attributes=[f"unknown-{i}" for i in range(5_000)])
    assert answer.status_code == 422
    assert len(answer.json()["errors"]) == 100


async def test_an_answer_stays_whatever_a_late_job_says(api, worker, database):
    head = await publish(api)
    advice_id = (await ask(api, head["id"])).json()["id"]
    await worker.run()
    async with database.transaction() as session:
        await AdviceStore(session).mark(advice_id, Status.RUNNING)
        await AdviceStore(session).fail(advice_id, Problem("internal", "late"))
    answer = (await api.get(f"/v1/advice/{advice_id}")).json()
    assert (answer["status"], answer["configuration"]) == (Status.SUCCEEDED, "c01")


async def test_own_needs_nothing_of_what_has_no_weight(api, worker):
    entry = example_entry()
    uncounted = {"id": "age-2", "domain": ["a", "b"], "mapping": [0, 0, 0, 1, 1, 1, 1, 1]}
    entry["attributes"].append(entry["attributes"][0] | {"name": "other", "maskings": [uncounted]})
    for configuration in entry["configurations"]:
        configuration["maskings"]["other"] = "age-2"
    head = await publish(api, entry)
    assert (await ask(api, head["id"], reference="own")).status_code == 422
    asked = await ask(api, head["id"], reference="own", weights={"other": 0})
    await worker.run()
    assert (await api.get(asked.headers["Location"])).json()["status"] == "succeeded"


async def test_groups_without_records_are_no_evidence(api):
    entry = example_entry()
    masking = {"id": "age-2", "domain": ["all", "none"], "mapping": [0] * 8, "joint": [[15, 25, 30, 16, 14], [0] * 5]}
    entry["attributes"][0]["maskings"] = [masking]
    head = await publish(api, entry)
    answer = await ask(api, head["id"])
    assert (answer.status_code, answer.json()["code"]) == (422, "no_evidence")


@pytest.mark.parametrize(
    "error",
    [UnknownMeasureError("x"), NoConfigurationError(), NoEvidenceError("age"), OwnReferenceError("age", "age-2")],
    ids=lambda error: type(error).__name__,
)
def test_errors_survive_the_way_from_a_child_process(error):
    arrived = pickle.loads(pickle.dumps(error))
    assert (type(arrived), str(arrived), vars(arrived)) == (type(error), str(error), vars(error))


def test_unmasked_counts_are_the_truth_whatever_a_view_claims():
    joint = np.array([[30, 20], [20, 30]])
    forged = Masking("forged", 2, None, np.array([[50, 0], [0, 50]]), deterministic=True)
    evidence = AttributeEvidence("a", 2, np.array([50, 50]), None, joint, (forged,))
    information = MEASURES["mutual_information"]
    found = assess(evidence, reconstruct(evidence), information, ["forged", "drop"])
    assert found.reference_utility == pytest.approx(information(joint.astype(float)))
    assert found.maskings["drop"].deviation < found.maskings["forged"].deviation


async def test_explicit_nulls_are_part_of_what_was_published(api):
    entry = example_entry()
    entry["attributes"][0]["maskings"].append(
        {"id": "plain", "domain": ["a", "b"], "mapping": [0, 0, 0, 0, 1, 1, 1, 1], "joint": None}
    )
    entry["attributes"][0]["joint"] = None
    head = await publish(api, entry)
    stored = (await api.get(f"/v1/entries/{head['id']}/summaries")).json()
    assert stored == entry
    again = await api.put(f"/v1/entries/{head['id']}", json=stored, headers={"If-Match": "*"})
    assert again.json()["version"] == 1
    schema = (await api.get(f"/v1/entries/{head['id']}")).json()["schema"]
    named = {name for part in (schema["attributes"][0], *schema["attributes"][0]["maskings"]) for name in part}
    assert not named & {"histogram", "joint"}


async def test_a_check_that_takes_too_long_is_given_up():
    with pytest.raises(TimeoutError):
        await ChildProcess("time", deadline=0.5).run(time.sleep, 60)
    # A new process replaces the killed one, however long its start takes.
    assert await ChildProcess("time", deadline=60).run(os.getpid) != os.getpid()


async def test_an_upload_whose_child_dies_may_be_tried_again():
    with pytest.raises(InterruptedWorkError):
        await read_publication_in(dict.fromkeys(Lane, Dying("os", deadline=60)), "t", b"{}")


class Dying(ChildProcess):
    """A child that is killed while it works."""

    async def run(self, _function, *_given, **_options):
        return await super().run(os.kill, await super().run(os.getpid), signal.SIGKILL)
