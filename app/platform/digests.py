"""Digests besides the content digest: the keyed digest of an entry, and the digest of its terms."""

import hashlib
import hmac

import orjson


def keyed_digest(key: bytes, entry_id: str, digest: str) -> str:
    """HMAC-SHA-256 (RFC 2104) of an entry's id and content digest under this installation's key.

    The content digest could confirm a guess of the counts; this one confirms nothing without the key. It also covers
    the id, so another entry with the same content, published for comparison, has a different digest.
    """
    return f"hmac-sha256:{hmac.digest(key, f'{entry_id} {digest}'.encode(), 'sha256').hex()}"


def terms_digest(license_name: str, policy: bytes = b"null") -> str:
    """The digest of an entry's terms: SHA-256 of the RFC 8785 JSON of an object with its `license` and `terms`.

    Args:
        policy: the entry's `terms` as RFC 8785 JSON.
    """
    canonical = b'{"license":%b,"terms":%b}' % (orjson.dumps(license_name), policy)
    return f"sha256:{hashlib.sha256(canonical).hexdigest()}"
