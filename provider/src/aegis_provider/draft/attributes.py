"""Drafts nested maskings for an attribute, from fine to coarse, each with its information about the label."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar

import numpy as np

from aegis_advisor.measures import MEASURES, mutual_information
from aegis_provider.counting.counted_table import CountedAttribute, CountedTable, MaskedDomain
from aegis_provider.counting.counts import Counts
from aegis_provider.counting.published_domain import LEAST
from aegis_provider.draft.columns import MOST_TEXTS, Column
from aegis_provider.draft.fitting import fit_intervals, has_missing, joint_of, tree_of
from aegis_provider.draft.merges import merge_any, without_labels_of_rare
from aegis_provider.masking import EdgeBuckets, MaskingFunction
from aegis_provider.masking.hierarchy import DATE_UNITS, DateHierarchy, PrefixHierarchy, TreeHierarchy
from aegis_provider.plan.model import Attribute, Masking
from aegis_provider.table.values import ValueType

#: Maximum groups of each level, the finest first.
SIZES: Final = (16, 8, 4, 2)

#: More distinct numbers are binned.
MOST_NUMBERS: Final = 200

# The share of records that units of dates or prefixes may leave in groups below the minimum.
_TOO_FEW: Final = 0.01
_FEW_CODES: Final = 50
_LONGEST_PREFIX: Final = 8

_Step = TypeVar("_Step", str, int)


@dataclass(frozen=True)
class Level:
    """A drafted masking.

    Attributes:
        id: Its id in the plan.
        groups: The number of its masked values, including a missing one.
        smallest: The number of records of the rarest.
        kept: Its information about the label as a share of the unmasked attribute's; `None` if that is 0.
    """

    id: str
    groups: int
    smallest: int
    kept: float | None


@dataclass(frozen=True)
class DraftedAttribute:
    """An attribute of the drafted plan.

    Attributes:
        column: The column.
        attribute: The attribute in the plan. Its maskings are nested, the finest first.
        levels: The properties of its maskings.
        information: The mutual information of its values, or bins, and the label, in bits.
        by_chance: The bits expected of equally many independent values in as many records.
    """

    column: Column
    attribute: Attribute
    levels: tuple[Level, ...]
    information: float
    by_chance: float


def drafted(table: CountedTable, counted: CountedAttribute, column: Column, minimum: int) -> DraftedAttribute:
    """Return an attribute with maskings whose groups have at least `minimum` records.

    Missing values of ordered attributes stay missing. Units of dates, and prefixes, may leave 1 % of the records in
    smaller groups, whose names must cover at least 20 records: `1,3*` would disclose a person's height.

    Args:
        table: The counted table.
        counted: The column in it; its attribute has no maskings yet.
        column: The column.
        minimum: Minimum records of a group.
    """
    drafting = _Drafting(counted, column, joint_of(counted.counts), minimum)
    attribute = drafting.attribute()
    domains = table.masked_domains(replace(counted, attribute=attribute))
    information, by_chance = _told_of_label(counted)
    by_chance = min(max(by_chance, 0.0), information)
    levels = tuple(_level(name, counted, domain, information) for name, domain in domains.items())
    return DraftedAttribute(column, attribute, levels, information, by_chance)


def telling_most(attributes: Sequence[CountedAttribute], most: int) -> set[int]:
    """Return the places of the attributes with the most information about the label, adjusted for chance; ties go to
    the first.

    Args:
        attributes: Counted attributes.
        most: Maximum number to return.
    """
    if len(attributes) <= most:
        return set(range(len(attributes)))
    told = [information - by_chance for information, by_chance in map(_told_of_label, attributes)]
    return set(np.argsort(-np.array(told), kind="stable")[:most].tolist())


def _told_of_label(counted: CountedAttribute) -> tuple[float, float]:
    """Return the information of the values about the label, and that expected by chance, both in bits."""
    joint = joint_of(counted.counts).astype(float)
    return mutual_information(joint), MEASURES["mutual_information"].sampling_bias(joint)


def _level(name: str, counted: CountedAttribute, domain: MaskedDomain, information: float) -> Level:
    joint = counted.counts.fold(domain.mapping, len(domain.texts))
    kept = mutual_information(joint.astype(float)) / information if information > 0 else None
    return Level(name, len(joint), int(joint.sum(axis=1).min()), kept)


@dataclass(frozen=True)
class _Drafting:
    """An attribute to draft maskings for: its (values, labels) counts, and the minimum records of a group."""

    counted: CountedAttribute
    column: Column
    joint: Counts
    minimum: int

    def attribute(self) -> Attribute:
        """Return the attribute with suitable maskings."""
        has_codes = self.column.has_codes and self.column.distinct > _FEW_CODES
        is_fitted = False
        if self.column.is_number:
            functions, is_fitted = self._intervals(), True
        elif self.column.type == ValueType.DATE:
            functions = self._dates()
        elif has_codes and (prefixes := self._prefixes()):
            functions = prefixes
        else:
            functions, is_fitted = self._categories(), True
        maskings = tuple(Masking(name, function, "the draft") for name, function in functions.items())
        return replace(self.counted.attribute, maskings=maskings, fitted_to_label=is_fitted and bool(maskings))

    def _intervals(self) -> dict[str, MaskingFunction]:
        fitted = fit_intervals(self.counted.domain, self.joint, self.minimum, SIZES)
        edges = {len(each.groups): each.edges for each in fitted if 1 < len(each.groups) < self._values}
        return {f"{self.column.name}-{groups}": EdgeBuckets(each) for groups, each in edges.items()}

    def _categories(self) -> dict[str, MaskingFunction]:
        if self.column.distinct > MOST_TEXTS:
            return {}
        joint = without_labels_of_rare(self.joint, LEAST)
        merged = dict.fromkeys(merge_any(joint, self.minimum, SIZES))
        levels = [groups for groups in merged if 1 < len(groups) < len(self.joint)]
        if not levels:
            return {}
        tree = tree_of(self.counted.domain.texts, self.joint, levels)
        return self._numbered([TreeHierarchy(tree, level) for level in range(1, len(levels) + 1)])

    def _dates(self) -> dict[str, MaskingFunction]:
        dates = self.counted.domain.keys[self._missing :]
        units = tuple(self._useful({unit: list(map(of, dates)) for unit, of in DATE_UNITS.items()}))
        return self._numbered([DateHierarchy(units, level) for level in range(1, len(units) + 1)])

    def _prefixes(self) -> dict[str, MaskingFunction]:
        texts = self.counted.domain.texts[self._missing :]
        longest = min(len(texts[0]) - 1, _LONGEST_PREFIX)
        prefixes = {length: [text[:length] for text in texts] for length in range(longest, 0, -1)}
        lengths = tuple(self._useful(prefixes))
        return self._numbered([PrefixHierarchy(lengths, level) for level in range(1, len(lengths) + 1)])

    def _useful(self, steps: Mapping[_Step, Sequence[str]]) -> Iterator[_Step]:
        """Yield the steps, given the group of each value, that merge groups and leave hardly any below the minimum."""
        records, values = self.joint[self._missing :].sum(axis=1), self._values
        for step, names in steps.items():
            _, places = np.unique(names, return_inverse=True)
            sizes = np.bincount(places, records)
            are_enough = sizes.min() >= LEAST and sizes[sizes < self.minimum].sum() <= _TOO_FEW * records.sum()
            if 1 < len(sizes) < values and are_enough:
                yield step
                values = len(sizes)

    def _numbered(self, functions: Sequence[MaskingFunction]) -> dict[str, MaskingFunction]:
        """Return the functions by the ids that a hierarchy gives its levels."""
        return {f"{self.column.name}-{number}": each for number, each in enumerate(functions, start=1)}

    @property
    def _missing(self) -> int:
        return has_missing(self.counted.domain)

    @property
    def _values(self) -> int:
        """The number of values that are not missing."""
        return len(self.joint) - self._missing
