"""Standard errors of utilities and of differences of deviations, for one masking and for whole configurations.

They show which differences are real if the records are a sample from a population. By the delta method, a utility
varies with the sample like the mean of its influence function (van der Vaart 1998, "Asymptotic statistics", chapters 3
and 20). Reconstruction errors are not included.

The error of a number is represented by a vector whose length is the standard error. The parts of these vectors are
added over attributes, so that the length of the sum is right or too large, never too small. With the label's values `y`
of shares `p`, and the influence `D` of each attribute, the parts are

* `sqrt(p_y) (E[D | y] - E[D])` for each y: all attributes have the same label, so these add up exactly;
* `sqrt(p_y) sd(D | y)` for each y: given the label, the joint distribution of two attributes is unknown, and the
  standard deviation of a sum is at most the sum of the standard deviations (Cauchy-Schwarz);
* a second-order part, for where the gradient vanishes (`Measure.second_order`), which adds up likewise.

This follows from `Var(sum D) = Var(E[sum D | Y]) + E[Var(sum D | Y)]`. A vector is (2 labels + 1,).
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from aegis_advisor.arrays import BoolArray, FloatArray, IntArray, fold
from aegis_advisor.evidence import IDENTITY
from aegis_advisor.measures import Measure
from aegis_advisor.ranking.deviation import AttributeAssessment
from aegis_advisor.ranking.influence import Influence, Sample, moments, records_by_chance
from aegis_advisor.ranking.order import CodeBlocks

Part = tuple[float, Influence]

SIGN_TOLERANCE = 1e-9
"""Deviations this small, relative to the reference utility, are rounding noise, and their sign is meaningless."""


@dataclass(frozen=True, slots=True, eq=False)
class Errors:
    """The errors of one attribute's maskings.

    Attributes:
        sample: the table on which they are compared.
        influences: by masking id, always including `identity`.
        orientations: by masking id, the sign of the reference utility minus the utility; 0 if they are equal.
        direction: their usual sign: 1 if more of the measure is better, else -1.
        chance_is_most: whether only an upper bound of the bias is known (`Measure.bias_is_most`).
    """

    sample: Sample
    influences: Mapping[str, Influence]
    orientations: Mapping[str, int]
    direction: int
    chance_is_most: bool = False

    @classmethod
    def of(
        cls, measure: Measure, sample: Sample, influences: Mapping[str, Influence], assessment: AttributeAssessment
    ) -> "Errors":
        """Return the errors of an attribute's assessment."""
        whole = assessment.reference_utility
        noise = SIGN_TOLERANCE * abs(whole)
        signs = {
            masking: 0 if score.deviation <= noise else int(np.sign(whole - score.utility))
            for masking, score in assessment.maskings.items()
        }
        direction = 1 if measure.better == "higher" else -1
        return cls(sample, influences, signs, direction, chance_is_most=measure.bias_is_most)

    def utility(self, masking: str) -> FloatArray:
        """The vector of a masking's utility, from its own table; the atoms of its rows do not matter."""
        return _vector(self.sample, [(1.0, self.influences[masking])], placed=False)

    def difference(self, masking: str, other: str) -> FloatArray:
        """The vector of the deviation of one masking minus that of another.

        If both are on the same side of the reference utility, as they should be, that utility cancels, and the
        difference of their utilities remains.
        """
        if masking == other:
            return np.zeros(2 * self.sample.shares.size + 1)
        parts = self._parts(masking, other)
        vectors = [_vector(self.sample, stretched) for stretched in self._stretched(parts)]
        return min(vectors, key=lambda vector: float(np.linalg.norm(vector)))

    def _stretched(self, parts: Sequence[Part]) -> Iterator[Sequence[Part]]:
        """Yield the parts scaled to where their sum vanishes; for roots in two ways, of which the shorter counts.

        A root is not smooth near 0, but its square is. An interval of the square is one of the root, too, and is
        asymmetric: the utility that adds to the difference may be smaller, the other larger (Zou & Donner 2008,
        "Construction of confidence limits about effect measures"). The difference of two roots is also that of their
        squares over their sum.
        """
        yield [(coefficient * self._reach(coefficient, part), part) for coefficient, part in parts]
        match parts:
            case [(side, one), (_, other)] if one.tangent and other.tangent and one.centre + other.centre > 0:
                total = one.centre + other.centre
                yield [(side * 2 * one.tangent / total, one), (-side * 2 * other.tangent / total, other)]

    def _reach(self, coefficient: float, part: Influence) -> float:
        """The error of a root towards the side where the difference vanishes, in its standard errors."""
        if part.tangent is None:
            return 1.0
        error = float(np.linalg.norm(_vector(self.sample, [(1.0, part)], placed=False)))
        if error == 0:
            return 1.0
        spread, square = CONFIDENCE * 2 * part.tangent * error, part.centre**2
        down, up = part.centre - math.sqrt(max(0.0, square - spread)), math.sqrt(square + spread) - part.centre
        return (down if coefficient > 0 else up) / (CONFIDENCE * error)

    def bias(self, masking: str, other: str) -> float:
        """The expected contribution of chance and inexact counts to the deviation of one masking minus that of another.

        Where only an upper bound of the bias is known, it enlarges no difference.
        """
        parts = self._parts(masking, other)
        chance = sum(coefficient * part.chance for coefficient, part in parts)
        inexact = sum(coefficient * (part.bias - part.chance) for coefficient, part in parts)
        return (max(chance, 0.0) if self.chance_is_most else chance) + inexact

    def _parts(self, masking: str, other: str) -> Sequence[Part]:
        """The utilities that sum to the difference of two deviations, each with its coefficient."""
        ours, theirs, whole = (self.influences[which] for which in (masking, other, IDENTITY))
        sides = self.orientations[masking], self.orientations[other]
        side = float(sides[0] or sides[1] or self.direction)  # the sign matters when attributes are added up
        if sides[0] * sides[1] >= 0:
            return [(side, theirs), (-side, ours)]
        return [(2 * side, whole), (-side, ours), (-side, theirs)]


