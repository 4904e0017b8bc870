"""Transportation problems: two sides of equally many vectors, paired so that pairs disagree on fewest attributes.

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

from aegis_provider.extras import needs_extra
from aegis_provider.independence.vectors import MASKED, IntArray, disagreements, distinct_rows, row_keys

#: More arcs take minutes and gigabytes.
_MOST_ARCS = 4_000_000

#: Hubs of so many sets of attributes are made: of all there are, up to ten attributes.
_MOST_SETS = 1 << 10


@dataclass(frozen=True, eq=False)
class Pairs:
    """Which vector of the left side goes with which of the right one, and how often.

    Attributes:
        left: (pairs,) places among the vectors of the left side.
        right: (pairs,) places among those of the right side.
        amounts: (pairs,) how many such pairs there are.
        least: What the pairs of any pairing disagree on, at least, in all. It is what these disagree on, unless there
            are so many attributes that far pairs had to be counted as less far than they are (`hub_network`).
    """

    left: IntArray
    right: IntArray
    amounts: IntArray
    least: int


def paired(left: IntArray, left_counts: IntArray, right: IntArray, right_counts: IntArray) -> Pairs:
    """The pairing of least disagreement, of vectors of which each is to be used as often as its count says.

    A pair disagrees on all attributes but those on which both have the same code: of vectors without stars this is the
    Hamming distance. Equal vectors without stars are paired first. That loses nothing: of pairs (v, w') and (v', v) the
    pairs (v, v) and (v', w') cost no more, since v' and w' agree wherever v' agrees with v and v with w' (the triangle
    inequality). The rest is a transportation problem.

    Args:
        left: (vectors, d) distinct vectors of codes from 0, or `MASKED`, which agrees with nothing.
        left_counts: (vectors,) of the same sum as `right_counts`.
        right: As `left`.
        right_counts: As `left_counts`.
    """
    same_left, same_right = _same(left, right)
    same = np.minimum(left_counts[same_left], right_counts[same_right])
    left_counts, right_counts = left_counts.copy(), right_counts.copy()
    left_counts[same_left] -= same
    right_counts[same_right] -= same
    some_left, some_right = np.flatnonzero(left_counts), np.flatnonzero(right_counts)
    network = hub_network(left[some_left], right[some_right])
    rest = network.cheapest_pairs(left_counts[some_left], right_counts[some_right])
    return Pairs(
        np.concatenate([same_left[same > 0], some_left[rest.left]]),
        np.concatenate([same_right[same > 0], some_right[rest.right]]),
        np.concatenate([same[same > 0], rest.amounts]),
        rest.least,
    )


def _same(left: IntArray, right: IntArray) -> tuple[IntArray, IntArray]:
    """The places of vectors without stars that both sides have."""
    whole_left, whole_right = (np.flatnonzero((side != MASKED).all(axis=1)) for side in (left, right))
    _, keys = distinct_rows(np.concatenate([left[whole_left], right[whole_right]]))
    _, at_left, at_right = np.intersect1d(
        keys[: len(whole_left)], keys[len(whole_left) :], assume_unique=True, return_indices=True
    )
    return whole_left[at_left], whole_right[at_right]


@dataclass(frozen=True, eq=False)
class HubNetwork:
    """Arcs from the vectors of the left side to hubs, and from hubs to those of the right one.

    Attributes:
        left: (arcs,) the vectors of the left side.
        left_hubs: (arcs,) the hubs that their arcs lead to.
        costs: (arcs,) of these arcs.
        right: (arcs,) the vectors of the right side.
        right_hubs: (arcs,) the hubs that the arcs to them come from, at no cost.
    """

    left: IntArray
    left_hubs: IntArray
    costs: IntArray
    right: IntArray
    right_hubs: IntArray

    def cheapest_pairs(self, supply: IntArray, demand: IntArray) -> Pairs:
        """The cheapest pairing; `supply`, `demand`: (vectors,) of each side, positive, of equal sums."""
        if not len(supply):
            return Pairs(supply, supply, supply, 0)
        first_right, first_hub = len(supply), len(supply) + len(demand)
        tails = np.concatenate([self.left, first_hub + self.right_hubs])
        heads = np.concatenate([first_hub + self.left_hubs, first_right + self.right])
        capacities = np.concatenate([supply[self.left], demand[self.right]])
        costs = np.concatenate([self.costs, np.zeros_like(self.right)])
        flows = cheapest_flow(tails, heads, capacities, costs, np.concatenate([supply, -demand]))
        return self._through_hubs(flows[: len(self.left)], flows[len(self.left) :])

    def _through_hubs(self, inflow: IntArray, outflow: IntArray) -> Pairs:
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
        return Pairs(left, right, amounts, cost)


def hub_network(left: IntArray, right: IntArray, most_arcs: int = _MOST_ARCS) -> HubNetwork:
    """The network between the vectors of two sides.

    Where there are fewer pairs than hubs could have arcs, every pair has a hub of its own. Otherwise hubs are made for
    all attributes, for all but one, and so on. Of more than ten attributes they become too many: from the first number
    t of disagreements on that would take more than 1024 sets, or more than `most_arcs` arcs, t stands for every number
    above. That is a lower bound on disagreement, and a metric on vectors without stars as the Hamming distance is.

    Args:
        left: (vectors, d) codes, with `MASKED` where a vector agrees with nothing.
        right: As `left`.
        most_arcs: How many arcs the network may have at most.
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


