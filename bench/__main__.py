"""Run all speed benchmarks one after the other, so that each has the machine to itself."""

from argparse import ArgumentParser

from bench.measuring import run
from bench.speed import (
    advice,
    apply,
    commands,
    configurations,
    disclosure,
    entries,
    exhaustive_training,
    generation,
    growth,
    independence,
    joint,
    pool,
    reconstruction,
    scale,
    summaries,
)

if __name__ == "__main__":
    ArgumentParser(prog="python -m bench", description=__doc__).parse_args()
    run(
        reconstruction.main,
        scale.main,
        joint.main,
        advice.main,
        entries.main,
        growth.main,
        pool.main,
        disclosure.main,
        summaries.main,
        exhaustive_training.main,
        configurations.main,
        apply.main,
        commands.main,
        independence.main,
        generation.main,
    )
