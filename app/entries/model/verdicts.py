"""The verdict on the counts of a version, as stored and as read."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class StoredVerdict:
    """Whether published counts give small ones away.

    Attributes:
        passed: whether they do not.
        findings: every place that fails, in the contract's names; they hold no count.
        few: how many listed values certainly have 1 to 4 records, whichever; None: not counted.
    """

    passed: bool
    findings: tuple[dict[str, Any], ...]
    few: int | None = None

    def without_places(self) -> "StoredVerdict":
        """The verdict for those who may not read the counts: a place would tell them where to look."""
        return StoredVerdict(self.passed, ())
