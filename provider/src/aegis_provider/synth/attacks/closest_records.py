"""Distance to the closest record (DCR) and nearest neighbour distance ratio (NNDR), with a holdout."""

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aegis_provider.records import Records, drawn
from aegis_provider.synth.attacks.case import Case
from aegis_provider.synth.attacks.outcome import Outcome, exactly, mean_of
from aegis_provider.synth.released import Released
from aegis_sdk.reading import Share

NAME: Final = "closer to the seen records"
CAVEAT: Final = (
    "This proves nothing alone: a release can be far from every record on average and still show some of them, and a "
    "share of 50 % says only that the release is no nearer to its own records than to others."
)

_MOST: Final = 2_000


def closest_records(case: Case) -> Iterator[Outcome]:
    """Compare the distances of released records to the nearest seen and to the nearest held-out record.

    Equally many persons of both sides are drawn, with one record each, so that by chance half of the released records
    are closer to a seen one; ties count half. Source: Platzer and Reutterer, Holdout-based empirical
    assessment of mixed-type synthetic data, Frontiers in Big Data 2021; the ratio: Zhao et al., CTAB-GAN, ACML 2021,
    section 4.
    """
    sides = case.persons(NAME, 2 * _MOST)
    size = min(map(len, sides))
    seen, held_out = (side.take(drawn(len(side), size, case.seed)) for side in sides)
    released = case.release.take(drawn(len(case.release), _MOST, case.seed))
    to_seen, to_held_out = _two_nearest(released, seen), _two_nearest(released, held_out)
    real = _two_nearest(Released.as_it_is(held_out.take(np.arange(min(size, _MOST)))).only(released.names), seen)
    closer = np.where(to_seen[0] == to_held_out[0], 0.5, to_seen[0] < to_held_out[0])
    success = mean_of(closer)
    medians = {
        name: float(np.median(each))
        for name, each in {
            "dcr_to_seen": to_seen[0],
            "dcr_to_held_out": to_held_out[0],
            "dcr_of_held_out_to_seen": real[0],
            "nndr_to_seen": _ratio(to_seen),
            "nndr_to_held_out": _ratio(to_held_out),
            "nndr_of_held_out_to_seen": _ratio(real),
        }.items()
    }
    yield Outcome(
        NAME,
        "DCR",
        len(released),
        "released records",
        success,
        exactly(0.5),
        None,
        f"{Share(success.value)} of the released records are closer to a record that the release saw than to one that "
        f"it never saw; 50 % is chance. {CAVEAT}",
        medians,
        is_attack=False,
    )


def _two_nearest(release: Released, records: Records) -> NDArray[np.float32]:
    """(2, released) The distances of each released record to the nearest and the second nearest of the records."""
    nearest = np.full((2, len(release)), np.inf, dtype=np.float32)
    for _, block in release.distances(records):
        nearest = np.sort(np.concatenate([nearest, block]), axis=0)[:2]
    return nearest


def _ratio(nearest: NDArray[np.float32]) -> NDArray[np.float64]:
    """(released,) The nearest distance over the second nearest; 1 if both are 0."""
    first, second = nearest.astype(np.float64)
    return np.asarray(np.divide(first, second, out=np.ones_like(first), where=(second > 0) & np.isfinite(second)))
