"""The view of a data request."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import urlsplit

import orjson

from aegis_sdk import wire
from app.pages.forms import Form
from app.pages.page_route import Refusal
from app.requests.model.data_requests import Cost, Side

#: Seconds between two polls of the page by state.
POLLED: Final[Mapping[str, int]] = {"requested": 2, "approved": 10, "delivered": 10}

#: Relative difference of two numbers that both sides computed from the same counts, as in the service.
_TOLERANCE: Final = 1e-6


@dataclass(frozen=True, slots=True)
class PrivacyRow:
    """A privacy criterion: the required value, the provider's and the consumer's."""

    name: str
    asked: float | None
    promised: float | None
    measured: float | None

    @property
    def is_kept(self) -> bool | None:
        """Whether the consumer's value is as good as the promised one; None if either is missing."""
        if self.promised is None or self.measured is None:
            return None
        if wire.PRIVACY_CRITERIA[self.name] == "higher":
            return self.measured >= self.promised * (1 - _TOLERANCE)
        return self.measured <= self.promised + _TOLERANCE * max(1.0, self.promised)


@dataclass(frozen=True, slots=True)
class RequestView:
    """The content of the page.

    Attributes:
        request: the request as the API shows it to the viewer.
        sides: the sides for which the viewer can act.
        alternatives: configurations that the viewer may offer instead, with their costs.
        once: the key that makes a form of this page take effect only once.
        is_signed: whether the service signs receipts.
        refusal: why a form of this page was refused.
        acted: the action of the refused form.
        typed: its fields.
    """

    request: wire.DataRequest
    sides: frozenset[Side]
    alternatives: tuple[tuple[str, Cost], ...]
    once: str
    is_signed: bool
    refusal: Refusal | None = None
    acted: str = ""
    typed: Form = field(default_factory=lambda: Form({}))

    @property
    def changed(self) -> str:
        """The time of the last change, by which the page detects a new one."""
        return self.request.changed_at.isoformat()

    @property
    def polled(self) -> int | None:
        """Seconds until the next poll; None if nobody waits for anything."""
        return POLLED.get(self.request.state)

    @property
    def may_erase(self) -> bool:
        """Whether the viewer can erase the contact."""
        return Side.CONSUMER in self.sides and self.request.contact is not None

    @property
    def has_advice(self) -> bool:
        """Whether the viewer can read the advice."""
        return Side.CONSUMER in self.sides and self.request.advice is not None

    @property
    def link(self) -> str | None:
        """The link to the delivered file; None unless a browser can follow it."""
        url = "" if self.request.delivery is None else self.request.delivery.url
        try:
            return url if urlsplit(url).scheme in ("http", "https") else None
        except ValueError:
            return None

    @property
    def is_link_over(self) -> bool:
        """Whether the link has expired."""
        delivery = self.request.delivery
        return delivery is not None and delivery.expires_at is not None and delivery.expires_at <= datetime.now(UTC)

    @property
    def card(self) -> str:
        """The release card as JSON; empty if there is none."""
        delivery = self.request.delivery
        if delivery is None or delivery.card is None:
            return ""
        return orjson.dumps(delivery.card, option=orjson.OPT_INDENT_2).decode()

    @property
    def privacy(self) -> list[PrivacyRow]:
        """The privacy of the delivered file by criterion."""
        delivery, verification = self.request.delivery, self.request.verification
        asked: Mapping[str, float] = self.request.request.get("require") or {}
        promised = {} if delivery is None else delivery.privacy
        measured = {} if verification is None else verification.privacy
        return [
            PrivacyRow(name, asked.get(name), promised.get(name), measured.get(name))
            for name in wire.PRIVACY_CRITERIA
            if name in promised or name in measured
        ]

    def fields(self, action: str) -> Form:
        """What was typed into the refused form of an action."""
        return self.typed if action == self.acted else Form({})

    @property
    def is_form_gone(self) -> bool:
        """Whether the page no longer has the refused form, because somebody else was quicker."""
        return self.refusal is not None and self.acted not in self.request.possible


def counted_places(difference: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """The place of a differing count: its attributes with masking and masked value."""
    values = difference["values"] or [""] * len(difference["attributes"])
    yield from zip(difference["attributes"], difference["maskings"], values, strict=False)
