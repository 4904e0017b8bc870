"""The tables of the evaluation, with their maskings and configurations."""

from collections.abc import Iterator

from bench.evaluation.study import Study
from bench.evaluation.tables import health, held_out, real, synthetic


def studies(*, short: bool) -> Iterator[Study]:
    """All of them, real ones first; in the short form a small one of each kind."""
    if short:
        yield real.wine(configurations=5, attributes=6)
        yield held_out.iris(configurations=5, attributes=2)
        yield synthetic.redundant(4, records=300, configurations=5)
        return
    yield health.study()
    yield from real.studies()
    yield from held_out.studies()
    yield from synthetic.studies()
