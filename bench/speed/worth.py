"""How long the job takes that computes what the tables of a version are worth, by attributes and labels.

`python -m bench.speed.worth`
"""

import argparse
import tempfile
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np
import orjson
import pyarrow as pa

from aegis_provider import document_of, load_plan, prepare_entry
from app.advice.service.worth import WorthInput, compute_worth
from app.entries.api.uploads import read_publication
from app.tenants.model import NOTHING_REQUIRED
from bench.measuring import heading, run, table, timed, verdict

RECORDS, CONFIGURATIONS, TIMES = 20_000, 200, 5
TARGET = 2.0
"""Seconds for one label with 23 attributes."""


def main(attributes: list[int]) -> None:
    heading("The worth of a version: seconds of a job")
    rows, slowest = [], 0.0
    for number in attributes:
        for labels in (1, 3):
            given = _version(number, labels)
            taken = median([timed(partial(compute_worth, given))[0] for _ in range(TIMES)])
            slowest = max(slowest, taken / labels)
            rows.append([str(number), str(labels), f"{taken:.2f}"])
    table(["attributes", "labels", "seconds"], rows)
    print(verdict(met=slowest <= TARGET, target=f"<= {TARGET:g} s a label"), f"slowest: {slowest:.2f} s")


def _version(attributes: int, labels: int) -> WorthInput:
    """A version with pair counts; the coarser a table is, the higher its k."""
    chance = np.random.default_rng(23)
    columns = {f"a{place}": chance.integers(0, 12, RECORDS) for place in range(attributes)}
    score = sum(columns.values()) / attributes
    named = [f"label{place}" for place in range(labels)]
    columns |= {name: np.where(score + chance.normal(0, 2, RECORDS) > 5.5, "yes", "no") for name in named}
    maskings = {f"m{width}": {"bucketize": {"width": width}} for width in (2, 4)}
    masked = {f"a{place}": {"maskings": maskings} for place in range(attributes)}
    widths = (chance.integers(1, 3, (CONFIGURATIONS, attributes)) * 2).tolist()
    chosen = ({f"a{place}": f"m{width}" for place, width in enumerate(each)} for each in widths)
    configurations = {f"c{row}": each for row, each in enumerate(chosen)}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "plan.yaml")
        path.write_bytes(orjson.dumps({"labels": named, "attributes": masked, "configurations": configurations}))
        made = document_of(prepare_entry(pa.table(columns), load_plan(path), name="made-up", pairs=True).entry)
    for place, configuration in enumerate(made["configurations"]):
        configuration["privacy"] = {"k": 2 + place // 8}
    content = read_publication(orjson.dumps(made, option=orjson.OPT_SERIALIZE_NUMPY)).content
    return WorthInput(
        content.schema, content.outline, content.count_tables, content.configuration_table, NOTHING_REQUIRED
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--attributes", type=int, nargs="+", default=[8, 23])
    run(partial(main, parser.parse_args().attributes))
