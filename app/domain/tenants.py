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

    def __str__(self) -> str:
        """What it asks: `k=5,t=0.2, sign-off`."""
        asked = [str(self.required_privacy), *(["sign-off"] * self.demands_sign_off)]
        return ", ".join(filter(None, asked)) or "nothing"


NO_DEMANDS = TenantPolicy()
