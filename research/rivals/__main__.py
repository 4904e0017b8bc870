"""Measures what rival ways to mask a table keep, and compares the product's with them.

python -m research.rivals --data FOLDER     with Adult and Telco, from FOLDER/adult and FOLDER/telco

Results are kept in .aegis/rivals, a file for each table, promise, fold and method; delete those to measure again.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

from research.own_processes import own_processes
from research.rivals.maskings import page
from research.rivals.maskings.measured import measured, methods
from research.rivals.maskings.recoding import PROMISES
from research.rivals.maskings.tables import FOLDS, MOST_RECORDS, Split, sampled, tables
from research.study import Table


def results(
    table: Table, folder: Path | None, kept: Path, processes: Executor
) -> Iterator[tuple[str, int, Mapping[str, Any]]]:
    """Yield the promise, the fold and the results of its methods; those that are kept are not measured again."""
    for promise in PROMISES:
        for fold in range(FOLDS):
            split = Split.of(table, fold)
            for name in methods(split, folder, promise):
                file = kept / f"{table.name} {promise.name} {fold} {name}.json"
                if not file.exists():
                    found = processes.submit(measured, name, split, folder, promise).result()
                    file.write_text(json.dumps(found), encoding="utf-8")
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
    with own_processes(measured.__module__) as processes:
        for table in tables(given.data):
            if not given.tables or table.name in given.tables:
                drawn = sampled(table, MOST_RECORDS)
                folder = given.data / "adult" if table.name == "adult" else None
                for result in results(drawn, folder, given.kept, processes):
                    found.add(drawn, *result)
    page.write(found, given.page)


if __name__ == "__main__":
    main()
