"""Tokens that prove that a form comes from a page of the same session (against cross-site request forgery)."""

import base64
import hmac
import secrets
from typing import Final

_BYTES: Final = 32


def csrf_token(session_token: str) -> str:
    """A token for one page: the session's secret, masked with a random pad, and the pad.

    It differs on every page, so that the length of compressed pages does not disclose it (BREACH).
    """
    pad = secrets.token_bytes(_BYTES)
    return base64.urlsafe_b64encode(pad + _xor(pad, _secret(session_token))).decode().rstrip("=")


def is_csrf_token(text: str, session_token: str) -> bool:
    """Whether a text is a token of this session, in constant time."""
    try:
        content = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except ValueError:
        return False
    return hmac.compare_digest(_xor(content[:_BYTES], content[_BYTES:]), _secret(session_token))


def _secret(session_token: str) -> bytes:
    """The secret of a session's form tokens, from which neither its own token nor the stored hash can be derived."""
    return hmac.digest(session_token.encode(), b"aegis csrf", "sha256")


def _xor(one: bytes, other: bytes) -> bytes:
    """Exclusive or, up to the shorter length."""
    return bytes(left ^ right for left, right in zip(one, other, strict=False))
