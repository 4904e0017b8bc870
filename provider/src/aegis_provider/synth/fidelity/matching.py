"""Which real record a released one may be, so that the rows of some records can be taken out of a release.

Rows in which the same texts stand are interchangeable, so it matters only how many of them are taken out. It is known
exactly if the release masks equal values alike, and leaves out records or hides cells (`*`) besides.
"""

import numpy as np

from aegis_provider.records import Records
from aegis_provider.synth.fidelity.learning import Places, hides, narrowest
from aegis_provider.synth.released import Released


def records_of_rows(released: Released, records: Records, rng: np.random.Generator) -> Places:
    """(released,) Return the place of a real record that each row may mask, another one for each; -1 if none is left.

    Rows that hide the fewest cells choose first; among records that are masked alike, which one it is, is drawn.
    """
    found = np.full(len(released), -1)
    order = rng.permutation(len(records))
    masked = np.stack([narrowest(each)[records.column(each.name).places[order]] for each in released.columns], axis=1)
    texts = np.stack([each.codes for each in released.columns], axis=1)
    hidden = np.stack([hides(each)[each.codes] for each in released.columns], axis=1)
    patterns, of_row = np.unique(hidden, axis=0, return_inverse=True)
    left = np.arange(len(records))
    for number in np.argsort(patterns.sum(axis=1), kind="stable"):
        rows, shown = np.flatnonzero(of_row.reshape(-1) == number), ~patterns[number]
        mine, theirs = _pairs(texts[rows][:, shown], masked[left][:, shown])
        found[rows[mine]] = order[left[theirs]]
        left = np.delete(left, theirs)
    return found


def _pairs(one: Places, other: Places) -> tuple[Places, Places]:
    """Return the places of as many pairs of equal rows of two tables as there are, each row in at most one."""
    _, group = np.unique(np.concatenate([one, other]), axis=0, return_inverse=True)
    first, second = np.split(group.reshape(-1), [len(one)])
    ours, others = (each * (len(group) + 1) + _repetition(each) for each in (first, second))
    _, mine, theirs = np.intersect1d(ours, others, assume_unique=True, return_indices=True)
    return mine, theirs


def _repetition(groups: Places) -> Places:
    """(rows,) How many rows before it are in the same group."""
    order = np.argsort(groups, kind="stable")
    sorted_groups = groups[order]
    repetition = np.empty(len(groups), dtype=np.intp)
    repetition[order] = np.arange(len(groups)) - np.searchsorted(sorted_groups, sorted_groups)
    return repetition
