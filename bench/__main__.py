"""All benchmarks, one after the other, so that each has the machine to itself."""

from bench import (
    advice,
    apply,
    configurations,
    disclosure,
    entries,
    growth,
    joint,
    noise,
    pool,
    scale,
    solver,
    summaries,
    training,
)
from bench.figures import run

if __name__ == "__main__":
    run(
        solver.main,
        scale.main,
        joint.main,
        advice.main,
        entries.main,
        growth.main,
        pool.main,
        noise.main,
        disclosure.main,
        summaries.main,
        training.main,
        configurations.main,
        apply.main,
    )
