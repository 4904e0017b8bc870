"""The events of webhooks. An event is stored in the transaction of its cause.

A webhook receives only what the consumers of its tenant may read: nothing about versions that await their sign-off, and
nothing about entries that the tenant does not see. Both tenants of a data request receive its events to its end.
"""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import bindparam, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.types import Boolean, Integer, Text, Uuid

from app.platform.database.base import Store
from app.webhooks.model import (
    ADVICE_STALE,
    ENTRY_CHANGED,
    ENTRY_FOUND,
    ENTRY_PUBLISHED,
    ENTRY_WITHDRAWN,
    PING,
    REQUEST_CHANGED,
    Seen,
)

_ADD = "INSERT INTO delivery (webhook_id, type, data) "

_RECIPIENTS = (
    "FROM webhook JOIN tenant ON tenant.id = webhook.tenant_id "
    "CROSS JOIN entry_version AS version JOIN entry ON entry.id = version.entry_id "
    "JOIN tenant AS owner ON owner.id = entry.tenant_id "
)

_IS_TOLD = "webhook.disabled_at IS NULL AND NOT version.awaits_sign_off "

_IN_AUDIENCE = (
    "(entry.tenant_id = tenant.id OR entry.audience = 'all' "
    "OR (entry.audience = 'tenants' AND tenant.name = ANY(entry.audience_tenants))) "
)

_SEES = f"{_IS_TOLD} AND {_IN_AUDIENCE}"

#: The same before a change of visibility; nobody saw a new version before.
_SAW = (
    "(:before = 'all' OR (:before <> 'nobody' AND entry.tenant_id = tenant.id) "
    "OR (:before = 'tenants' AND tenant.name = ANY(:named_before))) "
)

#: The version, or the latest that others see.
_NEW = (
    "AND entry.id = :entry_id AND version.version = coalesce(:version, entry.released_version, entry.latest_version) "
)

_ENTRY = (
    "jsonb_build_object('id', entry.id, 'name', entry.name, 'tenant', owner.name, 'version', version.version, "
    "'digest', version.keyed_digest)"
)

_WHAT = (
    bindparam("entry_id", type_=Uuid),
    bindparam("version", type_=Integer),
    bindparam("before", type_=Text),
    bindparam("named_before", type_=ARRAY(Text)),
)


_PUBLISHED = text(
    f"{_ADD} SELECT webhook.id, '{ENTRY_PUBLISHED}', jsonb_build_object('entry', {_ENTRY}) {_RECIPIENTS} "
    f"WHERE '{ENTRY_PUBLISHED}' = ANY(webhook.event_types) AND {_SEES} AND NOT {_SAW} {_NEW}"
).bindparams(*_WHAT)
_CHANGED = text(
    f"{_ADD} SELECT webhook.id, '{ENTRY_CHANGED}', jsonb_build_object('entry', {_ENTRY}) {_RECIPIENTS} "
    f"WHERE '{ENTRY_CHANGED}' = ANY(webhook.event_types) AND {_SEES} AND {_SAW} {_NEW}"
).bindparams(*_WHAT)
_WITHDRAWN = text(
    f"{_ADD} SELECT webhook.id, '{ENTRY_WITHDRAWN}', jsonb_build_object('entry', {_ENTRY}) {_RECIPIENTS} "
    f"WHERE '{ENTRY_WITHDRAWN}' = ANY(webhook.event_types) AND {_IS_TOLD} AND {_SAW} "
    f"AND (:deleted OR NOT {_IN_AUDIENCE}) {_NEW}"
).bindparams(*_WHAT, bindparam("deleted", type_=Boolean))

#: The versions that a webhook's tenant has asked about and may know.
_ASKED = (
    "CROSS JOIN LATERAL (SELECT jsonb_agg(DISTINCT older.version) AS versions FROM question "
    "JOIN advice ON advice.id = question.advice_id JOIN entry_version AS older ON older.id = advice.version_id "
    "WHERE question.tenant_id = webhook.tenant_id AND older.entry_id = entry.id AND older.version < version.version "
    "AND NOT older.awaits_sign_off) AS asked "
)
_STALE = text(
    f"{_ADD} SELECT webhook.id, '{ADVICE_STALE}', "
    f"jsonb_build_object('entry', {_ENTRY}, 'versions', asked.versions) {_RECIPIENTS} {_ASKED} "
    f"WHERE '{ADVICE_STALE}' = ANY(webhook.event_types) AND asked.versions IS NOT NULL "
    f"AND {_SEES} AND NOT {_SAW} {_NEW} "
    "AND version.version = coalesce(entry.released_version, entry.latest_version)"
).bindparams(*_WHAT)

