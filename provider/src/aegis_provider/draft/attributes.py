"""Surveys a column before counting, and drafts nested maskings, each with its information about the label."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from types import MappingProxyType
from typing import Final, TypeVar

import numpy as np

from aegis_provider.counting.counted_table import LEAST, CountedAttribute, CountedTable, MaskedDomain
from aegis_provider.counting.counts import Counts
from aegis_provider.counting.kept import information_of, kept_share
from aegis_provider.draft.bins import LABEL_BINS
from aegis_provider.draft.fitting import SIZES, fit_groups, fit_intervals, has_missing, joint_of, tree_of
from aegis_provider.draft.known import is_known_by_name, may_be_known
from aegis_provider.errors import shortened
from aegis_provider.identifiers import Values, identifying, is_quantity, values_of
from aegis_provider.masking import EdgeBuckets, MaskingFunction
from aegis_provider.masking.hierarchy import DATE_UNITS, DateHierarchy, PrefixHierarchy, TreeHierarchy
from aegis_provider.plan.model import Attribute, Masking
from aegis_provider.table import Table
from aegis_provider.table.notation import Recognised, Writing, are_likely, is_text, plainly, recognised_in
from aegis_provider.table.reading import AS_TEXT
from aegis_provider.table.values import MISSING, ValueType, infer_type, possible_code
from aegis_sdk.reading import some

#: More distinct texts are not merged by the label.
MOST_TEXTS: Final = 1_000

_NEARLY_UNIQUE = 0.5
_MATCHING = 0.9
_FEW = 20
_SHOWN = 3

_UNMASKABLE: Final[Mapping[str, re.Pattern[str]]] = {
    "contains times of day; keep only the dates to share it": re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}.*"),
    "contains dates that are not written as 2024-12-31; rewrite them to share it": re.compile(
        r"\d{1,2}([./-])\d{1,2}\1(\d{2}|\d{4})|\d{4}([./])\d{1,2}\3\d{1,2}"
    ),
}


@dataclass(frozen=True)
class Column(Values):
    """A column of the table.

    Attributes:
        identifies: Why it identifies persons; `None` if it does not.
        recognised: The form of texts that are not plain; its values are plain, and a few texts other than numbers or
            dates count as missing.
        spellings: Some texts that differ only in case or surrounding blanks.
        fold_case: Whether these are one value.
        blank: The number of records in which it has spaces alone, which count as missing.
        stated: The stated attribute, whose type and form take precedence over the recognised ones.
    """

    identifies: str | None = None
    recognised: Recognised | None = None
    spellings: tuple[str, ...] = ()
    fold_case: bool = False
    blank: int = 0
    stated: Attribute | None = None

    @cached_property
    def type(self) -> ValueType:
        """The stated type, or that of the sampled values."""
        return (self.stated and self.stated.value_type) or infer_type(self.sample)

    @property
    def writing(self) -> Writing:
        """Its written form, for the plan."""
        if self.stated is not None and not self.stated.writing.is_plain:
            return self.stated.writing
        if self.recognised is None or self.recognised.has_many_odd:
            return Writing(fold_case=self.fold_case)
        return Writing(self.recognised.form, odd_as_missing=bool(self.recognised.odd))

    @property
    def remarks(self) -> list[str]:
        """Remarks on its written form."""
        of = self.recognised
        said = [] if of is None or of.how_read is None else [of.how_read]
        if of is not None and of.odd and not of.has_many_odd:
            odd = some(list(map(shortened, of.odd)), _SHOWN)
            said.append(f"{odd} is read as missing ({of.cells:,} of {of.records:,} records)")
        if self.blank:
            said.append(f"spaces alone are read as missing ({self.blank:,} of {self.records:,} records)")
        if self.spellings:
            alike = some(list(map(shortened, self.spellings)), _SHOWN)
            said.append(f"{alike} are one value" if self.fold_case else f"{alike} may be one value: --fold-case")
        return said

    @property
    def missing(self) -> int:
        """The number of records in which it is missing."""
        return self.records - self.known

    @property
    def is_number(self) -> bool:
        """Whether the sampled values are numbers."""
        return self.type in {ValueType.INTEGER, ValueType.NUMBER}

    @property
    def is_likely_known(self) -> bool:
        """Whether others probably know its value, judging by its name."""
        return is_known_by_name(self.name) or self.header.is_birth

    @cached_property
    def perhaps_known(self) -> str | None:
        """What its values look like that others may know, such as postal codes, if its name does not say it."""
        return None if self.is_likely_known else may_be_known(self)

    @property
    def doubt_as_label(self) -> str | None:
        """What speaks against predicting it: that it finds people, by its name or values; `None` if nothing does."""
        if self.header.is_birth:
            return "its name says that it is when people were born"
        return self.identifies or ("its name says that it is a place" if self.header.is_place else None)

    @property
    def possible_code(self) -> str | None:
        """A value such as `1E1` that may be a code, if all values may be numbers."""
        return possible_code(self.sample)

    @property
    def has_codes(self) -> bool:
        """Whether prefixes can group the values: texts of equal length without spaces, such as postal codes."""
        is_one_word = not any(" " in text for text in self.sample)
        return self.type == ValueType.STRING and is_one_word and len(set(map(len, self.sample))) == 1

    def left_out(self) -> str | None:
        """Return why the column should not be shared, or `None` if maskings can be drafted for it."""
        if not self.known:
            return "no record has a value"
        if self.known < LEAST <= self.records:
            return f"fewer than {LEAST} records have a value, which tells about nobody else"
        if self.distinct == 1 and not self.missing:
            return "every record has the same value"
        if self.identifies is None and self.recognised is not None and self.recognised.has_many_odd:
            remedy = "write these like the others, or leave them empty, to share it"
            return f"{self.recognised.in_words}, more than one in a hundred; {remedy}"
        return self.identifies or self._unmaskable()

    def _unmaskable(self) -> str | None:
        if self.is_number and self.numbers < self.known:
            return "contains numbers that are infinite or too large; remove them to share it"
        if self.type != ValueType.STRING:
            return None
        for what, pattern in _UNMASKABLE.items():
            if self.distinct > _FEW and self.share(pattern.fullmatch) >= _MATCHING:
                return what
        if self.has_codes:
            return None
        is_nearly_unique = self.distinct > _NEARLY_UNIQUE * self.known
        is_too_varied = self.distinct > MOST_TEXTS or (is_nearly_unique and self.distinct > _FEW)
        if is_too_varied and self.share(is_quantity) >= _MATCHING:
            return "has numbers or times not written as 1234.5 or 2024-12-31; rewrite them without units to share it"
        return "too many different texts" if is_too_varied else None


def columns_of(
    table: Table,
    label: str,
    names: Sequence[str],
    as_texts: Collection[str] = (),
    *,
    fold_case: bool = False,
    stated: Mapping[str, Attribute] = MappingProxyType({}),
) -> tuple[Table, list[Column]]:
    """Survey the label and these columns, and detect those that identify persons.

    Args:
        names: The other columns.
        as_texts: Columns to treat as texts if they contain others than numbers or dates.
        fold_case: Whether values that differ only in case or surrounding blanks are one.
        stated: The stated attributes of columns; the table is already read accordingly.

    Returns:
        The table with its columns read in their written form, with a few odd texts as missing, and the columns.

    Raises:
        TableError: The table cannot be read, has no records, or has too many columns; or numbers or dates are
            ambiguous.
    """
    surveyed = {values.name: values for values in values_of(table, [label, *names])}
    types = {name: each.value_type for name, each in stated.items()}
    read = [label, *names] if surveyed[label].distinct > LABEL_BINS else names  # few are classes
    unclear = [name for name in read if _may_be(table, surveyed[name]) and types.get(name) is not ValueType.STRING]
    seen = {name: recognised_in(table, name, types.get(name)) for name in unclear}
    forms = {name: each for name, each in seen.items() if each is not None and not (each.odd and name in as_texts)}
    writings = {name: Writing(each.form, odd_as_missing=True) for name, each in forms.items() if not each.has_many_odd}
    of_texts = [each for name, each in surveyed.items() if name not in forms and is_text(table, name)]
    spellings = {text.name: _spellings(text) for text in of_texts}
    if fold_case:
        writings |= {name: Writing(fold_case=True) for name, alike in spellings.items() if alike}
    if writings:
        table = plainly(table, writings)
        surveyed |= {each.name: each for each in values_of(table, list(writings))}
    reasons = identifying(table, list(surveyed.values()))
    blank = _blank(table, [name for name, each in surveyed.items() if each.known < each.records])
    return table, [
        Column(
            **{one.name: getattr(each, one.name) for one in fields(each)},
            identifies=reasons.get(name),
            recognised=forms.get(name),
            spellings=spellings.get(name, ()),
            fold_case=fold_case and bool(spellings.get(name)),
            blank=blank.get(name, 0),
            stated=stated.get(name),
        )
        for name, each in surveyed.items()
    ]


def _may_be(table: Table, values: Values) -> bool:
    """Return whether all texts of a column are needed to recognise its form."""
    if not is_text(table, values.name):
        return False
    if values.type == ValueType.STRING:
        return are_likely(values.sample)
    is_number = values.type in {ValueType.INTEGER, ValueType.NUMBER}
    return values.numbers < values.known if is_number else len(values.sample) < values.distinct


def _blank(table: Table, names: Sequence[str]) -> dict[str, int]:
    """Return the number of cells of these columns with spaces alone."""
    texts = {name: table.source[f"c{table.columns.index(name)}"] for name in names if table.has_texts(name)}
    counts = {
        f"n{place}": text.nullif(MISSING).count() - AS_TEXT.key(text).count()
        for place, text in enumerate(texts.values())
    }
    seen = table.engine.fetch(table.source.aggregate(**counts)).to_pylist()[0] if counts else {}
    return dict(zip(texts, seen.values(), strict=True))


def _spellings(values: Values) -> tuple[str, ...]:
    """Return the texts of one value that differ only in case or surrounding blanks."""
    if values.type != ValueType.STRING:
        return ()
    alike: dict[str, list[str]] = {}
    for text in values.sample:
        alike.setdefault(text.strip().lower(), []).append(text)
    most = max(alike.values(), key=len, default=[])
    return tuple(most) if len(most) > 1 else ()


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
        groups: The number of its masked values, without a missing one.
        smallest: The number of records of the rarest.
        kept: Its information about the label as a share of the unmasked attribute's; `None` if that is 0.
        by_label: Whether it merges values that tell the same about the label.
        blank: Whether a missing value stays missing.
    """

    id: str
    groups: int
    smallest: int
    kept: float | None
    by_label: bool
    blank: bool


