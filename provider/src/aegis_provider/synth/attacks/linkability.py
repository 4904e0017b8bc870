"""Linkability, as defined by Giomi et al.

Source: Giomi, Boenisch, Wehmeyer and Tasnádi, A Unified Framework for Quantifying Privacy Risk in Synthetic Data,
PoPETs 2023, section 4.2. Ties between released records at equal distance are broken at random.
"""

from collections.abc import Iterator, Sequence
from math import comb
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aegis_provider.check import Interval
from aegis_provider.records import Records
from aegis_provider.synth.attacks.case import Case
from aegis_provider.synth.attacks.outcome import Outcome, exactly, share_of
from aegis_provider.synth.released.released import Distances, Released
from aegis_sdk.reading import Share

NAME: Final = "linkability"
NEIGHBOURS: Final = (1, 5, 10)

_MOST: Final = 1_000
_TIES: Final = np.float32(1e-6)


def linkability(case: Case) -> Iterator[Outcome]:
    """Link two parts of a person's attributes, each known from elsewhere, through the release.

    The attack succeeds on a person if a released record is among the k nearest in both parts: here every other column,
    and the rest. The baseline is the chance that two random choices of k records overlap.
    """
    first, second = case.release.names[::2], case.release.names[1::2]
    if not second:
        return
    rng = case.rng(NAME)
    sides = [target for target in case.targets(NAME, _MOST) if len(target)]
    ranks = [first_links(case.release, side, (first, second), rng) for side in sides]
    for k in NEIGHBOURS:
        if k <= len(case.release):
            yield _linked(k, len(case.release), [share_of(rank <= k) for rank in ranks], len(sides[0]))


def _linked(k: int, released: int, shares: list[Interval], persons: int) -> Outcome:
    success, *held_out = shares
    return Outcome(
        NAME,
        f"k = {k}",
        persons,
        "persons",
        success,
        exactly(1 - comb(released - k, k) / comb(released, k)),
        held_out[0] if held_out else None,
        f"For {Share(success.value)} of the persons, one released record is among the {k} nearest in both parts of "
        "their attributes, which links the parts.",
    )


def first_links(
    release: Released, targets: Records, parts: tuple[Sequence[str], Sequence[str]], rng: np.random.Generator
) -> NDArray[np.intp]:
    """(targets,) The least k for which a released record is among the k nearest in both parts; 11 if above 10."""
    most = min(NEIGHBOURS[-1], len(release))
    first, second = (nearest(release.only(part), targets, most, rng) for part in parts)
    same = first[:, :, None] == second[:, None, :]
    ranks = np.maximum.outer(np.arange(1, most + 1), np.arange(1, most + 1))
    return np.asarray(np.where(same, ranks, NEIGHBOURS[-1] + 1).min(axis=(1, 2)))


def nearest(release: Released, targets: Records, k: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """(targets, k) The k nearest released records, the nearest first; equally near ones in a random order."""
    blocks = [_nearest(block, k, rng) for _, block in release.distances(targets)]
    return np.concatenate(blocks)


def _nearest(block: Distances, k: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Break ties at random by adding noise smaller than any relevant difference of distances."""
    drawn = block + _TIES * rng.random(block.shape, dtype=np.float32)
    chosen = np.argpartition(drawn, k - 1, axis=1)[:, :k]
    order = np.take_along_axis(drawn, chosen, axis=1).argsort(axis=1)
    return np.take_along_axis(chosen, order, axis=1)
