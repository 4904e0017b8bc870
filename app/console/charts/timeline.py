"""What has happened, in order. A list says this better than a drawing: steps are few, and words are what matters."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal


@dataclass(frozen=True)
class Step:
    """A step.

    Attributes:
        name: What happened, or what comes next.
        state: `done`, `current`, `next`, or `stopped` where it ended without success.
        at: When.
        by: Who did it.
        note: Why, in their words.
    """

    name: str
    state: Literal["done", "current", "next", "stopped"]
    at: datetime | None = None
    by: str = ""
    note: str = ""


@dataclass(frozen=True)
class Timeline:
    """Steps in order.

    Attributes:
        id: Of the element; letters, digits and hyphens.
        title: The heading.
        steps: The steps, the first one first.
    """

    id: str
    title: str
    steps: Sequence[Step]

    template = "timeline"
