"""The growth of time and memory of every method of `aegis synth generate` with records, attributes and domains."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from math import log2
from time import perf_counter
from typing import Final

import numpy as np
import pyarrow as pa
from threadpoolctl import threadpool_limits

from aegis_provider.records import Column
from aegis_provider.synth.generate.levels import levels_of
from aegis_provider.synth.generate.methods.method import Knobs, LearningTask
from aegis_provider.synth.generate.methods.registry import method_of
from aegis_provider.synth.generate.training import Yardstick
from bench.measuring import MILLISECONDS, heading, in_own_process, peak_memory, run, table

LABELS: Final = 2
#: The share of values that depend on the previous attribute; the others are random.
FOLLOWING: Final = 0.7
LOOKED_AT: Final = 5_000
#: Iterations of `wgan-gp` that are measured, after as many that wait for the compiler.
ITERATIONS: Final = 10


@dataclass(frozen=True)
class Shape:
    """The size of a made-up table: its categories are equally frequent."""

    records: int = 10_000
    attributes: int = 10
    values: int = 10


BASE: Final = Shape()
SERIES: Final[Mapping[str, Mapping[int, Shape]]] = {
    "records": {size: replace(BASE, records=size) for size in (2_500, 10_000, 40_000)},
    "attributes": {size: replace(BASE, attributes=size) for size in (5, 10, 20, 40)},
    "values of each attribute": {size: replace(BASE, values=size) for size in (10, 100, 1_000)},
}


def main() -> None:
    heading("Generation on made-up tables: s to learn and to draw as many records, peak MB; each in its own process")
    print(f"Unless stated otherwise: {BASE.records:,} records, {BASE.attributes} attributes of {BASE.values} values.")
    print("wgan-gp: s to compile, and ms for each iteration; a run ends with the first model after its time limit.")
    for name, shapes in SERIES.items():
        heading(f"Generation, by {name}")
        sizes, figures = list(shapes), [_figures(shape) for shape in shapes.values()]
        doublings = log2(sizes[-1] / sizes[0])
        growth = [(last / first) ** (1 / doublings) for first, last in zip(figures[0], figures[-1], strict=True)]
        rows = [[f"{size:,}", *map(_shown, row)] for size, row in zip(sizes, figures, strict=True)]
        table([name, *_COLUMNS], [*rows, ["each doubling: times", *(f"{factor:.2f}" for factor in growth)]])


_COLUMNS: Final = ("cart, s", "MB", "mbi, s", "MB", "epsilon 1, s", "MB", "wgan-gp, s", "ms", "MB")


@cache
def _figures(shape: Shape) -> tuple[float, ...]:
    """Return the numbers of a row; the base is in every table, but measured once."""
    private = Knobs(epsilon=1.0)
    one_step = (("cart", Knobs()), ("mbi", Knobs()), ("mbi", private))
    figures = [in_own_process(one_model, shape, *method) for method in one_step]
    return (*(number for row in figures for number in row), *in_own_process(networks, shape))


def one_model(shape: Shape, name: str, knobs: Knobs) -> tuple[float, float]:
    """Return the seconds that a method of one model takes, and the peak memory of the process in MB."""
    task, rng, method, clock = made_up_task(shape, knobs), np.random.default_rng(0), method_of(name), _Clock()
    [model] = method.train(task, rng)
    model.sample(shape.records, rng)
    seconds = clock()
    _look(task, model.sample)
    return seconds, peak_memory()


def networks(shape: Shape) -> tuple[float, float, float]:
    """Return the seconds that `wgan-gp` compiles, milliseconds of an iteration, and the peak memory in MB."""
    from aegis_provider.synth.generate.methods.wgan_gp import WganGp  # noqa: PLC0415 - other methods run without its memory

    task, rng, method, clock = (
        made_up_task(shape, Knobs()),
        np.random.default_rng(0),
        WganGp(every=ITERATIONS),
        _Clock(),
    )
    models = method.train(task, rng)
    next(models)
    first = clock()
    model = next(models)
    second = clock()
    _look(task, model.sample)
    return first - second, second / ITERATIONS * MILLISECONDS, peak_memory()


def made_up_task(shape: Shape, knobs: Knobs) -> LearningTask:
    """Return a task in which an attribute mostly depends on the previous one, and the label on the last."""
    rng, columns = np.random.default_rng(0), []
    values = rng.integers(shape.values, size=shape.records)
    for _ in range(shape.attributes):
        values = np.where(rng.random(shape.records) < FOLLOWING, values, rng.integers(shape.values, size=shape.records))
        columns.append(values)
    columns.append(values % LABELS)
    made = [Column.of(f"a{at}", pa.array([f"v{code}" for code in column])) for at, column in enumerate(columns)]
    levels = [levels_of(column) for column in made]
    codes = np.stack([level.encode(column) for level, column in zip(levels, made, strict=True)], axis=1)
    ones = np.ones(len(levels))
    return LearningTask(levels, codes, ones.astype(bool), ones, ones, knobs)


def _look(task: LearningTask, sample: Callable[..., np.ndarray]) -> None:
    """Compare a model with records like `aegis synth generate`, since that also takes memory."""
    with threadpool_limits(1):
        Yardstick.of(task.codes[:LOOKED_AT], task.levels).quality(sample(LOOKED_AT, np.random.default_rng(1)))


class _Clock:
    """Returns the seconds since it was last asked."""

    def __init__(self) -> None:
        self._last = perf_counter()

    def __call__(self) -> float:
        last, self._last = self._last, perf_counter()
        return self._last - last


def _shown(figure: float) -> str:
    return f"{figure:.2f}" if figure < 10 else f"{figure:.0f}"


if __name__ == "__main__":
    run(main)
