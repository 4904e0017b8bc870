"""The digest that others than an entry's provider read."""

import hmac


def keyed_digest(key: bytes, digest: str) -> str:
    """HMAC-SHA-256 (RFC 2104) of a content digest under the key of this installation: `hmac-sha256:` and 64 digits.

    Whoever has guessed the counts could confirm it by the content digest; without the key, not by this one.
    """
    return f"hmac-sha256:{hmac.digest(key, digest.encode(), 'sha256').hex()}"
