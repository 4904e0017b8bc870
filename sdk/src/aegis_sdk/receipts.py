"""Verifies receipts and signed heads of the audit log offline, by the service's public keys.

claims = check_receipt(Path("receipt.jws").read_text(), keys)

Signatures need the library cryptography: install the extra `receipts` of this distribution.
"""

import base64
import binascii
import json
from collections.abc import Iterable
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from aegis_sdk._errors import AegisError
from aegis_sdk.programs import how_to_install
from aegis_sdk.wire import PublicKey, PublicKeySet, ReceiptClaims

__all__ = [
    "HEAD",
    "RECEIPT",
    "ReceiptError",
    "check_receipt",
    "checked_claims",
    "content_of",
    "jws_of",
    "keys_in",
    "thumbprint",
]

HEAD, RECEIPT = "aegis-audit-head", "aegis-receipt"
"""The kind of the signed object: the header `typ`."""

INSTALL: Final = how_to_install("aegis-masking[receipts]")
"""The command that installs the library for signatures."""

_PARTS: Final = 3
_LONGEST: Final = 10_000_000
_LONGEST_SHOWN: Final = 60


class ReceiptError(AegisError):
    """Not a valid receipt of the service, or not about the given file."""


def check_receipt(
    receipt: str | bytes, keys: PublicKeySet | Iterable[PublicKey], file_sha256: str | None = None
) -> ReceiptClaims:
    """Verify a receipt, and return its claims.

    Args:
        receipt: The receipt: a JWS in the compact form, or the service's response, which contains one.
        keys: The service's public keys, from a source that you trust.
        file_sha256: SHA-256 of your file, which must be the delivered one.

    Raises:
        ReceiptError: It was changed, is signed by another key, is not a receipt, or is about another file.
    """
    try:
        claims = ReceiptClaims.model_validate(checked_claims(receipt, keys, RECEIPT))
    except ValidationError as error:
        raise ReceiptError(f"this receipt cannot be understood: {error.errors()[0]['msg']}") from None
    if file_sha256 is not None and claims.file_sha256 is None:
        raise ReceiptError("the receipt has no file: nothing was delivered when it was signed")
    if file_sha256 is not None and claims.file_sha256 != file_sha256:
        raise ReceiptError(f"this is not the delivered file: its SHA-256 is {file_sha256}, not {claims.file_sha256}")
    return claims


def checked_claims(signed: str | bytes, keys: PublicKeySet | Iterable[PublicKey], kind: str) -> dict[str, Any]:
    """The claims of an object signed by one of the keys during its validity; `kind` is `HEAD` or `RECEIPT`.

    Raises:
        ReceiptError: The signature is invalid, or of another kind.
    """
    parts = jws_of(signed).split(".")
    if len(parts) != _PARTS:
        raise ReceiptError("not a JSON Web Signature in the compact form")
    header, claims = (_object(part) for part in parts[:2])
    if header.get("alg") != "EdDSA" or header.get("typ") != kind or not header.keys() <= {"alg", "kid", "typ"}:
        raise ReceiptError(f"not of type {kind}, signed by EdDSA")
    listed = keys.keys if isinstance(keys, PublicKeySet) else keys
    key = next((one for one in listed if one.kid == header.get("kid")), None)
    if key is None:
        raise ReceiptError(f"signed by a key that is not among the given ones: {_cut(header.get('kid'))}")
    _verify(key, f"{parts[0]}.{parts[1]}", parts[2])
    _refuse_outside(key, claims)
    return claims


def content_of(path: Path) -> bytes:
    """Read a file of keys or a receipt, but only the beginning of one that is too long."""
    with path.open("rb") as file:
        return file.read(_LONGEST + 1)


def keys_in(content: str | bytes) -> PublicKeySet:
    """The public keys in a JWK Set, like the service's at `/.well-known/aegis-keys.json`.

    Raises:
        ReceiptError: Not a JWK Set.
    """
    try:
        return PublicKeySet.model_validate_json(content)
    except ValidationError as error:
        raise ReceiptError(f"not a set of public keys: {error.errors()[0]['msg']}") from None


def thumbprint(x: str) -> str:
    """The id of a public key (RFC 7638), from its bytes in base64url."""
    members = {"crv": "Ed25519", "kty": "OKP", "x": x}
    return _encoded(sha256(json.dumps(members, separators=(",", ":")).encode()).digest())


def jws_of(signed: str | bytes) -> str:
    """The JWS in a text: the whole text, or the member `jws` of a JSON object.

    Raises:
        ReceiptError: The text has none.
    """
    if len(signed) > _LONGEST:
        raise ReceiptError("this is too long for a receipt")
    try:
        text = (signed if isinstance(signed, str) else signed.decode()).strip()
        return str(json.loads(text)["jws"]) if text.startswith("{") else text
    except (ValueError, KeyError, RecursionError):
        raise ReceiptError("not a receipt: neither a JSON Web Signature nor JSON with one") from None


def _object(part: str) -> dict[str, Any]:
    try:
        value = json.loads(_decoded(part))
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise ReceiptError("a part of this JSON Web Signature is not a JSON object")
    return value


def _verify(key: PublicKey, signed: str, signature: str) -> None:
    try:
        from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - an extra
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415 - an extra
    except ImportError:
        raise ReceiptError(f"checking signatures needs the library cryptography: {INSTALL}") from None
    if (key.kty, key.crv) != ("OKP", "Ed25519") or thumbprint(key.x) != key.kid:
        raise ReceiptError(f"the given key {_cut(key.kid)} is not an Ed25519 key, or its id is not its thumbprint")
    try:
        Ed25519PublicKey.from_public_bytes(_decoded(key.x)).verify(_decoded(signature), signed.encode())
    except (InvalidSignature, ValueError):
        raise ReceiptError("the signature is invalid: the content was changed, or signed with another key") from None


def _refuse_outside(key: PublicKey, claims: dict[str, Any]) -> None:
    """Refuse a signature from before or after the key's use."""
    try:
        signed_at = datetime.fromisoformat(claims["signed_at"])
        is_inside = key.valid_from <= signed_at and (key.valid_until is None or signed_at < key.valid_until)
    except (KeyError, TypeError, ValueError):
        raise ReceiptError("it has no time of signature") from None
    if not is_inside:
        raise ReceiptError(f"it was signed on {signed_at:%Y-%m-%d}, when its key was not in use")


def _decoded(text: str) -> bytes:
    """Decode base64url without padding; only the canonical form is accepted."""
    try:
        content = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        content = b""
    if _encoded(content) != text:
        raise ValueError(text[:_LONGEST_SHOWN])
    return content


def _encoded(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def _cut(value: object) -> str:
    return str(value)[:_LONGEST_SHOWN]
