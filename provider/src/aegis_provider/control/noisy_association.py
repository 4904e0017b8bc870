"""Noise in the association of two masked attributes with the label: in chi-square's sums, and in the combinations.

With `n_ij` records of combination `i` and label value `j`, chi-square is `N (Q - 1)`, `Q = sum_j S_j / m_j`, with the
records `m_j` of each label value and the **label sums** `S_j = sum_i n_ij^2 / n_i`. One record can change chi-square
itself without limit, since a label value may be rare. The label sums are bounded: **one more record changes them by at
most 1 in all**, in any table.

Proof. A record with label `b` joins combination `a`, which has `n` records, `x` of them with label `b`. No other
combination changes. If n = 0, then `S_b` grows from 0 by 1^2 / 1 = 1 there, and nothing else changes. Otherwise

    S_b changes by  (x + 1)^2 / (n + 1) - x^2 / n = (n (2 x + 1) - x^2) / (n (n + 1)),   which is > 0, since x <= n;
    S_j changes by  n_aj^2 / (n + 1) - n_aj^2 / n = -n_aj^2 / (n (n + 1))                for every other j.

The absolute changes add up to `(n (2 x + 1) - x^2 + sum_(j != b) n_aj^2) / (n (n + 1))`. The others have `n - x`
records in all, so the sum of their squares is at most `(n - x)^2`, with equality if all have the same label. The
numerator is then `n (2 x + 1) - x^2 + (n - x)^2 = n + n^2`, and the quotient 1. Removing a record is the same change
backwards.

The number of combinations changes by at most 1. By sequential composition, both together spend the sum of their
epsilons (Dwork and Roth 2014, theorem 3.16).
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from aegis_provider.counting.pair_cells import UNIT, LabelSums
from aegis_provider.counting.pair_tables import PairName
from aegis_sdk.wire import AssociationNoise, EntryDocument, LabelAssociation, Pair

if TYPE_CHECKING:
    import opendp.prelude as dp


def laplace(scale: float) -> "dp.Measurement":
    """Return OpenDP's discrete Laplace noise for a list of integers.

    It is sampled in exact arithmetic (Canonne, Kamath and Steinke 2020), so that no digit of a double reveals the
    count.
    """
    import opendp.prelude as dp  # noqa: PLC0415 - an extra, and slow to load

    # Without this, OpenDP offers only functions with a fully vetted proof.
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    return dp.m.make_laplace(*space, scale=scale)


def epsilon_of(scale: float, sensitivity: int = 1) -> float:
    """Return the epsilon that OpenDP proves for noise of this scale on integers with this sensitivity."""
    return float(laplace(scale).map(sensitivity))  # type: ignore[no-untyped-call]


def scale_for(epsilon: float) -> float:
    """Return the least scale, up to rounding, for which OpenDP proves that counts of sensitivity 1 use this epsilon."""
    scale = 1.0 / epsilon
    while epsilon_of(scale) > epsilon:
        scale = math.nextafter(scale, math.inf)
    return scale


def told_pairs(entry: EntryDocument) -> Iterator[tuple[str, Pair]]:
    """Yield each pair with an association with the label, and the name of this association."""
    for pair in entry.pairs:
        if pair.with_label is not None:
            yield f"{named(pair)}, with the label", pair


def named(pair: Pair) -> str:
    """Name a pair in the list of tables."""
    one, other = (f"{name}: {masking}" for name, masking in zip(pair.attributes, pair.maskings, strict=True))
    return f"{one} with {other}"


def key_of(pair: Pair) -> PairName:
    """Return the key of a pair's label sums."""
    return tuple(pair.attributes), tuple(pair.maskings)


def sensitivity(labels: int) -> int:
    """Return the total change of the label sums by one record, in units: those of a record, and one for each label.

    Every term of a sum is rounded down to a whole number of units. Only the terms of one combination change, one for
    each label, and rounding alters a change by less than a unit.
    """
    return UNIT + labels


def association_scale(epsilon: float, labels: int) -> float:
    """Return the smallest scale in records, up to rounding, for which OpenDP proves this epsilon for both numbers."""
    scale = (sensitivity(labels) / UNIT + 1) / epsilon
    while sum(map(Fraction, epsilons_of(scale, labels))) > Fraction(epsilon):
        scale = math.nextafter(scale, math.inf)
    return scale


def epsilons_of(scale: float, labels: int) -> tuple[float, float]:
    """Return the epsilons that OpenDP proves for the label sums and for the number of combinations."""
    return epsilon_of(scale * UNIT, sensitivity(labels)), epsilon_of(scale)


def noisy_association(
    told: LabelAssociation, sums: LabelSums, label: Sequence[int], scale: float, epsilon: float
) -> LabelAssociation:
    """Return the association of two masked attributes with the label, with noise.

    Everything but the two draws is post-processing, which uses no epsilon (Dwork and Roth 2014, theorem 2.1):
    chi-square follows from the noisy label sums and from the published counts of the label.

    Args:
        told: The exact numbers.
        sums: The exact label sums, in units.
        label: The label's counts as published, with noise.
        scale: The scale of the noise, in records.
        epsilon: The budget of both numbers.
    """
    noisy = laplace(scale * UNIT)(list(sums))
    [combinations] = laplace(scale)([told.combinations])
    # `N (sum_j S_j / m_j - 1)`, between the smallest and the largest chi-square of a table with these labels.
    held = [(number / UNIT, count) for number, count in zip(noisy, label, strict=True) if count > 0]
    unbounded = sum(label) * (math.fsum(one / count for one, count in held) - 1)
    chi_square = min(max(unbounded, 0.0), float(sum(label) * (len(held) - 1)))
    noise = AssociationNoise(kind="laplace", scale=scale, epsilon=epsilon)
    return LabelAssociation(chi_square=chi_square, combinations=max(combinations, 1), noise=noise)


def without_untold(pairs: Sequence[Pair], sums: Mapping[PairName, LabelSums]) -> tuple[list[Pair], int]:
    """Return the pairs without associations whose label sums are unknown, and the number of these.

    A pair with nothing else is left out.
    """
    lost = {key_of(pair) for pair in pairs if pair.with_label is not None and key_of(pair) not in sums}
    kept = [pair for pair in pairs if key_of(pair) not in lost or pair.joint is not None]
    cut = [pair.model_copy(update={"with_label": None}) if key_of(pair) in lost else pair for pair in kept]
    return cut, len(lost)
