"""Keys of tenants, and what tenants ask of their entries."""

from typing import Annotated, Any, Final, Literal

from pydantic import ConfigDict, Field

from aegis_sdk.wire.configuration import Privacy
from aegis_sdk.wire.documents import Answer, Request
from aegis_sdk.wire.values import Identifier, UtcTime

LONGEST_LIFETIME: Final = 36_500
"""Days that a key can be valid at most."""

_EXAMPLE_KEY: Final[dict[str, Any]] = {
    "prefix": "aegis_30a4a6be",
    "tenant": "hospital",
    "role": "provider",
    "state": "valid",
    "created_at": "2026-03-01T12:00:00Z",
    "expires_at": "2027-03-01T12:00:00Z",
    "last_used_at": None,
    "replaces": None,
}

Days = Annotated[int, Field(ge=1, le=LONGEST_LIFETIME)]


class KeyRequest(Request):
    """Asks for a new key."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"tenant": "hospital", "role": "provider", "expires_days": 365}]}
    )

    role: Literal["consumer", "provider", "reviewer", "administrator", "operator"] = Field(
        description="What the key is for"
    )
    tenant: Identifier | None = Field(
        default=None, description="Tenant that the key is of; only operators name another than their own"
    )
    expires_days: Days | None = Field(default=None, description="Days until it expires; null: it never does")


class RotationRequest(Request):
    """Asks for the successor of a key."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"overlap_hours": 24}]})

    overlap_hours: Annotated[int, Field(ge=0, le=24 * 90)] = Field(
        default=24, description="Hours for which the old key is still valid; 0 ends it at once"
    )
    expires_days: Days | None = Field(
        default=None, description="Days until the new key expires; null: as many as the old one had"
    )


class Key(Answer):
    """A key, without its secret."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE_KEY]})

    prefix: str = Field(description="The readable part of the key, by which it is named")
    tenant: str = Field(description="Tenant that it is of")
    role: str = Field(description="What it is for")
    state: str = Field(description="`valid`, `expiring` (within 14 days), `expired` or `revoked`")
    created_at: UtcTime = Field(description="When it was created (RFC 3339, UTC)")
    expires_at: UtcTime | None = Field(default=None, description="When it expires; null: never")
    last_used_at: UtcTime | None = Field(default=None, description="When it was last used, to the hour; null: never")
    replaces: str | None = Field(default=None, description="Prefix of the key whose successor it is; null: of none")


class NewKey(Key):
    """A key that was just created, with its secret. It is shown only this once."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [_EXAMPLE_KEY | {"key": "aegis_30a4a6be_kJ0nT5yWqf8cXbB1H2pD9vL3mZ7rE6uA4sG-oQxYtNw"}]
        }
    )

    key: str = Field(description="The key itself; the service keeps only its hash")


class KeyPage(Answer):
    """A page of keys, newest first."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"items": [_EXAMPLE_KEY], "next_page_token": None}]})

    items: list[Key] = Field(description="The keys, also expired and revoked ones")
    next_page_token: str | None = Field(default=None, description="Token for the next page; null on the last page")


class PolicyDocument(Request):
    """What a tenant asks of its own entries, besides what the service asks."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"require": {"k": 10}, "sign_off": True}]})

    require: Privacy | None = Field(
        default=None, description="Privacy that configurations must vouch for to be advised, by criterion; null: none"
    )
    sign_off: bool = Field(
        default=False, description="Whether a reviewer must sign off each new version before others see it"
    )


class TenantPolicy(Answer):
    """A tenant with what it asks of its own entries."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"tenant": "hospital", "require": {"k": 10}, "sign_off": True}]}
    )

    tenant: str = Field(description="Name of the tenant")
    require: dict[str, float] = Field(
        default_factory=dict, description="Privacy that configurations must vouch for to be advised, by criterion"
    )
    sign_off: bool = Field(
        default=False, description="Whether a reviewer must sign off each new version before others see it"
    )


_EXAMPLE_LIMITS: Final[dict[str, Any]] = {
    "entries": 1000,
    "versions": 10000,
    "bytes": 20000000000,
    "advice": 10000,
    "jobs": None,
}


class QuotaDocument(Request):
    """The limits of a tenant; null: the service's usual limit."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"entries": 5000, "advice": 50000}]})

    entries: Annotated[int, Field(ge=0, le=10**9)] | None = Field(default=None, description="Entries in the catalogue")
    versions: Annotated[int, Field(ge=0, le=10**9)] | None = Field(
        default=None, description="Versions of all entries together"
    )
    bytes: Annotated[int, Field(ge=0, le=10**15)] | None = Field(
        default=None, description="Bytes that these versions take in the database"
    )
    advice: Annotated[int, Field(ge=0, le=10**9)] | None = Field(
        default=None, description="Distinct questions in 24 hours"
    )
    jobs: Annotated[int, Field(ge=1, le=10_000)] | None = Field(
        default=None, description="Jobs that run at the same time, light and heavy ones counted apart"
    )


class Quota(Answer):
    """What a tenant may use, and what it uses."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "tenant": "hospital",
                    "limits": _EXAMPLE_LIMITS,
                    "used": {"entries": 12, "versions": 40, "bytes": 5210342, "advice": 87, "jobs": 0},
                }
            ]
        }
    )

    tenant: str = Field(description="Name of the tenant")
    limits: dict[str, int | None] = Field(description="What it may use, by name as in `QuotaDocument`; null: no limit")
    used: dict[str, int] = Field(description="What it uses now; of `advice`, in the last 24 hours")
