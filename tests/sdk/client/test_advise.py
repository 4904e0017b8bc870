"""Asking for advice, and waiting for it."""

import httpx
import pytest

from aegis_sdk import Advice, AdviceFailedError, AdviceTimeoutError, UnexpectedAnswerError
from aegis_sdk.wire import EXAMPLE_ADVICE, EXAMPLE_ADVICE_REQUEST, EXAMPLE_PROBLEM

ADVICE = Advice.model_validate(EXAMPLE_ADVICE)
RESULTS = ("configuration", "deviation", "tied", "considered", "ranking", "attributes", "unit")
UNFINISHED = {name: value for name, value in EXAMPLE_ADVICE.items() if name not in RESULTS}


def succeeded():
    return httpx.Response(200, json=EXAMPLE_ADVICE)


def state(status, **fields):
    return httpx.Response(200, json=UNFINISHED | {"status": status} | fields)


def accepted(location=f"/v1/advice/{ADVICE.id}"):
    headers = {"Retry-After": "0"} | ({"Location": location} if location else {})
    return httpx.Response(202, headers=headers)


def lines(script):
    return [f"{request.method} {request.url.path}" for request in script.requests]


def test_a_question_is_sent_with_its_defaults(scripted):
    client, script = scripted(succeeded())
    assert client.advise("e1", "mutual_information", require={"k": 5}) == ADVICE
    assert lines(script) == ["POST /v1/entries/e1/advice"]
    assert script.body() == EXAMPLE_ADVICE_REQUEST
    assert script.requests[0].headers["Prefer"] == "wait=10"


def test_kinds_and_labels_are_sent_where_they_are_named(scripted):
    client, script = scripted(succeeded())
    client.advise("e1", "mutual_information", require={"k": 5}, kinds=("masked", "generated"), label="smoker")
    assert script.body() == EXAMPLE_ADVICE_REQUEST | {"kinds": ["masked", "generated"], "label": "smoker"}


def test_a_question_is_sent_in_full(scripted):
    client, script = scripted(succeeded())
    client.advise(
        "e1",
        "g3",
        version=2,
        attributes=("age", "zip"),
        weights={"age": 2},
        reference="own",
        rounding_seed=7,
        limit=None,
        wait=3.5,
    )
    assert script.body() == {
        "measure": "g3",
        "attributes": ["age", "zip"],
        "weights": {"age": 2},
        "require": None,
        "reference": "own",
        "rounding_seed": 7,
        "limit": None,
        "bias_correction": None,
    }
    assert dict(script.requests[0].url.params) == {"version": "2"}
    assert script.requests[0].headers["Prefer"] == "wait=3"


def test_the_connection_outlasts_the_wait_that_was_asked_for(scripted):
    client, script = scripted(succeeded())
    client.advise("e1", "g3")
    assert script.requests[0].extensions["timeout"]["read"] == 70


def test_an_accepted_question_is_followed_until_it_has_succeeded(scripted):
    client, script = scripted(accepted(), state("queued"), state("running"), state("resting"), succeeded())
    seen = []
    assert client.advise("e1", "g3", on_progress=lambda advice: seen.append(advice.status)) == ADVICE
    assert lines(script) == ["POST /v1/entries/e1/advice", *[f"GET /v1/advice/{ADVICE.id}"] * 4]
    assert seen == ["queued", "running", "resting"]


def test_the_key_does_not_follow_a_location_elsewhere(scripted):
    client, script = scripted(accepted(f"https://elsewhere.test/v1/advice/{ADVICE.id}"), succeeded())
    assert client.advise("e1", "g3") == ADVICE
    assert {request.url.host for request in script.requests} == {"service.test"}


@pytest.mark.parametrize("location", [None, "/", "http://["])
def test_an_accepted_question_needs_a_location_with_an_id(scripted, location):
    client, _ = scripted(accepted(location))
    with pytest.raises(UnexpectedAnswerError):
        client.advise("e1", "g3")


@pytest.mark.parametrize("wait", [0, 0.1, -1])
def test_without_time_to_wait_the_question_is_only_asked(scripted, wait):
    client, script = scripted(accepted(), state("queued"))
    with pytest.raises(AdviceTimeoutError) as caught:
        client.advise("e1", "g3", wait=wait)
    assert caught.value.advice_id == ADVICE.id
    assert script.requests[0].headers["Prefer"] == "respond-async"


def test_the_wait_ends(scripted):
    client, script = scripted(accepted(), state("running"))
    with pytest.raises(AdviceTimeoutError, match=ADVICE.id):
        client.advise("e1", "g3", wait=0.1)
    assert len(script.requests) >= 3


@pytest.mark.parametrize("first", [None, accepted()])
def test_a_failed_advice_says_why(scripted, first):
    failed = state("failed", problem=EXAMPLE_PROBLEM | {"detail": "no evidence of age"})
    client, _ = scripted(*([first] if first else []), failed)
    with pytest.raises(AdviceFailedError, match="no evidence of age") as caught:
        client.advise("e1", "g3")
    assert caught.value.advice.status == "failed"


def test_a_failed_advice_may_say_nothing(scripted):
    client, _ = scripted(state("failed"))
    with pytest.raises(AdviceFailedError, match="no reason given"):
        client.advise("e1", "g3")


def test_an_advice_is_read_as_it_is(scripted):
    client, script = scripted(state("running"))
    assert client.advice("a/b").status == "running"
    assert script.requests[0].url.raw_path == b"/v1/advice/a%2Fb"
