"""Masking a table of any size: seconds, megabytes per second and memory, compared with joins in DuckDB.

Every run has its own process, so that its peak memory is its own.
"""

import filecmp
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import duckdb

from aegis_provider import Plan, apply, load_plan
from bench.measuring import MEGABYTE, heading, in_own_process, run, seconds_and_peak, table, verdict

#: Sizes and their repetitions. The best time counts, since other work on the machine disturbs it least.
RECORDS = {1_000_000: 3, 3_000_000: 3, 10_000_000: 1}
SMALLEST = min(RECORDS)
ATTRIBUTES = 10
VALUES = 100
#: The number of values of the last attribute.
MANY = 10_000
WIDTH = 10
MEMORY = "1GB"
RATIO = 1.5

_MASKED = f"{{bucketize: {{width: {WIDTH}}}}}"
_DRAWN = "{randomised_response: {keep: 0.9}}"

Figures = tuple[float, float]
"""Seconds, and the peak of memory in megabytes."""


def main() -> None:
    heading("Masking a table: CSV of 10 attributes, all masked")
    print(
        f"{ATTRIBUTES - 1} attributes of {VALUES} values, one of {MANY:,}; memory limit {MEMORY}. DuckDB: the counting,"
    )
    print("and a COPY with a join for each attribute, sorted; both have to write the same bytes.")
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        rows = [_sizes(folder, records, times) for records, times in RECORDS.items()]
        table(["records", "MB", "DuckDB, s", "apply, s", "ratio", "MB/s", "peak of DuckDB, MB", "of apply, MB"], rows)
        worst = max(float(row[4]) for row in rows)
        print(verdict(met=worst <= RATIO, target=f"at most {RATIO} times DuckDB"))
        heading(f"Other formats and additional work, at {SMALLEST:,} records")
        table(["", "s", "peak, MB"], _kinds(folder))


def _sizes(folder: Path, records: int, times: int) -> list[str]:
    source = folder / "table.csv"
    _cost(make, source, records)
    joins, masks = [], []
    for _ in range(times):
        joins.append(_cost(_join, source, folder / "joined.csv"))
        masks.append(_cost(_apply, source, folder / "masked.csv", "masked"))
    joined, masked = min(joins), min(masks)
    if not filecmp.cmp(folder / "joined.csv", folder / "masked.csv", shallow=False):
        raise RuntimeError("the two masked tables differ")
    size = source.stat().st_size / MEGABYTE
    figures = (f"{size:.0f}", f"{joined[0]:.1f}", f"{masked[0]:.1f}", f"{masked[0] / joined[0]:.2f}")
    return [f"{records:,}", *figures, f"{size / masked[0]:.0f}", f"{joined[1]:.0f}", f"{masked[1]:.0f}"]


def _kinds(folder: Path) -> list[list[str]]:
    source = folder / "table.csv"
    _cost(make, source, SMALLEST)
    kinds: Mapping[str, tuple[str, str]] = {
        "CSV": ("masked.csv", "masked"),
        "Parquet": ("masked.parquet", "masked"),
        "CSV, promised privacy checked": ("masked.csv", "checked"),
        "CSV, records left out, privacy checked": ("masked.csv", "suppressed"),
        "CSV, all but one attribute masked at random": ("masked.csv", "drawn"),
    }
    figures = {kind: _cost(_apply, source, folder / name, mode) for kind, (name, mode) in kinds.items()}
    return [[kind, f"{seconds:.1f}", f"{peak:.0f}"] for kind, (seconds, peak) in figures.items()]


def _cost(work: Callable[..., object], *arguments: object) -> Figures:
    return in_own_process(seconds_and_peak, partial(work, *arguments))


def make(path: Path, records: int) -> None:
    sizes = [VALUES] * (ATTRIBUTES - 1) + [MANY]
    columns = ", ".join(f"hash(i, {n}) % {size} AS a{n}" for n, size in enumerate(sizes))
    with _quiet() as connection:
        connection.sql(f"SELECT {columns}, hash(i, 99) % 2 AS y FROM range({records}) AS t(i)").write_csv(str(path))


def _apply(source: Path, output: Path, mode: str) -> None:
    apply(source, plan_for(source.parent, mode), mode, output, memory_limit=MEMORY, force=mode == "suppressed")


def plan_for(folder: Path, mode: str) -> Plan:
    """Make a plan with one configuration; the first two attributes are the quasi-identifiers."""
    masking = _DRAWN if mode == "drawn" else _MASKED
    maskings = [masking] * (ATTRIBUTES - 1) + [_MASKED]
    attributes = "".join(f"  a{n}: {{maskings: {{m: {each}}}}}\n" for n, each in enumerate(maskings))
    chosen = ", ".join(f"a{n}: m" for n in range(ATTRIBUTES))
    promises = {"checked": f"privacy: {{{mode}: {{k: 2, l: 2}}}}\n"}
    promises["suppressed"] = f"privacy: {{{mode}: {{k: {SMALLEST // 100}}}}}\nsuppressed: {{{mode}: 0}}\n"
    path = folder / f"{mode}.yaml"
    path.write_text(
        f"label: y\nseed: 1\nattributes:\n{attributes}configurations:\n  {mode}: {{{chosen}}}\n"
        f"quasi_identifiers: [a0, a1]\n{promises.get(mode, '')}",
        encoding="utf-8",
    )
    return load_plan(path)


def _join(source: Path, output: Path) -> None:
    """Write the same file as `apply` in SQL: number the records, join the masked texts, and sort."""
    with _quiet(memory_limit=MEMORY, temp_directory=str(source.parent / "spill")) as connection:
        names = [f"a{n}" for n in range(ATTRIBUTES)]
        connection.execute(f"CREATE VIEW t AS SELECT * FROM read_csv('{source}', all_varchar = true)")
        connection.execute(f"SELECT {_grouped(names)} FROM t GROUP BY GROUPING SETS ({_sets(names)})").fetchnumpy()
        for n, size in enumerate([VALUES] * (ATTRIBUTES - 1) + [MANY]):
            start = f"i // {WIDTH} * {WIDTH}"
            masked = f"format('{{}}-{{}}', {start}, {start} + {WIDTH - 1})"
            connection.execute(f"CREATE TABLE m{n} AS SELECT i::VARCHAR AS v, {masked} AS m FROM range({size}) AS r(i)")
        numbered = "(SELECT row_number() OVER () AS record, * FROM t)"
        joins = " ".join(f"JOIN m{n} ON m{n}.v = {name}" for n, name in enumerate(names))
        columns = ", ".join(f"m{n}.m AS {name}" for n, name in enumerate(names))
        query = f"SELECT {columns}, y FROM {numbered} {joins} ORDER BY record"
        connection.execute(f"COPY ({query}) TO '{output}' (FORMAT csv)")


def _quiet(**settings: str) -> duckdb.DuckDBPyConnection:
    """Open DuckDB without a progress bar."""
    connection = duckdb.connect(config={**settings})
    connection.execute("SET enable_progress_bar = false")
    return connection


def _grouped(names: list[str]) -> str:
    return f"coalesce({', '.join(names)}) AS text, y, count(*) AS n, grouping({', '.join(names)}) AS place"


def _sets(names: list[str]) -> str:
    return ", ".join(f"({name}, y)" for name in names)


if __name__ == "__main__":
    run(main)
