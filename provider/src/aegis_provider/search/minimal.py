"""The minimal nodes of a lattice, by whichever way its size and the requirement allow."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aegis_provider.counting.partition import Places
from aegis_provider.errors import PlanError
from aegis_provider.privacy import CRITERIA
from aegis_provider.progress import Progress
from aegis_provider.search.descents import descend
from aegis_provider.search.evaluation import Evaluation
from aegis_provider.search.pruned import search

_LARGEST_LATTICE = 30_000_000
_MOST_ONE_BY_ONE = 100_000


@dataclass(frozen=True, eq=False)
class Minimal:
    """`nodes`: (minimal, attributes) that hold while nothing finer by a step does; `evaluated`: how many were looked
    at; `complete`: whether these are all.
    """

    nodes: Places
    evaluated: int
    complete: bool


def minimal_nodes(evaluation: Evaluation, source: str, most: int, progress: Progress) -> Minimal:
    """All minimal nodes; of a lattice of more than 30 million nodes, random ones, at most `most`.

    A requirement that is not monotone is decided for each node that holds `k` and `l`, which are.
    Raises `PlanError`, which begins with `source`, where there are too many of those.
    """
    lattice = evaluation.lattice
    if evaluation.is_monotone and not evaluation.holds(lattice.top):
        return Minimal(np.empty((0, len(lattice.choices)), dtype=np.intp), 1, complete=True)
    if lattice.nodes > _LARGEST_LATTICE:
        if not evaluation.is_monotone:
            raise PlanError(_too_many(evaluation, source, f"{lattice.nodes:,}"))
        nodes, evaluated = descend(lattice, evaluation.holds, most, progress)
        return Minimal(np.array(sorted(nodes), dtype=np.intp), evaluated, complete=False)
    verdict = search(lattice, evaluation.holds if evaluation.is_monotone else evaluation.holds_counts, progress)
    holds, evaluated = verdict.holds, verdict.evaluated
    if not evaluation.is_monotone:
        evaluated += int(np.count_nonzero(holds))
        holds = _one_by_one(evaluation, source, holds, progress)
    return Minimal(lattice.minimal(holds), evaluated, complete=True)


def every_node(evaluation: Evaluation) -> NDArray[np.bool_]:
    """An array of the lattice's shape, which nodes hold, without pruning: what the search is compared with."""
    shape = evaluation.lattice.shape
    found = [evaluation.holds(node) for node in np.ndindex(shape)]
    return np.array(found, dtype=np.bool_).reshape(shape)


def _one_by_one(
    evaluation: Evaluation, source: str, candidates: NDArray[np.bool_], progress: Progress
) -> NDArray[np.bool_]:
    """Which of the candidates hold everything that is required."""
    nodes = np.argwhere(candidates)
    if len(nodes) > _MOST_ONE_BY_ONE:
        raise PlanError(_too_many(evaluation, source, f"{len(nodes):,}"))
    holds = np.zeros_like(candidates)
    for done, node in enumerate(map(tuple, nodes.tolist())):
        holds[node] = evaluation.holds(node)
        progress(done, len(nodes))
    return holds


def _too_many(evaluation: Evaluation, source: str, nodes: str) -> str:
    names = ", ".join(name for name in evaluation.require if name not in {"k", "l"})
    never = " and ".join(name for name, each in CRITERIA.items() if not each.survives_merged_classes)
    return (
        f"{source}: {names} would have to be checked one by one of {nodes} combinations of maskings, and at most "
        f"{_MOST_ONE_BY_ONE:,} are; suppress nothing and do without {never}, or take maskings out of the plan"
    )
