"""Keys, policies and quotas of tenants, for administrators and operators."""

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

import httpx

from aegis_sdk._answers import read_answer
from aegis_sdk._flows import Awaiting, Blocking, Flow, Pages, listing, method
from aegis_sdk._pages import pages
from aegis_sdk._requests import json_bytes, without_none
from aegis_sdk.wire import Key, KeyPage, NewKey, Quota, QuotaDocument, TenantPolicy


class AdministrationFlows:
    """Keys, policies and quotas: administrators manage those of their own tenant, operators those of all tenants.

    `ForbiddenError` if the caller is neither.
    """

    _send: Callable[..., Flow[httpx.Response]]

    @listing
    def list_keys(self, tenant: str | None = None) -> Pages[Key]:
        """The keys of the caller's tenant, newest first; for operators, those of the named tenant or of all tenants."""
        return pages(self._send, KeyPage, "/v1/keys", {"tenant": tenant})

    @method
    def create_key(self, role: str, tenant: str | None = None, expires_days: int | None = None) -> Flow[NewKey]:
        """Create a key; only this response has its secret, `key`. Without `expires_days`, the key never expires."""
        asked = {"role": role, "tenant": tenant, "expires_days": expires_days}
        return read_answer(NewKey, (yield from self._send("POST", "/v1/keys", content=json_bytes(asked))))

    @method
    def replace_key(self, prefix: str, overlap_hours: int = 24, expires_days: int | None = None) -> Flow[NewKey]:
        """Create a new key in place of another, which stays valid for the overlap."""
        asked = {"overlap_hours": overlap_hours, "expires_days": expires_days}
        path = f"/v1/keys/{quote(prefix, safe='')}/successor"
        return read_answer(NewKey, (yield from self._send("POST", path, content=json_bytes(asked))))

    @method
    def revoke_key(self, prefix: str) -> Flow[Key]:
        """Revoke a key."""
        return read_answer(Key, (yield from self._send("DELETE", f"/v1/keys/{quote(prefix, safe='')}")))

    @method
    def policy(self, tenant: str | None = None) -> Flow[TenantPolicy]:
        """A tenant's requirements for its entries; by default the caller's own tenant."""
        return read_answer(TenantPolicy, (yield from self._send("GET", "/v1/policy", params=_of(tenant))))

    @method
    def set_policy(
        self, require: Mapping[str, float] | None = None, *, sign_off: bool = False, tenant: str | None = None
    ) -> Flow[TenantPolicy]:
        """Replace a tenant's requirements for its entries; omitted ones are dropped."""
        asked: dict[str, Any] = {"require": dict(require or {}), "sign_off": sign_off}
        answer = yield from self._send("PUT", "/v1/policy", content=json_bytes(asked), params=_of(tenant))
        return read_answer(TenantPolicy, answer)

    @method
    def quota(self, tenant: str | None = None) -> Flow[Quota]:
        """A tenant's quota and current usage; by default the caller's own tenant."""
        return read_answer(Quota, (yield from self._send("GET", "/v1/quota", params=_of(tenant))))

    @method
    def set_quota(self, limits: QuotaDocument | Mapping[str, int | None], *, tenant: str | None = None) -> Flow[Quota]:
        """Replace all limits of a tenant; the service's defaults apply to omitted ones. For operators.

        Raises:
            ValueError: A limit does not exist, or a value is invalid.
        """
        asked = limits if isinstance(limits, QuotaDocument) else QuotaDocument.model_validate(dict(limits))
        answer = yield from self._send("PUT", "/v1/quota", content=json_bytes(asked), params=_of(tenant))
        return read_answer(Quota, answer)


class Administration(AdministrationFlows, Blocking):
    """Keys, policies and quotas of tenants. `Client.administration` is one; `AdministrationFlows` says more."""


class AsyncAdministration(AdministrationFlows, Awaiting):
    """The same as `Administration`, each to be awaited. `AsyncClient.administration` is one."""


def _of(tenant: str | None) -> dict[str, str]:
    return without_none({"tenant": tenant})
