"""A made-up table of credit-card customers, as hard to publish safely as real ones: amounts are nearly unique.

python -m research.credit_cards OUTPUT.csv     writes 30,000 customers with 23 attributes and the label `default`

The columns and their kinds are those of the credit-card data of Yeh & Lien (2009), "The comparisons of data mining
techniques for the predictive accuracy of probability of default of credit card clients", Expert Systems with
Applications 36. No record of it is used. All columns depend on two hidden numbers of a customer, wealth and strain.
Strain delays payments from month to month, and the last delay tells most about the default.
"""

import argparse
import csv
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

RECORDS, SEED = 30_000, 17
MONTHS = 6
LABEL = "default"

PLAN = Path(__file__).with_suffix(".yaml")
"""A plan as somebody would write it by hand, with steps of amounts so fine that few customers share them."""

Column = NDArray[np.int64]


def credit_cards(records: int = RECORDS, seed: int = SEED) -> dict[str, Column]:
    """Draw the table: a column (records,) for each attribute, then the label (0 or 1).

    Equal arguments give equal tables.
    """
    rng = np.random.default_rng(seed)
    wealth, strain = rng.standard_normal((2, records))
    limit = np.clip(np.exp(11.7 + 0.85 * wealth + 0.3 * rng.standard_normal(records)), 10_000, 1_000_000)
    limit = (limit // 10_000 * 10_000).astype(np.int64)
    delays = _delays(rng, strain)
    bills, payments = _amounts(rng, limit, strain, delays)
    columns = {"limit": limit, **_person(rng, wealth)}
    columns |= {f"delay_{month}": delays[month] for month in range(MONTHS)}
    columns |= {f"bill_{month}": bills[month] for month in range(MONTHS)}
    columns |= {f"paid_{month}": payments[month] for month in range(MONTHS)}
    return columns | {LABEL: (rng.random(records) < _chance(delays, bills[0] / limit, wealth)).astype(np.int64)}


def _chance(delays: Column, used: NDArray[np.float64], wealth: NDArray[np.float64]) -> NDArray[np.float64]:
    """(records,) the chance of a default, by the delays, the part of the limit that is used, and wealth."""
    last, earlier = delays[0], np.clip(delays[1:4], 0, 2).sum(axis=0)
    odds = np.where(last >= 2, 2.2, np.where(last == 1, 0.9, np.where(last == 0, 0.0, 0.5)))
    chance: NDArray[np.float64] = expit(-2.75 + odds + 0.4 * earlier + 1.3 * used - 0.5 * wealth)
    return chance


def _person(rng: np.random.Generator, wealth: NDArray[np.float64]) -> dict[str, Column]:
    """Codes with rare values, and an age with a long tail."""
    records = wealth.size
    age = np.clip(21 + rng.gamma(2.2, 6.5, records) + 2 * wealth, 21, 79)
    codes = {
        "sex": (0.4, 0.6),
        "education": (0.353, 0.467, 0.164, 0.004, 0.0095, 0.0025),
        "marriage": (0.455, 0.532, 0.011, 0.002),
    }
    drawn = {name: rng.choice(len(shares), records, p=shares) + 1 for name, shares in codes.items()}
    return {**drawn, "age": age.astype(np.int64)}


def _delays(rng: np.random.Generator, strain: NDArray[np.float64]) -> Column:
    """(months, records) by how many months each payment is late, the last month first; -2 to 0 is on time."""
    delays = np.zeros((MONTHS, strain.size), dtype=np.int64)
    kind = rng.choice([-2, -1, 0], strain.size, p=(0.12, 0.23, 0.65))
    for month in reversed(range(MONTHS)):
        before = delays[month + 1] if month + 1 < MONTHS else np.zeros(strain.size, dtype=np.int64)
        late = rng.random(strain.size) < expit(-2.7 + 0.7 * strain + 2.2 * (before > 0))
        grown = np.where(before > 0, before + (rng.random(strain.size) < 0.15), 1 + (rng.random(strain.size) < 0.75))
        changed = np.where(rng.random(strain.size) < 0.08, rng.choice([-2, -1, 0], strain.size), kind)
        delays[month] = np.where(late, np.minimum(grown, 8), changed)
    return delays


def _amounts(
    rng: np.random.Generator, limit: Column, strain: NDArray[np.float64], delays: Column
) -> tuple[Column, Column]:
    """(months, records) the bills, nearly all different, and what was paid: often nothing, else a part of the bill."""
    share = expit(rng.normal(-0.6 + 0.6 * strain, 1.3))
    bills = np.zeros((MONTHS, limit.size), dtype=np.int64)
    payments = np.zeros_like(bills)
    for month in reversed(range(MONTHS)):
        share = np.clip(share + rng.normal(0, 0.08, limit.size), -0.02, 1.3)
        bills[month] = np.where(rng.random(limit.size) < 0.07, 0, share * limit).astype(np.int64)
        part = np.where(rng.random(limit.size) < 0.12, 1.0, rng.beta(1, 14, limit.size))
        nothing = rng.random(limit.size) < np.where(delays[month] > 0, 0.5, 0.08)
        payments[month] = np.where(nothing, 0, np.maximum(bills[month], 0) * part).astype(np.int64)
    return bills, payments


def write(table: Mapping[str, Column], path: Path) -> None:
    """Write a table as CSV."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(table)
        writer.writerows(zip(*(column.tolist() for column in table.values()), strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path, help="the CSV file")
    parser.add_argument("--records", type=int, default=RECORDS, help="how many (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=SEED, help="of the draw (default: %(default)s)")
    given = parser.parse_args()
    write(credit_cards(given.records, given.seed), given.output)


if __name__ == "__main__":
    main()
