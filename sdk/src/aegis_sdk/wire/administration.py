"""API keys, policies and quotas of tenants."""

from collections.abc import Iterator
from typing import Annotated, Any, Final, Literal

from pydantic import ConfigDict, Field

from aegis_sdk.wire.configuration import Privacy, unit_faults
from aegis_sdk.wire.documents import Answer, CheckedRequest, Fault, Request
from aegis_sdk.wire.values import Identifier, Unit, UtcTime

LONGEST_LIFETIME: Final = 36_500
"""The longest validity of a key, in days."""

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
        description="Purpose of the key"
    )
    tenant: Identifier | None = Field(
        default=None, description="Tenant of the key; only operators can name another tenant than their own"
    )
    expires_days: Days | None = Field(default=None, description="Days until the key expires; null: never")


class RotationRequest(Request):
    """Asks for a key that replaces another one."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"overlap_hours": 24}]})

    overlap_hours: Annotated[int, Field(ge=0, le=24 * 90)] = Field(
        default=24, description="Hours for which the old key stays valid; 0 revokes it at once"
    )
    expires_days: Days | None = Field(
        default=None, description="Days until the new key expires; null: as long as the old key was valid for"
    )


class Key(Answer):
    """A key, without its secret."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE_KEY]})

    prefix: str = Field(description="The readable part of the key, which identifies it")
    tenant: str = Field(description="Tenant of the key")
    role: str = Field(description="Purpose of the key")
    state: str = Field(description="`valid`, `expiring` (within 14 days), `expired` or `revoked`")
    created_at: UtcTime = Field(description="When it was created (RFC 3339, UTC)")
    expires_at: UtcTime | None = Field(default=None, description="When it expires; null: never")
    last_used_at: UtcTime | None = Field(default=None, description="When it was last used, to the hour; null: never")
    replaces: str | None = Field(default=None, description="Prefix of the key that it replaces; null: none")


class NewKey(Key):
    """A new key with its secret, which is shown only once."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [_EXAMPLE_KEY | {"key": "aegis_30a4a6be_kJ0nT5yWqf8cXbB1H2pD9vL3mZ7rE6uA4sG-oQxYtNw"}]
        }
    )

    key: str = Field(description="The key itself; the service stores only its hash")


class KeyPage(Answer):
    """A page of keys, newest first."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"items": [_EXAMPLE_KEY], "next_page_token": None}]})

    items: list[Key] = Field(description="The keys, including expired and revoked ones")
    next_page_token: str | None = Field(default=None, description="Token for the next page; null on the last page")


Composed = Literal["nested", "one", "any"]
"""Which configurations of one table a consumer may have."""


class PolicyDocument(CheckedRequest):
    """A tenant's requirements for its own entries, in addition to the service's."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"require": {"k": 10}, "sign_off": True}]})

    require: Privacy | None = Field(
        default=None,
        description="Privacy that a configuration must promise to be recommended, by criterion; null: none",
    )
    unit: Unit | None = Field(
        default=None, description="`person`: what `require` asks must count people; null: records, or people"
    )
    sign_off: bool = Field(
        default=False, description="Whether a reviewer must sign off each new version before others see it"
    )
    composition: Composed | None = Field(
        default=None,
        description="Which configurations of one table a consumer may have. `nested`: those of which one can be made "
        "from the other; `one`: only the one that it has; `any`: all. null: `nested`, and `any` in development mode",
    )

    def _faults(self) -> Iterator[Fault]:
        return unit_faults(self.unit, self.require)


class TenantPolicy(Answer):
    """A tenant and its requirements for its own entries."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"tenant": "hospital", "require": {"k": 10}, "sign_off": True}]}
    )

    tenant: str = Field(description="Name of the tenant")
    require: dict[str, float] = Field(
        default_factory=dict, description="Privacy that a configuration must promise to be recommended, by criterion"
    )
    unit: str | None = Field(default=None, description="`person`: `require` counts people; null: records, or people")
    sign_off: bool = Field(
        default=False, description="Whether a reviewer must sign off each new version before others see it"
    )
    composition: Composed | None = Field(
        default=None,
        description="Which configurations of one table a consumer may have, as in `PolicyDocument`; null: the default",
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
        default=None, description="Bytes of these versions in the database"
    )
    advice: Annotated[int, Field(ge=0, le=10**9)] | None = Field(
        default=None, description="Distinct questions in 24 hours"
    )
    jobs: Annotated[int, Field(ge=1, le=10_000)] | None = Field(
        default=None, description="Concurrent jobs, counted separately for light and heavy ones"
    )


class Quota(Answer):
    """A tenant's quota and current usage."""

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
    limits: dict[str, int | None] = Field(description="Limits, named as in `QuotaDocument`; null: no limit")
    used: dict[str, int] = Field(description="Current usage; of `advice`, that of the last 24 hours")
