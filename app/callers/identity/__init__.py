"""Callers with a token of an identity provider (OpenID Connect), beside those with a key, and how people get one."""

from app.callers.identity.code_flow import Answer, CodeFlow, draw_pending, path_of
from app.callers.identity.from_settings import CALLBACK_PATH, code_flow, token_reader
from app.callers.identity.issuer import IssuerKeys
from app.callers.identity.tokens import Holder, TokenReader, Trust

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
