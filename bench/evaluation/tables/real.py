"""Real tables that come with scikit-learn and statsmodels; nothing is fetched."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets
from statsmodels.datasets import anes96, fair

from bench.evaluation.configurations import CONFIGURATIONS, drawn_plan
from bench.evaluation.study import Study, Table
from bench.evaluation.tables.rounding import quarters, texts

SEED = 1
PARTIES = ("strong D", "weak D", "independent D", "independent", "independent R", "weak R", "strong R")
SKLEARN = "scikit-learn"


def studies() -> Iterator[Study]:
    """Binary, many-class and binned numeric labels, 10 to 64 attributes."""
    for table in (affairs(), election(), vote(), breast_cancer(), digits(), diabetes()):
        yield Study.of(table, drawn_plan(table, SEED))
    yield wine()


def affairs() -> Table:
    """Fair 1978: binary, of ordinal attributes."""
    data = fair.load_pandas().data
    return Table(
        name="affairs",
        about="survey of married women (Fair 1978); label: any extramarital affair",
        source="statsmodels (fair), included there with permission of the author",
        columns=columns_of(data, [name for name in data.columns if name != "affairs"]),
        label=np.where(data["affairs"] > 0, "some", "none"),
    )


def election() -> Table:
    """Seven classes of few records each; two attributes are the same but for a logarithm."""
    data = anes96.load_pandas().data
    return Table(
        name="election",
        about="American National Election Study 1996; label: party identification",
        source="statsmodels (anes96), in the public domain",
        columns=columns_of(data, [name for name in data.columns if name not in {"PID", "vote"}]),
        label=np.array(PARTIES)[data["PID"].to_numpy().astype(np.int64)],
    )


def vote() -> Table:
    """The same records with a binary label, most of which one attribute tells."""
    data = anes96.load_pandas().data
    return Table(
        name="vote",
        about="American National Election Study 1996; label: expected vote",
        source="statsmodels (anes96), in the public domain",
        columns=columns_of(data, [name for name in data.columns if name != "vote"]),
        label=np.where(data["vote"] > 0, "Dole", "Clinton"),
    )


def breast_cancer() -> Table:
    """Thirty numbers, three of each of ten features: redundant."""
    bunch = datasets.load_breast_cancer()
    return Table(
        name="breast cancer",
        about="Wisconsin diagnostic breast cancer, 30 numbers of each tumour; label: malignant or benign",
        source=f"{SKLEARN} (breast_cancer); UCI repository, CC BY 4.0",
        columns=numbers(bunch.data, bunch.feature_names),
        label=bunch.target_names[bunch.target].astype(str),
    )


def digits() -> Table:
    """Sixty-four pixels, ten classes: neighbours are alike, and none tells much alone."""
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
    """Small: 178 records. With the first so many of the attributes, all by default."""
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
    """The attributes that have two values or more."""
    columns = zip(names, data.T, strict=True)
    return {str(name): texts(column) for name, column in columns if np.unique(column).size > 1}
