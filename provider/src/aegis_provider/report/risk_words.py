"""What the numbers of privacy and risk mean, for someone who decides by them and does not compute them."""

from math import exp
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

CRITERIA: Final = {
    "k": Term(
        "k-anonymity",
        "the size of the smallest equivalence class: every record is one of at least k that agree on all "
        "quasi-identifiers. 1 means that some record stands alone. More is better. (Sweeney 2002)",
    ),
    "l": Term(
        "distinct l-diversity",
        "how many sensitive values the least diverse class has. With 1, who finds the class knows the value of "
        "all in it, however large it is. More is better. (Machanavajjhala et al. 2007)",
    ),
    "entropy_l": Term(
        "entropy l-diversity",
        "the same, with rare values counted for less: as many equally frequent values would be as hard to guess. More "
        "is better. (Machanavajjhala et al. 2007)",
    ),
    "t": Term(
        "t-closeness",
        "how far the sensitive values of a class differ from those of the whole table, from 0 (alike) to 1: the share "
        "of records whose value would have to change. Less is better. (Li et al. 2007)",
    ),
    "ordered_t": Term(
        "t-closeness, ordered",
        "the same where the values have an order, as amounts do: a change to a neighbouring value counts for less than "
        "one across the whole range. It means nothing of values without an order. Less is better. (Li et al. 2007)",
    ),
    "alpha": Term(
        "(alpha, k)-anonymity",
        "the largest share that one sensitive value has of a class: how sure a guess can be. 1 means certainty. Less "
        "is better. (Wong et al. 2006)",
    ),
    "beta": Term(
        "beta-likeness",
        "by how much a sensitive value can become more likely once the class is known: 0 means not at all, 1 twice as "
        "likely, 2 three times. Less is better. (Cao and Karras 2012)",
    ),
    "delta_disclosure": Term(
        "delta-disclosure",
        "how much more or less likely a sensitive value of a class is there than in the whole table, as a natural "
        "logarithm: 0.7 is a factor of two. Less is better. (Brickell and Shmatikov 2008)",
    ),
}
"""By the name of a criterion."""

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


def consequence(name: str, reached: float) -> str:
    """What it means that a release reaches this number of a criterion."""
    certain = "who finds a person's class may learn the value for certain"
    worst = {
        "k": "some record stands alone" if reached == 1 else f"every record is one of at least {reached:g} alike",
        "l": certain if reached == 1 else f"at least {reached:g} values are possible for every record",
        "entropy_l": f"guessing is as hard as among {reached:.3g} equally frequent values",
        "t": f"a class differs from the whole table in {percent(reached)} of its records",
        "ordered_t": f"values are moved by up to {percent(reached)} of their range on average",
        "alpha": f"a guess can be right in {percent(reached)} of the cases",
        "beta": f"a value can be {1 + reached:.3g} times as likely as in the whole table",
        "delta_disclosure": f"a value can be {exp(reached):.3g} times more or less likely than in the whole table",
    }
    return worst[name]


def percent(share: float) -> str:
    """A share in percent, with what is above zero never shown as zero."""
    if 0 < share < 0.001:  # noqa: PLR2004 - a tenth of a percent
        return "< 0.1 %"
    return f"{100 * share:.3g} %" if share >= 0.1 else f"{100 * share:.2g} %"  # noqa: PLR2004 - two digits suffice
