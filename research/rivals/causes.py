"""Finds out why a draft is behind label-blind quantiles: its groups, the search, what is left out, or chance.

python -m research.rivals.causes     writes research/results/rivals_causes.md (some minutes)

Each table is divided anew, so that what made a table conspicuous does not judge it.
"""

import argparse
import csv
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from aegis_advisor.arrays import FloatArray, IntArray
from research.losses import Estimate
from research.report import table as markdown
from research.rivals.maskings import aegis
from research.rivals.maskings.recoding import PROMISES, Masked, Promise, given_levels
from research.rivals.maskings.tables import FOLDS, MOST_RECORDS, Split, sampled, tables
from research.rivals.maskings.trained import aucs

BEHIND = ("health", "wives", "prisoners")
"""The tables on which the draft is behind."""
SEEDS = (1, 2)
PAGE = Path("research/results/rivals_causes.md")
TESTED_PER_TRAINED = 1 / (FOLDS - 1)

QUANTILES, DRAFTED, EVEN = "quantiles", "drafted", "drafted evenly"
ALL_QUANTILES, ALL_DRAFTED = "quantiles, all records", "drafted, all records"
SEEN, UNSEEN = "told of seen records", "told of unseen records"

HEAD = """\
# Why the draft is behind

`python -m research.rivals.causes` (after `make research`) divides anew the tables on which [the
draft](rivals.md) is more than 0.003 AUC behind the same search on label-blind quantiles: two divisions into five folds,
neither of which made them conspicuous. Columns are differences, means over the ten folds and both models with 95 %
intervals (corrected resampled t). [Every division](rivals_causes.csv).

* **drafted evenly**: the draft if none of its groups looked at the label. What is left of the difference then is not
  due to groups that are fitted to the label.
* **without leaving out**: both with every record shown to the models, what is masked being the same. What is left then
  is not due to suppression.
* **told of seen, of unseen records**: the drafted mask less the quantiles in the adjusted R^2 of the label, which is
  what the search maximises, of the records that made the mask and of those it has not seen. Where the first is above
  zero and the second below, the search compares what has been fitted to the records it is measured on.
"""

OUTCOME = """\
## The outcome

Recorded on 30 November 2026 of the figures above.

* **The draft, and the search that believes it**: on all three tables the drafted mask tells more of the records that it
  was fitted to and less of others, on wives by the whole intervals. Groups fitted to the label look better to the
  search, which measures them on the same records.
* **Not what is left out**: showing every record changes no difference by more than 0.0034.
* **Not the search alone**: on even groups it is within 0.0022 of quantiles, except on health at k = 10, l = 2, where
  groups by the label gain 0.0025.
* **Chance**: at k = 5, health and prisoners are not behind on new divisions; no interval of an AUC excludes zero.

Two mends of the rule that chooses how many levels look at the label were tried. Today's ([decision
106](../../docs/decisions/0106-cuts-that-carry-over.md)) takes as few even levels as are within two standard errors of
the best. Neither mend is kept. Differences of AUC to it, at k = 5 and at k = 10, l = 2:

* **Within one standard error**: on the seven smallest tables but health, divided anew (division 1), +0.0029 and +0.0026
  on average, above all by prisoners (+0.0101, +0.0226). That was chance: on all ten in the divisions of the page,
  -0.0003 and -0.0010 (prisoners -0.0007, -0.0071), and Telco loses (-0.0011, -0.0030).
* **The best**: on the same seven, -0.0002 and -0.0011 (loans -0.0060, -0.0117; contraception -0.0010, -0.0050).
"""

Results = Mapping[str, float]
"""By method, the AUC; and by method with `SEEN` and `UNSEEN`, the adjusted R^2."""


