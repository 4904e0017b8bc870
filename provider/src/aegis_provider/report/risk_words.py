"""What the numbers of privacy and risk mean, for someone who decides by them and does not compute them."""

from typing import Final, NamedTuple


class Term(NamedTuple):
    """A word, and what it means."""

    word: str
    meaning: str


ROLES: Final = (
    Term(
        "Quasi-identifiers",
        "attributes by which someone may know a person from elsewhere: age, place, dates, visits. None of them names "
        "anyone; together they may.",
    ),
    Term("Sensitive attributes", "what nobody should learn of a person from the table."),
    Term(
        "Equivalence class",
        "all records that agree on every quasi-identifier. Who knows these values of a person finds the class, and "
        "cannot tell its records apart.",
    ),
    Term(
        "Suppressed",
        "left out of the release altogether: the records of all classes that break what is promised.",
    ),
)

RECORDS: Final = (
    "All numbers are of records, not of people: a person with several records (stays, years) can be all records of a "
    "class. Make one record per person first, if that matters."
)

RISKS: Final = (
    Term(
        "Prosecutor risk",
        "someone knows that a certain person is in the table, and all of the person's quasi-identifiers. The chance to "
        "pick the right record is one over the size of the person's class; the highest is that of the smallest class.",
    ),
    Term(
        "Records above a risk",
        "the share of the records whose prosecutor risk is higher than 1 in 20 (often asked of public tables) or than "
        "1 in 5 (often asked of tables that are shared under contract).",
    ),
    Term(
        "Marketer risk",
        "someone links all records with a register of the same people, whoever they are: the share that is expected to "
        "be matched right. It is the number of classes over the number of records.",
    ),
    Term(
        "Alone",
        "records that no other agrees with on all quasi-identifiers: who knows these of the person knows the record.",
    ),
)
