"""An entry's verdict, controls and promises, in words."""

from collections.abc import Iterator, Mapping
from typing import Final

from aegis_advisor.evidence import ControlContent
from aegis_sdk import wire
from aegis_sdk.reading import few_in_words, number, seen_by
from app.entries.api.mapping import verdict_answer
from app.entries.model.verdicts import StoredVerdict
from app.pages.words import count

_PASSED: Final = (
    "No exact count of 1 to 4 records is shown by a table, follows from all tables together, or has a probability "
    "above 0.9"
)
_FAILED: Final = "Counts of 1 to 4 records, which can be about single persons, may be read from the published counts."
_WAITING: Final = "The verdict on the counts is pending. Do not rely on them before it."

#: The reasons why a place fails.
REASONS: Final[Mapping[str, str]] = {
    "shown": "shown by a table",
    "certain": "certain from several tables together",
    "likely": "known with a probability above 0.9",
    "undecided": "not decided",
}

#: Promises of configurations: the criterion in words, and whether the number is a lower or an upper limit.
CRITERIA: Final[Mapping[str, str]] = {
    "k": "at least this many records look alike",
    "l": "at least this many sensitive values in each class",
    "entropy_l": "sensitive values as varied as this many equally frequent ones",
    "t": "sensitive values of each class this near to the table's, by equal distance",
    "ordered_t": "the same, by ordered distance",
    "alpha": "no sensitive value has more than this share of a class",
    "beta": "no sensitive value is more than 1 + this many times as frequent in a class",
    "delta_disclosure": "frequencies of sensitive values within a factor exp of this",
    "epsilon": "differential privacy of the release",
    "reidentification": "an attacker re-identifies at most this share of people",
    "attribute_disclosure": "an attacker guesses a secret of at most this share of people",
    "membership": "an attacker tells members from others with at most this area under the curve",
}


def visible_to(visibility: str | wire.SeenBy) -> str:
    """The visibility of an entry, in words."""
    return "everyone who uses this service" if visibility == "all" else seen_by(visibility)


def judged(verdict: StoredVerdict | None) -> str:
    """A verdict in words."""
    if verdict is None:
        return _WAITING
    return f"{_PASSED}{few_in_words(verdict_answer(verdict))}." if verdict.passed else _FAILED


def control_words(control: ControlContent) -> Iterator[str]:
    """A sentence for each control of the counts."""
    base, least = control.rounded_to, control.min_cell
    if least is not None:
        yield f"Minimum cell: no count but 0 is below {count(least)}; rare values were merged or their tables rounded."
    if base is not None:
        once = " once, so that all tables agree with each other" if control.rounding else ""
        yield f"Rounding: every count was rounded up or down at random to a multiple of {count(base)}{once}."
    if (epsilon := control.epsilon) is not None:
        split = {"equal": " in equal parts", "cube_root": " by the cube root of their cells"}.get(
            control.split or "", ""
        )
        yield f"Noise: differential privacy with epsilon {number(epsilon)}, split over the tables{split}."
    if control.open_answers:
        yield "Open answers: everyone who sees the entry gets full answers about it."