def compared(split: Split, promise: Promise) -> Results:
    """Return what each way to mask a division keeps."""
    masks = {
        QUANTILES: aegis.searched(split, given_levels(split), promise),
        DRAFTED: aegis.drafted(split, promise),
        EVEN: aegis.drafted(split, promise, by_label=False),
    }
    found = {}
    for name, masked in masks.items():
        found[f"{name}: {SEEN}"] = told(masked.train, split.classes)
        found[f"{name}: {UNSEEN}"] = told(masked.test, split.truth)
    masks |= {ALL_QUANTILES: _with_all(masks[QUANTILES]), ALL_DRAFTED: _with_all(masks[DRAFTED])}
    return found | {name: float(np.mean(aucs(masked, split))) for name, masked in masks.items()}


def _with_all(masked: Masked) -> Masked:
    return replace(masked, shown=np.ones_like(masked.shown))


def told(codes: IntArray, classes: IntArray) -> float:
    """Return what masked values tell of the classes, as the measure of the search: the R^2 of all classes' indicators.

    It is adjusted for the number of masked values; of two classes, it is Pillai's trace.
    """
    values = [np.unique(column, return_inverse=True)[1] for column in codes.T]
    columns = [column[:, None] == np.arange(1, column.max() + 1) for column in values]
    design = np.hstack([np.ones((len(codes), 1)), *columns]).astype(np.float64)
    of = np.eye(int(classes.max()) + 1)[classes]
    fit, _, rank, _ = np.linalg.lstsq(design, of, rcond=None)
    left = np.square(of - design @ fit).sum() / (len(codes) - rank)
    return float(1 - left / (np.square(of - of.mean(axis=0)).sum() / (len(codes) - 1)))


#: The columns of the page: a word, and the results that are subtracted.
COLUMNS: Mapping[str, tuple[str, str]] = {
    "drafted - quantiles": (DRAFTED, QUANTILES),
    "drafted evenly - quantiles": (EVEN, QUANTILES),
    "without leaving out": (ALL_DRAFTED, ALL_QUANTILES),
    SEEN: (f"{DRAFTED}: {SEEN}", f"{QUANTILES}: {SEEN}"),
    UNSEEN: (f"{DRAFTED}: {UNSEEN}", f"{QUANTILES}: {UNSEEN}"),
}

Key = tuple[str, str]
"""A promise, and a table."""


def results(names: Sequence[str], seeds: Sequence[int]) -> Iterator[tuple[Key, Results]]:
    """Yield what is found of each division."""
    for table in tables(None):
        for promise in PROMISES if table.name in names else ():
            for seed in seeds:
                for fold in range(FOLDS):
                    split = Split.of(sampled(table, MOST_RECORDS), fold, seed)
                    yield (promise.name, table.name), compared(split, promise)
                    print(f"{table.name}, {promise.name}, division {seed}, fold {fold}", file=sys.stderr, flush=True)


def text(found: Mapping[Key, Sequence[Results]]) -> str:
    """Return the page."""
    rows = [[*key, *(_difference(of, *pair) for pair in COLUMNS.values())] for key, of in sorted(found.items())]
    return f"{HEAD}\n{markdown(('promise', 'table', *COLUMNS), rows)}\n\n{OUTCOME}"


def _difference(found: Sequence[Results], ours: str, theirs: str) -> str:
    of: FloatArray = np.array([each[ours] - each[theirs] for each in found])
    estimate = Estimate.of(of, TESTED_PER_TRAINED)
    return f"{estimate.mean:+.4f} ± {estimate.half_width:.4f}"


def write(found: Sequence[tuple[Key, Results]], path: Path) -> None:
    """Write the page, and beside it, with the ending .csv, what is found of each division."""
    by_key: dict[Key, list[Results]] = {}
    for key, each in found:
        by_key.setdefault(key, []).append(each)
    path.write_text(text(by_key), encoding="utf-8")
    with path.with_suffix(".csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["promise", "table", *found[0][1]])
        rows.writerows([*key, *(f"{value:.4f}" for value in each.values())] for key, each in found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--page", type=Path, default=Path("research/results/rivals_causes.md"), help="the page to write"
    )
    parser.add_argument("--tables", nargs="*", default=BEHIND, help="only these tables (default: %(default)s)")
    given = parser.parse_args()
    write(list(results(given.tables, SEEDS)), given.page)


if __name__ == "__main__":
    main()
