"""Explanations of the terms in the report on risk, for readers who do not compute the numbers."""

from typing import Final

from aegis_provider.privacy import CRITERIA
from aegis_provider.report.model import Term, Terms

ROLES: Final = (
    Term(
        "Quasi-identifiers",
        "attributes that someone may know of a person from elsewhere: age, place, dates, visits. No single one "
        "identifies anyone, but together they may.",
    ),
    Term("Sensitive attributes", "what nobody should learn about a person from the table."),
    Term(
        "Equivalence class",
        "all records that agree on every quasi-identifier. Someone who knows these values of a person finds the class "
        "but cannot tell its records apart.",
    ),
    Term(
        "Suppressed",
        "left out of the release altogether: the records of all classes that break a promise.",
    ),
)

RECORDS: Final = Term(
    "Records",
    "all numbers count records, not people: all records of a class can belong to one person with several records "
    "(stays, years). If that matters, make one record per person first.",
)

RISKS: Final = (
    Term(
        "Prosecutor risk",
        "someone knows that a certain person is in the table, and knows all of the person's quasi-identifiers. The "
        "chance of picking the right record is one divided by the size of the person's class. It is highest for the "
        "smallest class.",
    ),
    Term(
        "Records above a risk",
        "the share of the records whose prosecutor risk is above 1 in 20 (a usual limit for public tables) or above "
        "1 in 5 (a usual limit for tables shared under contract).",
    ),
    Term(
        "Marketer risk",
        "someone links all records with a register of the same people, whoever they are. The risk is the share of "
        "records expected to be matched correctly: the number of classes divided by the number of records.",
    ),
    Term(
        "Alone",
        "records that agree with no other on all quasi-identifiers. Anyone who knows the person's quasi-identifiers "
        "knows the record.",
    ),
)


def terms() -> list[Terms]:
    """Return the terms for the roles of attributes, the risks, and the criteria that can be measured."""
    criteria = [Term(f"{name}: {each.word}", each.meaning) for name, each in CRITERIA.items() if each.is_measured]
    return [Terms([RECORDS, *ROLES]), Terms(RISKS), Terms(criteria)]
