from hypothesis import given
from hypothesis import strategies as st

from app.platform.http.negotiation import DEFAULT_WAIT, LONGEST_WAIT, waiting
from tests.service import ask, example_entry, publish

SECONDS = [
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
]


def test_the_seconds_to_wait():
    assert [(prefer, waiting(prefer).seconds) for prefer, _ in SECONDS] == SECONDS


@given(st.text(alphabet=st.characters(codec="latin-1")))
def test_whatever_is_preferred_there_is_an_answer(prefer):
    assert 0 <= waiting(prefer).seconds <= LONGEST_WAIT


@given(st.integers(0, 10**9 - 1))
def test_nobody_waits_longer_than_he_wants_or_than_a_minute(seconds):
    assert waiting(f"wait={seconds}").seconds == min(seconds, LONGEST_WAIT)
    assert waiting(f"wait={seconds}, respond-async").seconds == 0 < DEFAULT_WAIT


HONOURED = [
    ("respond-async", "respond-async", None),
    ("respond-async, wait=5", "respond-async", None),
    ("wait=0", "wait=0", "wait=0"),
    ("wait=300", "wait=60", "wait=60"),
    ("return=minimal", None, None),
    ("wait=soon", None, None),
    (None, None, None),
]


def test_what_was_preferred_is_said_if_it_was_honoured():
    def said(prefer):
        wait = waiting(prefer)
        return [wait.headers(is_answered=answered).get("Preference-Applied") for answered in (False, True)]

    assert [(prefer, *said(prefer)) for prefer, *_ in HONOURED] == HONOURED


async def test_an_answer_says_which_preference_was_honoured(api, worker):
    head = await publish(api, example_entry())
    for prefer in ("respond-async", "wait=0"):
        queued = await ask(api, head["id"], prefer)
        assert (queued.status_code, queued.headers["Preference-Applied"]) == (202, prefer)
    await worker.run()
    answered = [await ask(api, head["id"], prefer) for prefer in ("respond-async", "wait=1")]
    assert [answer.status_code for answer in answered] == [200, 200]
    assert [answer.headers.get("Preference-Applied") for answer in answered] == [None, "wait=1"]
