"""Attacks against anonymeter and SynthEval, each in an environment of its own: `make test-synth`."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

from aegis_provider.records import Column, Records
from aegis_provider.synth.attacks.article29 import inference, linkability, singling_out
from aegis_provider.synth.attacks.attack import Case
from aegis_provider.synth.attacks.membership import exact_copies
from aegis_provider.synth.released.released import Released

ORACLES = Path(os.environ.get("AEGIS_SYNTH", ".venv-synth"))
SCRIPTS = Path(__file__).parent / "oracles"
RECORDS = 800


def drawn(records, rng):
    """Numbers and categories that tell of each other."""
    z = rng.normal(size=records)
    return {
        "age": np.clip(45 + 15 * z + 5 * rng.normal(size=records), 18, 90).round(3),
        "town": np.where(z + rng.normal(size=records) > 0.5, "north", np.where(rng.random(records) < 0.5, "e", "w")),
        "income": np.exp(3 + z / 2 + rng.normal(size=records) / 2).round(3),
        "visits": rng.poisson(np.exp(1 + z / 2)),
        "health": np.where(z + rng.normal(size=records) > 0, "good", "poor"),
    }


def stacked(*parts):
    return {name: np.concatenate([each[name] for each in parts]) for name in parts[0]}


@pytest.fixture(scope="module", params=[0.0, 0.5, 0.9], ids=["fresh", "half copied", "nearly copied"])
def tables(request, tmp_path_factory):
    """Real, control and released records, of which a share is copied; within the range of the real ones."""
    rng = np.random.default_rng(7)
    real, control, fresh = (drawn(RECORDS, rng) for _ in range(3))
    copied = int(request.param * RECORDS)
    released = stacked(
        *({n: v[rows] for n, v in of.items()} for of, rows in ((real, slice(copied)), (fresh, slice(copied, None))))
    )
    for name in ("age", "income", "visits"):
        released[name] = released[name].clip(real[name].min(), real[name].max())
    folder = tmp_path_factory.mktemp("tables")
    for name, each in (("real", real), ("control", control), ("released", released)):
        csv.write_csv(pa.table(each), folder / f"{name}.csv")
    return folder, real, control, released


def texts(columns):
    return pa.table({name: [str(each) for each in values] for name, values in columns.items()})


def case_of(real, control, released):
    """The case with distances by range, as both oracles have them."""
    together = texts(stacked(real, control)) if control else texts(real)
    records = Records(tuple(Column.of(name, together[name].combine_chunks()) for name in together.column_names))
    release = Released.of(records, texts(released), scale="range")
    known = [name for name in release.names if name != "health"]
    rows = np.arange(len(records))
    return Case(release, records.take(rows[:RECORDS]), records.take(rows[RECORDS:]), known, ["health"])


def oracle(package, script, *arguments):
    python = ORACLES / package / "bin" / "python"
    if not python.exists():
        pytest.fail(f"{python} is not installed: run `make test-synth`")
    run = subprocess.run(
        [python, "-W", "ignore", SCRIPTS / script, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        # Its libraries would find those of Aegis' own tree.
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout[run.stdout.index("{") :])


def test_rates_and_risks_are_those_of_anonymeter(tables):
    folder, real, control, released = tables
    files = [folder / f"{name}.csv" for name in ("real", "control", "released")]
    found = oracle("anonymeter", "anonymeter_risks.py", *files, "health", RECORDS)
    case = case_of(real, control, released)
    ours = {
        "linkability": list(linkability(case))[-1],
        "inference": next(inference(case)),
        "singling out": list(singling_out(case))[-1],
    }
    for name, outcome in ours.items():
        for what, one in (("attack", outcome.success), ("control", outcome.held_out)):
            rate, error = found[name][what]
            assert one.low <= rate + error, (name, what, one, found[name])
            assert one.high >= rate - error, (name, what, one, found[name])
        _, low, high = found[name]["risk"]
        assert outcome.risk.low <= high, (name, outcome.risk, found[name])
        assert outcome.risk.high >= low, (name, outcome.risk, found[name])


def test_distances_and_copies_are_those_of_syntheval(tables):
    folder, real, _, released = tables
    found = oracle("syntheval", "syntheval_distances.py", folder / "real.csv", folder / "released.csv")
    case = case_of(real, None, released)
    blocks = np.concatenate([block for _, block in case.release.distances(case.seen)]).astype(float)
    itself = np.concatenate([block for _, block in Released.as_it_is(case.seen, "range").distances(case.seen)])
    between = np.median(np.sort(itself.astype(float), axis=1)[:, 1])
    assert found["dcr"] == pytest.approx(np.median(blocks.min(axis=0)) / between, abs=1e-5)
    nearest = np.sort(blocks, axis=1)[:, :2]
    assert found["nndr"] == pytest.approx((nearest[:, 0] / (nearest[:, 1] + 1e-16)).mean(), abs=1e-5)
    [copies] = exact_copies(case)
    assert found["hits"] == pytest.approx(copies.success.value, abs=1e-9)
