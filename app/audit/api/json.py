"""The public keys of the audit log as the API and the console show them."""

from typing import Any

from app.audit.model import SigningKey
from app.platform.timestamps import timestamp


def public_key_body(key: SigningKey) -> dict[str, Any]:
    """A key as `wire.PublicKey`."""
    return {
        "kty": "OKP",
        "crv": "Ed25519",
        "alg": "EdDSA",
        "use": "sig",
        "kid": key.id,
        "x": key.public_key,
        "valid_from": timestamp(key.valid_from),
        "valid_until": None if key.valid_until is None else timestamp(key.valid_until),
    }
