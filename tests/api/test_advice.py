import asyncio

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


async def test_who_waits_gets_the_answer_as_soon_as_it_is_there(api, worker):
    head = await publish(api)
    waiting = asyncio.create_task(ask(api, head["id"], prefer="wait=20"))
    working = asyncio.create_task(worker.queue.run_worker_async(install_signal_handlers=False))
    answer = await waiting
    working.cancel()
    await asyncio.gather(working, return_exceptions=True)
    assert answer.status_code == 200
    assert answer.json()["status"] == "succeeded"
