"""`randomised_response` and `pram`: values drawn anew; `noise`: numbers plus noise; `shuffle`: values permuted."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar, Literal, TypeAlias, get_args

import numpy as np

from aegis_provider.masking.function import (
    Draw,
    DrawnByRow,
    FloatArray,
    IntArray,
    RandomFunction,
    check_above_zero,
    check_finite,
    refuse_too_many,
)
from aegis_provider.masking.lookup import look_up
from aegis_provider.table.arithmetic import floor_ratio, minus, numbers_of, plain, times
from aegis_provider.table.values import MISSING, Domain
from aegis_provider.yaml_file import Element

# The service's tolerance for the sum of a value's probabilities.
_SUM_TOLERANCE = 1e-9

# NumPy draws without replacement only from fewer items than this.
_MOST_RECORDS = 10**9


@dataclass(frozen=True)
class RandomisedResponse(DrawnByRow):
    """The value itself with probability `keep`, otherwise one of the domain's `n` values, each equally likely.

    `P(w | v) = keep * [v = w] + (1 - keep) / n`. A missing value is a value of the domain like any other.
    Source: Warner, Randomized Response (1965), for two values; Kairouz, Bonawitz and Ramage, Discrete Distribution
    Estimation under Local Privacy (2016), for more.
    """

    name: ClassVar[str] = "randomised_response"
    published: ClassVar[tuple[str, ...]] = ("keep",)
    keep: float

    def __post_init__(self) -> None:
        if not 0 < self.keep < 1:
            raise ValueError(f"`keep` must be a probability above 0 and below 1, not {self.keep}")

    @classmethod
    def read(cls, parameters: Element) -> "RandomisedResponse":
        """Read `{keep: 0.8}`."""
        keep = parameters.fields("keep")["keep"]
        with keep.naming_faults():
            return cls(float(keep.decimal()))

    def transition(self, domain: Domain) -> tuple[Sequence[str], FloatArray]:
        """Return the values, and (values, values) the probability of each masked value given the value."""
        values = len(domain)
        refuse_too_many(values, values)
        transition: FloatArray = self.keep * np.eye(values) + (1 - self.keep) / values
        return domain.texts, transition


@dataclass(frozen=True)
class Pram(DrawnByRow):
    """A masked value drawn by the row of the value: `rows[value][masked value]` is its probability.

    A missing value without a row stays missing. Source: Gouweleeuw, Kooiman, Willenborg and de Wolf, Post
    Randomisation for Statistical Disclosure Control: Theory and Implementation (1998).
    """

    name: ClassVar[str] = "pram"
    rows: Mapping[str, Mapping[str, float]]

    def __post_init__(self) -> None:
        if not self.rows:
            raise ValueError("at least one row, `value: {masked value: probability}`, is needed")
        for value, row in self.rows.items():
            for masked, probability in row.items():
                if not 0 <= probability <= 1:
                    raise ValueError(f"{value!r} to {masked!r}: {probability} is not a probability from 0 to 1")
            if abs(sum(row.values()) - 1) > _SUM_TOLERANCE:
                raise ValueError(f"the probabilities of {value!r} add up to {sum(row.values()):.12g}, not 1")

    @classmethod
    def read(cls, parameters: Element) -> "Pram":
        """Read `{transition: {yes: {yes: 0.9, no: 0.1}, no: {no: 1}}}`."""
        transition = parameters.fields("transition")["transition"]
        rows = {
            value: {masked: float(probability.decimal()) for masked, probability in row.items()}
            for value, row in transition.items()
        }
        with transition.naming_faults():
            return cls(rows)

    def transition(self, domain: Domain) -> tuple[Sequence[str], FloatArray]:
        """Return the masked values that some value of the domain may become, and (values, masked) their probabilities.

        They are in the order of the domain, then of the plan, with a missing one first.
        """
        rows = look_up(domain, {MISSING: {MISSING: 1.0}, **self.rows}, None, "has no row in the transition matrix")
        possible = {masked for row in rows for masked, probability in row.items() if probability > 0}
        stated = [masked for row in rows for masked in row]
        texts = [text for text in dict.fromkeys([*domain.texts, *stated]) if text in possible]
        texts.sort(key=lambda text: text != MISSING)
        refuse_too_many(len(rows), len(texts))
        transition = np.array([[row.get(text, 0.0) for text in texts] for row in rows])
        return texts, transition / transition.sum(axis=1, keepdims=True)


@dataclass(frozen=True)
class Shuffle(RandomFunction):
    """The attribute's values, including missing ones, permuted over its records; all permutations are equally likely.

    The histogram does not change; all association with the label and other attributes is lost. Source: Hundepool et
    al., Statistical Disclosure Control (2012), "data swapping", without a limit to the ranks.
    """

    name: ClassVar[str] = "shuffle"

    def draw(self, domain: Domain, counts: IntArray, random: np.random.Generator) -> Draw:
        """Draw a table of masked values by labels, with the probability of the permutations that lead to it.

        Its `counts` are (1, labels, masked).

        Raises:
            ValueError: There are a billion records or more.
        """
        if counts.sum() >= _MOST_RECORDS:
            raise ValueError(f"a shuffle needs fewer than {_MOST_RECORDS} records")
        left, drawn = counts.sum(axis=1), np.zeros(counts.shape[::-1], dtype=np.int64)
        for label, records in enumerate(counts.sum(axis=0)):
            drawn[label] = random.multivariate_hypergeometric(left, records, method="marginals")
            left = left - drawn[label]
        return Draw(domain.texts, drawn[np.newaxis])


Kind: TypeAlias = Literal["laplace", "gaussian"]


@dataclass(frozen=True)
class Noise(DrawnByRow):
    """The number plus noise, rounded to the nearest multiple of `step`, and moved to the nearer bound if beyond it.

    A missing value stays missing. So the masked values are finite, each with the probability of its interval in the
    distribution. Rounding and bounding a noisy number discloses nothing more. Source: Dwork and Roth, The Algorithmic
    Foundations of Differential Privacy (2014), proposition 2.1 and section 3.3.

    Attributes:
        kind: `laplace`, of density `exp(-|x| / scale) / (2 scale)`, or `gaussian`, with the standard deviation `scale`.
        scale: The scale of the distribution, in the unit of the numbers.
        step: The masked values and the bounds are multiples of this.
        lower: The lowest masked value; by default the bounds just contain all numbers of the domain.
        upper: The highest masked value.
    """

    name: ClassVar[str] = "noise"
    published: ClassVar[tuple[str, ...]] = ("kind", "scale", "step", "lower", "upper")
    kind: Kind
    scale: Decimal
    step: Decimal = Decimal(1)
    lower: Decimal | None = None
    upper: Decimal | None = None

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise ValueError(f"`kind` must be laplace or gaussian, not {self.kind!r}")
        check_above_zero("scale", self.scale)
        check_above_zero("step", self.step)
        for name, bound in (("lower", self.lower), ("upper", self.upper)):
            if bound is not None:
                check_finite(name, bound)
                if times(floor_ratio(bound, self.step), self.step) != bound:
                    raise ValueError(f"`{name}` must be a multiple of `step`, {self.step}, but {bound} is not")
        if self.lower is not None and self.upper is not None and self.lower >= self.upper:
            raise ValueError(f"`lower` must be below `upper`, but {self.lower} is not below {self.upper}")

    @classmethod
    def read(cls, parameters: Element) -> "Noise":
        """Read `{kind: laplace, scale: 2, step: 1, lower: 0, upper: 100}`; all after `scale` are optional."""
        fields = parameters.fields("kind", "scale", optional=("step", "lower", "upper"))
        kind = fields["kind"].one_of("laplace", "gaussian")
        step = fields["step"].positive() if "step" in fields else Decimal(1)
        bounds = {name: fields[name].decimal() for name in ("lower", "upper") if name in fields}
        scale = fields["scale"].positive()
        return cls(
            "gaussian" if kind == "gaussian" else "laplace", scale, step, bounds.get("lower"), bounds.get("upper")
        )

    def transition(self, domain: Domain) -> tuple[Sequence[str], FloatArray]:
        """Return the masked values, a missing one first, and (values, masked) their probabilities given the value."""
        numbers = numbers_of(domain)
        grid = self._grid([number for number in numbers if number is not None], len(numbers))
        missing = [MISSING] if None in numbers else []
        transition = np.zeros((len(numbers), len(missing) + len(grid)))
        for row, number in zip(transition, numbers, strict=True):
            row[len(missing) :] = 0 if number is None else self._probabilities(number, grid)
            row[: len(missing)] = number is None
        return missing + [plain(point) for point in grid], transition

    def _grid(self, numbers: list[Decimal], values: int) -> list[Decimal]:
        """Return the multiples of `step` within the bounds, ascending."""
        if not numbers:
            return []
        first = floor_ratio(min(numbers) if self.lower is None else self.lower, self.step)
        greatest = max(numbers) if self.upper is None else self.upper
        last = floor_ratio(greatest.copy_negate(), self.step).copy_negate()
        if last < first:
            raise ValueError("all values are beyond the stated bound; state both bounds, or move this one")
        refuse_too_many(values, int(last - first) + 1)
        return [times(Decimal(n), self.step) for n in range(int(first), int(last) + 1)]

    def _probabilities(self, number: Decimal, grid: list[Decimal]) -> FloatArray:
        """Return (grid,) the probability that number plus noise is nearest to each point, or beyond the last."""
        half = self.step / 2
        cuts = [float((minus(point, number) + half) / self.scale) for point in grid[:-1]]
        cumulative = np.array([0.0, *map(_CUMULATIVE[self.kind], cuts), 1.0])
        # Above the middle, tail probabilities retain digits that subtraction from 1 would lose.
        beyond = np.array([1.0, *(_CUMULATIVE[self.kind](-cut) for cut in cuts), 0.0])
        is_below = np.array([-math.inf, *cuts]) < 0
        masses = np.where(is_below, np.diff(cumulative), -np.diff(beyond))
        probabilities: FloatArray = masses / masses.sum()
        return probabilities


def _laplace(z: float) -> float:
    return math.exp(z) / 2 if z < 0 else 1 - math.exp(-z) / 2


def _gaussian(z: float) -> float:
    return math.erfc(-z / math.sqrt(2)) / 2


_CUMULATIVE = {"laplace": _laplace, "gaussian": _gaussian}
