"""The audit log, receipts, and the public keys that verify both."""

from typing import Any, Final

from pydantic import ConfigDict, Field

from aegis_sdk.wire.catalogue import EntryVersion
from aegis_sdk.wire.documents import Answer, Uuid
from aegis_sdk.wire.examples import EXAMPLE_HEAD
from aegis_sdk.wire.values import UtcTime

_REQUEST_ID: Final = "5c1e97f3-7d60-4a51-8a51-3f0f9a6a2b11"
_HASH: Final = "5e11d74a3fc4b10f0d8f2a2b7c1de4f0a6b3a0f6cf0a3c2ea9b37c1d2e3f4a5b"
_KEYED: Final = "hmac-sha256:0f7c3f2d9c1b5a6e8d4f7a2b3c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f"

_EXAMPLE_RECORD: Final[dict[str, Any]] = {
    "action": "request.approve",
    "at": "2026-03-01T12:00:00.000000Z",
    "configuration": "c17",
    "digest": EXAMPLE_HEAD["digest"],
    "entry": EXAMPLE_HEAD["id"],
    "hash": _HASH,
    "previous": "0" * 64,
    "request": _REQUEST_ID,
    "salt": "1d3b4fd2-91c0-4b1f-9d5e-0a4f5d2f7d11",
    "sequence": 1,
    "side": "provider",
    "state": "approved",
    "subject": "aegis_30a4a6be",
    "tenant": "hospital",
    "terms": EXAMPLE_HEAD["terms"],
    "version": 1,
}

_EXAMPLE_SIGNED: Final[dict[str, Any]] = {
    "sequence": 1,
    "kid": "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k",
    "signed_at": "2026-03-01T12:00:00.000000Z",
    "jws": "eyJhbGciOiJFZERTQSJ9.eyJzZXF1ZW5jZSI6MX0.c2lnbmF0dXJl",
}

_EXAMPLE_CLAIMS: Final[dict[str, Any]] = {
    "request": _REQUEST_ID,
    "state": "approved",
    "provider": "hospital",
    "consumer": "insurer",
    "entry": {"id": EXAMPLE_HEAD["id"], "version": 1, "digest": _KEYED},
    "terms": EXAMPLE_HEAD["terms"],
    "configuration": "c17",
    "file_sha256": None,
    "changes": [
        {
            "at": "2026-03-01T12:00:00.000000Z",
            "action": "approve",
            "state": "approved",
            "side": "provider",
            "tenant": "hospital",
            "configuration": None,
        }
    ],
    "audit": {"sequence": 1, "hash": _HASH},
    "signed_at": "2026-03-01T12:00:01.000000Z",
}

_EXAMPLE_RECEIPT: Final[dict[str, Any]] = {"claims": _EXAMPLE_CLAIMS, "jws": _EXAMPLE_SIGNED["jws"]}

_EXAMPLE_KEY: Final[dict[str, Any]] = {
    "kty": "OKP",
    "crv": "Ed25519",
    "alg": "EdDSA",
    "use": "sig",
    "kid": _EXAMPLE_SIGNED["kid"],
    "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
    "valid_from": "2026-03-01T00:00:00Z",
    "valid_until": None,
}


class AuditRecord(Answer):
    """One action. Members without a value are omitted, because the hash covers only those that are present."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE_RECORD]})

    sequence: int = Field(description="Sequence number, from 1 without gaps")
    at: UtcTime = Field(description="Time (RFC 3339, UTC)")
    action: str = Field(description="The action, such as `entry.publish` or `request.approve`")
    tenant: str | None = Field(default=None, description="Tenant of the actor; missing: the service")
    subject: str | None = Field(
        default=None,
        description="The actor: the prefix of a key, or the subject of a token; missing: the service",
    )
    side: str | None = Field(default=None, description="The side on whose behalf a data request was changed")
    entry: Uuid | None = Field(default=None, description="Id of the entry")
    version: int | None = Field(default=None, description="Number of the entry's version")
    digest: str | None = Field(default=None, description="SHA-256 of this version's content")
    terms: str | None = Field(default=None, description="Digest of its terms")
    request: Uuid | None = Field(default=None, description="Id of the data request")
    state: str | None = Field(default=None, description="State of the request after the action")
    configuration: str | None = Field(default=None, description="Configuration offered or agreed upon")
    file_sha256: str | None = Field(default=None, description="SHA-256 of the delivered file")
    target: str | None = Field(
        default=None, description="Another object of the action: the prefix of an API key, an id, a tenant"
    )
    value: str | None = Field(default=None, description="The new value: a role, an audience, a policy, a verdict")
    salt: str = Field(description="Random salt, so that the hash confirms no guess of the record's content")
    previous: str = Field(description="Hash of the previous record; 64 zeros for the first one")
    hash: str = Field(description="SHA-256 of the record without `hash`, as RFC 8785 JSON")


class AuditPage(Answer):
    """A page of the audit log, newest first."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"items": [_EXAMPLE_RECORD], "next_page_token": None}]})

    items: list[AuditRecord] = Field(description="The records")
    next_page_token: str | None = Field(default=None, description="Token for the next page; null on the last page")


