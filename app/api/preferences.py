"""The `Prefer` header (RFC 7240): how long a caller wants to wait for an answer."""

import re

DEFAULT_WAIT = 10.0
LONGEST_WAIT = 60.0

_WAIT = re.compile(r"\s*wait\s*=\s*\"?(\d{1,9})\"?\s*", re.IGNORECASE)


def wait_seconds(prefer: str | None) -> float:
    """Seconds to wait: 10 by default, 60 at most, 0 with `respond-async`. An unusable header is ignored."""
    preferences = re.split("[,;]", prefer or "")
    if any(preference.strip().lower() == "respond-async" for preference in preferences):
        return 0.0
    waits = [float(match[1]) for preference in preferences if (match := _WAIT.fullmatch(preference))]
    return min(waits[0], LONGEST_WAIT) if waits else DEFAULT_WAIT
