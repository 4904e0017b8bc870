"""Differential privacy: discrete Laplace noise for every count, drawn and accounted for by OpenDP."""

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import opendp.prelude as dp

from aegis_provider.control.controls import Changes, ControlError, NoisyTable, Split
from aegis_provider.control.declarable import only_declarable, tables_of, with_tables
from aegis_provider.progress import Progress

_Noisy: TypeAlias = tuple[list[list[int]], dict[str, Any]]

# Without it OpenDP makes nothing whose proof it has not had vetted to the end.
dp.enable_features("contrib")


def add_noise(
    entry: Mapping[str, Any], epsilon: float, split: Split, progress: Progress
) -> tuple[dict[str, Any], Changes]:
    """The entry with noise in all its counts, also those of 0, and what was left out since it cannot declare that.

    Neighbouring tables differ by one record more or less, which is in one cell of each table: each has sensitivity 1,
    and together they take what their epsilons add up to (Dwork and Roth 2014, theorem 3.16). The label's counts are cut
    at 0, which takes nothing more (theorem 2.1: post-processing).
    Raises `ControlError` for pair counts, and for maskings that are left to chance: with a record more the draw of all
    others may be another.
    """
    _refuse_chance(entry)
    declarable, left_out = only_declarable(entry)
    tables = noisy_tables(declarable, epsilon, split)
    noisy = with_tables(declarable, _noisy(declarable, tables, progress))
    return noisy, Changes(tables=left_out, noise=tuple(tables))


def _refuse_chance(entry: Mapping[str, Any]) -> None:
    for attribute in entry["attributes"]:
        for masking in attribute["maskings"]:
            if masking.get("deterministic") is False:
                raise ControlError(
                    f"{attribute['name']!r}: {masking['id']!r} is left to chance, or masked elsewhere: one record may "
                    "change several of its counts, and no epsilon is known; leave it out of the plan"
                )


def noisy_tables(entry: Mapping[str, Any], epsilon: float, split: Split) -> list[NoisyTable]:
    """What each table takes of epsilon, and the scale of noise that this makes, for an entry of declarable tables."""
    sized = [(name, len(counts) * len(counts[0])) for name, counts in tables_of(entry)]
    shares = shares_of(epsilon, [cells for _, cells in sized], split)
    return [
        NoisyTable(name, cells, share, scale_for(share)) for (name, cells), share in zip(sized, shares, strict=True)
    ]


def shares_of(epsilon: float, cells: Sequence[int], split: Split) -> list[float]:
    """What tables of so many cells take of epsilon; as doubles they add up to no more, exactly.

    `cube_root` makes the variance of all counts together least: a count of table t has nearly 2 / e_t^2, so that
    `sum_t c_t 2 / e_t^2` is to be least with `sum_t e_t` given. Lagrange's condition, that `4 c_t / e_t^3` is the same
    for all t, makes e_t proportional to the cube root of c_t.
    """
    weights = [1.0 if split == "equal" else math.cbrt(each) for each in cells]
    shares = [epsilon * weight / math.fsum(weights) for weight in weights]
    while sum(map(Fraction, shares)) > Fraction(epsilon):
        shares = [math.nextafter(share, 0.0) for share in shares]
    return shares


def scale_for(epsilon: float) -> float:
    """The least scale, to a rounding error, for which OpenDP proves that counts of sensitivity 1 take this epsilon."""
    scale = 1.0 / epsilon
    while epsilon_of(scale) > epsilon:
        scale = math.nextafter(scale, math.inf)
    return scale


def epsilon_of(scale: float) -> float:
    """What noise of that scale takes of epsilon, as OpenDP proves it of counts that differ by one record."""
    return float(_laplace(scale).map(1))  # type: ignore[no-untyped-call]


def _laplace(scale: float) -> dp.Measurement:
    """OpenDP's discrete Laplace noise for a list of integers.

    It is sampled in exact arithmetic (Canonne, Kamath and Steinke 2020), so that no digit of a double tells the count.
    """
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    return dp.m.make_laplace(*space, scale=scale)


def _noisy(entry: Mapping[str, Any], tables: Sequence[NoisyTable], progress: Progress) -> Iterator[_Noisy]:
    done, total = 0, sum(each.cells for each in tables)
    for place, ((_, counts), table) in enumerate(zip(tables_of(entry), tables, strict=True)):
        width = len(counts[0])
        drawn = _laplace(table.scale)([count for row in counts for count in row])
        noisy = _cut(drawn) if place == 0 else drawn
        rows = [noisy[start : start + width] for start in range(0, len(noisy), width)]
        yield rows, {"noise": {"kind": "laplace", "scale": table.scale, "epsilon": table.epsilon}}
        done += table.cells
        progress(done, total)


def _cut(drawn: Sequence[int]) -> list[int]:
    """The label's counts: none below 0, and at least one record."""
    counts = [max(count, 0) for count in drawn]
    if not any(counts):
        counts[drawn.index(max(drawn))] = 1
    return counts
