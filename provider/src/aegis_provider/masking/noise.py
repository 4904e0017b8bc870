"""`noise`: numbers plus noise, rounded to a grid."""

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar, Literal, TypeAlias, get_args

import numpy as np

from aegis_provider.masking.draw import Draw, FloatArray, IntArray, refuse_too_many
from aegis_provider.masking.function import RandomFunction, check_above_zero, check_finite
from aegis_provider.table.arithmetic import floor_ratio, json_number, minus, numbers_of, plain, times
from aegis_provider.table.values import MISSING, Domain
from aegis_provider.yaml_file import Element

Kind: TypeAlias = Literal["laplace", "gaussian"]


@dataclass(frozen=True)
class Noise(RandomFunction):
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

    def parameters(self) -> dict[str, object]:
        """Return the distribution, its scale, the grid, and the bounds that the plan states."""
        bounds = {"lower": self.lower, "upper": self.upper}
        stated = {name: json_number(bound) for name, bound in bounds.items() if bound is not None}
        return {"kind": self.kind, "scale": json_number(self.scale), "step": json_number(self.step), **stated}

    def draw(self, domain: Domain, counts: IntArray, random: np.random.Generator) -> Draw:
        """Draw by `transition`.

        Raises:
            UnmaskableValueError: A value is not a number.
        """
        texts, transition = self.transition(domain)
        return Draw.by_transition(texts, transition, counts, random)

    def transition(self, domain: Domain) -> tuple[list[str], FloatArray]:
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
