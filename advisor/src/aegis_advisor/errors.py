"""What can be wrong with a question, in the advisor's own terms.

`Exception` gets the arguments as they are, and texts are made from them: so errors survive the way between processes.
"""

from collections.abc import Sequence


class AdvisorError(Exception):
    """Root of everything the advisor raises on purpose."""


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


class NoEvidenceError(AdvisorError):
    """Configurations treat an attribute differently, but no joint counts tell what that costs."""

    def __init__(self, attribute: str) -> None:
        super().__init__(attribute)
        self.attribute = attribute

    def __str__(self) -> str:
        return (
            f"configurations treat {self.attribute!r} differently, but no joint counts of it are known: "
            "what they lose cannot be told"
        )


class OwnReferenceError(AdvisorError):
    """The reference `own` needs mapping and exact counts of every masking that is used; one lacks them."""

    def __init__(self, attribute: str, masking: str) -> None:
        super().__init__(attribute, masking)
        self.attribute = attribute
        self.masking = masking

    def __str__(self) -> str:
        what = f"masking {self.masking!r} of {self.attribute!r}"
        return f"the reference 'own' needs the mapping and the exact counts of {what}"


class ContradictoryViewsError(AdvisorError):
    """What is published of an attribute is true of no table."""

    def __init__(self, attribute: str) -> None:
        super().__init__(attribute)
        self.attribute = attribute

    def __str__(self) -> str:
        return (
            f"the counts of {self.attribute!r} contradict each other: no table has all of them. They must be counted "
            "on one table, and what was done to them (noise, rounding, records left out) must be declared"
        )


class MissingCountsError(AdvisorError):
    """A joint measure needs the exact joint counts of every masking with the label; one lacks them."""

    code = "missing_counts"

    def __init__(self, attribute: str, masking: str) -> None:
        super().__init__(attribute, masking)
        self.attribute = attribute
        self.masking = masking

    def __str__(self) -> str:
        what = f"{self.masking!r} of {self.attribute!r}"
        return f"a joint measure needs the exact joint counts with the label of every masking that is used: {what}"


class MissingPairsError(AdvisorError):
    """A joint measure needs pair counts of any two maskings that a configuration uses together; some are not known."""

    code = "missing_pairs"
    shown = 3

    def __init__(self, missing: Sequence[tuple[str, str, str, str]]) -> None:
        super().__init__(missing)
        self.missing = missing

    def __str__(self) -> str:
        shown = self.missing[: self.shown]
        some = ", ".join(f"{a!r} of {first!r} with {b!r} of {second!r}" for first, a, second, b in shown)
        more = f" and {len(self.missing) - self.shown} more" if len(self.missing) > self.shown else ""
        return (
            f"a joint measure needs the pair counts of maskings that are used together; not known: {some}{more}. "
            "They can be given, or those of finer maskings (`aegis summarize --pairs` writes all that are needed)"
        )


class ContradictoryPairsError(AdvisorError):
    """The pair counts of a configuration are those of no table."""

    code = "contradictory_pairs"

    def __str__(self) -> str:
        return (
            "the pair counts contradict each other: no table has all of them. They must be counted on one table, "
            "without noise or rounding"
        )


class TooManyColumnsError(AdvisorError):
    """The maskings that are used have more masked values than can be related to each other."""

    code = "too_heavy"

    def __init__(self, columns: int, most: int) -> None:
        super().__init__(columns, most)
        self.columns = columns
        self.most = most

    def __str__(self) -> str:
        return (
            f"the maskings that are used have {self.columns} masked values beside the first of each; a joint measure "
            f"takes {self.most}: select fewer attributes, or require more privacy"
        )
