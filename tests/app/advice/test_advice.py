import asyncio
import math

from tests.service import ask, publish


async def test_a_question_is_answered_once_a_worker_has_run(api, worker):
    head = await publish(api)
    queued = await ask(api, head["id"])
    assert queued.status_code == 202
    assert queued.headers["Location"] == f"/v1/advice/{queued.json()['id']}"
    assert queued.json()["status"] == "queued"
    assert queued.json()["configuration"] is None

    await worker.run()

    answer = (await api.get(queued.headers["Location"])).json()
    assert (answer["status"], answer["configuration"], answer["tied"]) == ("succeeded", "c01", ["c01"])
    assert answer["ranking_basis"] == "exact"
    assert answer["unit"] == "bit"
    assert answer["considered"] == 2
    assert (answer["indistinguishable"], answer["indistinguishable_count"]) == (["c01"], 1)
    best, second = answer["ranking"]
    assert best["difference_error"] == 0
    assert 0 < second["difference_error"] < second["deviation"]
    assert answer["attributes"][0]["maskings"]["age-2"]["standard_error"] == best["standard_error"] > 0


async def test_the_published_reference_tells_nothing_apart(api, worker):
    head = await publish(api)
    queued = await ask(api, head["id"], reference="own")
    await worker.run()
    answer = (await api.get(queued.headers["Location"])).json()
    assert answer["indistinguishable"] is answer["indistinguishable_count"] is None
    assert {row["difference_error"] for row in answer["ranking"]} == {None}


async def test_the_correction_of_bias_is_an_estimate(api, worker):
    head = await publish(api)
    queued = await ask(api, head["id"], bias_correction=True)
    await worker.run()
    answer = (await api.get(queued.headers["Location"])).json()
    masking = answer["attributes"][0]["maskings"]["age-2"]
    # The paper's table: 2 values, 5 labels, 100 records, of which the jackknife leaves out one after the other.
    rows, labels = (20, 80), (15, 25, 30, 16, 14)
    cells = (1, 7, 12, 15, 25, 29, 9, 2)
    bias = sum(map(left_out, (*rows, *labels))) - sum(map(left_out, (*cells, 100)))
    assert (answer["ranking_basis"], answer.get("problem")) == ("estimated", None)
    assert abs(masking["utility"] - 0.41764931 + bias / (100 * math.log(2))) < 1e-8
    assert masking["bias"] == 0


def left_out(count):
    return count * (count - 1) * math.log(count / (count - 1)) if count > 1 else 0


async def test_who_waits_gets_the_answer_as_soon_as_it_is_there(api, worker):
    head = await publish(api)
    waiting = asyncio.create_task(ask(api, head["id"], prefer="wait=20"))
    working = asyncio.create_task(worker.queue.run_worker_async(install_signal_handlers=False))
    answer = await waiting
    working.cancel()
    await asyncio.gather(working, return_exceptions=True)
    assert answer.status_code == 200
    assert answer.json()["status"] == "succeeded"