def utility_errors(errors: Errors, options: Sequence[str]) -> FloatArray:
    """The vectors (options, 2 labels + 1) of the utility of each option; 0 for unused ones."""
    vectors = np.zeros((len(options), 2 * errors.sample.shares.size + 1))
    for code, option in enumerate(options):
        if option in errors.orientations:
            vectors[code] = errors.utility(option)
    return vectors


def difference_errors(errors: Errors, options: Sequence[str], best: str) -> FloatArray:
    """The vectors (options, 2 labels + 1) of each option's deviation minus that of the best; 0 for unused ones."""
    vectors = np.zeros((len(options), 2 * errors.sample.shares.size + 1))
    for code, option in enumerate(options):
        if option in errors.orientations:
            vectors[code] = errors.difference(option, best)
    return vectors


def difference_biases(errors: Errors, options: Sequence[str], best: str) -> FloatArray:
    """(options,) the bias of each option's deviation minus that of the best; NaN for unused ones."""
    used = errors.orientations
    return np.array([errors.bias(option, best) if option in used else np.nan for option in options])


def _vector(sample: Sample, parts: Sequence[Part], *, placed: bool = True) -> FloatArray:
    """The vector of a sum of influences, each with a coefficient.

    Influences with known atoms are added atom by atom, which takes their dependence into account. For the others, and
    for all unless `placed`, the standard deviations are added.
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
        within += _spreads(sample, moves, [part.group_of_atom for _, part in parts if part.group_of_atom is not None])
    vector = np.empty(2 * labels + 1)
    vector[:labels] = sample.roots * (means - sample.shares @ means)
    vector[labels:-1] = sample.roots * within
    second = _second_order(sample, parts, placed=placed)
    noise = 2 * second**2 * min(part.noise for _, part in parts)
    vector[:-1] *= _shrinkage(float(vector[:-1] @ vector[:-1]), noise)
    vector[-1] = math.sqrt(second**2 + _inexact(sample, parts, moves))
    return vector


def _inexact(sample: Sample, parts: Sequence[Part], moves: FloatArray | None) -> float:
    """The variance of a sum of influences due to inexact counts, given their sum by atom, where atoms are known.

    Maskings of counts that were rounded once sum the same counts, so common errors cancel in a difference.
    """
    apart = sum((coefficient * part.inexact) ** 2 for coefficient, part in parts)
    if moves is None or any(part.once == 0 or part.group_of_atom is None for _, part in parts):
        return apart
    together = float(np.sum(moves[sample.table > 0] ** 2)) * parts[0][1].once
    return min(apart, together + sum((coefficient * part.beyond) ** 2 for coefficient, part in parts))


def _spreads(sample: Sample, moves: FloatArray, groups: Sequence[IntArray]) -> FloatArray:
    """The standard deviation (labels,) of moves (atoms, labels) that are alike for atoms in the same groups.

    For a steep measure, empty cells of these groups may have records in another sample.
    """
    if not sample.is_steep:
        return moments(sample.table, moves)[1]
    place = np.zeros(len(moves), dtype=np.int64)
    for group in groups:
        place = np.unique(place * (int(group.max(initial=0)) + 1) + group, return_inverse=True)[1].reshape(-1)
    size = int(place.max(initial=-1)) + 1
    table, moved = fold(sample.table, place, size), np.empty((size, moves.shape[1]))
    moved[place] = moves
    return moments(table, moved, records_by_chance(table))[1]


def _shrinkage(variance: float, noise: float) -> float:
    """The factor that removes the contribution of chance from the first-order variance.

    For a utility that is a quadratic form with second-order variance `q^2`, chance adds `2 q^2` on average: chi-square
    with noncentrality c and f degrees of freedom has the variance `4 c + 2 f`, and c is estimated by its excess over f.
    """
    return math.sqrt(max(0.0, 1 - noise / variance)) if variance > 0 else 0.0


def _second_order(sample: Sample, parts: Sequence[Part], *, placed: bool) -> float:
    """The standard deviation of a sum of quadratic forms, near independence.

    There a utility varies like `scale` times a chi-square variable: the squared length of a Gaussian projected onto the
    space that its rows span, for each degree of freedom of the label. Two such utilities have the covariance
    `2 (C - 1) scale scale' phi2`, where phi2 is the contingency of the two maskings. If they nest, phi2 is the degrees
    of freedom of the coarser one.
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
"""Beyond this many pairs of groups per atom, only the pairs that occur are numbered."""


