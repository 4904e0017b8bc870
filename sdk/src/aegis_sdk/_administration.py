"""For administrators and operators: keys, policies and quotas of tenants, the audit log, and webhooks."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import quote

from aegis_sdk._answers import ServiceFlows, read_nothing, without_none
from aegis_sdk._flows import Awaiting, Blocking, Flow, Pages, listing, method
from aegis_sdk.wire import (
    AuditPage,
    AuditRecord,
    Key,
    KeyPage,
    NewKey,
    NewWebhook,
    PublicKeySet,
    Quota,
    QuotaDocument,
    SignedHead,
    SignedHeadPage,
    TenantPolicy,
    Webhook,
    WebhookDelivery,
    WebhookDeliveryList,
    WebhookList,
)


class AdministrationFlows(ServiceFlows):
    """Keys, policies and quotas: administrators manage those of their own tenant, operators those of all tenants.

    `ForbiddenError` if the caller is neither.
    """

    @listing
    def list_keys(self, tenant: str | None = None) -> Pages[Key]:
        """The keys of the caller's tenant, newest first; for operators, those of the named tenant or of all tenants."""
        return self._pages(KeyPage, "/v1/keys", {"tenant": tenant})

    @method
    def create_key(self, role: str, tenant: str | None = None, expires_days: int | None = None) -> Flow[NewKey]:
        """Create a key; only this response has its secret, `key`. Without `expires_days`, the key never expires."""
        asked = {"role": role, "tenant": tenant, "expires_days": expires_days}
        return self._call(NewKey, "POST", "/v1/keys", asked)

    @method
    def replace_key(self, prefix: str, overlap_hours: int = 24, expires_days: int | None = None) -> Flow[NewKey]:
        """Create a new key in place of another, which stays valid for the overlap."""
        asked = {"overlap_hours": overlap_hours, "expires_days": expires_days}
        path = f"/v1/keys/{quote(prefix, safe='')}/successor"
        return self._call(NewKey, "POST", path, asked)

    @method
    def revoke_key(self, prefix: str) -> Flow[Key]:
        """Revoke a key."""
        return self._call(Key, "DELETE", f"/v1/keys/{quote(prefix, safe='')}")

    @method
    def policy(self, tenant: str | None = None) -> Flow[TenantPolicy]:
        """A tenant's requirements for its entries; by default the caller's own tenant."""
        return self._call(TenantPolicy, "GET", "/v1/policy", params=_of(tenant))

    @method
    def set_policy(
        self,
        require: Mapping[str, float] | None = None,
        *,
        unit: str | None = None,
        sign_off: bool = False,
        composition: str | None = None,
        tenant: str | None = None,
    ) -> Flow[TenantPolicy]:
        """Replace a tenant's requirements for its entries; omitted ones are dropped.

        Args:
            require: Limits by privacy criterion.
            unit: `person` if they must count people.
            sign_off: Whether a reviewer must sign off new versions.
            composition: Which configurations of one table a consumer may have: `nested`, `one` or `any`.
            tenant: By default the caller's own.
        """
        asked: dict[str, Any] = {"require": dict(require or {}), "sign_off": sign_off}
        asked |= {} if unit is None else {"unit": unit}
        asked |= {} if composition is None else {"composition": composition}
        return self._call(TenantPolicy, "PUT", "/v1/policy", asked, params=_of(tenant))

    @method
    def quota(self, tenant: str | None = None) -> Flow[Quota]:
        """A tenant's quota and current usage; by default the caller's own tenant."""
        return self._call(Quota, "GET", "/v1/quota", params=_of(tenant))

    @method
    def set_quota(self, limits: QuotaDocument | Mapping[str, int | None], *, tenant: str | None = None) -> Flow[Quota]:
        """Replace all limits of a tenant; the service's defaults apply to omitted ones. For operators.

        Raises:
            ValueError: A limit does not exist, or a value is invalid.
        """
        asked = limits if isinstance(limits, QuotaDocument) else QuotaDocument.model_validate(dict(limits))
        return self._call(Quota, "PUT", "/v1/quota", asked, params=_of(tenant))


class Administration(AdministrationFlows, Blocking):
    """Keys, policies and quotas of tenants. `Client.administration` is one; `AdministrationFlows` says more."""


class AsyncAdministration(AdministrationFlows, Awaiting):
    """The same as `Administration`, each to be awaited. `AsyncClient.administration` is one."""


def _of(tenant: str | None) -> dict[str, str]:
    return without_none({"tenant": tenant})


KEYS_PATH = "/.well-known/aegis-keys.json"


