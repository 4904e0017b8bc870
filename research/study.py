"""A table with its maskings and configurations: what the advisor is given, and what it must not see."""

import csv
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aegis_advisor.arrays import FloatArray, IntArray, fold
from aegis_advisor.evidence import DROP, IDENTITY, AttributeEvidence, PairAssociation, PairCounts, evidence_of
from aegis_provider import Configuration, Plan, document_of, summarize
from app.entries.model.configurations import ConfigurationTable
from app.entries.model.documents import entry_in


@dataclass(frozen=True, eq=False)
class Table:
    """A table of records, as text.

    Attributes:
        name: its short name in the report.
        about: a description in a sentence, including any processing.
        source: where it comes from, and under what terms.
        columns: by attribute (records,) the values.
        label: (records,) the classes.
        held_out: whether it had no part in choosing the product's defaults.
    """

    name: str
    about: str
    source: str
    columns: Mapping[str, NDArray[np.str_]]
    label: NDArray[np.str_]
    held_out: bool = False

    @property
    def records(self) -> int:
        """The number of records."""
        return int(self.label.size)

    def write(self, path: Path, label: str) -> None:
        """Write the records as CSV, with the classes in a column called `label`."""
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow([*self.columns, label])
            writer.writerows(zip(*(column.tolist() for column in self.columns.values()), self.label, strict=True))


@dataclass(frozen=True, eq=False)
class Study:
    """A table and the ways to mask it.

    Attributes:
        table: the records.
        plan: the plan that masks them.
        evidence: per attribute its histogram, and mapping and joint counts of every masking, but no unmasked counts.
        configurations: at most 30 of them.
        pairs: the counts of every two masked attributes that a configuration uses together, except maskings with a
            single masked value, which tell nothing.
        associations: their joint association with the label.
        codes: (records, attributes) the index of every value in its attribute's domain.
        classes: (records,) the index of every record's class in the label's domain.
        truths: per attribute (values, labels) the unmasked joint counts, which the advisor must not see.
    """

    table: Table
    plan: Plan
    evidence: tuple[AttributeEvidence, ...]
    configurations: ConfigurationTable
    pairs: tuple[PairCounts, ...]
    associations: tuple[PairAssociation, ...]
    codes: IntArray
    classes: IntArray
    truths: tuple[IntArray, ...]

    @classmethod
    def of(cls, table: Table, plan: Plan) -> "Study":
        """Summarise the table as its provider does, and count here what the provider does not publish."""
        entry = summarized(table, plan)
        evidence = evidence_of(entry_in(entry))
        domains = [attribute["domain"] for attribute in entry["attributes"]]
        columns = [table.columns[one.name] for one in evidence]
        codes = np.stack([places_of(column, domain) for column, domain in zip(columns, domains, strict=True)], axis=1)
        classes = places_of(table.label, entry["label"]["domain"])
        labels = len(entry["label"]["domain"])
        truths = tuple(
            _crosstab(column, classes, (len(domain), labels)) for column, domain in zip(codes.T, domains, strict=True)
        )
        configurations = configurations_in(evidence, plan.configurations)
        pairs = _pair_counts(evidence, configurations, codes)
        associations = tuple(_association(pair, evidence, codes, classes) for pair in pairs)
        return cls(table, plan, evidence, configurations, pairs, associations, codes, classes, truths)

    @property
    def name(self) -> str:
        """The table's name."""
        return self.table.name

    @property
    def attributes(self) -> tuple[str, ...]:
        """The names of the attributes, in the order of the evidence."""
        return tuple(one.name for one in self.evidence)

    def maskings(self, configuration: int) -> tuple[str, ...]:
        """Return per attribute the masking id, `identity` or `drop` that a configuration uses."""
        return _maskings(self.configurations, configuration)

    def masked(self, configuration: int) -> IntArray:
        """Return (records, attributes) the index of each masked value under a configuration; 0 where dropped."""
        return masked_by(self.evidence, self.configurations, self.codes, configuration)


def masked_by(
    evidence: Sequence[AttributeEvidence], configurations: ConfigurationTable, codes: IntArray, configuration: int
) -> IntArray:
    """Return (records, attributes) the masked values' indices under a configuration, from the unmasked `codes`."""
    names = _maskings(configurations, configuration)
    maps = [mapping_of(one, name) for one, name in zip(evidence, names, strict=True)]
    return np.stack([mapping[column] for mapping, column in zip(maps, codes.T, strict=True)], axis=1)


def _maskings(configurations: ConfigurationTable, configuration: int) -> tuple[str, ...]:
    codes = configurations.codes[configuration]
    return tuple(options[code] for options, code in zip(configurations.options, codes, strict=True))


