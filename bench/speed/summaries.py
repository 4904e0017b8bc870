"""Summaries of a large Parquet table: time over that of a plain GROUP BY, peak memory, and how both grow."""

import json
import multiprocessing
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import duckdb

from aegis_provider import load_plan, summarize
from bench.measuring import heading, in_own_process, run, seconds_and_peak, table, verdict

TIMES = 3
RECORDS = 10**7
ATTRIBUTES = 10
#: The maximum number of threads that the provider's tools use.
THREADS = min(4, multiprocessing.cpu_count())
VALUES, MANY_VALUES, LABELS = 100, 10**4, 4


@dataclass(frozen=True)
class Tables:
    """Tables of 20 attributes and a number with as many values as records, by their number of records."""

    folder: Path
    paths: Mapping[int, Path]


def main() -> None:
    heading(f"Summaries of a Parquet table, {THREADS} threads; each in its own process, medians of {TIMES} runs")
    with made_up_tables(10**5, 10**6, RECORDS) as tables:
        print_ratios(tables)
        print_growth("records", [(tables.paths[size], size, ATTRIBUTES) for size in tables.paths], tables)
        print_growth("attributes", [(tables.paths[RECORDS], size, size) for size in (2, 5, 10, 20)], tables)
        print_others(tables)


def print_ratios(tables: Tables) -> None:
    """Print ratios of ours to both yardsticks, measured in turns."""
    path = tables.paths[RECORDS]
    costs = [[_cost(work) for work in _works(path, ATTRIBUTES, tables.folder)] for _ in range(TIMES)]
    ours, queries, sets = ([seconds for seconds, _ in column] for column in zip(*costs, strict=True))
    peak = max(memory for (_, memory), *_ in costs)
    by_queries = median(own / other for own, other in zip(ours, queries, strict=True))
    by_sets = median(own / other for own, other in zip(ours, sets, strict=True))
    print(f"{RECORDS:,} records x {ATTRIBUTES} attributes and the label: domains, and two maskings of each")
    print(f"summarize                                    {median(ours):6.2f} s   peak {peak:.0f} MB", end="   ")
    print(verdict(met=peak < 1_000, target="< 1 GB"))
    print(f"{ATTRIBUTES} queries, GROUP BY an attribute and label {median(queries):6.2f} s", end="   ")
    print(f"ratio {by_queries:.2f}   {verdict(met=by_queries <= 3, target='<= 3')}")
    print(f"one query, GROUPING SETS of the same         {median(sets):6.2f} s", end="   ")
    print(f"ratio {by_sets:.2f}   {verdict(met=by_sets <= 3, target='<= 3')}")


def print_growth(what: str, sizes: list[tuple[Path, int, int]], tables: Tables) -> None:
    heading(f"Summaries, by {what}")
    rows, taken = [], []
    for path, size, attributes in sizes:
        costs = [[_cost(work) for work in _works(path, attributes, tables.folder)] for _ in range(TIMES)]
        seconds = [median(run[place][0] for run in costs) for place in range(3)]
        taken.append(seconds[0])
        peak = max(run[0][1] for run in costs)
        cells = (f"{number:.2f}" for number in (*seconds, seconds[0] / seconds[1], seconds[0] / seconds[2]))
        rows.append([f"{size:,}", *cells, f"{peak:.0f}"])
    table([what, "summarize, s", "queries, s", "sets, s", "ratio", "ratio", "peak MB"], rows)
    print(
        f"from row to row, summarize: times {', '.join(f'{after / before:.2f}' for before, after in pairwise(taken))}"
    )


