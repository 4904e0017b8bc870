"""How long a caller wants to wait for an answer: the header `Prefer` (RFC 7240)."""

import re
from dataclasses import dataclass

#: Seconds to wait for an answer: by default, and at most.
DEFAULT_WAIT = 10.0
LONGEST_WAIT = 60.0

_WAIT = re.compile(r"\s*wait\s*=\s*\"?(\d{1,9})\"?\s*", re.IGNORECASE)

_ASYNCHRONOUS = "respond-async"


@dataclass(frozen=True, slots=True)
class Waiting:
    """How long to wait for an answer.

    Attributes:
        seconds: the longest time to wait.
        preference: the caller's preference as it is honoured; None without one.
    """

    seconds: float
    preference: str | None = None

    def headers(self, *, is_answered: bool) -> dict[str, str]:
        """`Preference-Applied` if a preference was honoured; `respond-async` is not by an immediate answer."""
        if self.preference is None or (is_answered and self.preference == _ASYNCHRONOUS):
            return {}
        return {"Preference-Applied": self.preference}


def waiting(prefer: str | None) -> Waiting:
    """How long to wait: 10 seconds by default, at most 60, and 0 with `respond-async`.

    Malformed preferences are ignored.
    """
    preferences = re.split("[,;]", prefer or "")
    if any(preference.strip().lower() == _ASYNCHRONOUS for preference in preferences):
        return Waiting(0.0, _ASYNCHRONOUS)
    waits = [float(match[1]) for preference in preferences if (match := _WAIT.fullmatch(preference))]
    if not waits:
        return Waiting(DEFAULT_WAIT)
    seconds = min(waits[0], LONGEST_WAIT)
    return Waiting(seconds, f"wait={seconds:g}")
