"""Linkability and inference, as Giomi et al. define them.

Source: Giomi, Boenisch, Wehmeyer and Tasnádi, A Unified Framework for Quantifying Privacy Risk in Synthetic Data, PoPETs
2023, sections 4.2 and 4.3. Where several released records are equally near, one of them is drawn at random.
"""

from collections.abc import Iterator
from math import comb
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aegis_provider.attacks.case import Case
from aegis_provider.attacks.outcome import Outcome, exactly, share_of
from aegis_provider.attacks.released import Distances, Released
from aegis_provider.records import Records

NAME: Final = "linkability"
NEIGHBOURS: Final = (1, 5, 10)

_MOST: Final = 1_000
_TIES: Final = np.float32(1e-5)


def linkability(case: Case) -> Iterator[Outcome]:
    """Link two parts of a person's attributes, each known from elsewhere, through the release.

    The attack succeeds on a person if a released record is among the k nearest in both parts: here every other column,
    and the rest. Without the release, two random choices of k have one in common by chance.
    """
    first, second = case.release.names[::2], case.release.names[1::2]
    if not second:
        return
    for k in NEIGHBOURS:
        if k <= len(case.release):
            yield _linked(case, (first, second), k)


def _linked(case: Case, parts: tuple[tuple[str, ...], tuple[str, ...]], k: int) -> Outcome:
    rng = case.rng(f"{NAME} {k}")
    hits = [links(case.release, each, parts, k, rng) for each in case.targets(NAME, _MOST) if len(each)]
    success, released = share_of(hits[0]), len(case.release)
    by_chance = 1 - comb(released - k, k) / comb(released, k)
    return Outcome(
        NAME,
        f"k = {k}",
        len(hits[0]),
        "persons",
        success,
        exactly(by_chance),
        share_of(hits[1]) if len(hits) > 1 else None,
        f"For {success.value:.1%} of the persons, one released record is among the {k} nearest in both parts of their "
        "attributes, which links the parts.",
    )


def links(
    release: Released,
    targets: Records,
    parts: tuple[tuple[str, ...], tuple[str, ...]],
    k: int,
    rng: np.random.Generator,
) -> NDArray[np.bool_]:
    """(targets,) Whether a released record is among the k nearest in both parts of the columns."""
    first, second = (nearest(release.only(part), targets, k, rng) for part in parts)
    return np.array([bool(set(one) & set(other)) for one, other in zip(first.tolist(), second.tolist(), strict=True)])


def nearest(release: Released, targets: Records, k: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """(targets, k) The k nearest released records of each target, chosen at random among equally near ones."""
    blocks = [_nearest(block, k, rng) for _, block in release.distances(targets)]
    return np.concatenate(blocks)


def _nearest(block: Distances, k: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Add less than any difference between two distances that matters, so that ties are broken at random."""
    drawn = block + _TIES * rng.random(block.shape, dtype=np.float32)
    return np.argpartition(drawn, k - 1, axis=1)[:, :k]