_ENDED = text(
    f"{_ADD} SELECT webhook.id, 'advice.' || advice.status, "
    "jsonb_build_object('advice', jsonb_build_object('id', question.id), 'entry', "
    f"{_ENTRY}) {_RECIPIENTS} JOIN advice ON advice.version_id = version.id "
    "JOIN question ON question.advice_id = advice.id AND question.tenant_id = webhook.tenant_id "
    f"WHERE advice.id = :advice_id AND 'advice.' || advice.status = ANY(webhook.event_types) AND {_SEES}"
).bindparams(bindparam("advice_id", type_=Uuid))

#: Publications share this lock, and a new search takes it alone: none falls between what was there and what comes.
_WITHOUT_NEW_SEARCHES = text("SELECT pg_advisory_xact_lock_shared(hashtextextended('saved searches', 0))")

_MEETS_ALL = (
    "NOT EXISTS (SELECT FROM jsonb_each_text(search.required -> '{side}') AS asked WHERE NOT EXISTS (SELECT FROM "
    "offered_privacy WHERE version_id = version.id AND criterion = asked.key AND {bound} asked.value::float))"
)

#: Whether a version matches a saved search, as listings do it one search at a time (`entries.store.searches`).
_MATCHES = (
    "search.facets <@ searched.facets "
    "AND NOT EXISTS (SELECT FROM unnest(search.words) AS word WHERE strpos(searched.text, lower(word)) = 0) "
    f"AND {_MEETS_ALL.format(side='at_least', bound='highest >=')} "
    f"AND {_MEETS_ALL.format(side='at_most', bound='lowest <=')} "
    "AND (search.required ->> 'unit' IS NULL OR version.people IS NOT NULL) "
    "AND coalesce(entry.changed_at >= search.changed_since, true) "
)

_BETTER = "search.k IS NOT NULL AND (worth.kind, worth.low, worth.score) > (search.kind, search.low, search.score) "
_UNSEEN = (
    f"search.k IS NULL AND NOT {_SAW} "
    "AND NOT EXISTS (SELECT FROM alert WHERE search_id = search.id AND version_id = version.id) "
)


_FOUND = (
    "WITH news AS (SELECT search.id, search.tenant_id, version.id AS version_id, worth.kind, worth.low, worth.score, "  # noqa: S608 -- constants
    f"{_ENTRY} AS about FROM saved_search AS search JOIN tenant ON tenant.id = search.tenant_id "
    "CROSS JOIN entry_version AS version JOIN entry ON entry.id = version.entry_id "
    "JOIN tenant AS owner ON owner.id = entry.tenant_id "
    "JOIN searched_version AS searched ON searched.version_id = version.id "
    "LEFT JOIN worth ON worth.version_id = version.id AND worth.task = search.task AND worth.k = search.k "
    f"AND worth.state = 'known' WHERE NOT version.awaits_sign_off AND {_IN_AUDIENCE} "
    f"AND version.version = coalesce(entry.released_version, entry.latest_version) AND {_MATCHES} "
)

#: The best until now changes, and the version is told. In one order, so that publications never wait for each other.
_TELL = (
    "ORDER BY search.id FOR UPDATE OF search), "  # noqa: S608 -- constants
    "best AS (UPDATE saved_search SET found_at = clock_timestamp(), kind = news.kind, low = news.low, "
    "score = news.score FROM news WHERE saved_search.id = news.id), "
    "told AS (INSERT INTO alert (search_id, version_id) SELECT id, version_id FROM news ON CONFLICT DO NOTHING) "
    f"{_ADD} SELECT webhook.id, '{ENTRY_FOUND}', jsonb_build_object('search', jsonb_build_object('id', news.id), "
    "'entry', news.about) FROM news JOIN webhook ON webhook.tenant_id = news.tenant_id "
    f"WHERE webhook.disabled_at IS NULL AND '{ENTRY_FOUND}' = ANY(webhook.event_types)"
)

