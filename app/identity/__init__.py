"""Callers with a token of an identity provider (OpenID Connect), beside those with a key."""

from app.identity.from_settings import token_reader
from app.identity.issuer_keys import IssuerKeys
from app.identity.tokens import TokenReader
from app.identity.trust import Trust

__all__ = ["IssuerKeys", "TokenReader", "Trust", "token_reader"]
