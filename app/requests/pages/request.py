"""What the page of a data request shows: its state, question and history in words, and the commands that do the same.

Replace the words in capitals in these commands.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import urlsplit

import orjson
from markupsafe import Markup

from aegis_sdk import wire
from app.entries.pages.entry_index import ConfigurationRow
from app.pages.commands import Commands, aegis, curl
from app.pages.forms import Form
from app.pages.page_route import Refusal
from app.pages.viewers import Viewer
from app.pages.words import bound
from app.requests.model.data_requests import Cost, Side

#: Seconds between two polls of the page by state.
POLLED: Final[Mapping[str, int]] = {"requested": 2, "approved": 10, "delivered": 10}

#: Relative difference of two numbers that both sides computed from the same counts, as in the service.
_TOLERANCE: Final = 1e-6


#: The tone of a state: good, a warning, bad, or neither.
TONES: Final = {
    "countered": "warn",
    "approved": "good",
    "delivered": "good",
    "received": "good",
    "disputed": "bad",
    "failed": "bad",
    "declined": "bad",
}


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
        alternatives: configurations that the viewer may offer instead, with their costs and their rows of the entry.
        once: the key that makes a form of this page take effect only once.
        is_signed: whether the service signs receipts.
        described: the description of the entry, such as its release card, as sanitised HTML, if any.
        head: the head of the delivery's release card, likewise.
        acted: the action of the refused form.
    """

    request: wire.DataRequest
    sides: frozenset[Side]
    alternatives: tuple[tuple[str, Cost, ConfigurationRow | None], ...]
    once: str
    is_signed: bool
    described: Markup | None = None
    head: Markup | None = None
    refusal: Refusal | None = None
    acted: str = ""
    typed: Form = field(default_factory=lambda: Form({}))

    @property
    def is_consumer(self) -> bool:
        """Whether the viewer can read the advice, and erase the contact."""
        return Side.CONSUMER in self.sides

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


