"""Searches that a tenant has saved, to be told what they find."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

MOST_SEARCHES: Final = 100
"""The most saved searches of a tenant."""


@dataclass(frozen=True, slots=True)
class SavedSearch:
    """A saved search.

    Attributes:
        asked: the parameters of the listing, by name.
        created_by: the prefix of a key, or the subject of a token.
        found_at: when it last found something; None if it never did.
    """

    id: str
    tenant: str
    asked: Mapping[str, Any]
    created_at: datetime
    created_by: str | None = None
    found_at: datetime | None = None
