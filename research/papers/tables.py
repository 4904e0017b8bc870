"""The tables of this study, and the statistics that table 2 of the paper gives of its own."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from aegis_provider import Masking
from aegis_provider.masking import Mapped
from research import real_tables
from research.drawn_plans import drawn_plan, subset
from research.report import Section, table
from research.rivals.maskings.tables import ADULT, from_csv
from research.study import Study, Table
from tests import example

CONFIGURATIONS = 50
"""As in figure 1 of the paper."""

SHORT = 6


def studies(adult: Path | None, *, short: bool) -> Iterator[Study]:
    """Yield the studies; Adult, with its hierarchies, is read from its folder, if given.

    The short form has two tiny tables with few configurations.
    """
    if short:
        yield real_tables.wine(configurations=SHORT, attributes=4)
        yield real_tables.iris(configurations=SHORT)
        return
    yield Study.of(real_tables.health_table(), subset(example.plan(), real_tables.SEED_OF_HEALTH, CONFIGURATIONS))
    if adult is not None:
        yield adult_study(adult)
    for made in (real_tables.affairs(), real_tables.vote(), real_tables.schools(), real_tables.travel()):
        yield Study.of(made, drawn_plan(made, real_tables.SEED, count=CONFIGURATIONS))


def adult_study(folder: Path, count: int = CONFIGURATIONS) -> Study:
    """Return the complete records of Adult, masked by the levels of the hierarchies that its folder has."""
    read = from_csv(folder / "adult.csv", "Adult", "income", ADULT)
    told = replace(read, about="census of 1994; label: whether the income exceeds 50,000", source="UCI, CC BY 4.0")
    given = {name: hierarchy(folder / f"hierarchy_{name}.csv", name) for name in ADULT}
    return Study.of(told, drawn_plan(told, real_tables.SEED, count=count, given=given))


def hierarchy(file: Path, name: str) -> tuple[Masking, ...]:
    """Return a masking for each level of a hierarchy but the last, which merges all values.

    A hierarchy without any other level gets codes of its values, since no configuration leaves an attribute as it is.
    """
    with file.open(newline="", encoding="utf-8") as lines:
        values, *levels = zip(*csv.reader(lines, delimiter=";"), strict=True)
    masked = [dict(zip(values, level, strict=True)) for level in levels[:-1]]
    masked = masked or [{value: f"code {place}" for place, value in enumerate(values)}]
    return tuple(
        Masking(f"{name}-{place}", Mapped(level), f"level {place}") for place, level in enumerate(masked, start=1)
    )


@dataclass(frozen=True)
class Statistics:
    """The statistics of one table, as in table 2 of the paper.

    Attributes:
        categories: the number of values of each categorical attribute.
        ranges: the greatest less the least value of each numerical attribute.
        domains: the number of values of each numerical attribute.
    """

    name: str
    records: int
    classes: int
    categories: tuple[int, ...]
    ranges: tuple[float, ...]
    domains: tuple[int, ...]

    @classmethod
    def of(cls, read: Table) -> "Statistics":
        """Count; an attribute is numerical if all its values are numbers."""
        numbers = [values for column in read.columns.values() if (values := _numbers(column)) is not None]
        categories = [np.unique(column).size for column in read.columns.values() if _numbers(column) is None]
        ranges, domains = zip(*((float(np.ptp(each)), np.unique(each).size) for each in numbers), strict=True)
        classes = np.unique(read.label).size
        return cls(read.name, read.records, classes, tuple(categories), tuple(ranges), tuple(domains))


def _numbers(column: np.ndarray[tuple[int], np.dtype[np.str_]]) -> np.ndarray[tuple[int], np.dtype[np.float64]] | None:
    try:
        return column.astype(np.float64)
    except ValueError:
        return None


def section(chosen: Sequence[Study]) -> Section:
    """Make the section on the tables."""
    rows = [_row(Statistics.of(study.table)) for study in chosen]
    columns = ["table", "records", "classes", "categorical", "categories", "numerical", "range", "domain size"]
    text = f"""\
The paper's tables (Air Quality, Customer, Income) are not in the text: its table 2 ends after its first heading. Of
several attributes the least / greatest / mean is given; real numbers are in fortieths of their range, as in [the
evaluation](evaluation.md#the-tables), which says where all tables but Adult are from.

{table(columns, rows)}"""
    return Section("000, table 2: statistics of the tables", text)


def _row(one: Statistics) -> list[str]:
    parts: Mapping[str, Sequence[float]] = {"categories": one.categories, "range": one.ranges, "domain": one.domains}
    spans = {name: "-" if not part else _span(part) for name, part in parts.items()}
    return [
        one.name,
        f"{one.records:,}",
        str(one.classes),
        str(len(one.categories)),
        spans["categories"],
        str(len(one.ranges)),
        spans["range"],
        spans["domain"],
    ]


def _span(part: Sequence[float]) -> str:
    return " / ".join(f"{value:.4g}" for value in (min(part), max(part), float(np.mean(part))))
