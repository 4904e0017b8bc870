"""Measures how the time and memory of advice grow with rows, attributes, configurations and domain size.

python -m research.scaling     writes research/results/scaling.md with its plot and measurements (some minutes)
"""

import argparse
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from research.evaluation.large_tables import Size
from research.own_processes import own_processes
from research.scaling import page
from research.scaling.costs import SMALL, Counted, Service, advised, counted, running_service
from research.scaling.page import Measurement

BASE = Size()
TIMES = 3
"""How often the advisor is measured at each size; counting and the service are measured once."""

GROWING: Mapping[str, Sequence[int]] = {
    "records": (10**4, 10**5, 10**6, 10**7),
    "attributes": (4, 8, 16, 32, 64),
    "configurations": (10, 100, 1_000, 10_000, 100_000),
    "values": (100, 1_000, 10_000, 100_000),
}
SHORT: Mapping[str, Sequence[int]] = {
    "records": (1_000, 2_000),
    "attributes": (2, 4),
    "configurations": (10, 20),
    "values": (100, 200),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--page", type=Path, default=Path("research/results/scaling.md"), help="the page to write")
    parser.add_argument("--short", action="store_true", help="small tables only")
    given = parser.parse_args()
    base, growing = (replace(BASE, attributes=4, records=1_000), SHORT) if given.short else (BASE, GROWING)
    with running_service() as service:
        measured = list(measurements(base, growing, service))
    page.write(measured, base, os.cpu_count() or 1, given.page)


def measurements(base: Size, growing: Mapping[str, Sequence[int]], service: Service) -> Iterator[Measurement]:
    """Yield what each part takes at each size of each axis; all others are as in the base."""
    with own_processes("research.scaling.costs") as processes, TemporaryDirectory(prefix="aegis-scaling-") as folder:
        place, small = (Counted(Path(folder, name)) for name in ("entry.json", "small.json"))
        processes.submit(counted, SMALL, "small", small).result()
        for axis, sizes in growing.items():
            for size in sizes:
                made = replace(base, **{axis: size})
                counting = processes.submit(counted, made, f"{axis}-{size}", place)
                yield Measurement(axis, size, page.PROVIDER, counting.result())
                for measure, part in list(page.ADVISOR.items()) * TIMES:
                    advice = processes.submit(advised, place, small, measure)
                    yield Measurement(axis, size, part, advice.result())
                yield Measurement(axis, size, page.SERVICE, service.first_advice(place))
                print(f"{size:,} {axis}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
