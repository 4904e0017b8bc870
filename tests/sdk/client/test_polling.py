"""How long the client waits between two looks."""

from itertools import islice

import httpx

from aegis_sdk._polling import Deadline, growing, pause_before_retry


def test_the_service_says_how_long_but_not_too_long():
    pauses = {"0": 0, "2": 2, "3600": 5, "9" * 400: 5, "Wed, 21 Oct 2026 07:28:00 GMT": 0.5, "-1": 0.5, "²": 0.5}
    responses = {said: httpx.Response(503, headers=[(b"Retry-After", said.encode())]) for said in pauses}
    assert {said: pause_before_retry(response) for said, response in responses.items()} == pauses


def test_the_service_may_say_nothing():
    assert pause_before_retry(httpx.Response(503)) is None


def test_a_deadline_that_is_over_leaves_nothing():
    assert Deadline(0).left() == 0
    assert 0 < Deadline(60).left() <= 60


def test_pauses_grow_up_to_five_seconds():
    assert list(islice(growing(1.0), 6)) == [1.0, 1.5, 2.25, 3.375, 5.0, 5.0]
    assert next(growing(0.0)) > 0
