"""Questions that were asked at another version of the service, whose model is another one."""

from aegis_advisor import MODEL_VERSION
from tests.app.worker.database import rows
from tests.app.worker.test_advice_jobs import answer_of
from tests.service import ask, publish


async def test_a_question_of_an_older_version_is_answered_by_the_model_that_there_is_and_says_so(
    api, worker, database_url
):
    asked = await ask(api, (await publish(api))["id"])
    older = "UPDATE advice SET model_version = 'older' RETURNING 1"
    assert rows(database_url, older) == [(1,)]
    await worker.run()
    answer = await answer_of(api, asked)
    assert (answer["status"], answer["model_version"]) == ("succeeded", MODEL_VERSION)


async def test_no_answer_says_that_another_model_made_it(api, worker, database_url):
    head = await publish(api)
    asked = await ask(api, head["id"])
    rows(database_url, "UPDATE advice SET model_version = 'older' RETURNING 1")
    again = await ask(api, head["id"])
    await worker.run()
    answers = [await answer_of(api, one) for one in (asked, again)]
    assert [(one["status"], one["model_version"]) for one in answers] == [
        ("failed", "older"),
        ("succeeded", MODEL_VERSION),
    ]
    assert answers[0]["problem"]["code"] == "superseded"


async def test_references_that_another_version_computes_keep_nobody_waiting(api, worker, database_url):
    head = await publish(api)
    claimed = (
        "UPDATE procrastinate_jobs SET status = 'doing', queueing_lock = replace(queueing_lock, %s, 'older') "
        "WHERE task_name = 'reference' RETURNING 1"
    )
    assert rows(database_url, claimed, MODEL_VERSION) == [(1,)]
    asked = await ask(api, head["id"])
    await worker.run()
    assert (await answer_of(api, asked))["status"] == "succeeded"
