"""The health example of the repository, with its own plan."""

import csv

import numpy as np

from bench import example
from bench.evaluation.configurations import subset
from bench.evaluation.study import Study, Table

SEED = 4


def table() -> Table:
    """All of its records."""
    with example.TABLE.open(newline="", encoding="utf-8") as file:
        header, *records = csv.reader(file)
    columns = dict(zip(header, np.array(records).T, strict=True))
    return Table(
        name="health",
        about="RAND health insurance experiment, a record per person and year; label: self-rated health",
        source="the repository's example; from statsmodels (randhie), in the public domain",
        label=columns.pop(example.plan().label),
        columns=columns,
    )


def study() -> Study:
    """With the example's own maskings, and 30 of its 70 configurations."""
    return Study.of(table(), subset(example.plan(), SEED))
