import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.api.routers.advice import DEFAULT_WAIT, LONGEST_WAIT, wait_seconds


@pytest.mark.parametrize(
    ("prefer", "seconds"),
    [
        (None, 10),
        ("", 10),
        ("wait=3", 3),
        ("wait=0", 0),
        ("wait=60", 60),
        ("wait=61", 60),
        ("wait=999999999", 60),
        ("Wait=3", 3),
        (" wait = 3 ", 3),
        ('wait="3"', 3),
        ("return=minimal, wait=3", 3),
        ("wait=3; strict", 3),
        ("wait=3, wait=5", 3),
        ("respond-async", 0),
        ("Respond-Async", 0),
        ("respond-async, wait=5", 0),
        ("wait=5, respond-async", 0),
        ("return=minimal; foo, respond-async", 0),
        ("wait", 10),
        ("wait=", 10),
        ("wait=-1", 10),
        ("wait=1.5", 10),
        ("wait=soon", 10),
        ("wait=" + "9" * 5000, 10),
        ("awaits=3", 10),
        ("respond-asynchronously", 10),
        (";,;=,", 10),
    ],
)
def test_the_seconds_to_wait(prefer, seconds):
    assert wait_seconds(prefer) == seconds


@given(st.text(alphabet=st.characters(codec="latin-1")))
def test_whatever_is_preferred_there_is_an_answer(prefer):
    assert 0 <= wait_seconds(prefer) <= LONGEST_WAIT


@given(st.integers(0, 10**9 - 1))
def test_nobody_waits_longer_than_he_wants_or_than_a_minute(seconds):
    assert wait_seconds(f"wait={seconds}") == min(seconds, LONGEST_WAIT)
    assert wait_seconds(f"wait={seconds}, respond-async") == 0 < DEFAULT_WAIT