@dataclass(frozen=True)
class DraftedAttribute:
    """An attribute of the drafted plan.

    Attributes:
        attribute: The attribute in the plan. Its maskings are nested, the finest first.
        levels: The properties of its maskings.
        information: The mutual information of its values, or bins, and the label, in bits.
        by_chance: The bits expected of equally many independent values in as many records.
        notes: What it gives away or repeats.
    """

    column: Column
    attribute: Attribute
    levels: tuple[Level, ...]
    information: float
    by_chance: float
    notes: tuple[str, ...] = ()

    @property
    def remarks(self) -> list[str]:
        """Remarks on its written form, and on what it gives away or repeats."""
        return [*self.column.remarks, *self.notes]


def drafted(
    table: CountedTable, counted: CountedAttribute, column: Column, minimum: int, *, fit: bool = True
) -> DraftedAttribute:
    """Return an attribute with maskings whose groups have at least `minimum` records.

    Missing values of ordered attributes stay missing. Units of dates, and prefixes, may leave 1 % of the records in
    smaller groups, whose names must cover at least 20 records: `1,3*` would disclose a person's height.

    Args:
        table: The counted table.
        counted: The column in it; its attribute has no maskings yet.
        minimum: Minimum records of a group.
        fit: Whether groups may look at the label; otherwise they are as even as possible.
    """
    joint = joint_of(counted.counts)
    drafting = _Drafting(counted, column, joint if fit else joint.sum(axis=1, keepdims=True), minimum)
    attribute, by_label = drafting.attribute()
    domains = table.masked_domains(replace(counted, attribute=attribute))
    information, by_chance = information_of(counted)
    by_chance = min(max(by_chance, 0.0), information)
    levels = tuple(
        _level(name, counted, domain, information, by_label=name in by_label) for name, domain in domains.items()
    )
    return DraftedAttribute(column, attribute, levels, information, by_chance)


