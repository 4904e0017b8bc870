"""Callers with a token of an identity provider (OpenID Connect), beside those with a key, and how people get one."""

from app.callers.identity.code_flow import (
    CALLBACK_PATH,
    Answer,
    CodeFlow,
    code_flow,
    draw_pending,
    path_of,
    token_reader,
)
from app.callers.identity.tokens import Holder, IssuerKeys, TokenReader, Trust

__all__ = [
    "CALLBACK_PATH",
    "Answer",
    "CodeFlow",
    "Holder",
    "IssuerKeys",
    "TokenReader",
    "Trust",
    "code_flow",
    "draw_pending",
    "path_of",
    "token_reader",
]
