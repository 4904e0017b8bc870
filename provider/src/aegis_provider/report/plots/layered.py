"""A lattice in layers: the places of its nodes and the paths of its edges (Sugiyama, Tagawa & Toda 1981)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from aegis_sdk.reading import Lattice

_SWEEPS = 6


@dataclass(frozen=True)
class Layered:
    """Layers from the finest (below) to the coarsest.

    `layers`: of each, keys from left to right; a key below the number of nodes is a node, any other a bend of an edge
    that passes the layer. `chains`: for each edge of the Hasse diagram its keys, from the finer node to the coarser.
    """

    layers: tuple[tuple[int, ...], ...]
    chains: tuple[tuple[int, ...], ...]


def layered(lattice: Lattice) -> Layered:
    """Place every node one layer above the highest that it covers.

    Sweeps sort the layers by barycentres, so that few edges cross.
    """
    ranks = _ranks(lattice)
    layers: list[list[int]] = [[] for _ in range(max(ranks) + 1)]
    for node, rank in enumerate(ranks):
        layers[rank].append(node)
    bends = len(ranks)
    chains = []
    for finer, coarser in lattice.covers:
        between = range(bends, bends + ranks[coarser] - ranks[finer] - 1)
        for rank, bend in enumerate(between, start=ranks[finer] + 1):
            layers[rank].append(bend)
        bends += len(between)
        chains.append((finer, *between, coarser))
    _untangle(layers, chains)
    return Layered(tuple(map(tuple, layers)), tuple(chains))


def _ranks(lattice: Lattice) -> list[int]:
    """Return for each node the length of the longest path up to it."""
    ranks = [0] * len(lattice.nodes)
    for finer, coarser in sorted(lattice.covers):
        ranks[coarser] = max(ranks[coarser], ranks[finer] + 1)
    return ranks


def _untangle(layers: list[list[int]], chains: Sequence[tuple[int, ...]]) -> None:
    """Sort each layer by the mean place of its neighbours in the layer before, upwards and downwards in turn."""
    links = [link for chain in chains for link in pairwise(chain)]
    below: dict[int, list[int]] = {}
    above: dict[int, list[int]] = {}
    for lower, upper in links:
        below.setdefault(upper, []).append(lower)
        above.setdefault(lower, []).append(upper)
    for sweep in range(_SWEEPS):
        upwards = sweep % 2 == 0
        ordered = layers if upwards else layers[::-1]
        for fixed, moved in pairwise(ordered):
            _sort(moved, fixed, below if upwards else above)


def _sort(moved: list[int], fixed: Sequence[int], neighbours: Mapping[int, Sequence[int]]) -> None:
    """Sort by barycentres. Places count from the middle of a layer, because layers are centred."""
    places = {key: place - (len(fixed) - 1) / 2 for place, key in enumerate(fixed)}
    middle = (len(moved) - 1) / 2
    own = {key: place - middle for place, key in enumerate(moved)}

    def barycentre(key: int) -> float:
        near = [places[each] for each in neighbours.get(key, ()) if each in places]
        return sum(near) / len(near) if near else own[key]

    moved.sort(key=barycentre)