def mapping_of(evidence: AttributeEvidence, masking: str) -> IntArray:
    """Return (values,) the masked value of each value, under a masking, `identity` or `drop`."""
    if masking == IDENTITY:
        return np.arange(evidence.values)
    if masking == DROP:
        return np.zeros(evidence.values, dtype=np.int64)
    mapping = next(each.mapping for each in evidence.maskings if each.id == masking)
    if mapping is None:
        raise ValueError(f"the mapping of {masking} is not known")
    return mapping


def summarized(table: Table, plan: Plan) -> dict[str, Any]:
    """Return the entry of a table in the contract's form, as its provider makes it."""
    with tempfile.TemporaryDirectory(prefix="aegis-evaluation-") as directory:
        path = Path(directory) / "table.csv"
        table.write(path, plan.label)
        return document_of(summarize(path, plan, name="table"))


def places_of(column: NDArray[np.str_], domain: Sequence[str]) -> IntArray:
    """Return (records,) the index of each value in the domain.

    Raises:
        KeyError: a value is not in the domain.
    """
    places = {text: place for place, text in enumerate(domain)}
    texts, inverse = np.unique(column, return_inverse=True)
    return np.array([places[text] for text in texts.tolist()], dtype=np.int64)[inverse]


def configurations_in(evidence: Sequence[AttributeEvidence], listed: Sequence[Configuration]) -> ConfigurationTable:
    options = tuple((IDENTITY, DROP, *(masking.id for masking in one.maskings)) for one in evidence)
    codes = [
        [names.index(each.maskings[one.name]) for one, names in zip(evidence, options, strict=True)] for each in listed
    ]
    vouched = sorted({name for each in listed for name in each.privacy})
    privacy = {name: np.array([float(each.privacy.get(name, np.nan)) for each in listed]) for name in vouched}
    return ConfigurationTable(tuple(each.id for each in listed), options, np.array(codes, dtype=np.int64), privacy)


def _pair_counts(
    evidence: Sequence[AttributeEvidence], configurations: ConfigurationTable, codes: IntArray
) -> tuple[PairCounts, ...]:
    """Count all pairs of values, then fold the counts by every two maskings that a configuration uses together."""
    pairs = []
    for first, second in combinations(range(len(evidence)), 2):
        ours, theirs = evidence[first], evidence[second]
        finest = _crosstab(codes[:, first], codes[:, second], (ours.values, theirs.values))
        for one, other in np.unique(configurations.codes[:, [first, second]], axis=0).tolist():
            names = configurations.options[first][one], configurations.options[second][other]
            maps = mapping_of(ours, names[0]), mapping_of(theirs, names[1])
            if min(mapping.max(initial=0) for mapping in maps) > 0:
                pairs.append(PairCounts((first, second), names, _folded(finest, *maps)))
    return tuple(pairs)


def _association(
    pair: PairCounts, evidence: Sequence[AttributeEvidence], codes: IntArray, classes: IntArray
) -> PairAssociation:
    """Return Pearson's chi-square of the label and the combinations of two masked values, from the records."""
    masked = [
        mapping_of(evidence[place], masking)[codes[:, place]]
        for place, masking in zip(pair.attributes, pair.maskings, strict=True)
    ]
    _, combination = np.unique(masked[0] * (masked[1].max() + 1) + masked[1], return_inverse=True)
    counts = _crosstab(combination, classes, (int(combination.max()) + 1, int(classes.max()) + 1))
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / classes.size
    held = expected > 0
    chi_square = float(np.sum(np.square(counts - expected)[held] / expected[held]))
    return PairAssociation(pair.attributes, pair.maskings, chi_square, len(counts))


def _crosstab(rows: IntArray, columns: IntArray, shape: tuple[int, int]) -> IntArray:
    """Return (rows, columns) counts of the records that have each pair of indices."""
    return np.bincount(rows * shape[1] + columns, minlength=shape[0] * shape[1]).reshape(shape)


def _folded(table: IntArray, rows: IntArray, columns: IntArray) -> IntArray:
    ours = fold(table, rows, int(rows.max()) + 1)
    return fold(np.ascontiguousarray(ours.T), columns, int(columns.max()) + 1).T


Scores = Callable[[AttributeEvidence, Sequence[str]], Sequence[float]]
"""The score of an attribute under each of some of its masking ids, `identity` and `drop` among them."""


def summed(evidence: Sequence[AttributeEvidence], configurations: ConfigurationTable, scores: Scores) -> FloatArray:
    """Return (configurations,) the sum over the attributes of the score of the masking that a configuration uses.

    Each attribute is scored once, under the maskings that configurations use.
    """
    total = np.zeros(len(configurations.ids))
    for one, options, codes in zip(evidence, configurations.options, configurations.codes.T, strict=True):
        used, place = np.unique(codes, return_inverse=True)
        total += np.array(scores(one, [options[code] for code in used]))[place]
    return total
