"""What the numbers of disclosure mean, for someone who decides by them and does not compute them."""

from typing import Final

from aegis_provider.disclosure import Declared, PublishedTable
from aegis_provider.report.risk_words import Term

TERMS: Final = (
    Term(
        "Cell",
        "how many records have values of a group and a certain label value. A group is of values that no masking of "
        "the entry tells apart (an atom): nobody who sees the entry can look further into it, but by the histogram.",
    ),
    Term(
        "Follows exactly",
        "all tables of the attribute leave no choice: every table of whole counts that has their sums has this count "
        "here: the smallest and the largest count that the sums allow are the same.",
    ),
    Term(
        "In no table",
        "no table shows the count, but differences do. Bins of 5 years less bins of 7 years are bins of fewer people: "
        "each table may be harmless, and both together not.",
    ),
    Term(
        "Without a record",
        "a cell that is certainly empty. That, too, says something of people: nobody with these values has this label.",
    ),
    Term(
        "Groups of one label value",
        "all records of the group have the same label value, for certain. Who knows that somebody is in the group "
        "knows the label value, however large the group is.",
    ),
    Term(
        "Known to within k",
        "the least and the most that the tables allow are 2k apart at most: the middle is off by k or less.",
    ),
    Term(
        "Total variation distance",
        "half the sum of the differences of the shares of records, cell by cell: which share of the records would have "
        "to be moved to make one table of the other. The pooled reconstruction is the best guess from all tables; the "
        "margins are the histograms of attribute and label, as if one said nothing of the other. Overlapping coarse "
        "tables together can be almost as good as the unmasked one.",
    ),
)

CERTAINTY: Final = (
    "Noise was added to counts. Of a table with noise nothing follows with certainty: each of its counts may be off by "
    "any number of records, only large ones are improbable. It is left out of what follows exactly."
)

_KINDS: Final = {"label": "histogram of the label", "histogram": "histogram", "joint": "unmasked joint counts"}


def table_in_words(table: PublishedTable) -> str:
    """Which table it is, beside what it is of."""
    return _KINDS.get(table.kind, table.name)


def declared_in_words(declared: Declared) -> str:
    """In what way the counts are declared not to be those of the provider's table; empty if they are."""
    epsilon = "" if declared.epsilon is None else f" (epsilon {declared.epsilon:g})"
    said = [
        "" if declared.noise is None else f"noise of scale {declared.noise:g}{epsilon}",
        "" if declared.rounded_to is None else f"rounded to {declared.rounded_to}",
        "" if declared.records is None else f"of {declared.records:,} records",
        "left to chance" if declared.drawn else "",
    ]
    return ", ".join(filter(None, said))
