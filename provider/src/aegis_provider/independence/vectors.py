"""Records as vectors of codes: their counts in each cluster, their masked values, and pairs that disagree the least."""

from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from aegis_provider.errors import needs_extra

IntArray: TypeAlias = NDArray[np.int64]
FloatArray: TypeAlias = NDArray[np.float64]
BoolArray: TypeAlias = NDArray[np.bool_]

_LARGEST_KEY = 1 << 62
_LARGEST_TABLE = 1 << 31

#: The code of a masked value. Masked values agree with no value, not even with each other.
MASKED = -1


@dataclass(frozen=True, eq=False)
class Vectors:
    """The distinct vectors of a table, and their counts in each cluster. All clusters have `groups` records.

    Attributes:
        values: (vectors, d) The codes, from 0.
        counts: (vectors, clusters) The number of records with each vector in each cluster.
        of_record: (n,) The vector of each record.
        cluster_of_record: (n,) The cluster of each record, from 0.
    """

    values: IntArray
    counts: IntArray
    of_record: IntArray
    cluster_of_record: IntArray

    @classmethod
    def of(cls, codes: IntArray, clusters: IntArray) -> "Vectors":
        """Return the vectors of some records.

        Args:
            codes: (n, d) A number from 0 for each value.
            clusters: (n,) 0 .. u-1, all equally often.

        Raises:
            ValueError: A shape is wrong, a code is negative, there are no records, or the clusters differ in size.
        """
        if codes.ndim != 2 or not codes.size:  # noqa: PLR2004 - a table has two axes
            raise ValueError(f"codes must hold a record and an attribute to hide; their shape is {codes.shape}")
        if clusters.shape != codes.shape[:1]:
            raise ValueError(
                f"every record must have a cluster: {len(codes)} records, clusters of shape {clusters.shape}"
            )
        if codes.min() < 0 or clusters.min() < 0:
            raise ValueError("codes and clusters must be 0 or more")
        values, of_record = distinct_rows(codes)
        counts = np.zeros((len(values), int(clusters.max()) + 1), dtype=np.int64)
        np.add.at(counts, (of_record, clusters), 1)
        sizes = counts.sum(axis=0)
        if np.any(sizes != sizes[0]):
            raise ValueError(f"clusters must be of equal size, but have {sizes.min()} to {sizes.max()} records")
        return cls(values, counts, of_record, clusters)

    @property
    def attributes(self) -> int:
        """The number of hidden attributes: d."""
        return int(self.values.shape[1])

    @property
    def clusters(self) -> int:
        """The number of clusters: u."""
        return int(self.counts.shape[1])

    @property
    def groups(self) -> int:
        """The number of groups with a record of each cluster: n / u."""
        return int(self.counts[:, 0].sum())

    def group_of_record(self, members: IntArray, random: np.random.Generator) -> IntArray:
        """(n,) The group of each record.

        Equal records of a cluster are assigned to their groups at random. `members`: (groups, u) The vector of each
        group's record of each cluster.
        """
        groups = np.empty(len(self.of_record), dtype=np.int64)
        for cluster in range(self.clusters):
            records = random.permutation(np.flatnonzero(self.cluster_of_record == cluster))
            by_vector = records[np.argsort(self.of_record[records], kind="stable")]
            groups[by_vector] = np.argsort(members[:, cluster], kind="stable")
        return groups


def common_codes(values: IntArray, members: IntArray) -> IntArray:
    """(groups, d) The code that all vectors of a group share in each attribute, `MASKED` where they disagree.

    Args:
        values: (vectors, d) The codes.
        members: (groups, any number of clusters) The places of the vectors.
    """
    least = values[members[:, 0]]
    most = least
    for column in members.T[1:]:
        least, most = np.minimum(least, values[column]), np.maximum(most, values[column])
    return np.where(least == most, least, MASKED)


def stars_of(vectors: Vectors, members: IntArray) -> int:
    """Return the number of masked values: one per record for every attribute on which its group disagrees."""
    return vectors.clusters * int(np.count_nonzero(common_codes(vectors.values, members) == MASKED))


def starred(codes: IntArray, group_of_record: IntArray) -> BoolArray:
    """(n, d) Whether each value is masked, since the records of its group disagree on the attribute.

    Args:
        codes: (n, d) A number for each value.
        group_of_record: (n,) The group of each record, from 0; no group is empty.
    """
    order = np.argsort(group_of_record, kind="stable")
    starts = np.flatnonzero(np.diff(group_of_record[order], prepend=-1))
    ordered = codes[order]
    disagree = np.minimum.reduceat(ordered, starts) != np.maximum.reduceat(ordered, starts)
    stars: BoolArray = disagree[group_of_record]
    return stars


