"""How long the client waits between two looks."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from itertools import islice

import httpx

from aegis_sdk._sending import TimeLimit, growing, pause_before_retry, retry_after
from tests.for_each import for_each


def test_the_service_says_how_long_but_not_too_long():
    at, before = "Wed, 21 Oct 2026 07:28:00 GMT", "Wed, 21 Oct 2026 07:27:58 GMT"
    pauses = {
        "0": 0,
        "2": 2,
        "3600": 5,
        "9" * 400: 5,
        at: 2,
        "Wed, 21 Oct 2026 07:00:00 GMT": 0,
        "Mon, 21 Oct 2030 07:28:00 GMT": 5,
    }
    headers = {said: [(b"Retry-After", said.encode()), (b"Date", before.encode())] for said in pauses}
    assert {said: pause_before_retry(httpx.Response(503, headers=headers[said])) for said in pauses} == pauses


def test_a_date_is_compared_with_the_own_clock_where_the_answer_has_none():
    soon = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    assert 3000 < retry_after(httpx.Response(503, headers={"Retry-After": soon})) <= 3600


@for_each("said", [None, "", "-1", "1.5", "²", "soon", "Wed, 99 Oct 2026 07:28:00 GMT"])
def test_the_service_may_say_nothing(said):
    headers = [] if said is None else [(b"Retry-After", said.encode())]
    assert pause_before_retry(httpx.Response(503, headers=headers)) is None


def test_a_deadline_that_is_over_leaves_nothing():
    assert TimeLimit(0).left() == 0
    assert 0 < TimeLimit(60).left() <= 60


def test_pauses_grow_up_to_five_seconds():
    assert list(islice(growing(1.0), 6)) == [1.0, 1.5, 2.25, 3.375, 5.0, 5.0]
    assert next(growing(0.0)) > 0
