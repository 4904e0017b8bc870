"""What is said in words of a data request: its question, its state, and what was done."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from markupsafe import Markup

from aegis_sdk import wire
from app.pages.words import bound

#: So many attributes or weights are named, and the others counted.
_NAMED: Final = 30

_STATES: Final[Mapping[str, str]] = {
    "requested": "The service finds out which configuration suits best. This page shows it as soon as it is known.",
    "advised": "{provider} decides next: it approves, offers another configuration, or declines.",
    "countered": "{provider} offers another configuration. {consumer} accepts it, or withdraws.",
    "approved": "{provider} has agreed, and delivers next. This page shows the delivery as soon as it is there.",
    "delivered": "The table is there. {consumer} downloads it next, and verifies that it is what was agreed upon.",
    "received": "{consumer} has the table, and found it to be what was agreed upon.",
    "disputed": "{consumer} says that the table is not what was agreed upon.",
    "failed": "There is no advice, so nothing can be offered.",
    "declined": "{provider} has declined.",
    "withdrawn": "{consumer} has taken the request back.",
    "expired": "Nobody did anything with the request for too long.",
    "ended": "The request was ended.",
}

_DONE: Final[Mapping[str, str]] = {
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

_RULES: Final[Mapping[str, str]] = {
    "equal": "must be equal",
    "left_out": "may differ by the records left out",
    "rounded": "may differ by rounding",
    "noise": "may differ by the declared noise",
    "stars": "cells that became *",
    "total": "missing in all",
    "unknown": "texts that the entry does not list",
}


def state_sentence(request: wire.DataRequestHead) -> Markup:
    """What a state means, and who does what next."""
    sides = {"provider": request.entry.tenant, "consumer": request.consumer}
    named = {side: Markup("<bdi>{}</bdi>").format(name) for side, name in sides.items()}
    return Markup(_STATES.get(request.state, "")).format(**named)  # noqa: S704 -- words of this module


def done(action: str) -> str:
    """What a change has done."""
    return _DONE.get(action, action)


def rule(name: str) -> str:
    """How a delivered count may differ from the published one."""
    return _RULES.get(name, name)


def attribute_names(question: Mapping[str, Any]) -> tuple[Sequence[str], int]:
    """The attributes that a question selects, as far as they are named, and how many more there are."""
    names = question.get("attributes") or []
    return names[:_NAMED], max(len(names) - _NAMED, 0)


def weight_texts(question: Mapping[str, Any]) -> tuple[list[tuple[str, float]], int]:
    """The weights of a question likewise."""
    weights = list((question.get("weights") or {}).items())
    return weights[:_NAMED], max(len(weights) - _NAMED, 0)


def limits(numbers: Mapping[str, float] | None) -> list[str]:
    """Privacy in words, such as `k at least 5`."""
    return [f"{name} {bound(name)} {number:g}" for name, number in (numbers or {}).items()]
