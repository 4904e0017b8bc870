"""Measures what rival ways to mask a table keep, and compares the product's with them.

python -m research.rivals --data FOLDER     with Adult and Telco, from FOLDER/adult and FOLDER/telco

Results are kept in .aegis/rivals, a file for each table, promise, fold and method; delete those to measure again.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from research.rivals.maskings import aegis, page
from research.rivals.maskings.mondrian import mondrian
from research.rivals.maskings.recoding import Masked, Promise, best_recodings, fifteen_lines, given_levels
from research.rivals.maskings.tables import FOLDS, Split, sampled, tables
from research.rivals.maskings.trained import aucs, unmasked
from research.study import Table

PROMISES = (Promise(5), Promise(10, 2))
MOST_RECORDS = 8_000

Maskings = Callable[[], Mapping[str, Masked]]
"""Makes some maskings, each by its name on the page."""


def methods(split: Split, folder: Path | None, promise: Promise) -> Mapping[str, Maskings]:
    """Return what makes the maskings, by name; given hierarchies are in the folder, if the table has its own."""
    levels, quantiles = given_levels(split, folder), given_levels(split)
    blind = {"quantiles": lambda: {page.QUANTILES: aegis.searched(split, quantiles, promise)}}
    return {
        "raw": lambda: {page.RAW: unmasked(split)},
        "drafted": lambda: {page.DRAFTED: aegis.drafted(split, promise)},
        "given": lambda: {page.GIVEN: aegis.searched(split, levels, promise)},
        **(blind if folder else {}),
        "recodings": partial(best_recodings, split, levels, promise),
        "pandas": lambda: {page.PANDAS: fifteen_lines(split, promise)},
        "mondrian": lambda: {
            page.GAIN: mondrian(split, promise, by_gain=True),
            page.MEDIAN: mondrian(split, promise, by_gain=False),
        },
    }


def measured(makes: Maskings, split: Split) -> Mapping[str, Any]:
    """Return by masking the AUCs, the share of records left out, the attributes shared, and whether it is exact."""
    return {
        name: {
            "aucs": aucs(masked, split),
            "left_out": float(1 - masked.shown.mean()),
            "attributes": int(masked.train.shape[1]),
            "exact": masked.exact,
        }
        for name, masked in makes().items()
    }


def results(table: Table, folder: Path | None, kept: Path) -> Iterator[tuple[str, int, Mapping[str, Any]]]:
    """Yield the promise, the fold and the results of its methods; those that are kept are not measured again."""
    for promise in PROMISES:
        for fold in range(FOLDS):
            split = Split.of(table, fold)
            for name, makes in methods(split, folder, promise).items():
                file = kept / f"{table.name} {promise.name} {fold} {name}.json"
                if not file.exists():
                    file.write_text(json.dumps(measured(makes, split)), encoding="utf-8")
                    print(f"{table.name}, {promise.name}, fold {fold}: {name}", file=sys.stderr, flush=True)
                yield promise.name, fold, json.loads(file.read_text(encoding="utf-8"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="the folder with adult/ and telco/; without it, they are left out")
    parser.add_argument("--kept", type=Path, default=Path(".aegis/rivals"), help="the folder of results")
    parser.add_argument("--page", type=Path, default=page.PAGE, help="the page to write (default: %(default)s)")
    parser.add_argument("--tables", nargs="*", help="only these tables")
    given = parser.parse_args()
    given.kept.mkdir(parents=True, exist_ok=True)
    found = page.Results()
    for table in tables(given.data):
        if not given.tables or table.name in given.tables:
            drawn = sampled(table, MOST_RECORDS)
            for result in results(drawn, given.data / "adult" if table.name == "adult" else None, given.kept):
                found.add(drawn, *result)
    given.page.write_text(page.text(found), encoding="utf-8")


if __name__ == "__main__":
    main()
