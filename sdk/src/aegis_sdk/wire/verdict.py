"""The verdict on the disclosure of small counts by an entry."""

from pydantic import Field

from aegis_sdk.wire.documents import Answer


class VerdictFinding(Answer):
    """A place in the entry that fails."""

    reason: str = Field(
        description="`shown`: a table shows exact counts of 1 to 4, or two numbers of suppressed records differ by "
        "one of these. `certain`: such counts follow from several tables. `likely`: a reader who knows the "
        "declared controls infers one with a probability above 0.9. `undecided`: no decision was reached, which "
        "is not a pass"
    )
    pointer: str = Field(description="JSON Pointer to the place in the entry")
    cells: int = Field(description="Number of cells of 1 to 4 records concerned; if undecided, an upper bound on it")


class Verdict(Answer):
    """Whether the counts of an entry disclose small ones."""

    passed: bool = Field(
        description="No exact count of 1 to 4 records is disclosed: none is shown, follows from all tables together, "
        "or has a probability above 0.9, and everything was decided"
    )
    findings: tuple[VerdictFinding, ...] = Field(description="Every place that fails; empty after a pass")
    few: int | None = Field(
        default=None,
        description="Number of listed values that certainly have 1 to 4 records, without their exact counts being "
        "known; null: not counted, or hidden from callers who may not read the counts",
    )
