"""Real tables that nothing of the product was chosen by: what it does by default was settled without them."""

from collections.abc import Iterator

import numpy as np
from sklearn import datasets
from statsmodels.datasets import modechoice, star98

from bench.evaluation.configurations import CONFIGURATIONS, drawn_plan
from bench.evaluation.study import Study, Table
from bench.evaluation.tables.real import SEED, SKLEARN, columns_of, numbers
from bench.evaluation.tables.rounding import thirds

MODES = {1: "air", 2: "train", 3: "bus", 4: "car"}


def studies() -> Iterator[Study]:
    """Three and four classes, 4 to 20 attributes."""
    for table in (schools(), travel()):
        yield Study.of(table, drawn_plan(table, SEED))
    yield iris()


def schools() -> Table:
    """Few records of many attributes, eight of which are products of others."""
    data = star98.load_pandas().data
    counted = ["NABOVE", "NBELOW"]
    return Table(
        name="schools",
        about="Californian schools by county, 20 numbers of each (Gill 2000); label: the share of the pupils above the"
        " national median in mathematics, in thirds; the numbers of pupils that give it are left out",
        source="statsmodels (star98), included there with permission of the author",
        columns=columns_of(data, [name for name in data.columns if name not in counted]),
        label=thirds((data["NABOVE"] / data[counted].sum(axis=1)).to_numpy()),
        held_out=True,
    )


def travel() -> Table:
    """A record for each traveller, who is four records in the source: those of one are not independent."""
    data = modechoice.load_pandas().data.astype({"mode": int})
    chosen = data[data["choice"] == 1].set_index("individual")
    times = data.pivot(index="individual", columns="mode", values=["ttme", "invc", "invt", "gc"]).loc[chosen.index]
    times.columns = [f"{name} {MODES[mode]}" for name, mode in times.columns]
    wide = times.join(chosen[["hinc", "psize"]])
    return Table(
        name="travel",
        about="210 travellers between Sydney, Canberra and Melbourne, a record of each with time and cost by air,"
        " train, bus and car, income and size of the party (Greene & Hensher 1997); label: how they went",
        source="statsmodels (modechoice), in the public domain",
        columns=columns_of(wide, [name for name in wide.columns if wide[name].nunique() > 1]),
        label=np.array([MODES[mode] for mode in chosen["mode"]]),
        held_out=True,
    )


def iris(configurations: int = CONFIGURATIONS, attributes: int | None = None) -> Study:
    """Tiny and easy. With the first so many of the attributes, all by default."""
    bunch = datasets.load_iris()
    table = Table(
        name="iris",
        about="150 irises, four lengths of each (Fisher 1936); label: the species",
        source=f"{SKLEARN} (iris); UCI repository, CC BY 4.0",
        columns=numbers(bunch.data[:, :attributes], bunch.feature_names[:attributes]),
        label=bunch.target_names[bunch.target].astype(str),
        held_out=True,
    )
    return Study.of(table, drawn_plan(table, SEED, count=configurations))
