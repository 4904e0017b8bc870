"""What the page of a data request shows."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import urlsplit

import orjson

from aegis_sdk import wire
from app.pages.forms import Form
from app.pages.refusals import Refusal
from app.requests.model.data_requests import Cost, Side

#: By state, after how many seconds the page looks whether something has changed.
POLLED: Final[Mapping[str, int]] = {"requested": 2, "approved": 10, "delivered": 10}

#: Relative difference of two numbers that both sides computed from the same counts, as the service has it.
_TOLERANCE: Final = 1e-6


@dataclass(frozen=True, slots=True)
class PrivacyRow:
    """A criterion of privacy: what was asked, what the provider measured, and what the consumer did."""

    name: str
    asked: float | None
    promised: float | None
    measured: float | None

    @property
    def is_kept(self) -> bool | None:
        """Whether the consumer measured what was promised; None if one of the two said nothing."""
        if self.promised is None or self.measured is None:
            return None
        if wire.PRIVACY_CRITERIA[self.name] == "higher":
            return self.measured >= self.promised * (1 - _TOLERANCE)
        return self.measured <= self.promised + _TOLERANCE * max(1.0, self.promised)


@dataclass(frozen=True, slots=True)
class RequestView:
    """What the page shows.

    Attributes:
        request: the request as the viewer reads it by the API.
        sides: on whose behalf the viewer can act.
        alternatives: configurations that the viewer may offer instead, with their costs.
        once: the key by which a form of this page is carried out once.
        is_signed: whether the service signs receipts.
        refusal: why a form of this page was refused.
        acted: which one.
        typed: what it said.
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
        """When the request last changed, by which the page finds out whether it has changed since."""
        return self.request.changed_at.isoformat()

    @property
    def polled(self) -> int | None:
        """After how many seconds to look again; None if nobody waits for anything."""
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
        """Where the delivered file is; None unless a browser can follow it."""
        url = "" if self.request.delivery is None else self.request.delivery.url
        try:
            return url if urlsplit(url).scheme in ("http", "https") else None
        except ValueError:
            return None

    @property
    def is_link_over(self) -> bool:
        """Whether the link has ended."""
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
        """What was typed into the form of an action that was refused."""
        return self.typed if action == self.acted else Form({})

    @property
    def is_form_gone(self) -> bool:
        """Whether the refused form is not on the page any more, since somebody else was quicker."""
        return self.refusal is not None and self.acted not in self.request.possible


def counted_places(difference: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Where a count differs: each attribute with its masking and its masked value."""
    values = difference["values"] or [""] * len(difference["attributes"])
    yield from zip(difference["attributes"], difference["maskings"], values, strict=False)
