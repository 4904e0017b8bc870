"""Measures what rival ways to mask a table keep, and compares the product's with them.

python -m research.rivals --data FOLDER     with Adult and Telco, from FOLDER/adult and FOLDER/telco (hours)
python -m research.rivals --tables affairs charity --promises "k = 5" --page none
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

from research.rivals.maskings import aegis, page
from research.rivals.maskings.mondrian import mondrian
from research.rivals.maskings.recoding import Masked, Promise, best_recodings, fifteen_lines, given_levels
from research.rivals.maskings.tables import FOLDS, Split, sampled, tables
from research.rivals.maskings.trained import aucs, unmasked
from research.study import Table

PROMISES = (Promise(5), Promise(10, 2))
MOST_RECORDS = 8_000
EFFORT = "small"
"""For one requirement this is the work that `aegis release` gives each of its five by default."""

Maskings = Callable[[], Mapping[str, Masked]]


def methods(split: Split, folder: Path | None, promise: Promise, effort: str) -> Mapping[str, Maskings]:
    """Return by name what makes some maskings, each by its own name on the page.

    Args:
        folder: where given hierarchies are, if the table has its own.
    """
    levels = given_levels(split, folder)
    return {
        "raw": lambda: {page.RAW: unmasked(split)},
        "drafted": lambda: {page.DRAFTED: aegis.drafted(split, promise, effort)},
        "given": lambda: {page.GIVEN: aegis.searched(split, levels, promise, effort)},
        **_blind(split, folder, promise, effort),
        "recodings": partial(best_recodings, split, levels, promise),
        "pandas": lambda: {page.PANDAS: fifteen_lines(split, promise)},
        "mondrian": lambda: {
            page.GAIN: mondrian(split, promise, by_gain=True),
            page.MEDIAN: mondrian(split, promise, by_gain=False),
        },
    }


def _blind(split: Split, folder: Path | None, promise: Promise, effort: str) -> Mapping[str, Maskings]:
    """Quantiles are measured beside given hierarchies where these are others."""
    if folder is None:
        return {}
    return {"quantiles": lambda: {page.QUANTILES: aegis.searched(split, given_levels(split), promise, effort)}}


def measured(makes: Maskings, split: Split) -> Mapping[str, Any]:
    """Return by method the AUCs, the share of records left out, the attributes shared, and whether it is exact."""
    started = process_time()
    made = makes()
    seconds = process_time() - started
    return {
        name: {
            "aucs": aucs(masked, split),
            "left_out": float(1 - masked.shown.mean()),
            "attributes": int(masked.train.shape[1]),
            "exact": masked.exact,
            "cpu_seconds": round(seconds, 1),
        }
        for name, masked in made.items()
    }


def results(table: Table, given: argparse.Namespace) -> Iterator[tuple[str, int, Mapping[str, Any]]]:
    """Yield the promise, the fold and the results of its methods; those that are kept are not measured again."""
    folder = given.data / "adult" if table.name == "adult" else None
    for promise in (each for each in PROMISES if each.name in given.promises):
        for fold in range(given.folds):
            split = Split.of(table, fold)
            for name, makes in methods(split, folder, promise, given.effort).items():
                if given.methods and name not in given.methods:
                    continue
                kept = given.kept / f"{table.name} {table.records} {promise.name} {fold} {name} {given.effort}.json"
                if not kept.exists() or name in given.again:
                    kept.write_text(json.dumps(measured(makes, split)), encoding="utf-8")
                    print(f"{table.name}, {promise.name}, fold {fold}: {name}", file=sys.stderr, flush=True)
                yield promise.name, fold, json.loads(kept.read_text(encoding="utf-8"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="the folder with adult/ and telco/")
    parser.add_argument("--kept", type=Path, default=Path(".aegis/rivals"), help="the folder of results that are kept")
    parser.add_argument("--tables", nargs="*", help="only these tables")
    parser.add_argument(
        "--methods", nargs="*", help="only these: raw drafted given quantiles recodings pandas mondrian"
    )
    parser.add_argument("--again", nargs="*", default=[], help="measure these methods again")
    parser.add_argument("--records", type=int, default=MOST_RECORDS, help="at most so many per table")
    parser.add_argument("--effort", default=EFFORT, help="of the product's search")
    parser.add_argument("--folds", type=int, default=FOLDS, help="only the first of five")
    parser.add_argument("--promises", nargs="*", default=[each.name for each in PROMISES], help="only these")
    parser.add_argument("--page", default="research/results/rivals.md", help="the page to write, or none")
    given = parser.parse_args()
    given.kept.mkdir(parents=True, exist_ok=True)
    measured_tables = page.Results()
    for table in tables(given.data):
        if not given.tables or table.name in given.tables:
            drawn = sampled(table, given.records)
            for promise, fold, found in results(drawn, given):
                measured_tables.add(drawn, promise, fold, found)
    text = page.text(measured_tables)
    print(text)
    if given.page != "none":
        Path(given.page).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
