"""The verdict on what the counts of an entry give away."""

from pydantic import Field

from aegis_sdk.wire.documents import Answer


class VerdictFinding(Answer):
    """A place of the entry that fails."""

    reason: str = Field(
        description="`shown`: a table shows exact counts of 1 to 4, or two numbers of suppressed records differ by one "
        "of these. `certain`: such counts follow from several tables. `likely`: a reader who knows the declared "
        "controls gives one a probability above 0.9. `undecided`: this was not decided, which is not a pass"
    )
    pointer: str = Field(description="JSON Pointer to the place in the entry")
    cells: int = Field(description="How many cells of 1 to 4 records it is about; if undecided, how many may be")


class Verdict(Answer):
    """Whether the counts of an entry give small ones away."""

    passed: bool = Field(
        description="Of no count of 1 to 4 records can be told which of these it is: none is shown, follows from all "
        "tables together, or has a probability above 0.9, and everything was decided"
    )
    findings: tuple[VerdictFinding, ...] = Field(description="Every place that fails; empty if it passed")
    few: int | None = Field(
        default=None,
        description="How many listed values certainly have 1 to 4 records, without it being known how many; null: not "
        "counted, or not told to callers who may not read the counts",
    )