def is_independent(vectors: IntArray, clusters: IntArray) -> bool:
    """Return whether Pr[a, b] = Pr[a] Pr[b] holds exactly for all vectors a and clusters b.

    The test is n count(a, b) = count(a) count(b). A vector and a cluster that both occur must occur together, since the
    product of their counts is not 0.

    Args:
        vectors: (n, d) The codes from `MASKED` up; `MASKED` is a value like any other.
        clusters: (n,) The codes from 0.

    Raises:
        ValueError: There are 2^31 records or more, so the products may not be exact.
    """
    if len(vectors) >= _LARGEST_TABLE:
        raise ValueError(f"{len(vectors)} records are too many")
    _, vector = distinct_rows(vectors)
    _, cluster = distinct_rows(clusters.reshape(-1, 1))
    pairs, joint = np.unique(np.column_stack([vector, cluster]), axis=0, return_counts=True)
    of_vector, of_cluster = np.bincount(vector), np.bincount(cluster)
    product = of_vector[pairs[:, 0]] * of_cluster[pairs[:, 1]]
    return len(pairs) == len(of_vector) * len(of_cluster) and bool(np.all(joint * len(vectors) == product))


def agreements(left: IntArray, right: IntArray) -> BoolArray:
    """(rows, d) Whether both have the same code, and it is not a star."""
    agree: BoolArray = (left == right) & (left != MASKED)
    return agree


def disagreements(left: IntArray, right: IntArray) -> IntArray:
    """(rows,) The number of attributes on which rows of codes disagree; a star disagrees with everything."""
    distances: IntArray = (~agreements(left, right)).sum(axis=-1)
    return distances


def distinct_rows(rows: IntArray) -> tuple[IntArray, IntArray]:
    """Return the distinct rows in lexicographic order, and (len(rows),) the place of each row among them."""
    keys = row_keys(rows)
    _, first, places = np.unique(keys, return_index=True, return_inverse=True)
    return rows[first], places.astype(np.int64)


def row_keys(rows: IntArray) -> IntArray:
    """(len(rows),) A number for each row of codes from `MASKED` up, equal for equal rows and in the rows' order."""
    keys, size = np.zeros(len(rows), dtype=np.int64), 1
    for column in rows.T:
        digits, width = column - MASKED, int(column.max(initial=MASKED)) - MASKED + 1
        if size * width > _LARGEST_KEY:
            (keys, size), (digits, width) = _ranked(keys), _ranked(digits)
        keys = keys * width + digits
        size *= width
    return keys


def _ranked(keys: IntArray) -> tuple[IntArray, int]:
    occurring, ranks = np.unique(keys, return_inverse=True)
    return ranks.astype(np.int64), len(occurring)


#: The most arcs; more take minutes and gigabytes.
_MOST_ARCS = 4_000_000

#: The most sets of attributes with hubs; enough for all sets of up to ten attributes.
_MOST_SETS = 1 << 10


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of a vector of the left side and one of the right side.

    Attributes:
        left: (pairs,) The places of the vectors of the left side.
        right: (pairs,) The places of the vectors of the right side.
        least: A lower bound on the total disagreement of any pairing. These pairs reach it, unless there are so many
            attributes that the distances of far pairs had to be underestimated (`hub_network`).
    """

    left: IntArray
    right: IntArray
    amounts: IntArray
    least: int


def paired(left: IntArray, left_counts: IntArray, right: IntArray, right_counts: IntArray) -> Pairs:
    """Return the pairing with the least disagreement, which uses each vector as often as its count says.

    A pair disagrees on all attributes except those on which both have the same code; for vectors without stars this is
    the Hamming distance. Equal vectors without stars are paired first. This loses nothing: the pairs (v, v) and
    (v', w') cost no more than (v, w') and (v', v), since v' and w' agree wherever v' agrees with v and v with w' (the
    triangle inequality). The rest is a transportation problem.

    Args:
        left: (vectors, d) Distinct vectors of codes from 0, or `MASKED`, which agrees with nothing.
        left_counts: (vectors,) The counts, with the same sum as `right_counts`.
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
    """Return the places on each side of the vectors without stars that both sides have."""
    whole_left, whole_right = (np.flatnonzero((side != MASKED).all(axis=1)) for side in (left, right))
    _, keys = distinct_rows(np.concatenate([left[whole_left], right[whole_right]]))
    _, at_left, at_right = np.intersect1d(
        keys[: len(whole_left)], keys[len(whole_left) :], assume_unique=True, return_indices=True
    )
    return whole_left[at_left], whole_right[at_right]


