"""What can be wrong with a question, in the advisor's own terms."""


class AdvisorError(Exception):
    """Root of everything the advisor raises on purpose."""


class UnknownMeasureError(AdvisorError):
    """The measure is not in the registry."""

    def __init__(self, measure: str) -> None:
        super().__init__(f"there is no measure {measure!r}")
        self.measure = measure


class NoConfigurationError(AdvisorError):
    """There is no configuration to choose from."""

    def __init__(self) -> None:
        super().__init__("there is no configuration to choose from")


class NoEvidenceError(AdvisorError):
    """Configurations treat an attribute differently, but no joint counts tell what that costs."""

    def __init__(self, attribute: str) -> None:
        super().__init__(
            f"configurations treat {attribute!r} differently, but no joint counts of it are known: "
            "what they lose cannot be told"
        )
        self.attribute = attribute


class OwnReferenceError(AdvisorError):
    """The reference `own` needs mapping and counts of every masking that is used; one lacks them."""

    def __init__(self, attribute: str, masking: str) -> None:
        super().__init__(
            f"the reference 'own' needs the mapping and the counts of masking {masking!r} of {attribute!r}"
        )
        self.attribute = attribute
        self.masking = masking