_FOUND_SHOWN = text(f"{_FOUND} {_NEW} AND (({_BETTER}) OR ({_UNSEEN})) {_TELL}").bindparams(*_WHAT)
_FOUND_VALUED = text(f"{_FOUND} AND version.id = :version_id AND {_BETTER} {_TELL}").bindparams(
    bindparam("version_id", type_=Integer)
)

_REQUESTS = (
    "FROM webhook JOIN data_request AS request ON webhook.tenant_id IN (request.provider_id, request.consumer_id) "
    "JOIN tenant AS owner ON owner.id = request.provider_id"
)
_REQUEST = text(
    f"{_ADD} SELECT webhook.id, '{REQUEST_CHANGED}', jsonb_build_object('request', jsonb_build_object("
    "'id', request.id, 'state', request.state), 'entry', jsonb_build_object('id', request.entry_id, "
    "'name', request.entry_name, 'tenant', owner.name, 'version', request.version, "
    f"'digest', request.keyed_digest)) {_REQUESTS} "
    f"WHERE request.id = ANY(:request_ids) AND '{REQUEST_CHANGED}' = ANY(webhook.event_types) "
    "AND webhook.disabled_at IS NULL"
).bindparams(bindparam("request_ids", type_=ARRAY(Uuid)))

_PING = text(f"{_ADD} VALUES (:webhook_id, '{PING}', '{{}}') RETURNING id").bindparams(
    bindparam("webhook_id", type_=Uuid)
)


class EventStore(Store):
    """Adds events for all webhooks that subscribe to them."""

    async def version_shown(self, entry_id: str, version: int) -> None:
        """Notify the tenants to which a version has become visible, and those that have asked about older versions."""
        parameters = _seen_before(entry_id, None) | {"version": version}
        await self._session.execute(_PUBLISHED, parameters)
        await self._session.execute(_STALE, parameters)
        await self._session.execute(_WITHOUT_NEW_SEARCHES)
        await self._session.execute(_FOUND_SHOWN, parameters)

    async def version_valued(self, version_id: int) -> None:
        """Notify the tenants for whose searches by worth a version is the best, now that its worth is known."""
        await self._session.execute(_WITHOUT_NEW_SEARCHES)
        await self._session.execute(_FOUND_VALUED, {"version_id": version_id})

    async def visibility_changed(self, entry_id: str, before: Seen) -> None:
        """Notify the tenants that see an entry after a change of visibility, and those that saw it `before`."""
        parameters = _seen_before(entry_id, before)
        for statement in (_PUBLISHED, _STALE, _CHANGED):
            await self._session.execute(statement, parameters)
        await self._session.execute(_WITHDRAWN, parameters | {"deleted": False})
        await self._session.execute(_WITHOUT_NEW_SEARCHES)
        await self._session.execute(_FOUND_SHOWN, parameters)

    async def entry_deleted(self, entry_id: str, before: Seen) -> None:
        """Notify the tenants that see an entry of its deletion; call this before deleting it."""
        await self._session.execute(_WITHDRAWN, _seen_before(entry_id, before) | {"deleted": True})

    async def advice_ended(self, advice_id: str) -> None:
        """Notify the tenants that asked of the success or failure of an advice."""
        await self._session.execute(_ENDED, {"advice_id": UUID(advice_id)})

    async def requests_changed(self, request_ids: Sequence[str]) -> None:
        """Notify both tenants of new or changed data requests."""
        await self._session.execute(_REQUEST, {"request_ids": list(map(UUID, request_ids))})

    async def ping(self, webhook_id: str) -> str:
        """Send a webhook an event without data, and return its id."""
        return str((await self._session.execute(_PING, {"webhook_id": UUID(webhook_id)})).scalar_one())


def _seen_before(entry_id: str, before: Seen | None) -> dict[str, Any]:
    """The parameters of a statement about the latest version that others see; None: nobody saw it before."""
    return {
        "entry_id": UUID(entry_id),
        "version": None,
        "before": "nobody" if before is None else before.audience.value,
        "named_before": [] if before is None else list(before.tenants),
    }
