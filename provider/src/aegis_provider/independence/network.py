"""The transportation problem between vectors as a network with a hub for every way to agree.

All pairs of 20,000 vectors and 20,000 others would be 400 million arcs. Instead, for every set S of attributes and
every projection on S that both sides have, there is a hub: an arc from each vector of the left side that projects to
it, which costs d - |S|, and one to each such vector of the right side, which costs nothing. The cheapest way from v to
w leads through the hub of the attributes on which they agree, and costs what they disagree on. A vector has at most 2^d
arcs.
"""

from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np

from aegis_provider.independence.flow import cheapest_flow
from aegis_provider.independence.vectors import STAR, IntArray, disagreements, row_keys

#: More arcs take minutes and gigabytes.
_MOST_ARCS = 4_000_000

#: Hubs of so many sets of attributes are made: of all there are, up to ten attributes.
_MOST_SETS = 1 << 10


@dataclass(frozen=True, eq=False)
class Flow:
    """`left`, `right`, `amounts`: (pairs,) how much goes from which vector to which; `cost`: of all of it."""

    left: IntArray
    right: IntArray
    amounts: IntArray
    cost: int


@dataclass(frozen=True, eq=False)
class Network:
    """Arcs from the vectors of the left side to hubs, and from hubs to those of the right one.

    `left`, `left_hubs`, `costs`: (arcs,); `right`, `right_hubs`: (arcs,).
    """

    left: IntArray
    left_hubs: IntArray
    costs: IntArray
    right: IntArray
    right_hubs: IntArray

    def solved(self, supply: IntArray, demand: IntArray) -> Flow:
        """The cheapest flow; `supply`, `demand`: (vectors,) of each side, positive, of equal sums."""
        if not len(supply):
            return Flow(supply, supply, supply, 0)
        first_right, first_hub = len(supply), len(supply) + len(demand)
        tails = np.concatenate([self.left, first_hub + self.right_hubs])
        heads = np.concatenate([first_hub + self.left_hubs, first_right + self.right])
        capacities = np.concatenate([supply[self.left], demand[self.right]])
        costs = np.concatenate([self.costs, np.zeros_like(self.right)])
        flows = cheapest_flow(tails, heads, capacities, costs, np.concatenate([supply, -demand]))
        inflow, outflow = flows[: len(self.left)], flows[len(self.left) :]
        return self._through_hubs(inflow, outflow)

    def _through_hubs(self, inflow: IntArray, outflow: IntArray) -> Flow:
        """What flows into each hub, joined in order to what flows out of it (the north-west corner rule).

        Hubs keep nothing, so both sides, sorted by hub, add up to the same at every hub's end, and every
        partial sum of either side is where a pair ends.
        """
        into, out = (np.flatnonzero(flow) for flow in (inflow, outflow))
        into = into[np.argsort(self.left_hubs[into], kind="stable")]
        out = out[np.argsort(self.right_hubs[out], kind="stable")]
        in_ends, out_ends = np.cumsum(inflow[into]), np.cumsum(outflow[out])
        ends = np.union1d(in_ends, out_ends)
        amounts = np.diff(ends, prepend=0)
        cost = int(np.sum(inflow * self.costs))
        left = self.left[into[np.searchsorted(in_ends, ends)]]
        right = self.right[out[np.searchsorted(out_ends, ends)]]
        return Flow(left, right, amounts, cost)


def network(left: IntArray, right: IntArray, most_arcs: int = _MOST_ARCS) -> Network:
    """The network between the vectors of two sides, (vectors, d) each, with `STAR` where a vector agrees with nothing.

    Where there are fewer pairs than hubs could have arcs, every pair has a hub of its own. Otherwise hubs are made for
    all attributes, for all but one, and so on. Of more than ten attributes they become too many: from the first number
    t of disagreements on that would take more than 1024 sets, or more than `most_arcs` arcs, t stands for every number
    above. That is a lower bound on disagreement, and a metric on vectors without stars as the Hamming distance is.
    """
    both, attributes = np.concatenate([left, right]), left.shape[1]
    if 2 * len(left) * len(right) <= min(most_arcs, len(both) << attributes):
        return _of_all_pairs(left, right)
    arcs, hubs, sets, made = [], 0, 0, 0
    for disagreeing in range(attributes + 1):
        level = comb(attributes, disagreeing)
        sets += level
        if sets > _MOST_SETS or made + level * len(both) > most_arcs:
            arcs.append((np.arange(len(both)), np.full(len(both), hubs), disagreeing))
            break
        for chosen in combinations(range(attributes), attributes - disagreeing):
            rows, at = _shared(both[:, chosen], len(left))
            arcs.append((rows, hubs + at, disagreeing))
            hubs += int(at.max(initial=-1)) + 1
            made += len(rows)
    return _network(arcs, len(left))


def _of_all_pairs(left: IntArray, right: IntArray) -> Network:
    lefts, rights = (each.ravel() for each in np.indices((len(left), len(right))))
    hubs = np.arange(len(lefts))
    return Network(lefts, hubs, disagreements(left[lefts], right[rights]), rights, hubs)


def _shared(rows: IntArray, of_left: int) -> tuple[IntArray, IntArray]:
    """The rows that have no star and are equal to one of the other side, and from 0 the number of each one's hub.

    `rows`: (vectors of both sides, chosen attributes), the first `of_left` those of the left side.
    """
    whole = np.flatnonzero((rows != STAR).all(axis=1))
    _, places = np.unique(row_keys(rows[whole]), return_inverse=True)
    is_left = whole < of_left
    size = int(places.max(initial=-1)) + 1
    shared = (np.bincount(places[is_left], minlength=size) > 0) & (np.bincount(places[~is_left], minlength=size) > 0)
    kept = shared[places]
    return whole[kept], (np.cumsum(shared) - 1)[places[kept]]


def _network(arcs: list[tuple[IntArray, IntArray, int]], of_left: int) -> Network:
    rows, hubs = (np.concatenate([each[part] for each in arcs]) for part in (0, 1))
    costs = np.repeat([each[2] for each in arcs], [len(each[0]) for each in arcs])
    is_left = rows < of_left
    return Network(rows[is_left], hubs[is_left], costs[is_left], rows[~is_left] - of_left, hubs[~is_left])
