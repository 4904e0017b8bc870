"""Signatures by Ed25519: JSON Web Signatures in the compact form (RFC 7515) with keys of RFC 8037."""

import base64
import binascii
import re
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import rfc8785
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from pydantic import SecretStr

#: What is signed, as the header `typ` says it: one can never be taken for the other. The SDK has these and the
#: thumbprint, too (`aegis_sdk.receipts`): neither imports the other.
HEAD, RECEIPT = "aegis-audit-head", "aegis-receipt"

#: Base64url differs from base64 in two signs.
_AS_BASE64: Final = str.maketrans("-_", "+/")


class Signer:
    """Signs with a private key, whose public key has the id `key_id`."""

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key
        self.public_key = encoded(key.public_key().public_bytes_raw())
        self.key_id = thumbprint(self.public_key)

    def sign(self, kind: str, claims: Mapping[str, Any]) -> str:
        """A JWS of the claims, as RFC 8785 JSON."""
        header = {"alg": "EdDSA", "kid": self.key_id, "typ": kind}
        signed = ".".join(encoded(rfc8785.dumps(dict(part))) for part in (header, claims))
        return f"{signed}.{encoded(self._key.sign(signed.encode()))}"


def signer_of(text: SecretStr | None, file: Path | None = None) -> Signer | None:
    """The signer of a key, or of the one in a file; None if there is neither.

    Raises:
        ValueError: it is no key, or the file cannot be read.
    """
    if text is not None:
        return Signer(_key_in(text.get_secret_value(), "the audit key"))
    if file is None:
        return None
    try:
        return Signer(_key_in(file.read_text(encoding="utf-8"), f"what is in {file}"))
    except (OSError, UnicodeDecodeError) as error:
        message = f"the audit key cannot be read from {file}: {getattr(error, 'strerror', None) or 'no UTF-8'}"
        raise ValueError(message) from None


def draw_key_text() -> str:
    """A new private key as PEM."""
    key = Ed25519PrivateKey.generate()
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def thumbprint(public_key: str) -> str:
    """The id of a public key: its thumbprint by RFC 7638 and RFC 8037, appendix A.3."""
    return encoded(sha256(rfc8785.dumps({"crv": "Ed25519", "kty": "OKP", "x": public_key})).digest())


def encoded(content: bytes) -> str:
    """Base64url without padding."""
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def _key_in(text: str, what: str) -> Ed25519PrivateKey:
    """The key in a text. The error does not quote it: it may be a secret with a typing error in it."""
    text = text.strip()
    try:
        key = load_pem_private_key(text.encode(), None) if text.startswith("-----BEGIN") else _raw(text)
    except (ValueError, TypeError, binascii.Error, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        message = f"{what} is no private key of Ed25519: give PEM, or its 32 bytes as base64 or 64 hexadecimal digits"
        raise ValueError(message)  # noqa: TRY004 -- the value of a setting is wrong
    return key


def _raw(text: str) -> Ed25519PrivateKey:
    if re.fullmatch(r"[0-9A-Fa-f]{64}", text):
        return Ed25519PrivateKey.from_private_bytes(bytes.fromhex(text))
    padded = text.rstrip("=") + "=" * (-len(text.rstrip("=")) % 4)
    return Ed25519PrivateKey.from_private_bytes(base64.b64decode(padded.translate(_AS_BASE64), validate=True))
