"""Choice of the configurations to keep if there are too many: the best, and the best with every choice."""

import numpy as np
from numpy.typing import NDArray

from aegis_provider.counting.counts import Places


def preferred(nodes: Places, utilities: NDArray[np.float64], most: int) -> Places:
    """(kept, attributes) At most `most` of the (nodes, attributes), the best first.

    The best node with each choice of each attribute is chosen first, so that every attribute is well preserved in some
    node. The best of the other nodes follow.

    Args:
        nodes: The nodes.
        utilities: (nodes,) Their utilities.
        most: How many to keep.
    """
    ordered: Places = nodes[np.argsort(-utilities, kind="stable")]
    if len(ordered) <= most:
        return ordered
    firsts = [np.unique(places, return_index=True)[1] for places in ordered.T]
    standing_for_a_choice = np.unique(np.concatenate(firsts))
    others = np.setdiff1d(np.arange(len(ordered)), standing_for_a_choice)
    chosen = np.concatenate([standing_for_a_choice, others])[:most]
    kept: Places = ordered[np.sort(chosen)]
    return kept
