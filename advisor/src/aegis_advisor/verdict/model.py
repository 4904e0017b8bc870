"""The subject and the result of a verdict."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import chain
from typing import Final, Self

import numpy as np

from aegis_advisor.arrays import BoolArray, IntArray
from aegis_advisor.evidence import (
    DROP,
    IDENTITY,
    AttributeEvidence,
    ConfigurationContent,
    EntryContent,
    PairCounts,
    Perturbation,
)

SMALL: Final = 4
"""Counts of people from 1 to this are small. Statistical offices commonly publish none below 5."""


def largest_small(rows_per_person: int) -> int:
    """The largest number of records that `SMALL` people can have; one more is of `SMALL` + 1 people at least.

    With one record each it is `SMALL`, with four 16.
    """
    return SMALL * rows_per_person


LIKELY: Final = 0.9
"""A reader knows a small count if its probability exceeds this."""

Path = tuple[str | int, ...]
"""The names and indices that lead to a place in the published document."""


class Reason(StrEnum):
    """Why a verdict is not a pass.

    Attributes:
        SHOWN: a table shows exact small counts, or two numbers of records differ by one.
        CERTAIN: small counts follow for certain from several tables.
        LIKELY: a reader who knows the declared controls gives a small count a probability above `LIKELY`.
        UNDECIDED: it was not decided in time, or there is no method to decide it.
    """

    SHOWN = "shown"
    CERTAIN = "certain"
    LIKELY = "likely"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Finding:
    """One failure.

    Attributes:
        cells: the number of affected cells with small counts; with `UNDECIDED`, an upper bound.
    """

    reason: Reason
    path: Path
    cells: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """The disclosure of published counts.

    Attributes:
        findings: all failures; empty if the counts pass.
        few: the number of listed values and cells that certainly have a small count, even if the exact number is
            unknown; None if not counted because tables show small counts.
    """

    findings: tuple[Finding, ...] = ()
    few: int | None = None

    @property
    def passed(self) -> bool:
        """Whether no small count is known, for certain or most likely, and everything was decided."""
        return not self.findings

    def cells(self, reason: Reason) -> int:
        """Return how many cells fail for a reason."""
        return sum(finding.cells for finding in self.findings if finding.reason is reason)


@dataclass(frozen=True, slots=True, eq=False)
class Releases:
    """The configurations, with the records and single cells that each suppresses.

    Attributes:
        codes: (configurations, attributes) indices into `options`.
        options: for each attribute, the ids of the maskings that codes stand for.
        suppressed: (configurations,) the number of records, 0 if it suppresses none; None where it is not published.
        cells: (configurations,) the number of cells, likewise; empty if no configuration suppresses any.
        privacy: (configurations,) by criterion, their privacy values; None where they declare none.
        in_columns: whether the document lists them as columns of a table.
        known: the places of the quasi-identifiers, to which privacy refers; all attributes if undeclared.
        generated: the places of the configurations of generated tables, which show no record.
    """

    codes: IntArray
    options: Sequence[Sequence[str]]
    suppressed: Sequence[int | None]
    cells: Sequence[int | None] = ()
    privacy: Mapping[str, Sequence[float | None]] = field(default_factory=dict)
    in_columns: bool = False
    known: frozenset[int] | None = None
    generated: frozenset[int] = frozenset()

    @classmethod
    def of(cls, entry: EntryContent, label: str = IDENTITY) -> Self:
        """The releases of an entry with its configurations; a generated one shares no attribute of the table.

        Args:
            label: a masking of the label. Of configurations that show it otherwise, only k is known: the other
                criteria are about the label that they show.
        """
        table, rows = entry.configuration_table, entry.configurations or ()
        columns = [
            [row.maskings.get(attribute.name, DROP) for row in rows]
            if table is None
            else table.maskings[attribute.name]
            for attribute in entry.attributes
        ]
        options = [tuple(dict.fromkeys((IDENTITY, *column))) for column in columns]
        places = {attribute.name: place for place, attribute in enumerate(entry.attributes)}
        known, codes = entry.quasi_identifiers, list(map(_codes, columns, options))
        return cls(
            np.stack(codes, axis=1),
            options,
            [row.suppressed or 0 for row in rows] or [0] * len(codes[0]),  # these numbers come with the counts
            [row.suppressed_cells or 0 for row in rows],
            _about_label(_privacy_of(rows) if table is None else table.privacy or {}, _labels_of(entry), label),
            table is not None,
            None if known is None else frozenset(places[name] for name in known),
            frozenset(place for place, row in enumerate(rows) if row.is_generated),
        )

    def place_of(self, configuration: int, criterion: str) -> Path:
        """Return the place of a privacy value in the document."""
        if self.in_columns:
            return "configuration_table", "privacy", criterion, configuration
        return "configurations", configuration, "privacy", criterion


def _codes(maskings: Sequence[str], options: Sequence[str]) -> IntArray:
    number = {option: code for code, option in enumerate(options)}
    return np.fromiter((number[masking] for masking in maskings), dtype=np.int64)


def _labels_of(entry: EntryContent) -> Sequence[str]:
    """How each configuration shows the label; empty if all show it as it is."""
    if not entry.label.maskings:
        return ()
    if entry.configuration_table is not None:
        return list(entry.configuration_table.maskings[entry.label.name])
    return [row.maskings.get(entry.label.name, IDENTITY) for row in entry.configurations or ()]


def _about_label(
    privacy: Mapping[str, Sequence[float | None]], shown: Sequence[str], label: str
) -> Mapping[str, Sequence[float | None]]:
    """Privacy values by criterion, those about another masked label than this one left out."""
    if not shown:
        return privacy
    own = [masking == label for masking in shown]
    return {
        name: values if name == "k" else [value if kept else None for value, kept in zip(values, own, strict=True)]
        for name, values in privacy.items()
    }


def _privacy_of(rows: Sequence[ConfigurationContent]) -> dict[str, list[float | None]]:
    """The privacy values of listed configurations, by criterion; a generated one is not measured in the table."""
    privacy: list[Mapping[str, float]] = [{} if row.is_generated else row.privacy or {} for row in rows]
    return {name: [each.get(name) for each in privacy] for name in dict.fromkeys(chain.from_iterable(privacy))}


@dataclass(frozen=True, eq=False)
class PublishedCounts:
    """All counts of an entry, without faults (`find_faults` and the like).

    Attributes:
        pairs: the joint counts of pairs of masked attributes, by their places in the document.
        rows_per_person: the most records of one person; promised privacy counts people if it is above 1.
        labels: the counts of each other label, if they are not among the pairs.
    """

    evidence: Sequence[AttributeEvidence]
    pairs: Mapping[int, PairCounts]
    releases: Releases
    rows_per_person: int = 1
    labels: Sequence["LabelCounts"] = ()

    @property
    def small(self) -> int:
        """Counts from 1 to this are small: `SMALL` people, or their records."""
        return largest_small(self.rows_per_person)

    @property
    def rounded_once(self) -> int | None:
        """The base to which all counts without a declaration were rounded once; None if they were not."""
        return self.evidence[0].rounded_once


@dataclass(frozen=True, eq=False)
class LabelCounts:
    """The counts of another label than the default one, as those of an entry with this label alone.

    Attributes:
        places: the place in the document of each place in such an entry; others are the same.
    """

    label: str
    published: PublishedCounts
    places: Mapping[Path, Path]

    def placed(self, finding: Finding) -> Finding:
        """Return the finding at its place in the document."""
        return replace(finding, path=self.places.get(finding.path, finding.path))


def is_exact(perturbation: Perturbation) -> bool:
    """Whether each count is an exact number of records, without noise or rounding."""
    return not perturbation.is_noisy and perturbation.rounded_to is None


def is_small(counts: IntArray, small: int) -> BoolArray:
    """Mark the counts from 1 to `small`."""
    return np.asarray((counts > 0) & (counts <= small))
