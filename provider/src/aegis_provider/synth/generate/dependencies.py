"""Columns that follow from others: a value from another value, or a number from a product or a sum of numbers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from itertools import combinations
from typing import Final, Self, TypeAlias, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from aegis_provider.records import NUMERIC, Column
from aegis_provider.synth.generate.levels import FEWEST, Texts, Units
from aegis_provider.table.values import MISSING, Key

Numbers: TypeAlias = NDArray[np.float64]

_EXCEPTIONS: Final = 0.005
"""The share of records that may break a function. Numbers may be further off in this share of the records."""

_UNEXPLAINED: Final = 0.1
"""At most this share of what one column leaves open in another may be open when it is known."""

_USUAL_GROUP: Final = 10
"""The records of a value on average; with fewer, columns follow from it by chance."""

_CLOSE: Final = 0.2
"""The widest range, in logarithms, of nine tenths of the ratios of a number to a formula: about 10 % on both sides."""

_MUCH_CLOSER: Final = 0.5
"""This much narrower is the range than without the formula, and than with a part of it."""

_FEWEST_NUMBERS: Final = 100
_COMMON: Final = 0.2
"""The share of records in which all numbers of a formula differ from 0."""

_MOST_NUMERIC: Final = 24
_FEWEST_VALUES: Final = 3
"""A number with fewer values, such as 0 and 1, is a category."""

_LOOKED_AT: Final = 5_000
_DECIMALS: Final = 4


@dataclass(frozen=True, eq=False)
class Function:
    """A column whose value follows from that of another.

    Attributes:
        values: The text that follows from a value of the source, for values of enough records.
    """

    column: str
    source: str
    values: Mapping[Key, str]

    @property
    def sources(self) -> tuple[str, ...]:
        """The columns from which it follows."""
        return (self.source,)

    @property
    def words(self) -> str:
        """The rule in words."""
        return f"{self.column} follows from {self.source}"

    def of(self, source: Column, drawn: Texts) -> Texts:
        """(records,) Return the texts that follow; those that were drawn where none does."""
        following = np.array([self.values.get(key) for key in source.domain.keys], dtype=object)[source.places]
        return np.where(following == None, drawn, following)  # noqa: E711 - element by element

    def broken(self, columns: Mapping[str, Column]) -> NDArray[np.bool_]:
        """(records,) Return whether each record has another value."""
        column = columns[self.column]
        texts = np.array(column.domain.texts, dtype=object)[column.places]
        following = typed(column, self.of(columns[self.source], texts))
        return np.asarray(_keys(following) != _keys(column))


@dataclass(frozen=True, eq=False)
class Formula:
    """A number that is close to another one, a product or a sum, times a factor.

    Attributes:
        sources: The one or two columns of the formula.
        is_product: Whether two are multiplied; otherwise they are added.
        tolerance: The relative deviation within which nearly all records are.
        units: How the number is written.
        at_zero: Its text where the formula is 0 or a source is missing.
    """

    column: str
    sources: tuple[str, ...]
    is_product: bool
    factor: float
    tolerance: float
    units: Units
    at_zero: str

    @property
    def words(self) -> str:
        """The rule in words."""
        factor = "" if abs(self.factor - 1) < self.tolerance + 1e-9 else f"{self.factor:.3g} x "
        formula = (" x " if self.is_product else " + ").join(self.sources)
        return f"{self.column} is about {factor}{f'({formula})' if factor and len(self.sources) > 1 else formula}"

    @property
    def unit(self) -> float:
        """The last decimal of the number."""
        return float(10.0 ** -(self.units.decimals or 0))

    def expected(self, columns: Mapping[str, Column]) -> Numbers:
        """(records,) Return the number by the formula; NaN if one is missing."""
        return self.factor * _combined([_numbers(columns[name]) for name in self.sources], is_product=self.is_product)

    def broken(self, columns: Mapping[str, Column]) -> NDArray[np.bool_]:
        """(records,) Return whether each record is further off than nearly all real ones; not if one is missing."""
        expected, number = self.expected(columns), _numbers(columns[self.column])
        off = np.abs(number - expected)
        return np.asarray(off > np.maximum(self.tolerance * np.abs(expected), self.unit))


Rule: TypeAlias = Function | Formula


def rules_of(columns: Sequence[Column], fewest: int = FEWEST) -> list[Rule]:
    """Return the rules that hold in a table, each after those of its sources.

    Each column follows by one rule at most, and none from itself by way of others: of a number of records, the closest
    formula, and otherwise the first column of which it is a function.

    Args:
        columns: The attributes; not the label, which a model draws from all of them.
        fewest: The fewest records of a value from which another follows.
    """
    rules: dict[str, Rule] = {}
    possible: list[Rule] = [*_formulas(columns, fewest), *_functions(columns, fewest)]
    for rule in possible:
        if rule.column not in rules and not any(_follows(name, rule.column, rules) for name in rule.sources):
            rules[rule.column] = rule
    order = TopologicalSorter({name: rule.sources for name, rule in rules.items()}).static_order()
    return [rules[name] for name in order if name in rules]


def _follows(name: str, column: str, rules: Mapping[str, Rule]) -> bool:
    """Return whether `name` is that column, or follows from it."""
    rule = rules.get(name)
    return name == column or (rule is not None and any(_follows(each, column, rules) for each in rule.sources))


def _functions(columns: Sequence[Column], fewest: int) -> Iterator[Function]:
    """Yield functions; those of categories first, since numbers are drawn less exactly."""
    sources = [each for each in columns if 1 < len(each.domain) <= len(each.places) / _USUAL_GROUP]
    for source in sorted(sources, key=lambda each: each.domain.value_type in NUMERIC):
        for column in columns:
            if column is not source and (function := _function(column, source, fewest)):
                yield function


def _function(column: Column, source: Column, fewest: int) -> Function | None:
    """Return the function of one column that another is; `None` if it is none, or hardly varies."""
    records, size = len(column.places), len(column.domain)
    cells, counts = np.unique(source.places * size + column.places, return_counts=True)
    order = np.argsort(counts, kind="stable")
    most = dict(zip(cells[order] // size, order, strict=True))  # the last of each source value is its largest cell
    exceptions = 1 - sum(int(counts[place]) for place in most.values()) / records
    if exceptions > min(_EXCEPTIONS, _UNEXPLAINED * (1 - column.counts.max() / records)):
        return None
    enough = {value: cells[place] % size for value, place in most.items() if counts[place] >= fewest}
    texts = {source.domain.keys[value]: column.domain.texts[following] for value, following in enough.items()}
    return Function(column.name, source.name, texts)


def _formulas(columns: Sequence[Column], fewest: int) -> list[Formula]:
    """Return possible formulas, the closest first."""
    numeric = [each for each in columns if each.domain.value_type in NUMERIC and len(each.domain) >= _FEWEST_VALUES]
    numeric = numeric[:_MOST_NUMERIC]
    if not numeric or len(numeric[0].places) < _FEWEST_NUMBERS:
        return []
    rows = np.linspace(0, len(numeric[0].places) - 1, min(_LOOKED_AT, len(numeric[0].places))).astype(np.intp)
    numbers = [_numbers(each)[rows] for each in numeric]
    close: list[tuple[float, int, tuple[int, ...], bool]] = []
    for column, target in enumerate(numbers):
        alone = _range(target, np.ones(len(target)))
        by_one = {each: _range(target, numbers[each]) for each in range(len(numbers)) if each != column}
        close += [
            (found, column, (each,), False)
            for each, found in by_one.items()
            if each < column and found <= _MUCH_CLOSER * alone
        ]
        for one, other in combinations(by_one, 2):
            for is_product in (True, False):
                found = _range(target, _combined([numbers[one], numbers[other]], is_product=is_product))
                if found < _MUCH_CLOSER * min(alone, by_one[one], by_one[other]):
                    close.append((found, column, (one, other), is_product))
    near = sorted((each for each in close if each[0] <= _CLOSE), key=lambda each: (each[0], len(each[2])))
    return [
        _formula(numeric[column], [numeric[each] for each in sources], fewest, is_product=is_product)
        for _, column, sources, is_product in near
    ]


def _formula(column: Column, sources: Sequence[Column], fewest: int, *, is_product: bool) -> Formula:
    combined, number = _combined([_numbers(each) for each in sources], is_product=is_product), _numbers(column)
    ratios = _ratios(number, combined)
    factor = float(np.median(ratios))
    tolerance = float(np.quantile(np.abs(ratios / factor - 1), 1 - _EXCEPTIONS))
    nothing = column.places[np.isnan(combined) | (combined == 0)]
    counts = np.bincount(nothing, minlength=len(column.domain))
    at_zero = column.domain.texts[int(counts.argmax())] if counts.max() >= fewest else "0"
    units = cast("Units", Units.of(column, fewest))
    return Formula(column.name, tuple(each.name for each in sources), is_product, factor, tolerance, units, at_zero)


def _range(number: Numbers, combined: Numbers) -> float:
    """Return how far, in logarithms, nine tenths of the ratios spread; infinite if few are known, or signs differ.

    Where one of both is 0, the other must be 0 or missing, but for a few records.
    """
    ratios = _ratios(number, combined)
    differ = (number != 0) & ~np.isnan(number) & (combined == 0) | (number == 0) & (combined != 0) & ~np.isnan(combined)
    if len(ratios) < max(_FEWEST_NUMBERS, _COMMON * len(number)) or differ.mean() > _EXCEPTIONS:
        return float("inf")
    low, high = np.quantile(ratios, (0.05, 0.95))
    return float(np.log(high / low)) if low > 0 else float(np.log(low / high)) if high < 0 else float("inf")


def _ratios(number: Numbers, combined: Numbers) -> Numbers:
    known = (number != 0) & (combined != 0) & np.isfinite(number) & np.isfinite(combined)
    return np.asarray(number[known] / combined[known])


def _combined(sources: Sequence[Numbers], *, is_product: bool) -> Numbers:
    return np.asarray(np.prod(sources, axis=0) if is_product else np.sum(sources, axis=0))


def _numbers(column: Column) -> Numbers:
    """(records,) Return the numbers of a column."""
    numbers = column.numbers
    return np.full(len(column.places), np.nan) if numbers is None else numbers[column.places]


@dataclass(frozen=True, eq=False)
class Dependencies:
    """The rules of training records, by which their columns are learnt and drawn.

    A column by a formula is learnt as its ratio to it, and drawn as the formula times a ratio: so it varies as much as
    in the table. Both lie between the fifth lowest and highest, so the number needs no limits that break the formula.
    """

    rules: Sequence[Rule] = ()

    @classmethod
    def of(cls, columns: Sequence[Column], fewest: int) -> Self:
        """Find the rules of the attributes, by values of `fewest` records or more; the last column is the label."""
        return cls(rules_of(columns[:-1], fewest))

    @property
    def formulas(self) -> list[Formula]:
        """The rules that are formulas."""
        return [each for each in self.rules if isinstance(each, Formula)]

    def learnt(self, columns: Sequence[Column]) -> list[Column]:
        """Return the columns to learn: ratios for columns by formulas."""
        by_name = {each.name: each for each in columns}
        ratios = {each.column: _ratio_column(each, by_name) for each in self.formulas}
        return [ratios.get(each.name, each) for each in columns]

    def drawn(self, texts: Mapping[str, Texts], types: Mapping[str, Column]) -> dict[str, Texts]:
        """Return drawn texts by column, with those that follow from others.

        Args:
            texts: The texts that were drawn; of columns by formulas, ratios.
            types: The columns of the table.
        """
        made = dict(texts)
        for rule in self.rules:
            sources = {name: typed(types[name], made[name]) for name in rule.sources}
            if isinstance(rule, Function):
                made[rule.column] = rule.of(sources[rule.source], made[rule.column])
            else:
                made[rule.column] = _written(rule, rule.expected(sources), texts[rule.column])
        return made


def _written(formula: Formula, expected: Numbers, ratios: Texts) -> Texts:
    """(records,) Return the numbers of these ratios to the formula, as the table writes them."""
    is_number = ~np.isnan(expected) & (expected != 0) & (ratios != MISSING)
    exact = expected[is_number] * ratios[is_number].astype(np.float64) / formula.unit
    texts = np.where(ratios == MISSING, MISSING, formula.at_zero).astype(object)
    texts[is_number] = [formula.units.text(int(each)) for each in np.rint(exact)]
    return texts


def typed(like: Column, texts: Texts | pa.ChunkedArray) -> Column:
    """Return a column of drawn texts with the type of a column of the table."""
    array = texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else pa.array(texts, pa.string())
    return Column.of(like.name, array, like.domain.value_type)


def _keys(column: Column) -> NDArray[np.object_]:
    """(records,) Return the keys of the values, by which they are compared."""
    keys = np.empty(len(column.domain), dtype=object)
    keys[:] = column.domain.keys
    return np.asarray(keys[column.places])


def _ratio_column(formula: Formula, columns: Mapping[str, Column]) -> Column:
    """Return the ratio of each number to the formula: 1 where there is none, missing where the number alone is.

    It is 1, too, where rounding explains the difference: the ratios of small numbers would spread to large ones.
    """
    expected, number = formula.expected(columns), _numbers(columns[formula.column])
    has_ratio = ~np.isnan(expected) & (expected != 0) & ~(np.abs(number - expected) <= formula.unit)
    ratios = np.divide(number, expected, out=np.ones(len(number)), where=has_ratio)
    distinct, of_record = np.unique(np.round(ratios, _DECIMALS), return_inverse=True)
    texts = [MISSING if np.isnan(each) else f"{each:.{_DECIMALS}f}".rstrip("0").rstrip(".") for each in distinct]
    return Column.of(formula.column, pa.array(np.array(texts, dtype=object)[of_record.reshape(-1)], pa.string()))