def print_others(tables: Tables) -> None:
    """Print the cost of extra work: pairs, and an attribute that is discretised."""
    heading(f"Summaries with more, {RECORDS:,} records x {ATTRIBUTES} attributes")
    path = tables.paths[RECORDS]
    continuous = {"x": {"discretize": {"rule": "equal_frequency", "bins": "20"}}}
    plans = {
        "with pairs": (plan_of(tables.folder, ATTRIBUTES), True),
        "and 20 bins of a number that differs in each record": (
            plan_of(tables.folder, ATTRIBUTES, continuous),
            False,
        ),
    }
    rows = []
    for name, (plan, pairs) in plans.items():
        costs = [_cost(partial(_summarize, path, plan, pairs=pairs)) for _ in range(TIMES)]
        rows.append([name, f"{median(s for s, _ in costs):.2f}", f"{max(memory for _, memory in costs):.0f}"])
    table(["", "s", "peak MB"], rows)


@contextmanager
def made_up_tables(*sizes: int) -> Iterator[Tables]:
    """Write tables of alternating texts and integers; the first attribute has 10,000 values, the others 100."""
    with tempfile.TemporaryDirectory(prefix="aegis-bench-") as folder:
        paths = {size: Path(folder) / f"{size}.parquet" for size in sizes}
        for size, path in paths.items():
            make_table(path, size, 20, ["hash(i * 31) / 1e9 AS x"])
        yield Tables(Path(folder), paths)


def make_table(path: Path, size: int, attributes: int, more: Sequence[str] = ()) -> None:
    """Write a table of this many attributes and the label to Parquet."""
    columns = [*map(_column, range(attributes)), *more, f"hash(i * 37) % {LABELS} AS y"]
    query = f"SELECT {', '.join(columns)} FROM range({size}) AS t(i)"
    with duckdb.connect() as connection:
        connection.execute("SET enable_progress_bar = false")
        connection.execute(f"COPY ({query}) TO '{path}' (FORMAT parquet)")


def _column(place: int) -> str:
    # The hash of a number is the same in every run, like a fixed seed.
    drawn = f"hash(i * 41 + {place}) % {VALUES if place else MANY_VALUES}"
    return f"('value ' || {drawn}) AS a{place}" if place % 2 else f"({drawn})::INTEGER AS a{place}"


def plan_of(folder: Path, attributes: int, more: Mapping[str, Any] | None = None) -> Path:
    """Write a plan with two maskings of each of the first attributes."""
    texts = {"m1": {"blur": {"keep": "7"}}, "m2": {"suppress": {}}}
    numbers = {"m1": {"bucketize": {"width": "10"}}, "m2": {"bucketize": {"width": "35"}}}
    stated = {f"a{place}": {"maskings": texts if place % 2 else numbers} for place in range(attributes)}
    chosen = {masking: dict.fromkeys(stated, masking) for masking in ("m1", "m2")}
    path = folder / f"plan-{attributes}-{len(more or ())}.yaml"
    plan = {"label": "y", "attributes": {**stated, **(more or {})}, "configurations": chosen}
    path.write_text(json.dumps(plan), encoding="utf-8")
    return path


def _works(path: Path, attributes: int, folder: Path) -> list[Callable[[], object]]:
    names = [f"a{place}" for place in range(attributes)]
    queries = [f"SELECT {name}, y, count(*) FROM '{path}' GROUP BY ALL" for name in names]
    sets = ", ".join(f"({name}, y)" for name in names)
    grouping_sets = f"SELECT {', '.join(names)}, y, count(*) FROM '{path}' GROUP BY GROUPING SETS ({sets})"
    ours = partial(_summarize, path, plan_of(folder, attributes), pairs=False)
    return [ours, partial(_query, queries), partial(_query, [grouping_sets])]


def _summarize(path: Path, plan: Path, *, pairs: bool) -> None:
    summarize(path, load_plan(plan), name="made-up", pairs=pairs)


def _query(queries: list[str]) -> None:
    with duckdb.connect(config={"threads": THREADS}) as connection:
        for query in queries:
            connection.sql(query).to_arrow_table()


def _cost(work: Callable[[], object]) -> tuple[float, float]:
    """Measure seconds and peak memory in MB in a separate process, including loading Ibis on first use (0.3 s)."""
    return in_own_process(seconds_and_peak, work)


if __name__ == "__main__":
    run(main)
