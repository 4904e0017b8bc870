"""Real tables: the repository's example, and those that come with scikit-learn and statsmodels; nothing is fetched."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets
from statsmodels.datasets import anes96, fair, modechoice, star98

from research.drawn_plans import CONFIGURATIONS, drawn_plan, subset
from research.study import Study, Table
from tests import example

STEPS = 40
THIRDS = ("lowest third", "middle third", "highest third")
QUARTERS = ("lowest quarter", "second quarter", "third quarter", "highest quarter")
PARTIES = ("strong D", "weak D", "independent D", "independent", "independent R", "weak R", "strong R")
MODES = {1: "air", 2: "train", 3: "bus", 4: "car"}
SKLEARN = "scikit-learn"
SEED = 1
SEED_OF_HEALTH = 4
"""The seed that chooses among the configurations of the example's own plan."""


def health() -> Study:
    """Return the repository's example with its own maskings, and 30 of its 70 configurations."""
    return Study.of(health_table(), subset(example.plan(), SEED_OF_HEALTH))


def health_table() -> Table:
    """Return the example's table with all its records."""
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


def took_part() -> Iterator[Study]:
    """Yield the tables that took part in choosing the product's defaults.

    Labels are binary, of many classes, or binned numbers; there are 10 to 64 attributes.
    """
    for table in (affairs(), election(), vote(), breast_cancer(), digits(), diabetes()):
        yield Study.of(table, drawn_plan(table, SEED))
    yield wine()


def affairs() -> Table:
    """Fair 1978: a binary label and ordinal attributes."""
    data = fair.load_pandas().data
    return Table(
        name="affairs",
        about="survey of married women (Fair 1978); label: any extramarital affair",
        source="statsmodels (fair), included there with permission of the author",
        columns=columns_of(data, [name for name in data.columns if name != "affairs"]),
        label=np.where(data["affairs"] > 0, "some", "none"),
    )


def election() -> Table:
    """Seven classes with few records each; one attribute is the logarithm of another."""
    data = anes96.load_pandas().data
    return Table(
        name="election",
        about="American National Election Study 1996; label: party identification",
        source="statsmodels (anes96), in the public domain",
        columns=columns_of(data, [name for name in data.columns if name not in {"PID", "vote"}]),
        label=np.array(PARTIES)[data["PID"].to_numpy().astype(np.int64)],
    )


def vote() -> Table:
    """The same records with a binary label that one attribute mostly determines."""
    data = anes96.load_pandas().data
    return Table(
        name="vote",
        about="American National Election Study 1996; label: expected vote",
        source="statsmodels (anes96), in the public domain",
        columns=columns_of(data, [name for name in data.columns if name != "vote"]),
        label=np.where(data["vote"] > 0, "Dole", "Clinton"),
    )


def breast_cancer() -> Table:
    """Thirty numbers, three for each of ten features: redundant attributes."""
    bunch = datasets.load_breast_cancer()
    return Table(
        name="breast cancer",
        about="Wisconsin diagnostic breast cancer, 30 numbers per tumour; label: malignant or benign",
        source=f"{SKLEARN} (breast_cancer); UCI repository, CC BY 4.0",
        columns=numbers(bunch.data, bunch.feature_names),
        label=bunch.target_names[bunch.target].astype(str),
    )


def digits() -> Table:
    """Sixty-four pixels, ten classes: neighbours are alike, and none is informative alone."""
    bunch = datasets.load_digits()
    return Table(
        name="digits",
        about="handwritten digits of 8 x 8 pixels; label: the digit",
        source=f"{SKLEARN} (digits); UCI repository, CC BY 4.0",
        columns=numbers(bunch.data, bunch.feature_names),
        label=bunch.target.astype(str),
    )


def diabetes() -> Table:
    """A numeric label, in quarters."""
    bunch = datasets.load_diabetes(scaled=False)
    return Table(
        name="diabetes",
        about="442 patients (Efron et al. 2004); label: progression of the disease in a year, in quarters",
        source=f"{SKLEARN} (diabetes); published with the paper",
        columns=numbers(bunch.data, bunch.feature_names),
        label=quarters(bunch.target),
    )


def wine(configurations: int = CONFIGURATIONS, attributes: int | None = None) -> Study:
    """A small table of 178 records, with its first `attributes` attributes (all by default)."""
    bunch = datasets.load_wine()
    table = Table(
        name="wine",
        about="chemical analysis of 178 wines; label: which of three growers",
        source=f"{SKLEARN} (wine); UCI repository, CC BY 4.0",
        columns=numbers(bunch.data[:, :attributes], bunch.feature_names[:attributes]),
        label=bunch.target_names[bunch.target].astype(str),
    )
    return Study.of(table, drawn_plan(table, SEED, count=configurations))


