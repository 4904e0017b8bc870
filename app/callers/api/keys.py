"""API keys as the API and the console create, change and show them."""

from datetime import UTC, datetime, timedelta

import structlog

from aegis_sdk import wire
from app.factory import Factory
from app.platform.callers import ApiKey, Caller, Role

_log = structlog.get_logger(__name__)


def key_answer(key: ApiKey) -> wire.Key:
    """A key as it is now."""
    return wire.Key(
        prefix=key.prefix,
        tenant=key.tenant,
        role=key.role,
        state=key.state(datetime.now(UTC)),
        created_at=key.created_at,
        expires_at=key.expires_at,
        last_used_at=key.last_used_at,
        replaces=key.replaces,
    )


async def create_key(services: Factory, caller: Caller, asked: wire.KeyRequest) -> tuple[str, ApiKey]:
    """Create a key, and log who did so; its text is never shown again."""
    lifetime = _days(asked.expires_days)
    text, key = await services.key_administration().create(caller, asked.tenant, Role(asked.role), lifetime)
    return text, _logged(caller, key)


async def rotate_key(services: Factory, caller: Caller, prefix: str, asked: wire.RotationRequest) -> tuple[str, ApiKey]:
    """Create the successor of a key, and log who did so; its text is never shown again."""
    overlap, lifetime = timedelta(hours=asked.overlap_hours), _days(asked.expires_days)
    text, key = await services.key_administration().rotate(caller, prefix, overlap, lifetime)
    return text, _logged(caller, key)


async def revoke_key(services: Factory, caller: Caller, prefix: str) -> ApiKey:
    """Revoke a key, and log who did so."""
    key = await services.key_administration().revoke(caller, prefix)
    _log.info("key revoked", key=key.prefix, by=caller.subject)
    return key


def _logged(caller: Caller, key: ApiKey) -> ApiKey:
    _log.info("key created", key=key.prefix, role=key.role.value, replaces=key.replaces, by=caller.subject)
    return key


def _days(number: int | None) -> timedelta | None:
    return None if number is None else timedelta(days=number)
