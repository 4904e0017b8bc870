"""CPU seconds of the commands that people wait for, as ratios to plain DuckDB, each in turn with it; and their memory.

Unlike seconds, ratios of CPU seconds hardly change with other work on the machine.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from statistics import median

from bench.measuring import heading, in_own_process, run, table
from bench.speed.apply import make as make_csv
from bench.speed.apply import plan_for
from bench.speed.summaries import make_table, plan_of

TIMES = 3
ATTRIBUTES = 8
NAMES = [*(f"a{place}" for place in range(ATTRIBUTES)), "y"]
SMALL, LARGE, MASKED = 7_000, 10**7, 10**6

# One plain query each, of a file that is its argument.
_QUERIES = "import duckdb, sys\nfor query in {queries!r}:\n    duckdb.sql(query.format(sys.argv[1])).to_arrow_table()\n"
_COPY = """import duckdb, sys
connection = duckdb.connect()
for n, size in enumerate([100] * 9 + [10_000]):
    masked = "format('{{}}-{{}}', i // 10 * 10, i // 10 * 10 + 9)"
    connection.execute(f"CREATE TABLE m{n} AS SELECT i::VARCHAR AS v, {masked} AS m FROM range({size}) AS r(i)")
joins = " ".join(f"JOIN m{n} ON m{n}.v = a{n}" for n in range(10))
columns = ", ".join(f"m{n}.m AS a{n}" for n in range(10))
source = f"read_csv('{sys.argv[1]}', all_varchar = true)"
connection.execute(f"COPY (SELECT {columns}, y FROM {source} {joins}) TO '{sys.argv[2]}' (FORMAT csv)")
"""

# Before a command does anything.
_LOADED = {
    "aegis release --help": "from aegis_sdk.cli import main; main(['release', '--help'])",
    "what masks a table": "import aegis_provider.release.apply",
    "what makes a release": "import aegis_provider.workflow.releasing",
}


def main() -> None:
    heading(f"Commands: CPU seconds, ratios to plain DuckDB in turn, medians of {TIMES}")
    with tempfile.TemporaryDirectory(prefix="aegis-bench-") as place:
        folder = Path(place)
        plan, paths = plan_of(folder, ATTRIBUTES), {size: folder / f"{size}.parquet" for size in (SMALL, LARGE)}
        for size, path in paths.items():  # in a process of its own, since a command inherits the peak of this one
            in_own_process(make_table, path, size, ATTRIBUTES)
        how = ["--plan", str(plan), "--name", "made-up", "--output", str(folder / "entry.json"), "--exact"]
        small, large = (["summarize", str(paths[size]), *how] for size in (SMALL, LARGE))
        with_label = [f"SELECT {name}, y, count(*) FROM '{{}}' GROUP BY ALL" for name in NAMES[:-1]]
        pairs = [f"SELECT {one}, {two}, count(*) FROM '{{}}' GROUP BY ALL" for one, two in combinations(NAMES, 2)]
        rows = [
            _row("summarize, 7,000 rows", small, _QUERIES.format(queries=with_label), paths[SMALL]),
            _row("summarize, 10^7 rows", large, _QUERIES.format(queries=with_label), paths[LARGE]),
            _row("the same with pairs", [*large, "--pairs"], _QUERIES.format(queries=pairs), paths[LARGE]),
            _masking(folder),
        ]
    table(["", "command, s", "peak MB", "DuckDB, s", "ratio"], rows)
    table(["loaded", "CPU seconds"], [[what, f"{_median(script):.2f}"] for what, script in _LOADED.items()])


def _masking(folder: Path) -> list[str]:
    source, output = folder / "table.csv", str(folder / "masked.csv")
    in_own_process(make_csv, source, MASKED)
    plan_for(folder, "masked")
    how = ["--plan", str(folder / "masked.yaml"), "--configuration", "masked", "--output", output]
    return _row("apply, 10^6 rows", ["apply", str(source), *how], _COPY, source, folder / "joined.csv")


def _row(what: str, command: Sequence[str], script: str, *arguments: Path) -> list[str]:
    ours = [sys.executable, "-c", "from aegis_sdk.cli import main; main()", *command]
    theirs = [sys.executable, "-c", script, *map(str, arguments)]
    costs = [(_cost(ours), _cost(theirs)) for _ in range(TIMES)]
    ratio = median(own / other for (own, _), (other, _) in costs)
    seconds = [median(pair[side][0] for pair in costs) for side in (0, 1)]
    peak = max(memory for (_, memory), _ in costs)
    return [what, f"{seconds[0]:.2f}", f"{peak:.0f}", f"{seconds[1]:.2f}", f"{ratio:.2f}"]


def _median(script: str) -> float:
    return median(_cost([sys.executable, "-c", script])[0] for _ in range(TIMES))


def _cost(command: Sequence[str]) -> tuple[float, float]:
    """Return the CPU seconds of a process, and its peak memory in MB (Linux)."""
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, stdout=said, stderr=said)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            said.seek(0)
            raise RuntimeError(said.read().decode())
    return used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 / 1e6


if __name__ == "__main__":
    run(main)
