"""Keys, policies and quotas of tenants, for administrators and operators."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

import httpx

from aegis_sdk._answers import read_answer
from aegis_sdk._pages import pages
from aegis_sdk._requests import json_bytes, without_none
from aegis_sdk.wire import Key, KeyPage, NewKey, Quota, QuotaDocument, TenantPolicy


class Administration:
    """Keys, policies and quotas: an administrator has those of its own tenant, an operator those of all.

    `Client.administration` is one. `ForbiddenError` if the caller is neither.
    """

    def __init__(self, send: Callable[..., httpx.Response]) -> None:
        self._send = send

    def list_keys(self, tenant: str | None = None) -> Iterator[Key]:
        """All keys of the caller's tenant, or of the tenant that an operator names, or else of all, newest first."""
        for page in pages(self._send, KeyPage, "/v1/keys", {"tenant": tenant}):
            yield from page.items

    def create_key(self, role: str, tenant: str | None = None, expires_days: int | None = None) -> NewKey:
        """Create a key; its `key` is shown only now. Without `expires_days`, it is valid until it is revoked."""
        asked = {"role": role, "tenant": tenant, "expires_days": expires_days}
        return read_answer(NewKey, self._send("POST", "/v1/keys", content=json_bytes(asked)))

    def replace_key(self, prefix: str, overlap_hours: int = 24, expires_days: int | None = None) -> NewKey:
        """Create the successor of a key, which itself stays valid for the overlap."""
        asked = {"overlap_hours": overlap_hours, "expires_days": expires_days}
        path = f"/v1/keys/{quote(prefix, safe='')}/successor"
        return read_answer(NewKey, self._send("POST", path, content=json_bytes(asked)))

    def revoke_key(self, prefix: str) -> Key:
        """Revoke a key: it is refused from now on."""
        return read_answer(Key, self._send("DELETE", f"/v1/keys/{quote(prefix, safe='')}"))

    def policy(self, tenant: str | None = None) -> TenantPolicy:
        """What a tenant asks of its entries; the caller's own by default."""
        return read_answer(TenantPolicy, self._send("GET", "/v1/policy", params=without_none({"tenant": tenant})))

    def set_policy(
        self, require: Mapping[str, float] | None = None, *, sign_off: bool = False, tenant: str | None = None
    ) -> TenantPolicy:
        """Set all that a tenant asks of its entries: what is not given is not asked any more."""
        asked: dict[str, Any] = {"require": dict(require or {}), "sign_off": sign_off}
        params = without_none({"tenant": tenant})
        return read_answer(TenantPolicy, self._send("PUT", "/v1/policy", content=json_bytes(asked), params=params))

    def quota(self, tenant: str | None = None) -> Quota:
        """What a tenant may store and ask, and what it has; the caller's own by default."""
        return read_answer(Quota, self._send("GET", "/v1/quota", params=without_none({"tenant": tenant})))

    def set_quota(self, limits: QuotaDocument | Mapping[str, int | None], *, tenant: str | None = None) -> Quota:
        """Set all limits of a tenant; where none is given, the service's usual one applies. For operators.

        Raises:
            ValueError: There is no such limit, or a value is no limit.
        """
        asked = limits if isinstance(limits, QuotaDocument) else QuotaDocument.model_validate(dict(limits))
        params = without_none({"tenant": tenant})
        return read_answer(Quota, self._send("PUT", "/v1/quota", content=json_bytes(asked), params=params))