class SignedHead(Answer):
    """The last record of the audit log at a point in time. Only `jws` is signed; it contains the other fields."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE_SIGNED]})

    sequence: int = Field(description="Number of the last record")
    kid: str = Field(description="Id of the signing key")
    signed_at: UtcTime = Field(description="Time (RFC 3339, UTC)")
    jws: str = Field(description="The signed head: a JSON Web Signature (RFC 7515) in the compact form")


class SignedHeadPage(Answer):
    """A page of signed heads, newest first."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"items": [_EXAMPLE_SIGNED], "next_page_token": None}]})

    items: list[SignedHead] = Field(description="The signed heads")
    next_page_token: str | None = Field(default=None, description="Token for the next page; null on the last page")


class ReceiptChange(Answer):
    """A step in the history of a request."""

    at: UtcTime = Field(description="Time (RFC 3339, UTC)")
    action: str = Field(description="The action")
    state: str = Field(description="State of the request after the action")
    side: str = Field(description="Side of the actor: `consumer`, `provider`, `operator` or `service`")
    tenant: str | None = Field(default=None, description="Tenant of the actor; null: the service")
    configuration: str | None = Field(default=None, description="The configuration concerned; null: none")


class AuditPlace(Answer):
    """The place of a record in the audit log."""

    sequence: int = Field(description="Its number")
    hash: str = Field(description="Its hash, which covers all records before")


class ReceiptClaims(Answer):
    """The content of a receipt."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE_CLAIMS]})

    request: Uuid = Field(description="Id of the request")
    state: str = Field(description="State of the request when the receipt was signed")
    provider: str = Field(description="Tenant that owns the entry")
    consumer: str = Field(description="Tenant that made the request")
    entry: EntryVersion = Field(
        description="The version of the entry, with the digest of its content for the provider and the keyed digest "
        "for the consumer"
    )
    terms: str = Field(description="Digest of the terms that the consumer has accepted")
    configuration: str | None = Field(
        default=None, description="The configuration offered or agreed upon; null: none yet"
    )
    file_sha256: str | None = Field(
        default=None, description="SHA-256 of the delivered file; null: nothing delivered yet"
    )
    changes: list[ReceiptChange] = Field(description="History of the request, oldest first")
    audit: AuditPlace | None = Field(
        default=None, description="The record of the latest change; null: the change is older than the audit log"
    )
    signed_at: UtcTime = Field(description="Time of the signature (RFC 3339, UTC)")


class Receipt(Answer):
    """The signed history of a request. Only `jws` is signed; `claims` has the same content in readable form."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE_RECEIPT]})

    claims: ReceiptClaims = Field(description="Content of the receipt")
    jws: str = Field(description="The receipt: a JSON Web Signature (RFC 7515) of the claims in the compact form")


class PublicKey(Answer):
    """A public key (RFC 8037) that signed receipts and heads from `valid_from` until `valid_until`."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE_KEY]})

    kty: str = Field(description="`OKP`")
    crv: str = Field(description="`Ed25519`")
    alg: str = Field(default="EdDSA", description="`EdDSA`")
    use: str = Field(default="sig", description="`sig`")
    kid: str = Field(description="Id of the key: its thumbprint (RFC 7638)")
    x: str = Field(description="The 32 bytes of the key as base64url")
    valid_from: UtcTime = Field(description="First use (RFC 3339, UTC)")
    valid_until: UtcTime | None = Field(default=None, description="End of use; null: in use")


class PublicKeySet(Answer):
    """Public keys (JWK Set, RFC 7517), oldest first."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"keys": [_EXAMPLE_KEY]}]})

    keys: list[PublicKey] = Field(description="The keys")
