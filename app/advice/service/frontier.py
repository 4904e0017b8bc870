"""The frontier of an answer: the configurations that no other beats on the axes that a question names.

In coarse answers it follows from their ranks, their expected scores, and what the entry publishes; only the share of
records left out is new, and that is rounded up.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aegis_advisor.expected import Expected
from aegis_advisor.ranking import MOST_LISTED, knee, unbeaten
from app.advice.model import DEVIATION, EXPECTED, PRICE, SUPPRESSED, AdviceQuestion
from app.entries.model.configurations import ConfigurationTable
from app.entries.model.documents import read_as
from app.platform.errors import Fault

#: The member of an answer with its frontier.
FRONTIER = "frontier"

#: The axis of the utility in coarse answers.
RANK = "rank"

#: Shares of records left out are rounded up to so many percent: the first that are more than `FEW` people's records.
PERCENT = (1, 2, 5, 10, 20, 50, 100)
FEW = 5

#: Deviations are equal if they differ by less than this part of the largest one, by rounding.
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Axis:
    """The numbers of all configurations that an answer ranks.

    Attributes:
        values: (configurations,) NaN where there is none.
    """

    name: str
    values: NDArray[np.float64]
    better: str = "lower"
    unit: str | None = None

    @property
    def costs(self) -> NDArray[np.float64]:
        """(configurations,) Less is better; what differs by rounding alone is equal."""
        if self.name != DEVIATION:
            return -self.values if self.better == "higher" else self.values
        largest = float(np.nanmax(np.abs(self.values), initial=0.0))
        return np.asarray(np.round(self.values / (largest * _ROUNDING or 1.0)), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class _Sizes:
    records: int
    rows_per_person: int | None = None


def missing(question: AdviceQuestion, table: ConfigurationTable, kept: NDArray[np.bool_]) -> Iterator[Fault]:
    """The faults of a frontier for which no remaining configuration has what an axis takes.

    Args:
        question: the question, whose measure is known.
        kept: (configurations,) whether each meets all requirements.
    """
    known = {**table.privacy, SUPPRESSED: table.suppressed, PRICE: table.price}
    for place, name in enumerate(question.axes):
        numbers = known.get(name)
        if name not in {DEVIATION, EXPECTED} and (numbers is None or np.isnan(numbers[kept]).all()):
            what = {SUPPRESSED: "the number of suppressed records", PRICE: "a price"}.get(name, f"a promise of {name}")
            yield Fault(f"/frontier/{place}", f"No configuration that meets the requirements states {what}.")


def stated_axes(
    question: AdviceQuestion,
    table: ConfigurationTable,
    rows: NDArray[np.integer[Any]],
    schema: bytes,
    *,
    is_coarse: bool,
) -> Iterator[Axis]:
    """The axes of a question whose numbers the entry states, for the configurations at some rows of the table.

    Args:
        schema: of the entry, as stored.
        is_coarse: whether they are for callers who may not read the counts.
    """
    for name, better in question.frontier or ():
        if name == PRICE and table.price is not None:
            yield Axis(name, table.price[rows], unit=table.currency)
        elif name == SUPPRESSED and table.suppressed is not None:
            sizes, numbers = read_as(_Sizes, schema), table.suppressed[rows]
            yield Axis(name, left_out(numbers, sizes.records, sizes.rows_per_person or 1, is_coarse=is_coarse))
        elif name in table.privacy:
            yield Axis(name, table.privacy[name][rows], better)


def left_out(
    suppressed: NDArray[np.float64], records: int, rows_per_person: int = 1, *, is_coarse: bool
) -> NDArray[np.float64]:
    """(configurations,) The shares of records left out; coarse ones are rounded up, and never say that there are none.

    The steps of coarse ones are wider than `FEW` people's records, so neither a small count follows nor a difference.
    """
    if not is_coarse:
        return np.asarray(suppressed / records)
    percent = next((each for each in PERCENT if each * records > 100 * FEW * rows_per_person), PERCENT[-1])
    steps = np.maximum(np.ceil(suppressed * 100 / (percent * records)), 1.0)
    return np.asarray(np.minimum(steps * percent, 100.0) / 100)


def expected_axis(expected: Mapping[str, Expected | None], ids: Sequence[str], *, is_coarse: bool) -> Axis:
    """The axis of what a model should reach on some configurations, for all of these ids."""
    shown = {name: each.in_two_digits if is_coarse else each for name, each in expected.items() if each is not None}
    reached = {name: each.r2 if each.auc is None else each.auc for name, each in shown.items()}
    unit = next(("R2" if each.auc is None else "AUC" for each in shown.values()), None)
    return Axis(EXPECTED, np.array([reached.get(name) for name in ids], dtype=np.float64), "higher", unit)


def front_of(axes: Sequence[Axis]) -> NDArray[np.intp]:
    """The places of configurations that no other beats, those with the least cost on the first axis first.

    All of them up to `MOST_LISTED`.
    """
    costs = np.column_stack([axis.costs for axis in axes])
    stated = np.flatnonzero(~np.isnan(costs).any(axis=1))
    front = stated[unbeaten(costs[stated], MOST_LISTED)]
    return np.asarray(front[np.lexsort(costs[front].T[::-1])][:MOST_LISTED], dtype=np.intp)


def worth_expecting(axes: Sequence[Axis], most: int) -> list[int]:
    """The places of so many configurations: those of the frontier by these axes, then the best on the first axis."""
    front, order = front_of(axes), np.argsort(axes[0].costs, kind="stable")
    spread = np.linspace(0, front.size - 1, min(front.size, most)).round().astype(np.intp)  # with both ends
    return list(dict.fromkeys([*front[spread].tolist(), *order[:most].tolist()]))[:most]


def frontier_in(axes: Sequence[Axis], ids: Sequence[str]) -> dict[str, Any]:
    """The frontier in the contract's names; `ids`: of the configurations."""
    front = front_of(axes)
    points = [
        {"configuration": ids[place], "values": {axis.name: float(axis.values[place]) for axis in axes}}
        for place in front.tolist()
    ]
    stated = [
        {"name": one.name, "better": one.better, "unit": one.unit, "unstated": int(np.isnan(one.values).sum())}
        for one in axes
    ]
    return {"axes": stated, "points": points, "knee": _knee(axes, front, ids) if points else None}


def _knee(axes: Sequence[Axis], front: NDArray[np.intp], ids: Sequence[str]) -> dict[str, str]:
    place, distance = knee(np.column_stack([axis.costs[front] for axis in axes]))
    first, last, named = ids[front[0]], ids[front[-1]], ids[front[place]]
    if front.size == 1:
        why = "No other configuration is better on any axis."
    elif not distance:
        why = f"No point is better than the line between {first} and {last}, so it is the first."
    else:
        why = (
            f"Of {front.size} points it is the farthest from the line between {first} and {last} ({distance:.2f}, each "
            "axis scaled to 0..1): beyond it, gains cost more."
        )
    return {"configuration": named, "why": why}
