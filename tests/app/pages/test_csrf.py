import base64

from hypothesis import example, given
from hypothesis import strategies as st

from app.pages.viewers import Viewer
from app.platform.callers import DEVELOPER, draw_session_token


def decoded(token):
    return base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))


def viewer(session):
    return Viewer(DEVELOPER, session)


def test_a_token_is_good_for_its_session_only():
    mine, other = viewer(draw_session_token()), viewer(draw_session_token())
    assert mine.has_sent(mine.csrf)
    assert not mine.has_sent(other.csrf)


def test_no_two_pages_have_anything_in_common():
    session = viewer(draw_session_token())
    tokens = [session.csrf for _ in range(100)]
    assert len(set(tokens)) == 100
    for place in range(64):  # none of the bytes is always the same
        assert len({decoded(token)[place] for token in tokens}) > 1
    assert all(map(session.has_sent, tokens))


def test_a_changed_token_is_refused():
    session = viewer(draw_session_token())
    content = decoded(session.csrf)
    for place in range(len(content)):
        changed = bytearray(content)
        changed[place] ^= 1
        assert not session.has_sent(base64.urlsafe_b64encode(changed).decode())


@given(st.text())
@example("")
@example("A" * 86)
@example("=" * 86)
@example("\ud800")
@example("ä" * 86)
def test_any_other_text_is_refused(text):
    assert not viewer("s" * 43).has_sent(text)