def _contingency(sample: Sample, first: IntArray, second: IntArray) -> float:
    """The contingency phi2 of two maskings, each (atoms,): `sum n_ij^2 / (n_i n_j) - 1`."""
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


CONFIDENCE = 1.959963984540054
"""The two-sided 95 % quantile of a standard Gaussian variable."""

ROWS = 65_536
"""Configurations per chunk, since the vectors of all would take too much memory."""


def standard_errors(blocks: CodeBlocks, vectors: Sequence[FloatArray], rows: IntArray) -> FloatArray:
    """Upper bounds of the standard errors (rows,) of sums over attributes.

    Args:
        blocks: the configurations.
        vectors: per attribute (options, n), the vectors of `Errors` times the attribute's weight.
        rows: (rows,) the configurations.
    """
    errors = np.empty(rows.size)
    for start in range(0, rows.size, ROWS):
        chunk = slice(start, start + ROWS)
        errors[chunk] = np.linalg.norm(blocks.sums(vectors, rows[chunk]), axis=-1)
    return errors


def indistinguishable(
    blocks: CodeBlocks, vectors: Sequence[FloatArray], gaps: FloatArray, tolerance: float
) -> BoolArray:
    """A mask (configurations,) of those whose deviation, less chance, is within 1.96 standard errors of the best's.

    The length of a sum of vectors lies between the sum of their projections on any direction and the sum of their
    lengths. The vectors are added up only if these bounds do not decide.

    Args:
        blocks: the configurations.
        vectors: per attribute (options, n), the vectors of each option's deviation minus the best's, times the weight.
        gaps: (configurations,) the deviation minus the smallest, less its bias.
        tolerance: gaps this small are rounding noise.
    """
    lengths = [np.linalg.norm(vector, axis=-1) for vector in vectors]
    reach = CONFIDENCE * sum(float(length.max(initial=0.0)) for length in lengths)
    open_rows = np.flatnonzero(gaps <= reach + tolerance)
    open_rows = open_rows[gaps[open_rows] <= CONFIDENCE * blocks.sums(lengths, open_rows) + tolerance]
    direction = _direction(vectors)
    least = blocks.sums([vector @ direction for vector in vectors], open_rows)
    within = np.zeros(gaps.size, dtype=bool)
    settled = gaps[open_rows] <= CONFIDENCE * least + tolerance
    within[open_rows[settled]] = True
    left = open_rows[~settled]
    within[left] = gaps[left] <= CONFIDENCE * standard_errors(blocks, vectors, left) + tolerance
    return within


def _direction(vectors: Sequence[FloatArray]) -> FloatArray:
    """The unit vector (n,) of the sum of all vectors; their projections on it have nearly the largest sum."""
    total: FloatArray = np.sum([vector.sum(axis=0) for vector in vectors], axis=0)
    length = float(np.linalg.norm(total))
    return total / length if length > 0 else total
