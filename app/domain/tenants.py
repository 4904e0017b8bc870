"""Tenants: what each of them asks of its own entries."""

from dataclasses import dataclass

from app.domain.required_privacy import NOTHING_REQUIRED, RequiredPrivacy


@dataclass(frozen=True, slots=True)
class TenantPolicy:
    """What a tenant asks of its entries, besides what the service asks; nothing by default.

    Attributes:
        required_privacy: what configurations must vouch for before they may compete.
        demands_sign_off: whether a reviewer must sign off each new version before others see it.
    """

    required_privacy: RequiredPrivacy = NOTHING_REQUIRED
    demands_sign_off: bool = False


NO_DEMANDS = TenantPolicy()
