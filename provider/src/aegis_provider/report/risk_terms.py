"""The words of the report on risk, for someone who decides by the numbers and does not compute them."""

from typing import Final

from aegis_provider.privacy import CRITERIA
from aegis_provider.report.model import Term, Terms

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

RECORDS: Final = Term(
    "Records",
    "all numbers are of records, not of people: a person with several records (stays, years) can be all records of a "
    "class. Make one record per person first, if that matters.",
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


def terms() -> list[Terms]:
    """What the table is looked at as, the risks, and the criteria that can be measured."""
    criteria = [Term(f"{name}: {each.word}", each.meaning) for name, each in CRITERIA.items() if each.is_measured]
    return [Terms([RECORDS, *ROLES]), Terms(RISKS), Terms(criteria)]
