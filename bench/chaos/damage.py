"""What can have gone wrong."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Damage:
    """What became of something that was acknowledged.

    Attributes:
        id: of the entry, advice or request.
        words: what it is now.
    """

    id: str
    words: str


@dataclass
class Verdict:
    """What went wrong: nothing, if all lists are empty.

    Attributes:
        lost: what is not there any more, or does not end.
        doubled: what was done twice.
        different: what is not as it was sent, or as an undisturbed service answers.
        broken: what is wrong with the chain of the audit log.
        unjudged: what could not be judged, and why.
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
        """Judge something in the block; if it fails, note that, and go on with what is next."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - whatever it is, a run of an hour must end with a report
            self.unjudged.append(f"{what} could not be judged to the end: {error!r}")
