"""Standard errors of utilities and of differences of deviations, for one masking and for whole configurations.

What chance does to a number is kept as a vector whose length is the standard error, and whose parts add up over
attributes so that the sum is right or too long, never too short. With the label's values `y` of shares `p`, and the
influences `D` of the attributes in turn, the parts are

* `sqrt(p_y) (E[D | y] - E[D])` for each y: all attributes see the same label, so these add up exactly;
* `sqrt(p_y) sd(D | y)` for each y: given the label, the joint distribution of two attributes is not known, and the
  standard deviation of a sum is at most the sum of standard deviations (Cauchy-Schwarz);
* a second-order part, of what is left where the gradient vanishes (`Measure.second_order`), likewise.

For `Var(sum D) = Var(E[sum D | Y]) + E[Var(sum D | Y)]`. A vector is (2 labels + 1,).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from aegis_advisor.arrays import FloatArray, IntArray
from aegis_advisor.deviation import IDENTITY, AttributeAssessment
from aegis_advisor.measures import Measure
from aegis_advisor.sampling.influence import Influence, Sample, moments

Part = tuple[float, Influence]

SIGN_TOLERANCE = 1e-9
"""Deviations this small, relative to the reference utility, are rounding noise: their sign means nothing."""


@dataclass(frozen=True, slots=True, eq=False)
class Errors:
    """The errors of one attribute's maskings.

    Attributes:
        sample: on which they are compared.
        influences: by masking id, `identity` always among them.
        orientations: by masking id, the sign of reference utility less utility; 0 where they are equal.
        direction: the sign that they have as a rule: 1 where more of the measure is better, else -1.
    """

    sample: Sample
    influences: Mapping[str, Influence]
    orientations: Mapping[str, int]
    direction: int

    @classmethod
    def of(
        cls, measure: Measure, sample: Sample, influences: Mapping[str, Influence], found: AttributeAssessment
    ) -> "Errors":
        """The errors of what was found for an attribute."""
        whole = found.reference_utility
        noise = SIGN_TOLERANCE * abs(whole)
        signs = {
            masking: 0 if score.deviation <= noise else int(np.sign(whole - score.utility))
            for masking, score in found.maskings.items()
        }
        return cls(sample, influences, signs, 1 if measure.better == "higher" else -1)

    def utility(self, masking: str) -> FloatArray:
        """The vector of its utility, from its own table: its place on the atoms does not matter."""
        return _vector(self.sample, [(1.0, self.influences[masking])], placed=False)

    def difference(self, masking: str, other: str) -> FloatArray:
        """The vector of the deviation of one masking less that of another.

        Where both are on the same side of the reference utility, as they should be, it cancels, and what is left is
        the difference of the utilities.
        """
        ours, theirs, whole = (self.influences[which] for which in (masking, other, IDENTITY))
        sides = self.orientations[masking], self.orientations[other]
        if masking == other:
            return np.zeros(2 * self.sample.shares.size + 1)
        side = float(sides[0] or sides[1] or self.direction)  # signs count where attributes are added up
        if sides[0] * sides[1] >= 0:
            return _vector(self.sample, [(side, theirs), (-side, ours)])
        return _vector(self.sample, [(2 * side, whole), (-side, ours), (-side, theirs)])


def utility_errors(errors: Errors, options: Sequence[str]) -> FloatArray:
    """The vectors (options, 2 labels + 1) of the utility of each option; 0 for unused ones."""
    found = np.zeros((len(options), 2 * errors.sample.shares.size + 1))
    for code, option in enumerate(options):
        if option in errors.orientations:
            found[code] = errors.utility(option)
    return found


def difference_errors(errors: Errors, options: Sequence[str], best: str) -> FloatArray:
    """The vectors (options, 2 labels + 1) of the deviation of each option less the best's; 0 for unused ones."""
    found = np.zeros((len(options), 2 * errors.sample.shares.size + 1))
    for code, option in enumerate(options):
        if option in errors.orientations:
            found[code] = errors.difference(option, best)
    return found


