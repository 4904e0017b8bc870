"""What is sent again, how often and after which pauses, over real connections."""

import time

import pytest

from aegis_sdk import Client, LimitedError, ServiceUnreachableError, SettingsError, UnavailableError
from aegis_sdk import UnexpectedAnswerError as Unexpected
from aegis_sdk.wire import EXAMPLE_ENTRY, EXAMPLE_HEAD
from tests.for_each import for_each
from tests.sdk.client.loopback import HANGS_UP, answering, document, page, problem

READ, PUBLISHED, CHANGED = document(200, {"items": []}), document(201, EXAMPLE_HEAD), document(200, EXAMPLE_HEAD)
BUSY = [problem(429, "rate_exceeded"), problem(503, "overloaded"), *map(page, (429, 502, 503, 504)), HANGS_UP]


@pytest.fixture(scope="module")
def server():
    with answering(READ) as server:
        yield server


@pytest.fixture
def pauses(server, monkeypatch):
    """What the client would wait; the server forgets what it was asked."""
    waited = []
    monkeypatch.setattr(time, "sleep", waited.append)
    server.asked.clear()
    return waited


def given(server, *answers, **settings):
    server.answers = [*answers]
    return Client(server.url, **settings)


@for_each("busy", BUSY)
def test_reads_and_keyed_posts_are_sent_again(server, pauses, busy):
    server.asked.clear()
    pauses.clear()
    with given(server, busy, busy, READ, busy, busy, PUBLISHED) as client:
        assert client.measures() == []
        assert client.publish(EXAMPLE_ENTRY).id == EXAMPLE_HEAD["id"]
    assert [one.method for one in server.asked] == ["GET"] * 3 + ["POST"] * 3
    assert len({one.headers["Idempotency-Key"] for one in server.asked[3:]}) == 1
    assert len({one.body for one in server.asked[3:]}) == 1
    assert all(0 < pause <= 0.4 for pause in pauses)


@for_each("busy", BUSY[1:])
def test_other_changes_are_not(server, pauses, busy):
    with given(server, busy, CHANGED) as client:
        for change in (
            lambda: client.set_visibility("x", "all"),
            lambda: client.update("x", EXAMPLE_ENTRY, if_match='"1"'),
            lambda: client.delete("x"),
        ):
            server.answers, asked = [busy, CHANGED], len(server.asked)
            with pytest.raises((UnavailableError, ServiceUnreachableError, Unexpected)):
                change()
            assert len(server.asked) == asked + 1
    assert not pauses


def test_what_was_only_too_fast_is_whatever_it_is(server, pauses):
    with given(server, problem(429, "rate_exceeded", Retry_After="3"), CHANGED) as client:
        assert client.set_visibility("x", "all").id == EXAMPLE_HEAD["id"]
    assert pauses == [3]


@for_each("code", ["quota_spent", "budget_spent", "too_many_guesses"])
def test_a_limit_that_lasts_is_not_waited_for(server, pauses, code):
    server.asked.clear()
    with given(server, problem(429, code, Retry_After="0")) as client, pytest.raises(LimitedError):
        client.measures()
    assert (len(server.asked), pauses) == (1, [])


@for_each(
    ("retries", "busy", "error"),
    [(0, BUSY[3], Unexpected), (1, HANGS_UP, ServiceUnreachableError), (4, BUSY[1], UnavailableError)],
)
def test_as_often_as_the_client_is_told(server, pauses, retries, busy, error):
    server.asked.clear()
    pauses.clear()
    with given(server, busy, retries=retries) as client, pytest.raises(error):
        client.measures()
    assert len(server.asked) == retries + 1 == len(pauses) + 1


def test_fewer_times_than_none_are_refused():
    with pytest.raises(SettingsError, match="-1"):
        Client(retries=-1)


def test_pauses_double_and_a_random_share_is_left_out(server, pauses):
    with given(server, page(502), retries=9) as client, pytest.raises(Unexpected):
        client.measures()
    upper = [min(10.0, 0.2 * 2**turn) for turn in range(9)]
    assert all(limit / 2 <= pause <= limit for pause, limit in zip(pauses, upper, strict=True))
    shares = {round(pause / limit, 6) for pause, limit in zip(pauses, upper, strict=True)}
    assert len(shares) > 1


def test_the_server_says_when_in_seconds_or_by_a_date_but_not_for_ever(server, pauses):
    at = {"Retry_After": "Wed, 21 Oct 2026 07:28:07 GMT", "Date": "Wed, 21 Oct 2026 07:28:00 GMT"}
    with given(
        server, page(503, Retry_After="2"), page(503, Retry_After="3600"), page(504, **at), READ, retries=3
    ) as client:
        client.measures()
    assert pauses == [2, 30, 7]


def test_all_pauses_together_take_no_longer_than_the_timeout(server, pauses):
    with given(server, page(503, Retry_After="20"), retries=9, timeout=50) as client, pytest.raises(Unexpected):
        client.measures()
    assert pauses == [20, 20, 10]
    assert len(server.asked) == 4


def test_a_server_that_is_not_there_is_tried_again(pauses):
    with answering(READ) as gone:
        url = gone.url
    with Client(url, retries=3) as client, pytest.raises(ServiceUnreachableError):
        client.measures()
    assert len(pauses) == 3
