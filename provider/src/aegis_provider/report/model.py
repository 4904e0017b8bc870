"""The parts of a report, which `report.rendering` renders, and the terms that reports explain to their readers."""

from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from aegis_provider.privacy import CRITERIA
from aegis_sdk.reading import Share, number

if TYPE_CHECKING:
    from aegis_sdk.charts import Bars, Frontier, Plane, SeriesBars
    from aegis_sdk.charts.hasse import Hasse

#: The bounds of every configuration's share.
BASELINES: Final = MappingProxyType({"the table as it is": 1.0, "nothing shared": 0.0})


@dataclass(frozen=True)
class TextTable:
    """Rows under a header; numbers are right-aligned.

    Attributes:
        header: The names of the columns.
        rows: The rows, with one cell for each column.
        caption: A note on it.
        wide: Number of last columns to show on pages only.
        most: Maximum rows in a terminal; by default all.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str | float]]
    caption: str = ""
    wide: int = 0
    most: int | None = None


class Term(NamedTuple):
    """A term, and its meaning for readers who use the number without computing it."""

    word: str
    meaning: str


@dataclass(frozen=True)
class Terms:
    """Explanations of terms, for pages only."""

    pairs: Sequence[Term]


Tone: TypeAlias = Literal["fine", "look", "stop"]
"""The word of a light, which stands beside its colour: green, amber or red."""


@dataclass(frozen=True)
class Light:
    """A coloured line: what it is about, whether that is fine, and the sentences that say why."""

    subject: str
    tone: Tone
    text: str


Figure: TypeAlias = "Bars | Frontier | Hasse | Plane | SeriesBars"
"""A chart, for pages only."""

Part: TypeAlias = "str | Light | TextTable | Terms | Figure"
"""A part of a section; a string is a paragraph of a page, or a line of text."""


@dataclass(frozen=True)
class Section:
    """A heading and the parts below it, which a page folds if it is `folded`."""

    heading: str
    parts: Sequence[Part]
    folded: bool = False


@dataclass(frozen=True)
class Report:
    """A title, a summary and the sections."""

    title: str
    summary: Sequence[Part]
    sections: Sequence[Section]


def cell_text(cell: str | float) -> str:
    """Return a cell as text: fractions have up to four significant digits."""
    return str(cell) if isinstance(cell, str | Share) else number(cell, 4)


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
PEOPLE: Final = Term(
    "People",
    "all numbers count people, not records. Who has several records is in the class of each of them, and counts once "
    "there. That holds against someone who knows one row of a person. Who knows two, or all, may find fewer than k "
    "people alike.",
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

DISCLOSURE: Final = (
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

FIDELITY: Final = Terms(
    [
        Term(
            "Kept",
            "the AUC above chance, or the R2 of a number, of a model that is trained on the release, as a share of "
            "that of the same model trained on as many real records. Both are tested on the same real records.",
        ),
        Term(
            "Real records",
            "the same measure between real records and other real ones, which is what can be hoped for. A release that "
            "is much nearer to real records probably repeats them.",
        ),
        Term(
            "Shuffled",
            "the same for the release with each column in an order of its own, which tells how frequent values are and "
            "no more.",
        ),
        Term(
            "Clustering agreement",
            "whether records fall into the same groups by clusters of the release as by clusters of real records: the "
            "adjusted Rand index, 1 for the same groups and 0 for as many in common as by chance.",
        ),
        Term(
            "Difference of associations",
            "how far the release is off in how strongly two columns are associated: by Cramér's V, from 0 to 1, "
            "corrected for the bias of few records, with numbers in groups.",
        ),
        Term(
            "Pair total variation",
            "the share of the records that would have to change for two columns to have the same frequencies together; "
            "the mean over each two columns.",
        ),
        Term(
            "Fréchet distance",
            "how far the means and the covariances of all columns are from the real ones; 0 if they are equal.",
        ),
    ]
)


def risk_terms(*, of_people: bool = False) -> list[Terms]:
    """Return the terms for the roles of attributes, the risks, and the criteria that can be measured."""
    criteria = [Term(f"{name}: {each.word}", each.meaning) for name, each in CRITERIA.items() if each.is_measured]
    return [Terms([PEOPLE if of_people else RECORDS, *ROLES]), Terms(RISKS), Terms(criteria)]
