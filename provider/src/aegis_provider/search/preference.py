"""Choice of the configurations to keep if there are too many: those that tell most about the label."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from aegis_provider.counting.counted_table import CountedTable
from aegis_provider.counting.counts import Counts, Places
from aegis_provider.search.lattice import Choices

Shares: TypeAlias = Sequence[NDArray[np.float64]]


def information_kept(counted: CountedTable, choices: Sequence[Choices]) -> Shares:
    """For each attribute, (choices,) the share of its mutual information with the label that each choice keeps.

    The share is 1 if there is no mutual information, and for the label itself.
    """
    known = {each.attribute.name: each.counts for each in counted.attributes}
    shares = []
    for each in choices:
        if each.attribute not in known:
            shares.append(np.ones(len(each)))
            continue
        joint = known[each.attribute]
        kept = [mutual_information(joint.fold(part.groups.tolist(), part.size)) for part in each.partitions]
        shares.append(np.array(kept) / kept[0] if kept[0] > 0 else np.ones(len(each)))
    return shares


def scores(nodes: Places, shares: Shares) -> NDArray[np.float64]:
    """(nodes,) The mean share of mutual information that each of the (nodes, attributes) keeps."""
    kept = [share[places] for share, places in zip(shares, nodes.T, strict=True)]
    means: NDArray[np.float64] = np.mean(kept, axis=0)
    return means


def mutual_information(joint: Counts) -> float:
    """Return `I(A; Y)` in nats for (values, labels) counts; never below 0."""
    shares = joint / joint.sum()
    independent = shares.sum(axis=1, keepdims=True) * shares.sum(axis=0)
    occurs = shares > 0
    return max(0.0, float(np.sum(shares[occurs] * np.log(shares[occurs] / independent[occurs]))))


def preferred(nodes: Places, shares: Shares, most: int) -> Places:
    """(kept, attributes) At most `most` of the (nodes, attributes), in the order of `scores`, the best first.

    The best node with each choice of each attribute is chosen first, so that every attribute is well preserved in some
    node. The best of the other nodes follow.
    """
    ordered: Places = nodes[np.argsort(-scores(nodes, shares), kind="stable")]
    if len(ordered) <= most:
        return ordered
    firsts = [np.unique(places, return_index=True)[1] for places in ordered.T]
    standing_for_a_choice = np.unique(np.concatenate(firsts))
    others = np.setdiff1d(np.arange(len(ordered)), standing_for_a_choice)
    chosen = np.concatenate([standing_for_a_choice, others])[:most]
    kept: Places = ordered[np.sort(chosen)]
    return kept
