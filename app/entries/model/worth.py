"""What the tables of an entry are worth: how well a model should do on the best one, by label and by k."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

ASKED_K: Final = (2, 5, 10, 20)
"""The k by which searches order entries. Few, since each number says something about the counts."""


class WorthState(StrEnum):
    """Whether the worth is known: not yet, never (the counts do not tell), or not since its job failed."""

    PENDING = "pending"
    KNOWN = "known"
    UNKNOWN = "unknown"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Worth:
    """What a model should reach for a label on the best table that promises at least this k.

    Attributes:
        k: the least k, of people where the entry counts them.
        configuration: the id of the best configuration.
        masking: the masking by which that table shows the label; None if it shows it as it is.
        expected: `auc` and `accuracy`, or `r2` and `rmse`, with `low` and `high`, to two digits; None if not known.
    """

    label: str
    k: float
    state: WorthState = WorthState.UNKNOWN
    configuration: str | None = None
    expected: Mapping[str, float | None] | None = None
    masking: str | None = None

    @property
    def order(self) -> tuple[int, float, float]:
        """What searches order by, the largest first: the kind of number, its lower end, and the number.

        What cannot be compared comes one after the other: the AUC and the R^2 of the label as it is, those of a label
        that is shown masked, and what is not known. By the lower end, because estimates of small tables are uncertain,
        and the first of many uncertain ones is mostly overestimated.
        """
        if self.expected is None:
            return 0, -math.inf, -math.inf
        auc, r2, low = (self.expected[name] for name in ("auc", "r2", "low"))
        kind = (2 if auc is not None else 1) + (2 if self.masking is None else 0)
        return kind, low or 0.0, (r2 if auc is None else auc) or 0.0


def answering(k: float) -> int | None:
    """The least k that searches know of which promises as much as this one; None if none does."""
    return next((known for known in ASKED_K if known >= k), None)
