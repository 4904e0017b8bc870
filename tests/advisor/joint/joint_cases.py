"""Random records of several attributes, what their provider would publish, and the trace computed from the records."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from sklearn.linear_model import LinearRegression

from aegis_advisor.evidence import AttributeEvidence, Masking, PairCounts
from aegis_advisor.ranking import Question, recommend
from aegis_advisor.reconstruction import reconstruct


@dataclass(frozen=True)
class Records:
    """`values` (records, attributes) and `classes` (records,), with the mappings of each attribute's maskings."""

    values: np.ndarray
    classes: np.ndarray
    mappings: list[list[np.ndarray]]

    @property
    def options(self):
        return [("identity", "drop", *(f"v{at}" for at in range(len(each)))) for each in self.mappings]

    def masked(self, attribute, option):
        """(records,) the masked values; None if the attribute is dropped."""
        if option == "drop":
            return None
        column = self.values[:, attribute]
        return column if option == "identity" else self.mappings[attribute][int(option[1:])][column]

    def evidence(self, *, joint=False):
        return [self._attribute(attribute, joint) for attribute in range(self.values.shape[1])]

    def _attribute(self, attribute, joint):
        size, labels = self.mappings[attribute][0].size, int(self.classes.max()) + 1
        table = counts(self.values[:, attribute], self.classes, (size, labels))
        maskings = []
        for at, mapping in enumerate(self.mappings[attribute]):
            groups = int(mapping.max()) + 1
            masked = counts(mapping[self.values[:, attribute]], self.classes, (groups, labels))
            maskings.append(Masking(f"v{at}", groups, mapping, masked, deterministic=True))
        histogram, known = table.sum(axis=1), table if joint else None
        return AttributeEvidence(f"a{attribute}", size, table.sum(axis=0), histogram, known, tuple(maskings))

    def pairs(self, *, identity=False):
        """The pair counts of all maskings with all maskings of the other attributes."""
        every = [options if identity else options[2:] for options in self.options]
        return [
            self.pair(first, one, second, other)
            for first, second in combinations(range(len(every)), 2)
            for one in every[first]
            for other in every[second]
            if "drop" not in (one, other)
        ]

    def pair(self, first, one, second, other):
        shape = tuple(
            self.mappings[attribute][0].size
            if option == "identity"
            else int(self.mappings[attribute][int(option[1:])].max()) + 1
            for attribute, option in ((first, one), (second, other))
        )
        joint = counts(self.masked(first, one), self.masked(second, other), shape)
        return PairCounts((first, second), (one, other), joint)

    def trace(self, row):
        """Pillai's trace and the rank of a configuration's indicators, computed from the records by pseudo-inverses."""
        columns = [self.masked(at, self.options[at][code]) for at, code in enumerate(row)]
        shown = [indicators(column) for column in columns if column is not None]
        if not shown:
            return 0.0, 0
        x, y = centred(np.concatenate(shown, axis=1)), centred(indicators(self.classes))
        rank = np.linalg.matrix_rank(x, tol=1e-8 * np.sqrt(len(x)))
        inner = np.linalg.pinv(x.T @ x, rcond=1e-11) @ (x.T @ y) @ np.linalg.pinv(y.T @ y, rcond=1e-11) @ (y.T @ x)
        return float(np.trace(inner)), int(rank)

    def advice(self, codes, pairs, measure="joint", *, joint=False, weights=None, others=None, **asked):
        evidence = self.evidence(joint=joint)
        weights = np.full(len(evidence), 1 / len(evidence)) if weights is None else np.asarray(weights, dtype=float)
        question = Question(measure, tuple(one.name for one in evidence), weights, **asked)
        return recommend(evidence, list(map(reconstruct, evidence)), codes, self.options, question, pairs, others)


def random_records(seed, records=300, attributes=4, values=8, labels=3, views=3):
    """Attributes that depend on the label and on each other; some masked values never occur."""
    rng = np.random.default_rng(seed)
    classes = rng.integers(0, labels, records)
    classes[:labels] = np.arange(labels)
    common = rng.normal(size=records) + 0.5 * classes
    drawn = rng.uniform(0.2, 1, attributes) * (common[:, None] + rng.normal(size=(records, attributes)))
    table = np.clip(np.round(2 * drawn + values / 2), 0, values - 1).astype(np.int64)
    mappings = [[rng.integers(0, rng.integers(1, values), values) for _ in range(views)] for _ in range(attributes)]
    return Records(table, classes, mappings)


def random_codes(seed, records, configurations=12, first=1):
    """Configurations of maskings and `drop`; if `first` is 0, also of `identity`."""
    rng = np.random.default_rng(seed)
    return np.stack([rng.integers(first, len(each), configurations) for each in records.options], axis=1)


def counts(rows, columns, shape):
    table = np.zeros(shape, dtype=np.int64)
    np.add.at(table, (rows, columns), 1)
    return table


def indicators(column):
    return (column[:, None] == np.unique(column)).astype(float)


def centred(matrix):
    return matrix - matrix.mean(axis=0)


def regressed(records, row):
    """The adjusted R^2 of a linear regression of a label with two classes on the indicators of a configuration."""
    columns = [records.masked(at, records.options[at][code]) for at, code in enumerate(row)]
    shown = [indicators(column) for column in columns if column is not None]
    if not shown:
        return 0.0
    x, more = np.concatenate(shown, axis=1), len(records.classes) - 1
    squared = LinearRegression().fit(x, records.classes).score(x, records.classes)
    return 1 - (1 - squared) * more / (more - records.trace(row)[1])
