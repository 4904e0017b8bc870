"""The digest of an entry for callers who may not read its counts."""

import hmac


def keyed_digest(key: bytes, entry_id: str, digest: str) -> str:
    """HMAC-SHA-256 (RFC 2104) of an entry's id and content digest under this installation's key.

    Whoever has guessed the counts could confirm the guess with the content digest; without the key, this one confirms
    nothing. It also covers the id, so another entry with the same content, published for comparison, has a different
    digest.
    """
    return f"hmac-sha256:{hmac.digest(key, f'{entry_id} {digest}'.encode(), 'sha256').hex()}"
