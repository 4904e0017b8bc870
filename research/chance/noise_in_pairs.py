"""How often two attributes that tell nothing together seem to, and how much that adds.

python -m research.chance.noise_in_pairs     prints a table of research/results/chance (minutes)
"""

import argparse
from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from aegis_advisor.arrays import IntArray
from aegis_advisor.evidence import IDENTITY, AttributeEvidence, PairAssociation, PairCounts
from aegis_advisor.joint import score_jointly
from research.report import table

SEED = 11
SAMPLES = 1_000


@dataclass(frozen=True, slots=True)
class Case:
    """Tables of two attributes and a label, all independent.

    Attributes:
        records: the size of a sample.
        values: the numbers of values of both attributes.
        labels: the shares of the labels.
        uneven: whether the shares of the values are drawn evenly from all shares, instead of being equal.
    """

    records: int
    values: tuple[int, int]
    labels: tuple[float, ...]
    uneven: bool = False

    def __str__(self) -> str:
        values = " x ".join(map(str, self.values)) + (" uneven" if self.uneven else "")
        return f"{self.records:,} records, {values} values, {len(self.labels)} labels, the rarest {min(self.labels):g}"


CASES = (
    Case(100, (2, 2), (0.5, 0.5)),
    Case(500, (12, 6), (0.5, 0.5)),
    Case(500, (12, 6), (0.98, 0.02)),
    Case(500, (12, 12), (0.99, 0.01), uneven=True),
    Case(3_000, (30, 30), (0.99, 0.01), uneven=True),
    Case(300, (30, 20), (0.95, 0.05), uneven=True),
    Case(1_000, (50, 40), (0.4, 0.38, 0.2, 0.02), uneven=True),
    Case(2_000, (60, 60), (0.995, 0.005)),
)
"""Even and rare labels, even and uneven values, and more and more combinations for the records."""


def added(case: Case, rng: np.random.Generator) -> float:
    """Draw a sample, and return what interactions add to the utility of sharing both attributes as they are."""
    columns = [_drawn(size, case, rng) for size in case.values]
    classes = _drawn(len(case.labels), case, rng, np.array(case.labels))
    evidence = [_evidence(f"a{place}", column, classes) for place, column in enumerate(columns)]
    joint = _counted(columns[0], columns[1])
    pairs = [PairCounts((0, 1), (IDENTITY, IDENTITY), joint)]
    known = PairAssociation(
        (0, 1), (IDENTITY, IDENTITY), *_association(columns[0] * joint.shape[1] + columns[1], classes)
    )
    scores = score_jointly(
        evidence, [(IDENTITY,)] * 2, np.zeros((1, 2), dtype=np.int64), pairs, corrected=True, associations=[known]
    )
    if scores.interactions is None:
        raise AssertionError("pairs were given, so there are interactions")
    return float(scores.interactions[0])


def _drawn(size: int, case: Case, rng: np.random.Generator, shares: np.ndarray | None = None) -> IntArray:
    """(records,) codes of the values that occur, from 0."""
    if shares is None and case.uneven:
        shares = rng.dirichlet(np.ones(size))
    codes: IntArray = np.unique(rng.choice(size, case.records, p=shares), return_inverse=True)[1]
    return codes


def _evidence(name: str, column: IntArray, classes: IntArray) -> AttributeEvidence:
    joint = _counted(column, classes)
    return AttributeEvidence(name, len(joint), joint.sum(axis=0), joint.sum(axis=1), joint, ())


def _counted(rows: IntArray, columns: IntArray) -> IntArray:
    counts = np.zeros((int(rows.max()) + 1, int(columns.max()) + 1), dtype=np.int64)
    np.add.at(counts, (rows, columns), 1)
    return counts


def _association(combinations: IntArray, classes: IntArray) -> tuple[float, int]:
    """Pearson's chi-square of the combinations and the label, and how many combinations there are."""
    counts = _counted(np.unique(combinations, return_inverse=True)[1], classes)
    margins = np.outer(counts.sum(axis=1), counts.sum(axis=0))
    return len(classes) * float(np.sum(counts**2 / margins) - 1), len(counts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=SAMPLES, help="samples of each kind (default: %(default)s)")
    samples = parser.parse_args().samples
    threadpool_limits(1)  # as workers do
    print(f"What noise adds by joint_interactions, {samples:,} samples of each kind\n")
    rows = []
    for case in CASES:
        rng = np.random.default_rng(SEED)
        found = np.array([added(case, rng) for _ in range(samples)])
        rows.append((str(case), f"{100 * np.mean(found > 0):.1f} %", f"{np.mean(found):.4f}", f"{found.max():.3f}"))
    print(table(("table", "called real", "added on average", "at most"), rows))


if __name__ == "__main__":
    main()
