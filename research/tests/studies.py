"""Small studies with random maskings, and brute force over their records."""

from collections import Counter
from itertools import combinations, product

import numpy as np

from aegis_advisor.evidence import DROP, IDENTITY, AttributeEvidence, Masking, PairAssociation, PairCounts
from aegis_provider import Plan
from app.entries.model.configurations import ConfigurationTable
from research.study import Study, Table


def counted(rows, columns, shape):
    """Count pairs of values, one record after the other."""
    table = np.zeros(shape, dtype=np.int64)
    for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
        table[row, column] += 1
    return table


def random_study(seed, *, records=300, values=(9, 6, 4), labels=3, configurations=12):
    """Make attributes of these sizes with two maskings each, which do not nest; `drop` and `identity` may occur."""
    rng = np.random.default_rng(seed)
    classes = rng.integers(0, labels, records)
    codes = np.stack([(rng.integers(0, size, records) + classes) % size for size in values], axis=1)
    evidence = tuple(_evidence(rng, f"a{at}", codes[:, at], size, classes, labels) for at, size in enumerate(values))
    options = tuple((IDENTITY, DROP, *(masking.id for masking in one.maskings)) for one in evidence)
    chosen = rng.integers(0, 4, (configurations, len(values)))
    table = Table("random", "", "", {one.name: codes[:, at].astype(str) for at, one in enumerate(evidence)}, classes)
    return Study(
        table=table,
        plan=Plan("random", "label", (), (), {}),
        evidence=evidence,
        configurations=ConfigurationTable(tuple(f"c{at}" for at in range(configurations)), options, chosen, {}),
        pairs=tuple(PairCounts(*named, _counted(rows, columns)) for *named, rows, columns in _pairs(evidence, codes)),
        associations=tuple(
            PairAssociation(*named, *_association(list(zip(rows.tolist(), columns.tolist(), strict=True)), classes))
            for *named, rows, columns in _pairs(evidence, codes)
        ),
        codes=codes,
        classes=classes,
        truths=tuple(counted(codes[:, at], classes, (size, labels)) for at, size in enumerate(values)),
    )


def _evidence(rng, name, column, values, classes, labels):
    mappings = [np.minimum(np.arange(values) // width, values // width) for width in (2, 3)]
    mappings[1] = rng.permutation(mappings[1])
    maskings = tuple(
        Masking(
            f"m{at}",
            int(mapping.max()) + 1,
            mapping,
            counted(mapping[column], classes, (int(mapping.max()) + 1, labels)),
            deterministic=True,
        )
        for at, mapping in enumerate(mappings)
    )
    histogram = np.bincount(column, minlength=values)
    return AttributeEvidence(name, values, np.bincount(classes, minlength=labels), histogram, None, maskings)


def _pairs(evidence, codes):
    """Yield the attributes, maskings and masked values of every two maskings, including `identity`."""
    for first, second in combinations(range(len(evidence)), 2):
        for one, rows in _masked(evidence[first], codes[:, first]).items():
            for other, columns in _masked(evidence[second], codes[:, second]).items():
                yield (first, second), (one, other), rows, columns


def _counted(rows, columns):
    return counted(rows, columns, (int(rows.max()) + 1, int(columns.max()) + 1))


def _association(combined, classes):
    """Pearson's chi-square of the label and these combinations, one for each record, and how many differ."""
    together, records = Counter(zip(combined, classes.tolist(), strict=True)), len(combined)
    rows, columns = Counter(combined), Counter(classes.tolist())
    chi_square = 0.0
    for combination, label in product(rows, columns):
        expected = rows[combination] * columns[label] / records
        chi_square += (together[combination, label] - expected) ** 2 / expected
    return chi_square, len(rows)


def _masked(evidence, column):
    return {IDENTITY: column} | {masking.id: masking.mapping[column] for masking in evidence.maskings}
