"""Each refusal has its own error, only safe requests are repeated, and the key is never shown."""

import inspect
import time
import traceback

import httpx
import pytest

import aegis_sdk
from aegis_sdk import _errors, _sending
from aegis_sdk.wire import EXAMPLE_ENTRY, EXAMPLE_HEAD, EXAMPLE_PROBLEM
from tests.sdk.client.conftest import KEY

ERRORS = {
    400: aegis_sdk.BadRequestError,
    401: aegis_sdk.UnauthorizedError,
    403: aegis_sdk.ForbiddenError,
    404: aegis_sdk.NotFoundError,
    405: aegis_sdk.ProblemError,
    409: aegis_sdk.ConflictError,
    412: aegis_sdk.PreconditionFailedError,
    413: aegis_sdk.TooLargeError,
    422: aegis_sdk.InvalidError,
    428: aegis_sdk.PreconditionFailedError,
    500: aegis_sdk.ProblemError,
    503: aegis_sdk.UnavailableError,
}


def refusal(status, **fields):
    headers = {"Content-Type": "application/problem+json", "Retry-After": "0"}
    return httpx.Response(status, json=EXAMPLE_PROBLEM | {"status": status} | fields, headers=headers)


def test_a_problem_becomes_the_error_of_its_status(scripted):
    for status, kind in ERRORS.items():
        client, _ = scripted(refusal(status))
        with pytest.raises(aegis_sdk.ProblemError) as caught:
            client.publish(EXAMPLE_ENTRY)
        error = caught.value
        assert (type(error), error.status) == (kind, status)
        assert (error.code, error.detail) == (EXAMPLE_PROBLEM["code"], EXAMPLE_PROBLEM["detail"])
        assert [fault.pointer for fault in error.errors] == ["/attributes/0/joint/3/1"]
        assert EXAMPLE_PROBLEM["detail"] in str(error)


def test_a_conflict_names_the_entry_that_has_the_name(scripted):
    client, _ = scripted(refusal(409, entry=EXAMPLE_HEAD["id"]))
    with pytest.raises(aegis_sdk.ConflictError) as caught:
        client.publish(EXAMPLE_ENTRY)
    assert caught.value.entry == EXAMPLE_HEAD["id"]


@pytest.mark.parametrize("content", [b"<html>", b"[]", b'{"items": [{}]}', b""])
def test_an_answer_of_something_else_is_told(scripted, content):
    client, _ = scripted(httpx.Response(200, content=content))
    with pytest.raises(aegis_sdk.UnexpectedAnswerError, match="measures"):
        client.measures()


@pytest.mark.parametrize("content", [b"<html>", b"[]"])
def test_summaries_of_something_else_are_told(scripted, content):
    client, _ = scripted(httpx.Response(200, content=content))
    with pytest.raises(aegis_sdk.UnexpectedAnswerError, match="summaries"):
        client.summaries("x")


def test_an_entry_without_etag_cannot_be_updated(scripted):
    client, _ = scripted(httpx.Response(200, json=EXAMPLE_HEAD))
    with pytest.raises(aegis_sdk.UnexpectedAnswerError, match="ETag"):
        client.update("x", EXAMPLE_ENTRY)


def test_reads_are_tried_three_times(scripted):
    lost = httpx.ConnectError("connection refused")
    client, script = scripted(lost, httpx.ReadTimeout("timed out"), httpx.Response(200, json={"items": []}))
    assert client.measures() == []
    assert len(script.requests) == 3


def test_reads_are_not_tried_for_ever(scripted):
    client, script = scripted(httpx.ConnectError("connection refused"))
    with pytest.raises(aegis_sdk.ServiceUnreachableError, match=r"http://service\.test.*connection refused"):
        client.measures()
    assert len(script.requests) == 3


def test_changes_that_got_no_answer_are_not_repeated(scripted):
    client, script = scripted(httpx.ReadError("connection lost"))
    with pytest.raises(aegis_sdk.ServiceUnreachableError):
        client.set_visibility("x", "all")
    assert len(script.requests) == 1


def test_what_the_service_carries_out_once_is_repeated_with_the_same_key(scripted):
    client, script = scripted(httpx.ReadError("connection lost"), httpx.Response(201, json=EXAMPLE_HEAD))
    client.publish(EXAMPLE_ENTRY)
    client.publish(EXAMPLE_ENTRY)
    first, again, other = (request.headers["Idempotency-Key"] for request in script.requests)
    assert first == again != other
    assert len(first) == 36


