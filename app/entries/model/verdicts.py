"""The stored verdict on the counts of a version."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class StoredVerdict:
    """Whether published counts disclose small ones.

    Attributes:
        passed: whether they disclose none.
        findings: every place that fails, in the contract's names, without counts.
        few: the number of listed values that certainly have 1 to 4 records; None: not counted.
    """

    passed: bool
    findings: tuple[dict[str, Any], ...]
    few: int | None = None

    def without_places(self) -> "StoredVerdict":
        """The verdict for callers who may not read the counts: places would help an attacker."""
        return StoredVerdict(self.passed, ())
