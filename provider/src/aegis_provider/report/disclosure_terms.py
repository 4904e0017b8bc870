"""Explanations of the terms in the report on what counts give away, for readers who do not compute the numbers."""

from typing import Final

from aegis_provider.report.model import Term
from aegis_provider.report.risk_terms import RECORDS

TERMS: Final = (
    RECORDS,
    Term(
        "Cell",
        "how many records have a value of a group and a certain label value. A group (an atom) is a set of values that "
        "no masking of the entry tells apart. Nobody who sees the entry can look inside it, except through the "
        "histogram.",
    ),
    Term(
        "Determined exactly",
        "all tables of the attribute combined allow only this count. Every table of whole counts that has their sums "
        "has this count here, because the smallest and the largest count that the sums allow are the same.",
    ),
    Term(
        "Only whole numbers",
        "a cell determined exactly that follows only because counts are whole numbers. If each two of three groups "
        "have one record together, nobody has half a record. Finding such a cell takes a search of whole tables, not "
        "just differences. The search is not tried where more than 200 cells depend on each other, and it ends with "
        "the time limit (--seconds). Some cells are then not decided.",
    ),
    Term(
        "In no table",
        "no table shows the count, but differences do. Bins of 5 years minus bins of 7 years are bins of fewer people: "
        "each table may be harmless, but both together are not.",
    ),
    Term(
        "Without a record",
        "a cell that is certainly empty. That, too, says something about people: nobody with these values has this "
        "label.",
    ),
    Term(
        "Groups of one label value",
        "all records of the group certainly have the same label value. Anyone who knows that a person is in the group "
        "knows the label value, however large the group is.",
    ),
    Term(
        "Known to within k",
        "the smallest and the largest count that the tables allow are at most 2k apart, so the middle is off by k or "
        "less.",
    ),
    Term(
        "Total variation distance",
        "half the sum of the absolute differences of the shares of records, cell by cell. It is the share of the "
        "records that would have to move to turn one table into the other. The pooled reconstruction is the best guess "
        "from all tables. The margins are the histograms of attribute and label, combined as if one said nothing about "
        "the other. Overlapping coarse tables together can be almost as good as the unmasked table.",
    ),
)
