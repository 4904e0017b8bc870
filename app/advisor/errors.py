"""What can be wrong with a question, in the advisor's own terms.

`Exception` gets the arguments as they are, and texts are made from them: so errors survive the way between processes.
"""


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