def counted_places(difference: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """The place of a differing count: its attributes with masking and masked value."""
    values = difference["values"] or [""] * len(difference["attributes"])
    yield from zip(difference["attributes"], difference["maskings"], values, strict=False)


#: The most attributes or weights that are named; the others are counted.
NAMED: Final = 30

_STATES: Final[Mapping[str, str]] = {
    "requested": "The service is finding the best configuration. This page shows it as soon as it is known.",
    "advised": "{provider} decides next: it approves, offers another configuration, or declines.",
    "countered": "{provider} offers another configuration. {consumer} accepts it, or withdraws.",
    "approved": "{provider} has approved and delivers next. This page shows the delivery as soon as it arrives.",
    "delivered": "The table is delivered. {consumer} downloads it next, and verifies that it is as agreed.",
    "received": "{consumer} has the table and has verified that it is as agreed.",
    "disputed": "{consumer} says that the table is not as agreed.",
    "failed": "There is no advice, so nothing can be offered.",
    "declined": "{provider} has declined.",
    "withdrawn": "{consumer} has withdrawn the request.",
    "expired": "Nobody acted on the request for too long.",
    "ended": "The request was ended.",
}

DONE: Final[Mapping[str, str]] = {
    "request": "Requested",
    "advise": "Advised",
    "fail": "Advice failed",
    "approve": "Approved",
    "decline": "Declined",
    "counter": "Another configuration offered",
    "accept": "Offer accepted",
    "deliver": "Delivered",
    "relink": "Another link given",
    "receive": "Received and verified",
    "dispute": "Disputed",
    "withdraw": "Withdrawn",
    "expire": "Expired",
    "end": "Ended",
}

RULES: Final[Mapping[str, str]] = {
    "equal": "must be equal",
    "left_out": "may differ by the records left out",
    "rounded": "may differ by rounding",
    "noise": "may differ by the declared noise",
    "stars": "cells that became *",
    "total": "missing in all",
    "unknown": "texts that the entry does not list",
}


RELATIONS: Final[Mapping[str, str]] = {
    "same": "the same",
    "coarser": "this one can be made from it, so nothing new leaves",
    "finer": "it can be made from this one",
    "other": "not known to be nested, so groups of both together may be smaller than either promises",
}


def state_sentence(request: wire.DataRequestHead) -> Markup:
    """The meaning of a state, and the next step."""
    sides = {"provider": request.entry.tenant, "consumer": request.consumer}
    named = {side: Markup("<bdi>{}</bdi>").format(name) for side, name in sides.items()}
    return Markup(_STATES.get(request.state, "")).format(**named)  # noqa: S704 -- words of this module


def limits(numbers: Mapping[str, float] | None, unit: str | None = None) -> list[str]:
    """Privacy in words, such as `k at least 5`, or `k at least 5 people`."""
    of_people = {} if unit is None else dict.fromkeys(numbers or {}, " of people") | {"k": " people"}
    return [f"{name} {bound(name)} {number:g}{of_people.get(name, '')}" for name, number in (numbers or {}).items()]


#: The plan that `aegis release` writes after its search.
_PLAN: Final = "release/configurations.yaml"


def request_commands(viewer: Viewer, request: wire.DataRequest, *, may_erase: bool, is_signed: bool) -> Commands:
    """The commands for reading the request and for the actions that the viewer may take now."""
    place, why = f"/v1/requests/{request.id}", ("--why", "REASON")
    lines = {
        "approve": aegis("requests", "approve", request.id, *why),
        "counter": aegis("requests", "counter", request.id, "CONFIGURATION", *why),
        "decline": aegis("requests", "decline", request.id, *why),
        "accept": aegis("requests", "accept", request.id),
        "withdraw": aegis("requests", "withdraw", request.id),
        "deliver": fulfil_line(request),
        "relink": aegis("requests", "relink", request.id, "--to", "FOLDER", "--link", "URL"),
        "receive": receive_line(request),
    }
    bodies: Mapping[str, Mapping[str, Any]] = {
        "approve": {"reason": "REASON"},
        "decline": {"reason": "REASON"},
        "counter": {"configuration": "CONFIGURATION", "reason": "REASON"},
        "accept": {},
        "withdraw": {},
        "end": {"reason": "REASON"},
    }
    possible = request.possible
    calls = [
        curl(viewer, f"{place}/actions", body={"action": action, **body})
        for action, body in bodies.items()
        if action in possible
    ]
    calls += [deliver_line(viewer, request)] if "deliver" in possible else []
    calls += [curl(viewer, f"{place}/contact", method="DELETE")] if may_erase else []
    receipt = (aegis("audit", request.id, "--output", "receipt.jws"),) if is_signed else ()
    return Commands(
        (
            aegis("requests", "show", request.id),
            *(line for action, line in lines.items() if action in possible),
            *receipt,
        ),
        (curl(viewer, place), *calls),
    )


def approve_line(request: wire.DataRequest) -> str:
    """The command that asks the provider's ledger and approves."""
    return aegis("requests", "approve", request.id)


def receive_line(request: wire.DataRequest) -> str:
    """The command that downloads a delivery and verifies it."""
    is_parquet = request.delivery is not None and request.delivery.media_type.endswith("parquet")
    return aegis("receive", request.id, "--output", f"received.{'parquet' if is_parquet else 'csv'}")


def fulfil_line(request: wire.DataRequest) -> str:
    """The command that masks the provider's table as agreed, uploads it and delivers it."""
    return aegis("requests", "fulfil", request.id, "TABLE.csv", "--plan", _PLAN, "--to", "FOLDER", "--link", "URL")


def check_lines(viewer: Viewer, request: wire.DataRequest) -> tuple[str, ...]:
    """The commands that check a downloaded receipt, with the delivered file if there is one."""
    file = () if request.delivery is None else ("--file", "FILE")
    keys = f"{curl(viewer, '/.well-known/aegis-keys.json')} > keys.json"
    return keys, aegis("audit", "--check", receipt_name(request.id), "--keys", "keys.json", *file)


def receipt_name(request_id: str) -> str:
    """The file name of a downloaded receipt."""
    return f"receipt-{request_id}.json"


def deliver_line(viewer: Viewer, request: wire.DataRequest) -> str:
    """The call that delivers a table that was masked by other means; replace its numbers, too."""
    body = {
        "action": "deliver",
        "url": "https://STORE.EXAMPLE/FILE.csv",
        "media_type": "text/csv",
        "size": 1,
        "sha256": "SHA-256",
        "records": 1,
        "configuration": request.configuration,
        "entry_digest": request.entry.digest,
        "privacy": request.request.get("require") or {},
    }
    return curl(viewer, f"/v1/requests/{request.id}/actions", body=body)
