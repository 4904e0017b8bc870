"""The advisor's errors.

Each error passes its arguments to `Exception` unchanged and builds its text from them, so it can be pickled and sent
between processes.
"""

from collections.abc import Sequence


class AdvisorError(Exception):
    """Base class of all errors that the advisor raises on purpose."""


class UnknownMeasureError(AdvisorError):
    """The measure is not in the registry."""

    def __init__(self, measure: str) -> None:
        super().__init__(measure)
        self.measure = measure

    def __str__(self) -> str:
        return f"there is no measure {self.measure!r}"


class NoConfigurationError(AdvisorError):
    """There is no configuration to choose from."""

    def __str__(self) -> str:
        return "there is no configuration to choose from"


class NoTaskError(AdvisorError):
    """The entry has no counts with which a column could be a label."""

    def __init__(self, label: str) -> None:
        super().__init__(label)
        self.label = label

    def __str__(self) -> str:
        return f"the entry has no counts of {self.label!r} as a label"


class NoEvidenceError(AdvisorError):
    """Configurations treat an attribute differently, but no joint counts show the cost."""

    def __init__(self, attribute: str) -> None:
        super().__init__(attribute)
        self.attribute = attribute

    def __str__(self) -> str:
        return (
            f"configurations treat {self.attribute!r} differently, but it has no joint counts: "
            "the loss cannot be computed"
        )


class OwnReferenceError(AdvisorError):
    """The reference `own` needs the mapping and the exact counts of every masking used, but one lacks them."""

    def __init__(self, attribute: str, masking: str) -> None:
        super().__init__(attribute, masking)
        self.attribute = attribute
        self.masking = masking

    def __str__(self) -> str:
        what = f"masking {self.masking!r} of {self.attribute!r}"
        return f"the reference 'own' needs the mapping and the exact counts of {what}"


class ContradictoryViewsError(AdvisorError):
    """No table has all the counts published for an attribute."""

    def __init__(self, attribute: str) -> None:
        super().__init__(attribute)
        self.attribute = attribute

    def __str__(self) -> str:
        return (
            f"the counts of {self.attribute!r} contradict each other: no table has all of them. Count them on one "
            "table, and declare what was done to them (noise, rounding, records left out)"
        )


class MissingCountsError(AdvisorError):
    """A joint measure needs the exact joint counts of every masking with the label, but one lacks them."""

    code = "missing_counts"

    def __init__(self, attribute: str, masking: str) -> None:
        super().__init__(attribute, masking)
        self.attribute = attribute
        self.masking = masking

    def __str__(self) -> str:
        what = f"{self.masking!r} of {self.attribute!r}"
        return f"a joint measure needs exact joint counts with the label for every masking used; {what} lacks them"


class MissingPairsError(AdvisorError):
    """A joint measure needs the pair counts of all maskings that a configuration uses together; some are missing."""

    code = "missing_pairs"
    shown = 3

    def __init__(self, missing: Sequence[tuple[str, str, str, str]]) -> None:
        super().__init__(missing)
        self.missing = missing

    def __str__(self) -> str:
        return (
            "a joint measure needs the pair counts of maskings that are used together; missing: "
            f"{self._some()}. Give these or those of finer maskings (`aegis summarize --pairs` writes all that are "
            "needed)"
        )

    def _some(self) -> str:
        shown = self.missing[: self.shown]
        some = ", ".join(f"{a!r} of {first!r} with {b!r} of {second!r}" for first, a, second, b in shown)
        return some + (f" and {len(self.missing) - self.shown} more" if len(self.missing) > self.shown else "")


class MissingAssociationsError(MissingPairsError):
    """A measure of interactions needs `with_label` of all maskings used together; some are missing."""

    code = "missing_associations"

    def __str__(self) -> str:
        return (
            "a measure of interactions needs `with_label` of every two maskings that are used together; missing: "
            f"{self._some()}. It does not follow from finer maskings (`aegis summarize --pairs` writes all that are "
            "needed); or ask by `joint`"
        )


class ContradictoryPairsError(AdvisorError):
    """No table has all the pair counts of a configuration."""

    code = "contradictory_pairs"

    def __str__(self) -> str:
        return (
            "the pair counts contradict each other: no table has all of them. Count them on one table, without noise "
            "or rounding"
        )


class TooManyColumnsError(AdvisorError):
    """The maskings used have more masked values than a joint measure can handle."""

    code = "too_heavy"

    def __init__(self, columns: int, most: int) -> None:
        super().__init__(columns, most)
        self.columns = columns
        self.most = most

    def __str__(self) -> str:
        return (
            f"the maskings used have too many masked values; a joint measure takes at most {self.most} with records, "
            "not counting the first of each. Select fewer attributes, or require more privacy"
        )