@pytest.mark.parametrize(("status", "code"), [(409, "in_flight"), (429, "rate_exceeded")])
def test_what_is_soon_over_is_waited_for(scripted, status, code):
    client, script = scripted(refusal(status, code=code), httpx.Response(201, json=EXAMPLE_HEAD))
    assert client.publish(EXAMPLE_ENTRY).id == EXAMPLE_HEAD["id"]
    assert len(script.requests) == 2


def in_flight(retry_after="0"):
    answer = refusal(409, code="in_flight")
    answer.headers["Retry-After"] = retry_after
    return answer


def test_what_is_in_flight_is_waited_for_longer_than_it_is_retried(scripted, monkeypatch):
    monkeypatch.setattr(time, "sleep", [].append)
    client, script = scripted(httpx.ReadTimeout("slow"), *[in_flight()] * 9, httpx.Response(201, json=EXAMPLE_HEAD))
    assert client.publish(EXAMPLE_ENTRY).id == EXAMPLE_HEAD["id"]
    assert len({request.headers["Idempotency-Key"] for request in script.requests}) == 1


def test_the_time_before_a_request_is_in_flight_does_not_count(scripted):
    client, _ = scripted(
        httpx.ReadTimeout("slow"), *[in_flight()] * 2, httpx.Response(201, json=EXAMPLE_HEAD), timeout=1e-9
    )
    assert client.publish(EXAMPLE_ENTRY).id == EXAMPLE_HEAD["id"]


def test_what_is_in_flight_is_not_waited_for_for_ever(scripted, monkeypatch):
    pauses = []
    monkeypatch.setattr(_sending, "IN_FLIGHT_SECONDS", 0.05)
    monkeypatch.setattr(time, "sleep", pauses.append)
    client, script = scripted(in_flight("5"), timeout=1e-9)
    with pytest.raises(aegis_sdk.UnavailableError):
        client.publish(EXAMPLE_ENTRY)
    assert len(script.requests) == len(pauses) + 1
    assert max(pauses, default=0) <= 0.05


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (409, "name_taken", aegis_sdk.ConflictError),
        (429, "budget_spent", aegis_sdk.BudgetSpentError),
        (429, "quota_spent", aegis_sdk.LimitedError),
    ],
)
def test_what_lasts_is_not(scripted, status, code, kind):
    client, script = scripted(refusal(status, code=code))
    with pytest.raises(kind):
        client.publish(EXAMPLE_ENTRY)
    assert len(script.requests) == 1


def test_a_key_that_expires_soon_is_warned_of(scripted):
    answer = httpx.Response(200, json={"items": []}, headers={"Aegis-Key-Expires": "2026-12-01T10:20:30.5Z"})
    client, _ = scripted(answer)
    with pytest.warns(aegis_sdk.KeyExpiresWarning, match="expires at 2026-12-01T10:20Z") as told:
        client.measures()
    assert told[0].filename == __file__


def unavailable(**headers):
    problem = EXAMPLE_PROBLEM | {"status": 503}
    return httpx.Response(503, json=problem, headers={"Content-Type": "application/problem+json"} | headers)


def test_an_unavailable_service_that_says_when_is_asked_again(scripted):
    again = unavailable(**{"Retry-After": "0"})
    client, script = scripted(again, again, httpx.Response(201, json=EXAMPLE_HEAD))
    assert client.publish(EXAMPLE_ENTRY).id == EXAMPLE_HEAD["id"]
    assert [request.content for request in script.requests] == [script.requests[0].content] * 3


def test_an_unavailable_service_is_not_asked_for_ever(scripted):
    client, script = scripted(unavailable(**{"Retry-After": "0"}))
    with pytest.raises(aegis_sdk.UnavailableError):
        client.publish(EXAMPLE_ENTRY)
    assert len(script.requests) == 3


@pytest.mark.parametrize(
    "answer",
    [
        httpx.ConnectError("connection refused"),
        httpx.Response(401, json=EXAMPLE_PROBLEM),
        httpx.Response(200, content=b"<html>"),
    ],
)
def test_the_key_is_in_no_error_and_no_repr(scripted, answer):
    client, _ = scripted(answer)
    with pytest.raises(aegis_sdk.AegisError) as caught:
        client.measures()
    shown = "".join(traceback.format_exception(caught.value)) + repr(caught.value) + repr(vars(caught.value))
    assert KEY not in shown + repr(client)


def test_every_error_is_public_and_in_the_tree():
    errors = [kind for _, kind in inspect.getmembers(_errors, inspect.isclass) if issubclass(kind, Exception)]
    mine = [kind for kind in errors if kind.__module__ == _errors.__name__ and not issubclass(kind, Warning)]
    assert len(mine) == 20
    for kind in mine:
        assert issubclass(kind, aegis_sdk.AegisError)
        assert kind.__name__ in aegis_sdk.__all__
        assert kind.__name__ in _errors.__doc__