def _vector(sample: Sample, parts: Sequence[Part], *, placed: bool = True) -> FloatArray:
    """The vector of a sum of influences, each with a coefficient.

    Influences whose place on the atoms is known are added there, which sees how they go together; of the others, and
    of all where they need not be `placed`, the standard deviations add up.
    """
    labels = sample.shares.size
    means, within = np.zeros(labels), np.zeros(labels)
    moves: FloatArray | None = None
    for coefficient, part in parts:
        means += coefficient * part.means
        if part.group_of_atom is None or not placed:
            within += abs(coefficient) * part.spreads
        else:
            moved = coefficient * part.moves[part.group_of_atom]
            moves = moved if moves is None else moves + moved
    if moves is not None:
        within += moments(sample.table, moves)[1]
    found = np.empty(2 * labels + 1)
    found[:labels] = sample.roots * (means - sample.shares @ means)
    found[labels:-1] = sample.roots * within
    second = _second_order(sample, parts, placed=placed)
    noise = 2 * second**2 * min(part.noise for _, part in parts)
    found[:-1] *= _shrinkage(float(found[:-1] @ found[:-1]), noise)
    found[-1] = math.sqrt(second**2 + sum((coefficient * part.inexact) ** 2 for coefficient, part in parts))
    return found


def _shrinkage(variance: float, noise: float) -> float:
    """By what factor to take back what chance adds to the first-order variance.

    Where a utility is a quadratic form of second-order variance `q^2`, that adds `2 q^2` on average: chi-square of
    noncentrality c and f degrees of freedom varies by `4 c + 2 f`, and c is estimated by what it exceeds f by.
    """
    return math.sqrt(max(0.0, 1 - noise / variance)) if variance > 0 else 0.0


def _second_order(sample: Sample, parts: Sequence[Part], *, placed: bool) -> float:
    """The standard deviation of a sum of quadratic forms, near independence.

    There a utility varies like `scale` times a chi-square variable, the squared length of a Gaussian projected on the
    space that its rows span, for each degree of freedom of the label. Two such have the covariance
    `2 (C - 1) scale scale' phi2`, where phi2 is the contingency of the two maskings: the degrees of freedom of the
    coarser one where they nest.
    """
    scaled = [(coefficient * part.scale, part) for coefficient, part in parts if part.scale > 0]
    known = [(scale, part.group_of_atom, part) for scale, part in scaled if placed and part.group_of_atom is not None]
    variance = 0.0
    for at, (scale, group_of_atom, part) in enumerate(known):
        variance += scale**2 * part.freedom
        for other_scale, others, _ in known[at + 1 :]:
            variance += 2 * scale * other_scale * _contingency(sample, group_of_atom, others)
    apart = sum(
        abs(scale) * math.sqrt(part.freedom) for scale, part in scaled if not placed or part.group_of_atom is None
    )
    return math.sqrt(2 * sample.label_freedom) * (math.sqrt(max(variance, 0.0)) + apart)


SPARSE = 64
"""Pairs of groups for each atom beyond which they are numbered, instead of being counted in a table of all."""


def _contingency(sample: Sample, first: IntArray, second: IntArray) -> float:
    """phi2 of two maskings, each (atoms,): `sum n_ij^2 / (n_i n_j) - 1`."""
    records = sample.table.sum(axis=1)
    span = int(second.max(initial=0)) + 1
    pair_of_atom = first * span + second
    if span * int(first.max(initial=0)) > SPARSE * records.size:
        pair_of_atom = np.unique(pair_of_atom, return_inverse=True)[1]
    pairs = np.bincount(pair_of_atom, records)
    ours, theirs = np.bincount(first, records)[first], np.bincount(second, records)[second]
    held = records > 0
    shared = pairs[pair_of_atom[held]] * records[held] / (ours[held] * theirs[held])
    return max(0.0, float(shared.sum()) - 1)
