"""The words of the report on what counts give away, for someone who decides by the numbers and computes none."""

from typing import Final

from aegis_provider.report.model import Term
from aegis_provider.report.risk_terms import RECORDS

TERMS: Final = (
    RECORDS,
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
