"""Rounded pair counts in which masked values with few records are counted with others.

They are rounded to published sums of rows and columns (controlled rounding with fixed margins). Each cell draws a
number of its own, which rounds it up or down, without bias. Then the cells with the closest decisions are turned until
all sums are met. That is a flow from rows to columns (Causey, Cox & Ernst 1985, "Applications of transportation theory
to statistical problems"), so the linear program has a solution in whole multiples of the base. Sums over groups of rows
that nest are limits within the columns of that flow, which change nothing of this. With the same draws, one record more
changes few cells.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Self, TypeAlias

import numpy as np
import scipy  # loads its parts (half a second) only on use
from numpy.typing import NDArray

from aegis_provider.control.control import ControlError
from aegis_provider.control.lasting import LastingRandomness
from aegis_provider.counting.counts import Counts, Partition, Places

_Floats: TypeAlias = NDArray[np.float64]

_BEYOND: Final = 1e3
"""The price of a cell that is off by a base or more; single cells cost a few units."""
_NOT_ZERO: Final = 2e3
"""The price of an empty cell that becomes nonzero."""
_FURTHER: Final = 1e6
"""The price of each further base."""


@dataclass(frozen=True, eq=False)
class _Steps:
    """The steps of cells from the multiple below them: variables of the linear program.

    Attributes:
        cells: (steps,) the cell of each, row by row.
        signs: (steps,) 1, or -1 for steps down.
        most: (steps,) the maximum number of each.
        prices: (steps,) the price of each.
    """

    cells: Places
    signs: Counts
    most: _Floats
    prices: _Floats

    @classmethod
    def together(cls, *several: "_Steps") -> Self:
        """Concatenate several."""
        members = ("cells", "signs", "most", "prices")
        return cls(*(np.concatenate([getattr(steps, name) for steps in several]) for name in members))


def rounded_to_sums(
    counts: Counts,
    sums: tuple[Counts, Counts],
    base: int,
    chance: LastingRandomness,
    names: tuple[Sequence[str], Sequence[str]] | None = None,
    views: tuple[Sequence[Partition], Sequence[Partition]] = ((), ()),
) -> tuple[Counts, int]:
    """Round counts to multiples of a base with given sums of rows and columns.

    Where it is possible, every count becomes the next multiple below or above, and a multiple stays; so do the sums
    over the groups of views that nest. Otherwise these sums are off by less than two bases, and as few cells as
    possible by a base or more, empty ones last. The
    expected error of a cell is not quite 0, since the sums have errors themselves: up to half a record in small tables,
    a tenth in most (docs/model.md).

    Args:
        counts: (rows, columns).
        sums: (rows,) and (columns,) multiples of the base with one total.
        names: The names of rows and columns in `chance`; by default their places.
        views: Partitions of the rows, whose groups are summed in each column, and of the columns, in each row.

    Returns:
        The rounded counts (rows, columns), and the number of bases that bounds the error of each.

    Raises:
        ControlError: the sums have different totals, or no counts with them keep the sums over groups so near.
    """
    below = counts // base
    draws = chance.numbers(*(names or ([str(place) for place in range(size)] for size in counts.shape))).reshape(-1)
    # A cell goes up if it draws less than its chance. Turning it costs the more the further they are apart, in
    # log-odds: then the likeliest cells are chosen where sums force some.
    chances = (counts % base / base).reshape(-1)
    cells = np.flatnonzero(chances)
    price = scipy.special.logit(draws[cells]) - scipy.special.logit(chances[cells])
    steps = _Steps(cells, np.ones(cells.size, np.int64), np.ones(cells.size), price)
    # The multiples missing from each sum if every cell is rounded down.
    rows, columns = sums
    missing = np.concatenate([rows // base - below.sum(axis=1), columns // base - below.sum(axis=0)])
    within = list(_within_groups(counts, below, base, views))
    solution = _nearest(steps, missing, counts.shape[1], within)
    if solution is None:
        steps = _Steps.together(steps, _of_more(counts, below, draws))
        farther = [(of, least - 1, most + 1) for of, least, most in within]
        solution = _nearest(steps, missing, counts.shape[1], farther)
    if solution is None:
        raise ControlError("no rounded counts have the sums of the rows and of the columns")
    multiples = below.copy().reshape(-1)
    np.add.at(multiples, steps.cells, steps.signs * solution)
    rounded: Counts = multiples.reshape(counts.shape) * base
    return rounded, int(np.max(np.abs(rounded - counts), initial=0)) // base + 1


_Sums: TypeAlias = tuple[Places, Counts, Counts]
"""The sum that each cell belongs to (cells,), and the fewest and the most steps of each sum (sums,)."""


def _within_groups(
    counts: Counts, below: Counts, base: int, views: tuple[Sequence[Partition], Sequence[Partition]]
) -> Iterator[_Sums]:
    """Yield the sums of cells over groups of rows or columns, which become the next multiple below or above."""
    places = np.arange(counts.size).reshape(counts.shape)
    for side, partitions in enumerate(views):
        nested: list[Partition] = []
        for view in sorted(partitions, key=lambda view: -view.size):
            if 1 < view.size < counts.shape[side] and (not nested or view.follows_from(nested[-1])):
                nested.append(view)
        for view in nested:
            other = places % counts.shape[1] if side == 0 else places // counts.shape[1]
            groups = view.groups[:, np.newaxis] if side == 0 else view.groups
            of = (groups * counts.shape[1 - side] + other).reshape(-1)
            sums, least = (
                np.bincount(of, table.reshape(-1), view.size * counts.shape[1 - side]).astype(np.int64)
                for table in (counts, below)
            )
            yield of, sums // base - least, -(-sums // base) - least


def _of_more(counts: Counts, below: Counts, draws: _Floats) -> _Steps:
    """Return the steps by which cells are off by a base or more."""
    size, many, price = counts.size, np.flatnonzero(below), -np.log(draws)
    every = np.arange(size)
    return _Steps(
        np.concatenate([every, every, many]),
        np.repeat([1, -1], [2 * size, many.size]),
        np.concatenate([np.ones(size), np.full(size, np.inf), below.reshape(-1)[many]]),
        np.concatenate(
            [
                np.where(counts.reshape(-1) == 0, _NOT_ZERO, _BEYOND) + price,
                np.full(size, _FURTHER),
                _BEYOND + price[many],
            ]
        ),
    )


def _nearest(steps: _Steps, missing: Counts, columns: int, within: Sequence[_Sums] = ()) -> Counts | None:
    """(steps,) The cheapest numbers of steps that fill the sums, and keep others within limits; None if none do."""
    rows = missing.size - columns
    if not steps.cells.size:
        return None if missing.any() else np.zeros(0, dtype=np.int64)
    ends = np.concatenate([steps.cells // columns, rows + steps.cells % columns])
    each = np.arange(steps.cells.size)
    entries = (np.tile(steps.signs, 2), (ends, np.tile(each, 2)))
    constraints = [
        scipy.optimize.LinearConstraint(
            scipy.sparse.csc_matrix(entries, shape=(missing.size, each.size)), missing, missing
        )
    ]
    for of, least, most in within:
        matrix = scipy.sparse.csc_matrix((steps.signs, (of[steps.cells], each)), shape=(least.size, each.size))
        constraints.append(scipy.optimize.LinearConstraint(matrix, least, most))
    solution = scipy.optimize.milp(
        steps.prices,
        bounds=scipy.optimize.Bounds(0, steps.most),
        constraints=constraints,
        options={"presolve": False},  # it takes longer than the programs themselves
    )
    return None if solution.x is None else np.rint(solution.x).astype(np.int64)


_SMALL: Final = 4
_CELLS_PER_RECORD: Final = 14
_BASES: Final = 3
"""The published records must exceed the required ones by this many bases, since any published count may be too large by
a base."""
Masked: TypeAlias = tuple[str, str]
"""An attribute and one of its maskings, or `identity`."""


@dataclass(eq=False)
class Pools:
    """The places where masked values are counted in pairs: chosen once per masking, for all other attributes.

    Neighbouring masked values are counted together until they have enough records, at the place of the last of them.
    The remainder is counted with the last group. The places follow from published counts alone: from places chosen by
    exact counts a reader could infer the records of a value.

    Attributes:
        whole: The published number of records.
        records: (masked values,) the published records of each, by masking; None if unpublished.
        partners: The most masked values of another attribute in a pair.
        times: The multiple of the required records that is enough.
    """

    base: int
    whole: int
    records: Mapping[Masked, Counts | None]
    partners: Mapping[Masked, int]
    times: dict[Masked, int] = field(default_factory=lambda: defaultdict(lambda: 1))

    def places(self, masked: Masked, size: int) -> Places:
        """(size,) The place where each masked value is counted; a single place if the records are unknown."""
        # A published count above 0 can stand for one record. Of four single records, three or more are rounded up to 5
        # with a probability of 3 %, all four with 0.2 %.
        fewest = fewest_counted(self.partners[masked], self.base) + _BASES * self.base
        enough, records = self.times[masked] * fewest, self.records[masked]
        places, begin, together = np.full(size, size - 1), 0, 0
        for place, number in enumerate([] if records is None else records.tolist()):
            together += number
            if together >= enough:
                places[begin : place + 1] = place
                begin, together = place + 1, 0
        if begin > 0:
            places[begin:] = begin - 1
        return places

    def sums(self, masked: Masked, places: Places) -> Counts:
        """(size,) The published records counted at each place.

        Raises:
            ControlError: The masking does not count all records.
        """
        records = self.records[masked]
        if records is None:
            records = self.whole * (np.arange(places.size) == places)
        pooled: Counts = np.bincount(places, records, places.size).astype(np.int64)
        if pooled.sum() != self.whole:
            attribute, masking = masked
            raise ControlError(f"{masking!r} of {attribute!r} does not count all records: summarize without pairs")
        return pooled


def counted_together(
    counts: Counts,
    masked: tuple[Masked, Masked],
    pools: Pools,
    chance: LastingRandomness,
    names: tuple[Sequence[str], Sequence[str]] | None = None,
) -> Mapping[str, Any]:
    """Return the members of a pair for its rounded counts.

    They add up to the published records of the masked values, so that a pair reveals nothing new about these.

    Args:
        counts: (first, second) the exact counts.
        names: The masked values, as `chance` names them; by default their places.

    Raises:
        ControlError: A masking does not count all records.
    """
    rows, columns = (pools.places(each, size) for each, size in zip(masked, counts.shape, strict=True))
    pooled = np.zeros_like(counts)
    np.add.at(pooled, (rows[:, np.newaxis], columns[np.newaxis]), counts)
    sums, turned = (pools.sums(masked[0], rows), pools.sums(masked[1], columns)), masked[0] > masked[1]
    if turned:  # by the names of the attributes, so that their order in the plan changes no count
        pooled, sums, names = pooled.T, sums[::-1], names and names[::-1]
    joint, within = rounded_to_sums(pooled, sums, pools.base, chance, names)
    joint = joint.T if turned else joint
    together = any((places != np.arange(places.size)).any() for places in (rows, columns))
    where = {"counted_with": [rows.tolist(), columns.tolist()]} if together else {}
    return {"rounded_to": pools.base, "within": within, "joint": joint.tolist(), **where}


def fewest_counted(cells: int, base: int) -> int:
    """Return the fewest records of a masked value that should have rounded pair counts of its own.

    A value with at most 4 records should have none. Nor should one with at most one record for every 14 cells. Nearly
    all of its nonzero cells are 1, so a cell that was rounded up would be known to be 1: its probability is about `(c /
    (r + c))^2`, with `r` records in `c` cells and all tables equally probable. With fewer records than the base, all
    cells could be 0.

    Args:
        cells: The number of masked values of the other attribute.
        base: The base of the rounding.
    """
    return max(_SMALL + 1, cells // _CELLS_PER_RECORD + 1, base)
