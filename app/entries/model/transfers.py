"""Transfer utilities as a provider declares them: by configuration, attribute and measure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, Self

import numpy as np
from numpy.typing import NDArray

from aegis_advisor.measures import measure_named
from aegis_advisor.ranking import kept_shares
from app.platform.database.arrays import PackedArray, pack, unpack

#: The measures, in the order of their places in arrays, and which numbers of each are better.
MEASURES: Final[Mapping[str, Literal["higher", "lower"]]] = {
    name: measure_named(name).better for name in ("mutual_information", "chi_square", "g3", "joint")
}

#: The measure that takes all attributes together, and the place that stands for these.
JOINT: Final = "joint"
ALL_TOGETHER: Final = -1

#: A figure: its value and the limits of its interval.
Figure = tuple[float, float, float]


@dataclass(frozen=True, slots=True, eq=False)
class Figures:
    """The figures of some releases. There may be few of many, so only those that are declared are kept.

    Attributes:
        places: (figures, 3) the release, the place of the attribute (or `ALL_TOGETHER`) and that of the measure.
        numbers: (figures, 3) the value and the limits of its interval.
    """

    places: NDArray[np.int64]
    numbers: NDArray[np.float64]

    @classmethod
    def of(cls, releases: Sequence[Mapping[str, Any] | None], attributes: Sequence[str]) -> Self:
        """The figures of releases by the `transfer` that each declares, in the contract's names."""
        place = {name: index for index, name in enumerate(attributes)}
        found = [
            ((release, ALL_TOGETHER if name is None else place[name], list(MEASURES).index(measure)), figure)
            for release, transfer in enumerate(releases)
            for name, measure, figure in figures_in(transfer or {})
        ]
        return cls(
            np.array([where for where, _ in found], dtype=np.int64).reshape(-1, 3),
            np.array([figure for _, figure in found], dtype=np.float64).reshape(-1, 3),
        )

    @classmethod
    def unpack(cls, places: PackedArray, numbers: PackedArray) -> Self:
        """Unpack what `pack` packed."""
        return cls(unpack(places), unpack(numbers))

    def pack(self) -> tuple[PackedArray, PackedArray]:
        """Pack the places and the numbers."""
        return pack(self.places), pack(self.numbers)

    def by(self, measure: str, attributes: Sequence[int]) -> "Self":
        """Those by one measure, of the attributes at these places."""
        chosen = self.places[:, 2] == list(MEASURES).index(measure)
        chosen &= np.isin(self.places[:, 1], attributes)
        return type(self)(self.places[chosen], self.numbers[chosen])

    def complete(self, attributes: Sequence[int]) -> NDArray[np.int64]:
        """The releases that have a figure of each of these attributes, given those of one measure."""
        return np.flatnonzero(np.bincount(self.places[:, 0]) == len(attributes))

    def table(self, releases: NDArray[np.int64], attributes: Sequence[int]) -> NDArray[np.float64]:
        """The figures (releases, attributes, 3) of complete releases, given those of one measure."""
        kept = np.isin(self.places[:, 0], releases)
        row = np.searchsorted(releases, self.places[kept, 0])
        column = np.searchsorted(attributes, self.places[kept, 1])
        table = np.empty((releases.size, len(attributes), 3))
        table[row, column] = self.numbers[kept]
        return table

    def best(self, measure: str, attributes: Sequence[int]) -> NDArray[np.float64]:
        """(attributes,) the best value of each, given those of one measure; NaN where there is none."""
        column = np.searchsorted(attributes, self.places[:, 1])
        best = np.full(len(attributes), np.nan)
        better = np.fmax if MEASURES[measure] == "higher" else np.fmin
        better.at(best, column, self.numbers[:, 0])
        return best


NO_FIGURES: Final = Figures(np.empty((0, 3), dtype=np.int64), np.empty((0, 3)))


def figures_in(transfer: Mapping[str, Any]) -> Iterator[tuple[str | None, str, Figure]]:
    """Each figure of a `transfer` in the contract's names: attribute (None: all together), measure and numbers."""
    for name, by_measure in (transfer.get("attributes") or {}).items():
        for measure, figure in by_measure.items():
            yield name, measure, _numbers(figure)
    if transfer.get(JOINT) is not None:
        yield None, JOINT, _numbers(transfer[JOINT])


def _numbers(figure: Mapping[str, float]) -> Figure:
    return figure["value"], figure["low"], figure["high"]


def nothing_by(measure: str, holdout: Mapping[str, Any]) -> float:
    """The utility of whoever knows no attribute: by g3 the error of guessing the most frequent label."""
    return float(holdout["majority_error"]) if measure == "g3" else 0.0


def with_transfer_shares(document: dict[str, Any]) -> dict[str, Any]:
    """The document with shares, to two digits, in place of all transfer utilities.

    A share is of the best that any configuration, or the unmasked records, tell by the same measure.
    """
    holdout = document.get("holdout")
    if holdout is None:
        return document
    listed = document.get("configurations") or []
    shown = _in_shares([holdout.get("unmasked"), *(one.get("transfer") for one in listed)], holdout)
    told: dict[str, Any] = {"holdout": _with(holdout, "unmasked", shown[0])}
    if listed:
        told["configurations"] = [_with(one, "transfer", own) for one, own in zip(listed, shown[1:], strict=True)]
    return document | told


def _with(part: Mapping[str, Any], name: str, value: Mapping[str, Any] | None) -> dict[str, Any]:
    return dict(part) if value is None else {**part, name: value}


def _in_shares(
    transfers: Sequence[Mapping[str, Any] | None], holdout: Mapping[str, Any]
) -> list[dict[str, Any] | None]:
    """Each `transfer` with shares in place of figures."""
    values = [{(name, measure): figure[0] for name, measure, figure in figures_in(one or {})} for one in transfers]
    places = dict.fromkeys(place for one in values for place in one)
    shares: list[dict[tuple[str | None, str], float]] = [{} for _ in transfers]
    for place in places:
        name, measure = place
        rows = [row for row, one in enumerate(values) if place in one]
        numbers = np.array([values[row][place] for row in rows])
        best = numbers.max() if MEASURES[measure] == "higher" else numbers.min()
        kept = kept_shares(numbers, best, nothing_by(measure, holdout), MEASURES[measure])
        for row, share in zip(rows, kept.tolist(), strict=True):
            shares[row][name, measure] = share
    return [None if one is None else _nested(own) for one, own in zip(transfers, shares, strict=True)]


def _nested(shares: Mapping[tuple[str | None, str], float]) -> dict[str, Any]:
    """Shares by attribute and measure, in the contract's names."""
    nested: dict[str, Any] = {"attributes": {}}
    for (name, measure), share in shares.items():
        if name is None:
            nested[measure] = share
        else:
            nested["attributes"].setdefault(name, {})[measure] = share
    return nested
