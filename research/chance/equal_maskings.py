"""How often a coarse masking that is as good as a fine one is called worse, and how often a worse one is.

python -m research.chance.equal_maskings     prints a table of research/results/chance (minutes)

Each population has fine values in coarse groups. Where they are equal, the label depends on the group only, so that the
coarse masking tells exactly as much. Otherwise each fine value has a part of its own distribution. A sample is drawn,
and the two maskings are compared as an answer compares them: once by the gap of their deviations alone, and once less
what chance adds to it (`indistinguishable`).
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aegis_advisor.arrays import FloatArray, IntArray, fold
from aegis_advisor.evidence import AttributeEvidence, Masking
from aegis_advisor.measures import MEASURES
from aegis_advisor.ranking import Question, recommend
from aegis_advisor.ranking.standard_errors import CONFIDENCE
from aegis_advisor.reconstruction import reconstruct
from research.report import table

SEED = 7
SAMPLES = 300
DIFFERENCE = 0.15
"""The part of its own distribution that each fine value has where the maskings differ."""

COMPARED = (
    "mutual_information",
    "chi_square",
    "g3",
    "theils_u",
    "goodman_kruskal_lambda",
    "goodman_kruskal_tau",
    "cramers_v",
    "cramers_v_corrected",
    "jensen_shannon",
)
"""Measures that are equal in the population if the label depends on the group only, and there are enough groups."""


@dataclass(frozen=True, slots=True)
class Case:
    """A population.

    Attributes:
        records: the size of a sample.
        fine: the number of fine values.
        coarse: the number of groups, each with as many fine values.
        labels: the number of labels.
        tied: whether all labels are equally frequent in every group.
        attributes: the number of attributes like this one, which are independent given the label.
    """

    records: int
    fine: int
    coarse: int
    labels: int
    tied: bool = False
    attributes: int = 1

    @property
    def group_of_value(self) -> IntArray:
        """(fine,) the group of each fine value."""
        return np.arange(self.fine) // (self.fine // self.coarse)

    def label_shares(self, rng: np.random.Generator) -> FloatArray:
        """(coarse, labels) the shares of the labels in each group."""
        if self.tied:
            return np.full((self.coarse, self.labels), 1 / self.labels)
        return rng.dirichlet(np.full(self.labels, 1.5), size=self.coarse)


CASES = (
    Case(1_000, 10, 2, 2),
    Case(1_000, 50, 5, 3),
    Case(5_000, 50, 5, 3),
    Case(20_000, 50, 5, 5),
    Case(20_000, 100, 10, 4),
    Case(100_000, 100, 10, 4),
    Case(1_000, 200, 5, 3),
    Case(2_000, 200, 10, 5),
    Case(3_000, 100, 10, 8),
    Case(20_000, 100, 10, 4, tied=True),
    Case(5_000, 50, 5, 3, attributes=3),
)
"""Those of an outside audit first; then small groups, many labels, labels that tie, and several attributes."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """The shares of samples in which the coarse masking is called worse: by the gap alone, and less chance."""

    alone: float
    less_chance: float


def shares_of(case: Case, difference: float, rng: np.random.Generator) -> FloatArray:
    """The population (fine, labels) of one attribute."""
    group_of_value, within = case.group_of_value, case.fine // case.coarse
    of_group = np.repeat(rng.dirichlet(np.full(case.coarse, 3.0)) / within, within)
    label = case.label_shares(rng)[group_of_value]
    if difference:
        label = (1 - difference) * label + difference * rng.dirichlet(np.ones(case.labels), size=case.fine)
    return of_group[:, np.newaxis] * label


def left_out(case: Case, measures: Sequence[str], difference: float, samples: int, seed: int) -> dict[str, LeftOut]:
    """Draw samples, and count by measure how often the coarse masking is called worse than the fine one."""
    rng = np.random.default_rng(seed)
    populations = [shares_of(case, difference, rng) for _ in range(case.attributes)]
    worse = {measure: np.zeros((samples, 2), dtype=bool) for measure in measures}
    for sample in range(samples):
        evidence = _evidence(_tables(populations, case.records, rng), case)
        for measure in measures:
            worse[measure][sample] = _called_worse(evidence, measure)
    return {measure: LeftOut(*map(float, found.mean(axis=0))) for measure, found in worse.items()}


def _tables(populations: Sequence[FloatArray], records: int, rng: np.random.Generator) -> list[IntArray]:
    """A sample (fine, labels) of each attribute; all have the label of the first."""
    first = rng.multinomial(records, populations[0].ravel()).reshape(populations[0].shape)
    label = first.sum(axis=0)
    others = [
        np.stack([rng.multinomial(n, column / column.sum()) for n, column in zip(label, shares.T, strict=True)], axis=1)
        for shares in populations[1:]
    ]
    return [first, *others]


def _evidence(tables: Sequence[IntArray], case: Case) -> list[AttributeEvidence]:
    fine, coarse = np.arange(case.fine), case.group_of_value
    return [
        AttributeEvidence(
            name=f"attribute {place}",
            values=case.fine,
            label_histogram=counts.sum(axis=0),
            histogram=counts.sum(axis=1),
            joint=None,
            maskings=(
                Masking("fine", case.fine, fine, counts, deterministic=True),
                Masking("coarse", case.coarse, coarse, fold(counts, coarse, case.coarse), deterministic=True),
            ),
        )
        for place, counts in enumerate(tables)
    ]


def _called_worse(evidence: Sequence[AttributeEvidence], measure: str) -> tuple[bool, bool]:
    count = len(evidence)
    question = Question(measure, tuple(one.name for one in evidence), np.full(count, 1 / count))
    codes, options = np.array([[0] * count, [1] * count]), [("fine", "coarse")] * count
    answer = recommend(evidence, [reconstruct(one) for one in evidence], codes, options, question)
    rows = answer.ranking
    gap = rows.deviation - answer.deviation
    if answer.indistinguishable is None or answer.best == 1:
        return False, False
    return bool(np.any(gap > CONFIDENCE * rows.difference_error)), 1 not in answer.indistinguishable


def main() -> None:
    """Print, for every population and measure, how often the coarse masking is called worse."""
    parser = argparse.ArgumentParser(prog="python -m research.chance.equal_maskings", description=__doc__)
    parser.add_argument(
        "--samples", type=int, default=SAMPLES, help="samples of each population (default: %(default)s)"
    )
    samples = parser.parse_args().samples
    known = [measure for measure in COMPARED if MEASURES[measure].bias is not None]
    for difference in (0.0, DIFFERENCE):
        print("\nThe maskings are equal\n" if not difference else f"\nEach fine value differs by {difference:.0%}\n")
        rows = [_row(case, known, difference, samples) for case in CASES]
        print(table(("records", "fine", "coarse", "labels", "", *known), rows))


def _row(case: Case, measures: Sequence[str], difference: float, samples: int) -> Sequence[str]:
    found = left_out(case, measures, difference, samples, SEED)
    kind = "tied" if case.tied else f"{case.attributes} attributes" if case.attributes > 1 else ""
    size = [f"{number:,}" for number in (case.records, case.fine, case.coarse, case.labels)]
    return (*size, kind, *(f"{one.alone:.0%} > {one.less_chance:.0%}" for one in found.values()))


if __name__ == "__main__":
    main()
