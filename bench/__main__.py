"""All benchmarks, one after the other, so that each has the machine to itself."""

from bench import advice, configurations, entries, growth, joint, noise, pool, scale, solver, training
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
        training.main,
        configurations.main,
    )