def columns_of(data: Any, names: Sequence[str]) -> Mapping[str, NDArray[np.str_]]:  # noqa: ANN401 -- a data frame
    return {name: texts(data[name].to_numpy(dtype=np.float64)) for name in names}


def numbers(data: NDArray[np.float64], names: Sequence[str]) -> Mapping[str, NDArray[np.str_]]:
    """Return the attributes that have two values or more."""
    columns = zip(names, data.T, strict=True)
    return {str(name): texts(column) for name, column in columns if np.unique(column).size > 1}


def held_out() -> Iterator[Study]:
    """Yield the tables that had no part in any choice: three and four classes, 4 to 20 attributes."""
    for table in (schools(), travel()):
        yield Study.of(table, drawn_plan(table, SEED))
    yield iris()


def schools() -> Table:
    """Few records and many attributes, eight of which are products of others."""
    data = star98.load_pandas().data
    counted = ["NABOVE", "NBELOW"]
    return Table(
        name="schools",
        about="Californian schools by county, 20 numbers per county (Gill 2000); label: the share of the pupils above"
        " the national median in mathematics, in thirds; the numbers of pupils that determine it are left out",
        source="statsmodels (star98), included there with permission of the author",
        columns=columns_of(data, [name for name in data.columns if name not in counted]),
        label=thirds((data["NABOVE"] / data[counted].sum(axis=1)).to_numpy()),
        held_out=True,
    )


def travel() -> Table:
    """One record for each traveller. The source has four, which are not independent."""
    data = modechoice.load_pandas().data.astype({"mode": int})
    chosen = data[data["choice"] == 1].set_index("individual")
    times = data.pivot(index="individual", columns="mode", values=["ttme", "invc", "invt", "gc"]).loc[chosen.index]
    times.columns = [f"{name} {MODES[mode]}" for name, mode in times.columns]
    wide = times.join(chosen[["hinc", "psize"]])
    return Table(
        name="travel",
        about="210 travellers between Sydney, Canberra and Melbourne, one record each with time and cost by air,"
        " train, bus and car, income and size of the party (Greene & Hensher 1997); label: how they travelled",
        source="statsmodels (modechoice), in the public domain",
        columns=columns_of(wide, [name for name in wide.columns if wide[name].nunique() > 1]),
        label=np.array([MODES[mode] for mode in chosen["mode"]]),
        held_out=True,
    )


def iris(configurations: int = CONFIGURATIONS, attributes: int | None = None) -> Study:
    """A tiny and easy table, with its first `attributes` attributes (all by default)."""
    bunch = datasets.load_iris()
    table = Table(
        name="iris",
        about="150 irises, four lengths per flower (Fisher 1936); label: the species",
        source=f"{SKLEARN} (iris); UCI repository, CC BY 4.0",
        columns=numbers(bunch.data[:, :attributes], bunch.feature_names[:attributes]),
        label=bunch.target_names[bunch.target].astype(str),
        held_out=True,
    )
    return Study.of(table, drawn_plan(table, SEED, count=configurations))


def texts(values: NDArray[np.float64]) -> NDArray[np.str_]:
    """Return at most 40 distinct values unchanged; otherwise round them to fortieths of their range."""
    if np.unique(values).size <= STEPS:
        return _plain(values)
    return _plain(steps(values))


def steps(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for each value the number (0 to 39) of the equal-width step of the range that contains it."""
    lowest, highest = values.min(), values.max()
    return np.minimum(np.floor((values - lowest) / (highest - lowest) * STEPS), STEPS - 1)


def thirds(values: NDArray[np.float64]) -> NDArray[np.str_]:
    """Return the third of the records, by size, that each value is in; equal values share theirs."""
    return _parts(values, THIRDS)


def quarters(values: NDArray[np.float64]) -> NDArray[np.str_]:
    """Return the quarter of the records, by size, that each value is in; equal values share theirs."""
    return _parts(values, QUARTERS)


def _parts(values: NDArray[np.float64], names: Sequence[str]) -> NDArray[np.str_]:
    """Divide the values into equal parts, one for each name; return the name of each value's part."""
    cuts = np.quantile(values, np.arange(1, len(names)) / len(names))
    return np.array(names)[np.searchsorted(cuts, values, side="left")]


def _plain(values: NDArray[np.float64]) -> NDArray[np.str_]:
    return np.array([f"{value:.10g}" for value in values.tolist()])
