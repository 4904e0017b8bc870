"""The wording of data requests: question, state and history."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from markupsafe import Markup

from aegis_sdk import wire
from app.pages.words import bound

#: The most attributes or weights that are named; the others are counted.
_NAMED: Final = 30

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
    """The meaning of a state, and the next step."""
    sides = {"provider": request.entry.tenant, "consumer": request.consumer}
    named = {side: Markup("<bdi>{}</bdi>").format(name) for side, name in sides.items()}
    return Markup(_STATES.get(request.state, "")).format(**named)  # noqa: S704 -- words of this module


def done(action: str) -> str:
    """An action in words."""
    return _DONE.get(action, action)


def rule(name: str) -> str:
    """The admissible difference of a delivered count, in words."""
    return _RULES.get(name, name)


def attribute_names(question: Mapping[str, Any]) -> tuple[Sequence[str], int]:
    """The first attributes that a question selects, and the number of the others."""
    names = question.get("attributes") or []
    return names[:_NAMED], max(len(names) - _NAMED, 0)


def weight_texts(question: Mapping[str, Any]) -> tuple[list[tuple[str, float]], int]:
    """The first weights of a question, and the number of the others."""
    weights = list((question.get("weights") or {}).items())
    return weights[:_NAMED], max(len(weights) - _NAMED, 0)


def limits(numbers: Mapping[str, float] | None) -> list[str]:
    """Privacy in words, such as `k at least 5`."""
    return [f"{name} {bound(name)} {number:g}" for name, number in (numbers or {}).items()]
