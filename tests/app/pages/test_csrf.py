import base64

from hypothesis import example, given
from hypothesis import strategies as st

from app.pages.viewers import csrf_token, is_csrf_token
from app.platform.callers import draw_session_token


def decoded(token):
    return base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))


def test_a_token_is_good_for_its_session_only():
    mine, other = draw_session_token(), draw_session_token()
    assert is_csrf_token(csrf_token(mine), mine)
    assert not is_csrf_token(csrf_token(other), mine)


def test_no_two_pages_have_anything_in_common():
    session = draw_session_token()
    tokens = [csrf_token(session) for _ in range(100)]
    assert len(set(tokens)) == 100
    for place in range(64):  # none of the bytes is always the same
        assert len({decoded(token)[place] for token in tokens}) > 1
    assert all(is_csrf_token(token, session) for token in tokens)


def test_a_changed_token_is_refused():
    session = draw_session_token()
    content = decoded(csrf_token(session))
    for place in range(len(content)):
        changed = bytearray(content)
        changed[place] ^= 1
        assert not is_csrf_token(base64.urlsafe_b64encode(changed).decode(), session)


@given(st.text())
@example("")
@example("A" * 86)
@example("=" * 86)
@example("\ud800")
@example("ä" * 86)
def test_any_other_text_is_refused(text):
    assert not is_csrf_token(text, "s" * 43)