@dataclass(frozen=True, eq=False)
class HubNetwork:
    """Arcs from the vectors of the left side to hubs, and from hubs to the vectors of the right side.

    All pairs of 20,000 vectors and 20,000 others would be 400 million arcs. Instead, there is a hub for every set S of
    attributes and every projection on S that both sides have. Each vector of the left side with this projection has an
    arc to the hub at a cost of d - |S|, and the hub has a free arc to each such vector of the right side. The cheapest
    path from v to w leads through the hub of the attributes on which they agree, and costs the number of those on which
    they disagree. A vector has at most 2^d arcs.

    Attributes:
        left: (arcs,) The vector of the left side that each arc leaves.
        left_hubs: (arcs,) The hub to which it leads.
        costs: (arcs,) Its cost.
        right: (arcs,) The vector of the right side to which each free arc leads.
        right_hubs: (arcs,) The hub that it leaves.
    """

    left: IntArray
    left_hubs: IntArray
    costs: IntArray
    right: IntArray
    right_hubs: IntArray

    def cheapest_pairs(self, supply: IntArray, demand: IntArray) -> Pairs:
        """Return the cheapest pairing.

        Args:
            supply: (vectors,) The positive counts of the left side.
            demand: (vectors,) The positive counts of the right side, with the same sum.
        """
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
        """Match the flow into each hub with the flow out of it, both in order (the north-west corner rule).

        Hubs keep nothing, so the sums of both sides, sorted by hub, are equal at the end of every hub. A pair ends at
        every partial sum of either side.
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
    """Return the network between the vectors of two sides.

    If there are fewer pairs than arcs that hubs could have, every pair has its own hub. Otherwise there are hubs for
    all attributes, for all but one, and so on. For more than ten attributes these become too many. Let t be the first
    number of disagreements that would take more than 1024 sets or more than `most_arcs` arcs. Every larger number is
    counted as t. The result is a lower bound on disagreement and, like the Hamming distance, a metric on vectors
    without stars.

    Args:
        left: (vectors, d) The codes, with `MASKED` where a vector agrees with nothing.
        right: As `left`.
    """
    both, attributes = np.concatenate([left, right]), left.shape[1]
    if 2 * len(left) * len(right) <= min(most_arcs, len(both) << attributes):
        lefts, rights = (index.ravel() for index in np.indices((len(left), len(right))))
        own = np.arange(len(lefts))
        return HubNetwork(lefts, own, disagreements(left[lefts], right[rights]), rights, own)
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
    rows, at = (np.concatenate([arc[part] for arc in arcs]) for part in (0, 1))
    costs = np.repeat([arc[2] for arc in arcs], [len(arc[0]) for arc in arcs])
    is_left = rows < len(left)
    return HubNetwork(rows[is_left], at[is_left], costs[is_left], rows[~is_left] - len(left), at[~is_left])


def _shared(rows: IntArray, of_left: int) -> tuple[IntArray, IntArray]:
    """Return the rows without a star that equal one of the other side, and the number of each row's hub, from 0.

    Args:
        rows: (vectors of both sides, chosen attributes) The rows, with those of the left side first.
        of_left: The number of rows of the left side.
    """
    whole = np.flatnonzero((rows != MASKED).all(axis=1))
    _, places = np.unique(row_keys(rows[whole]), return_inverse=True)
    is_left = whole < of_left
    size = int(places.max(initial=-1)) + 1
    shared = (np.bincount(places[is_left], minlength=size) > 0) & (np.bincount(places[~is_left], minlength=size) > 0)
    kept = shared[places]
    return whole[kept], (np.cumsum(shared) - 1)[places[kept]]


def cheapest_flow(
    tails: IntArray, heads: IntArray, capacities: IntArray, costs: IntArray, supplies: IntArray
) -> IntArray:
    """(arcs,) The cheapest flow on each arc, by OR-Tools' cost scaling (Goldberg 1997), exact for these integers.

    Args:
        tails: (arcs,) The node that each arc leaves.
        heads: (arcs,) The node to which it leads.
        capacities: (arcs,) Its capacity.
        costs: (arcs,) Its cost per unit.
        supplies: (nodes,) The supplies of the first nodes, negative for demand, with sum 0; other nodes keep nothing.

    Raises:
        RuntimeError: No flow meets the demand; callers never ask for this.
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
    """Check that OR-Tools is installed, so that its absence is not discovered after minutes of work.

    Raises:
        AegisError: The extra `independence` is not installed.
    """
    with needs_extra("independence"):
        import ortools.graph.python.min_cost_flow  # noqa: F401, PLC0415 - an extra
