"""Declared transfer utilities by configuration, attribute and measure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, Self

import numpy as np
from numpy.typing import NDArray

from aegis_advisor.evidence import HoldoutContent, TransferContent
from aegis_advisor.measures import measure_named
from app.platform.database.arrays import PackedArray, pack, unpack

#: The measures in array order, and which numbers of each are better.
MEASURES: Final[Mapping[str, Literal["higher", "lower"]]] = {
    name: measure_named(name).better for name in ("mutual_information", "chi_square", "g3", "joint")
}

#: The joint measure, and the place that stands for all attributes together.
JOINT: Final = "joint"
ALL_TOGETHER: Final = -1

#: An estimate: its value and the limits of its interval.
Figure = tuple[float, float, float]


@dataclass(frozen=True, slots=True, eq=False)
class Figures:
    """The transfer utilities of some releases, stored sparsely, since few may be declared.

    Attributes:
        places: (figures, 3) the release, the place of the attribute (or `ALL_TOGETHER`) and that of the measure.
        numbers: (figures, 3) the value and the limits of its interval.
    """

    places: NDArray[np.int64]
    numbers: NDArray[np.float64]

    @classmethod
    def of(cls, releases: Sequence[TransferContent | None], attributes: Sequence[str]) -> Self:
        """Collect the transfer utilities from the declared `transfer` of each release."""
        place = {name: index for index, name in enumerate(attributes)}
        found = [
            ((release, ALL_TOGETHER if name is None else place[name], list(MEASURES).index(measure)), figure)
            for release, transfer in enumerate(releases)
            for name, measure, figure in figures_in(transfer)
        ]
        return cls(
            np.array([where for where, _ in found], dtype=np.int64).reshape(-1, 3),
            np.array([figure for _, figure in found], dtype=np.float64).reshape(-1, 3),
        )

    @classmethod
    def unpack(cls, places: PackedArray, numbers: PackedArray) -> Self:
        """The inverse of `pack`."""
        return cls(unpack(places), unpack(numbers))

    def pack(self) -> tuple[PackedArray, PackedArray]:
        """Pack the places and the numbers."""
        return pack(self.places), pack(self.numbers)

    def by(self, measure: str, attributes: Sequence[int]) -> "Self":
        """The utilities by one measure, of the attributes at these places."""
        chosen = self.places[:, 2] == list(MEASURES).index(measure)
        chosen &= np.isin(self.places[:, 1], attributes)
        return type(self)(self.places[chosen], self.numbers[chosen])

    def complete(self, attributes: Sequence[int]) -> NDArray[np.int64]:
        """The releases with a utility for each of these attributes; `self` has only one measure."""
        return np.flatnonzero(np.bincount(self.places[:, 0]) == len(attributes))

    def table(self, releases: NDArray[np.int64], attributes: Sequence[int]) -> NDArray[np.float64]:
        """The utilities (releases, attributes, 3) of complete releases; `self` has only one measure."""
        kept = np.isin(self.places[:, 0], releases)
        row = np.searchsorted(releases, self.places[kept, 0])
        column = np.searchsorted(attributes, self.places[kept, 1])
        table = np.empty((releases.size, len(attributes), 3))
        table[row, column] = self.numbers[kept]
        return table

    def best(self, measure: str, attributes: Sequence[int]) -> NDArray[np.float64]:
        """(attributes,) the best value of each, NaN without one; `self` has only one measure."""
        column = np.searchsorted(attributes, self.places[:, 1])
        best = np.full(len(attributes), np.nan)
        better = np.fmax if MEASURES[measure] == "higher" else np.fmin
        better.at(best, column, self.numbers[:, 0])
        return best


NO_FIGURES: Final = Figures(np.empty((0, 3), dtype=np.int64), np.empty((0, 3)))


def figures_in(transfer: TransferContent | None) -> Iterator[tuple[str | None, str, Figure]]:
    """The transfer utilities of a release: attribute (None: all together), measure and numbers."""
    if transfer is None:
        return
    for name, by_measure in transfer.attributes.items():
        for measure, figure in by_measure.items():
            yield name, measure, (figure.value, figure.low, figure.high)
    if (joint := transfer.joint) is not None:
        yield None, JOINT, (joint.value, joint.low, joint.high)


def nothing_by(measure: str, holdout: HoldoutContent) -> float:
    """The utility without any attribute: by g3 the error of guessing the most frequent label."""
    return float(holdout.majority_error or 0.0) if measure == "g3" else 0.0