class AuditFlows(ServiceFlows):
    """The audit log, for operators.

    All methods but `keys` raise `ForbiddenError` unless the caller is an operator.
    """

    @listing
    def records(
        self,
        since: datetime | None = None,
        until: datetime | None = None,
        entry_id: str | None = None,
        request_id: str | None = None,
    ) -> Pages[AuditRecord]:
        """The records of the log, newest first: only from `since` on and before `until`, which need a time zone."""
        times = {name: None if at is None else at.isoformat() for name, at in (("since", since), ("until", until))}
        wanted = times | {"entry": entry_id, "request": request_id}
        return self._pages(AuditPage, "/v1/audit", wanted)

    @listing
    def heads(self) -> Pages[SignedHead]:
        """Signed heads of the log, one for each day, newest first."""
        return self._pages(SignedHeadPage, "/v1/audit/heads", {})

    @method
    def keys(self) -> Flow[PublicKeySet]:
        """The public keys that verify heads and receipts, for everybody."""
        return self._call(PublicKeySet, "GET", KEYS_PATH)


class Audit(AuditFlows, Blocking):
    """The audit log. `Client.audit` is one; `AuditFlows` says more."""


class AsyncAudit(AuditFlows, Awaiting):
    """The same as `Audit`, each to be awaited. `AsyncClient.audit` is one."""


_WEBHOOKS = "/v1/webhooks"


class WebhooksFlows(ServiceFlows):
    """Webhooks: administrators manage those of their own tenant, operators those of all tenants.

    `ForbiddenError` if the caller is neither, `NotFoundError` for a webhook of another tenant.
    """

    @method
    def create(self, url: str, events: Sequence[str], tenant: str | None = None) -> Flow[NewWebhook]:
        """Post the named events to a URL from now on; only this response has the webhook's `secret`.

        Only operators can name another tenant than their own. `InvalidError` unless the URL is HTTPS on the internet.
        """
        asked = {"url": url, "events": list(events), "tenant": tenant}
        return self._call(NewWebhook, "POST", _WEBHOOKS, asked)

    @method
    def list(self, tenant: str | None = None) -> Flow[Sequence[Webhook]]:
        """The webhooks of a tenant, by default the caller's own, oldest first."""
        return (yield from self._call(WebhookList, "GET", _WEBHOOKS, params=without_none({"tenant": tenant}))).items

    @method
    def get(self, webhook_id: str) -> Flow[Webhook]:
        """A webhook, without its secret."""
        return self._call(Webhook, "GET", _path(webhook_id))

    @method
    def enable(self, webhook_id: str) -> Flow[Webhook]:
        """Enable a webhook, and clear earlier failures."""
        return self._call(Webhook, "PATCH", _path(webhook_id), {"enabled": True})

    @method
    def disable(self, webhook_id: str) -> Flow[Webhook]:
        """Disable a webhook, and drop its pending events."""
        return self._call(Webhook, "PATCH", _path(webhook_id), {"enabled": False})

    @method
    def delete(self, webhook_id: str) -> Flow[None]:
        """Delete a webhook and its pending events."""
        read_nothing((yield from self._send("DELETE", _path(webhook_id))))

    @method
    def replace_secret(self, webhook_id: str, overlap_hours: int = 24) -> Flow[NewWebhook]:
        """Replace the secret. During the overlap, events are signed with both."""
        asked = {"overlap_hours": overlap_hours}
        return self._call(NewWebhook, "POST", _path(webhook_id, "secret"), asked)

    @method
    def test(self, webhook_id: str) -> Flow[WebhookDelivery]:
        """Send the event `ping`, even if the webhook is not for it.

        A worker sends it; `deliveries` shows the result.
        """
        return self._call(WebhookDelivery, "POST", _path(webhook_id, "test"))

    @method
    def deliveries(self, webhook_id: str, limit: int = 50) -> Flow[Sequence[WebhookDelivery]]:
        """Recent and pending events of a webhook, newest first; `limit` is at most 200."""
        path, params = _path(webhook_id, "deliveries"), {"limit": str(limit)}
        return (yield from self._call(WebhookDeliveryList, "GET", path, params=params)).items


class Webhooks(WebhooksFlows, Blocking):
    """Webhooks. `Client.webhooks` is one; `WebhooksFlows` says more."""


class AsyncWebhooks(WebhooksFlows, Awaiting):
    """The same as `Webhooks`, each to be awaited. `AsyncClient.webhooks` is one."""


def _path(webhook_id: str, *parts: str) -> str:
    return "/".join([_WEBHOOKS, quote(webhook_id, safe=""), *parts])
