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
    """Keys, policies and quotas: an administrator has those of its own tenant, an operator those of all.

    `ForbiddenError` if the caller is neither.
    """

    _send: Callable[..., Flow[httpx.Response]]

    @listing
    def list_keys(self, tenant: str | None = None) -> Pages[Key]:
        """All keys of the caller's tenant, or of the tenant that an operator names, or else of all, newest first."""
        return pages(self._send, KeyPage, "/v1/keys", {"tenant": tenant})

    @method
    def create_key(self, role: str, tenant: str | None = None, expires_days: int | None = None) -> Flow[NewKey]:
        """Create a key; its `key` is shown only now. Without `expires_days`, it is valid until it is revoked."""
        asked = {"role": role, "tenant": tenant, "expires_days": expires_days}
        return read_answer(NewKey, (yield from self._send("POST", "/v1/keys", content=json_bytes(asked))))

    @method
    def replace_key(self, prefix: str, overlap_hours: int = 24, expires_days: int | None = None) -> Flow[NewKey]:
        """Create the successor of a key, which itself stays valid for the overlap."""
        asked = {"overlap_hours": overlap_hours, "expires_days": expires_days}
        path = f"/v1/keys/{quote(prefix, safe='')}/successor"
        return read_answer(NewKey, (yield from self._send("POST", path, content=json_bytes(asked))))

    @method
    def revoke_key(self, prefix: str) -> Flow[Key]:
        """Revoke a key: it is refused from now on."""
        return read_answer(Key, (yield from self._send("DELETE", f"/v1/keys/{quote(prefix, safe='')}")))

    @method
    def policy(self, tenant: str | None = None) -> Flow[TenantPolicy]:
        """What a tenant asks of its entries; the caller's own by default."""
        return read_answer(TenantPolicy, (yield from self._send("GET", "/v1/policy", params=_of(tenant))))

    @method
    def set_policy(
        self, require: Mapping[str, float] | None = None, *, sign_off: bool = False, tenant: str | None = None
    ) -> Flow[TenantPolicy]:
        """Set all that a tenant asks of its entries: what is not given is not asked any more."""
        asked: dict[str, Any] = {"require": dict(require or {}), "sign_off": sign_off}
        answer = yield from self._send("PUT", "/v1/policy", content=json_bytes(asked), params=_of(tenant))
        return read_answer(TenantPolicy, answer)

    @method
    def quota(self, tenant: str | None = None) -> Flow[Quota]:
        """What a tenant may store and ask, and what it has; the caller's own by default."""
        return read_answer(Quota, (yield from self._send("GET", "/v1/quota", params=_of(tenant))))

    @method
    def set_quota(self, limits: QuotaDocument | Mapping[str, int | None], *, tenant: str | None = None) -> Flow[Quota]:
        """Set all limits of a tenant; where none is given, the service's usual one applies. For operators.

        Raises:
            ValueError: There is no such limit, or a value is no limit.
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
