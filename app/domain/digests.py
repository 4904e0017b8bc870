"""The digest that others than an entry's provider read."""

import hmac


def keyed_digest(key: bytes, entry_id: str, digest: str) -> str:
    """HMAC-SHA-256 (RFC 2104) of an entry's id and content digest under this installation's key.

    Whoever has guessed the counts could confirm the guess with the content digest; without the key, this one confirms
    nothing. With the id in it, an entry of the same content, published for comparison, has another one.
    """
    return f"hmac-sha256:{hmac.digest(key, f'{entry_id} {digest}'.encode(), 'sha256').hex()}"
