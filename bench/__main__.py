"""All benchmarks, one after the other, so that each has the machine to itself."""

from bench import (
    advice,
    apply,
    configurations,
    controls,
    disclosure,
    entries,
    growth,
    independence,
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
        controls.main,
        summaries.main,
        training.main,
        configurations.main,
        apply.main,
        independence.main,
    )
