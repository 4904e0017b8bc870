"""Tenants: what each of them asks of its own entries."""

from dataclasses import dataclass

from app.tenants.model.required_privacy import NOTHING_REQUIRED, RequiredPrivacy


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


@dataclass(frozen=True, slots=True)
class CountedTenant:
    """A tenant with what it has.

    Attributes:
        entries: how many entries it owns.
        keys: how many of its keys are valid.
        asked: how many distinct questions it has asked in the last 24 hours.
    """

    name: str
    policy: TenantPolicy
    entries: int
    keys: int
    asked: int
