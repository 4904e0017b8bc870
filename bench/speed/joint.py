"""The joint measure: the time for 10,000 configurations of 25 attributes, and what shared factorisations save."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from threadpoolctl import threadpool_limits

from aegis_advisor.arrays import FloatArray, IntArray, fold
from aegis_advisor.evidence import AttributeEvidence, Masking, PairCounts
from aegis_advisor.joint.design import Design
from aegis_advisor.ranking import Question, recommend
from aegis_advisor.reconstruction import Reference, reconstruct
from bench.measuring import heading, run, table, timed, verdict

RECORDS, VALUES, LABELS = 20_000, 60, 4
GROUPS = (3, 6, 12, 24)
OPTIONS = ("identity", "drop", *(f"{groups}-bins" for groups in GROUPS))
FROM_SCRATCH = 50


@dataclass(frozen=True, eq=False)
class Entry:
    """What a provider publishes about a table: pair counts of the finest maskings determine those of the others."""

    evidence: list[AttributeEvidence]
    references: list[Reference]
    pairs: list[PairCounts]

    def advise(self, codes: IntArray) -> FloatArray:
        """Return the utilities (configurations,) that advice reports."""
        names = tuple(one.name for one in self.evidence)
        question = Question("joint", names, np.full(len(names), 1 / len(names)))
        options = [OPTIONS] * len(names)
        ranking = recommend(self.evidence, self.references, codes, options, question, self.pairs).ranking
        utility = np.empty(len(codes))
        utility[ranking.index] = ranking.utility
        return utility


def main() -> None:
    threadpool_limits(1)  # as workers do
    heading(
        f"Configurations by the joint measure, maskings of {', '.join(map(str, GROUPS))} bins or dropped, one process"
    )
    print(f"From scratch: the matrix is read and solved for each, measured on {FROM_SCRATCH} of them. Utilities agree.")
    rows = [figures(*size) for size in ((5, 10_000), (10, 10_000), (25, 100), (25, 1_000), (25, 10_000), (50, 1_000))]
    table(("attributes", "configurations", "columns", "drawn, s", "a walk, s", "from scratch, s", ""), rows)


def figures(attributes: int, configurations: int) -> tuple[str, ...]:
    """Measure the seconds for random configurations, and for as many that each change one masking of the one before."""
    entry, rng = made(attributes), np.random.default_rng(1)
    drawn = rng.integers(1, len(OPTIONS), (configurations, attributes))
    walk = walked(rng, attributes, configurations)
    seconds, utility = timed(lambda: entry.advise(drawn))
    of_walk, _ = timed(lambda: entry.advise(walk))
    design = Design.of(entry.evidence, [OPTIONS] * attributes, drawn, entry.pairs)
    scratch, expected = timed(lambda: from_scratch(design, drawn[:FROM_SCRATCH]))
    if np.abs(utility[:FROM_SCRATCH] - expected).max() > 1e-6:
        raise RuntimeError("shared factorisations and systems from scratch disagree")
    columns = np.where(drawn > 1, np.array([0, 0, *GROUPS])[drawn] - 1, 0).sum(axis=1).mean()
    asked = (attributes, configurations) == (25, 10_000)
    return (
        str(attributes),
        str(configurations),
        f"{columns:.0f}",
        f"{seconds:.2f}",
        f"{of_walk:.2f}",
        f"{scratch * configurations / FROM_SCRATCH:.1f}",
        verdict(met=max(seconds, of_walk) < 30, target="< 30 s") if asked else "",
    )


def made(attributes: int) -> Entry:
    """Make attributes that depend on each other and on the label."""
    rng = np.random.default_rng(0)
    classes = rng.integers(0, LABELS, RECORDS)
    common = rng.normal(size=RECORDS) + 0.4 * classes
    drawn = common[:, None] * rng.uniform(0, 1, attributes) + rng.normal(size=(RECORDS, attributes))
    values = np.clip((drawn + 3) * VALUES / 6, 0, VALUES - 1).astype(np.int64)
    evidence = [attribute(f"a{at}", column, classes) for at, column in enumerate(values.T)]
    finest = values * GROUPS[-1] // VALUES
    pairs = [
        PairCounts((first, second), (OPTIONS[-1],) * 2, counts(finest[:, first], finest[:, second], (GROUPS[-1],) * 2))
        for first, second in combinations(range(attributes), 2)
    ]
    return Entry(evidence, [reconstruct(one) for one in evidence], pairs)


def attribute(name: str, column: IntArray, classes: IntArray) -> AttributeEvidence:
    """Make an attribute with its counted maskings."""
    joint = counts(column, classes, (VALUES, LABELS))
    mappings = {f"{groups}-bins": np.arange(VALUES) * groups // VALUES for groups in GROUPS}
    maskings = tuple(
        Masking(each, groups, mapping, fold(joint, mapping, groups), deterministic=True)
        for (each, mapping), groups in zip(mappings.items(), GROUPS, strict=True)
    )
    return AttributeEvidence(name, VALUES, joint.sum(axis=0), joint.sum(axis=1), None, maskings)


def counts(rows: IntArray, columns: IntArray, shape: tuple[int, int]) -> IntArray:
    """Return the joint counts of two columns."""
    return np.bincount(rows * shape[1] + columns, minlength=shape[0] * shape[1]).reshape(shape)


def walked(rng: np.random.Generator, attributes: int, configurations: int) -> IntArray:
    """Draw configurations that each change one masking of the one before, like a search through a lattice."""
    codes = np.empty((configurations, attributes), dtype=np.int64)
    now = rng.integers(1, len(OPTIONS), attributes)
    for row in codes:
        now[rng.integers(attributes)] = rng.integers(1, len(OPTIONS))
        row[:] = now
    return codes


def from_scratch(design: Design, codes: IntArray) -> FloatArray:
    """Compute the utilities of configurations, each by its own linear system."""
    utilities = np.empty(len(codes))
    for place, row in enumerate(codes):
        chosen = np.concatenate([of[code] for of, code in zip(design.columns, row, strict=True)])
        labels = design.labels[chosen]
        utilities[place] = np.sum(labels * np.linalg.solve(design.correlations[np.ix_(chosen, chosen)], labels))
    return utilities


if __name__ == "__main__":
    run(main)
