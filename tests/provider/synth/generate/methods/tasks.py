"""Tasks for generators, from columns of texts."""

import numpy as np
import pyarrow as pa
from scipy.stats import binom

from aegis_provider.records import Column
from aegis_provider.synth.generate.levels import FEWEST, levels_of
from aegis_provider.synth.generate.methods.method import Knobs, LearningTask

SURE = 1e-9
"""The probability that a bound may fail by chance."""


def task_of(columns, fewest=FEWEST, **knobs):
    """Return the task to learn these columns, the last of which is the label; numbers become ordered levels."""
    made = [Column.of(name, pa.array([str(each) for each in texts])) for name, texts in columns.items()]
    levels = [levels_of(each, fewest) for each in made]
    codes = np.stack([level.encode(column) for level, column in zip(levels, made, strict=True)], axis=1)
    ones = np.ones(len(levels))
    return LearningTask(levels, codes, ones.astype(bool), ones, ones, Knobs(**knobs))


def random_columns(records, seed=0):
    """Return columns of a chain: a number, a category that follows it, another that follows that, and a label."""
    rng = np.random.default_rng(seed)
    number = rng.integers(0, 4, records)
    category = np.where(rng.random(records) < 0.7, number, rng.integers(0, 4, records))
    other = np.where(rng.random(records) < 0.7, category % 3, rng.integers(0, 3, records))
    label = np.where(rng.random(records) < 0.8, other > 0, rng.random(records) < 0.5)
    return {
        "number": number,
        "category": np.array(list("abcd"))[category],
        "other": np.array(list("xyz"))[other],
        "label": np.where(label, "yes", "no"),
    }


def only_model(method, task, seed=0):
    """Return the model of a method that yields one."""
    [model] = method.train(task, np.random.default_rng(seed))
    return model


def shares(codes, columns, sizes):
    """Return the joint shares of some columns."""
    shape = [sizes[each] for each in columns]
    cells = np.ravel_multi_index(tuple(codes[:, each] for each in columns), shape)
    return np.bincount(cells, minlength=np.prod(shape)).reshape(shape) / len(codes)


def assert_drawn_from(counts, expected, records):
    """Assert that each count may come from its expected share by the binomial distribution."""
    cells = counts.size
    low, high = (binom.ppf(at, records, expected) for at in (SURE / cells, 1 - SURE / cells))
    assert (low <= counts).all()
    assert (counts <= high).all()