def _of_all_pairs(left: IntArray, right: IntArray) -> HubNetwork:
    lefts, rights = (each.ravel() for each in np.indices((len(left), len(right))))
    hubs = np.arange(len(lefts))
    return HubNetwork(lefts, hubs, disagreements(left[lefts], right[rights]), rights, hubs)


def _shared(rows: IntArray, of_left: int) -> tuple[IntArray, IntArray]:
    """The rows that have no star and are equal to one of the other side, and from 0 the number of each one's hub.

    `rows`: (vectors of both sides, chosen attributes), the first `of_left` those of the left side.
    """
    whole = np.flatnonzero((rows != MASKED).all(axis=1))
    _, places = np.unique(row_keys(rows[whole]), return_inverse=True)
    is_left = whole < of_left
    size = int(places.max(initial=-1)) + 1
    shared = (np.bincount(places[is_left], minlength=size) > 0) & (np.bincount(places[~is_left], minlength=size) > 0)
    kept = shared[places]
    return whole[kept], (np.cumsum(shared) - 1)[places[kept]]


def _network(arcs: list[tuple[IntArray, IntArray, int]], of_left: int) -> HubNetwork:
    rows, hubs = (np.concatenate([each[part] for each in arcs]) for part in (0, 1))
    costs = np.repeat([each[2] for each in arcs], [len(each[0]) for each in arcs])
    is_left = rows < of_left
    return HubNetwork(rows[is_left], hubs[is_left], costs[is_left], rows[~is_left] - of_left, hubs[~is_left])


def cheapest_flow(
    tails: IntArray, heads: IntArray, capacities: IntArray, costs: IntArray, supplies: IntArray
) -> IntArray:
    """(arcs,) how much flows on each arc, by OR-tools' cost scaling (Goldberg 1997), exact for these integers.

    Args:
        tails: (arcs,) the node that each arc leaves.
        heads: (arcs,) the node that it leads to.
        capacities: (arcs,) the most that it takes.
        costs: (arcs,) for each unit.
        supplies: (nodes,) of the first nodes, negative where there is demand, of sum 0; nodes beyond keep nothing.

    Raises:
        RuntimeError: No flow meets the demand, which no caller asks for.
    """
    from ortools.graph.python.min_cost_flow import SimpleMinCostFlow  # noqa: PLC0415 - an extra

    problem = SimpleMinCostFlow()
    arcs = problem.add_arcs_with_capacity_and_unit_cost(
        tails.astype(np.int32), heads.astype(np.int32), capacities, costs
    )
    problem.set_nodes_supplies(np.arange(len(supplies), dtype=np.int32), supplies)
    status = problem.solve()
    if status != problem.OPTIMAL:
        raise RuntimeError(f"a flow on {len(tails)} arcs has no optimum: {status.name}")
    flows: IntArray = problem.flows(arcs)
    return flows


def require_ortools() -> None:
    """Asks for the library before there is a flow to solve, so that it is not missed after minutes of work.

    Raises:
        AegisError: The extra `independence` is not installed.
    """
    with needs_extra("independence"):
        import ortools.graph.python.min_cost_flow  # noqa: F401, PLC0415 - an extra