def telling_most(attributes: Sequence[CountedAttribute], most: int) -> set[int]:
    """Return the places of the attributes most informative about the label, adjusted for chance; ties go to the first.

    Args:
        attributes: Counted attributes.
        most: Maximum number to return.
    """
    if len(attributes) <= most:
        return set(range(len(attributes)))
    told = [information - by_chance for information, by_chance in map(information_of, attributes)]
    return set(np.argsort(-np.array(told), kind="stable")[:most].tolist())


def _level(name: str, counted: CountedAttribute, domain: MaskedDomain, information: float, *, by_label: bool) -> Level:
    joint = counted.counts.fold(domain.mapping, len(domain.texts))
    blank, rarest = MISSING in domain.texts, int(joint.sum(axis=1).min())
    return Level(name, len(joint) - blank, rarest, kept_share(joint, information), by_label, blank)


@dataclass(frozen=True)
class _Drafting:
    """An attribute to draft maskings for: its (values, labels) counts, and the minimum records of a group."""

    counted: CountedAttribute
    column: Column
    joint: Counts
    minimum: int

    def attribute(self) -> tuple[Attribute, set[str]]:
        """Return the attribute with suitable maskings, and the ids of those merged by the label."""
        has_codes = self.column.has_codes and self.column.distinct > _FEW_CODES
        by_label: list[bool] = []
        if self.column.is_number:
            functions, by_label = self._intervals()
        elif self.column.type == ValueType.DATE:
            functions = self._dates()
        elif has_codes and (prefixes := self._prefixes()):
            functions = prefixes
        else:
            functions, by_label = self._categories()
        fitted = {name for name, is_fitted in zip(functions, by_label, strict=False) if is_fitted}
        maskings = tuple(Masking(name, function, "the draft") for name, function in functions.items())
        return replace(self.counted.attribute, maskings=maskings, fitted_to_label=bool(fitted)), fitted

    def _intervals(self) -> tuple[dict[str, MaskingFunction], list[bool]]:
        fitted = fit_intervals(self.counted.domain, self.joint, self.minimum, SIZES, self.counted.least)
        useful = {len(each.level.groups): each for each in fitted if 1 < len(each.level.groups) < self._values}
        edges: dict[str, MaskingFunction] = {
            f"{self.column.name}-{groups}": EdgeBuckets(each.edges) for groups, each in useful.items()
        }
        return edges, [each.level.by_label for each in useful.values()]

    def _categories(self) -> tuple[dict[str, MaskingFunction], list[bool]]:
        if self.column.distinct > MOST_TEXTS:
            return {}, []
        fitted = fit_groups(self.joint, self.minimum, SIZES, self.counted.least)
        levels = {each.groups: each for each in fitted}
        useful = [each for each in levels.values() if 1 < len(each.groups) < len(self.joint)]
        if not useful:
            return {}, []
        tree = tree_of(self.counted.domain.texts, self.counted.people, [each.groups for each in useful])
        functions = [TreeHierarchy(tree, number) for number in range(1, len(useful) + 1)]
        return self._numbered(functions), [each.by_label for each in useful]

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
            are_enough = (
                sizes.min() >= self.counted.least and sizes[sizes < self.minimum].sum() <= _TOO_FEW * records.sum()
            )
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
