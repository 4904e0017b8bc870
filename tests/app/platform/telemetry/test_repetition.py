"""What happens again and again is logged once a minute."""

import logging

import pytest

from app.platform.log import REMEMBERED, SECONDS, Unrepeated


@pytest.fixture
def said():
    """A function that logs a line at a time in seconds, and returns what is written of it."""
    now = [0.0]
    unrepeated = Unrepeated(lambda: now[0])

    def say(message, at, level=logging.WARNING, *arguments, error=None):
        record = logging.LogRecord("pool", level, __file__, 1, message, arguments, error and (type(error), error, None))
        now[0] = at
        if not unrepeated.filter(record):
            return None
        return record.msg if isinstance(record.msg, dict) else record.getMessage()

    return say


def test_a_line_is_written_once_a_minute_and_says_how_often_it_was_left_out(said):
    lines = [said("no %s", at, logging.WARNING, "database") for at in range(0, 122, 10)]
    again = "no database (left out 5 times)"
    assert lines == ["no database", *[None] * 5, again, *[None] * 5, again]


def test_events_are_the_same_whenever_they_are_said(said):
    event = {"event": "interrupted", "error": "OperationalError"}
    assert said(event | {"timestamp": "1"}, 0)
    assert said(event | {"timestamp": "2"}, 1) is None
    assert said(event | {"timestamp": "3", "error": "TimeoutError"}, 2)
    assert said(event | {"timestamp": "4"}, 60) == event | {"timestamp": "4", "left_out": 1}


def test_what_is_no_warning_is_always_written(said):
    assert [said("job ended", at, logging.INFO) for at in range(3)] == ["job ended"] * 3


def test_few_lines_are_remembered(said):
    assert all(said(f"line {number}", 0) for number in range(2 * REMEMBERED))
    assert said("line 0", 1) == "line 0"
    assert said("line 0", 2) is None


def test_another_exception_is_another_line(said):
    errors = [ZeroDivisionError(), ZeroDivisionError(), KeyError()]
    told = [said("Exception in ASGI application", at, error=error) for at, error in enumerate(errors)]
    assert told == ["Exception in ASGI application", None, "Exception in ASGI application"]


def test_an_exception_from_another_place_is_another_line(said):
    def raised(fails):
        try:
            fails()
        except ZeroDivisionError as error:
            return error

    def divide():
        return 1 // 0

    def remainder():
        return 1 % 0

    errors = [raised(divide), raised(remainder)]
    told = [said("failed", at, error=error) for at, error in enumerate([*errors, errors[0]])]
    assert told == ["failed", "failed", None]


def test_a_clock_that_is_set_back_hides_nothing():
    times = iter((0.0, SECONDS))
    unrepeated = Unrepeated(lambda: next(times))
    record = logging.LogRecord("pool", logging.WARNING, __file__, 1, "no database", (), None)
    assert unrepeated.filter(record)
    record.created -= 3600
    assert unrepeated.filter(record)
