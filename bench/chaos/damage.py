"""The kinds of damage."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Damage:
    """Damage to something acknowledged.

    Attributes:
        id: of the entry, advice or request.
        words: its present state.
    """

    id: str
    words: str


@dataclass
class Verdict:
    """The damage found; none if all lists are empty.

    Attributes:
        lost: no longer exists, or does not end.
        doubled: done twice.
        different: differs from what was sent, or from the answer of an undisturbed service.
        broken: faults in the chain of the audit log.
        unjudged: could not be judged, with the reason.
    """

    lost: list[Damage] = field(default_factory=list)
    doubled: list[Damage] = field(default_factory=list)
    different: list[Damage] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    unjudged: list[str] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        """Whether everything was judged and nothing went wrong."""
        return not (self.lost or self.doubled or self.different or self.broken or self.unjudged)

    @contextmanager
    def judging(self, what: str) -> Iterator[None]:
        """Judge something in the block; record a failure and continue."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - whatever it is, a run of an hour must end with a report
            self.unjudged.append(f"{what} could not be judged to the end: {error!r}")
