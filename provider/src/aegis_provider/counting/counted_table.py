"""From a table and a plan to domains, joint counts, masked values and combinations of values."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from aegis_provider.counting.counts import Counts, JointCounts, Partition, Places, Tally, tally
from aegis_provider.counting.people import People
from aegis_provider.errors import PlanError, TableError, UnmaskableValueError
from aegis_provider.masking import Draw, FittedFunction, MaskingFunction, RandomFunction, random_for
from aegis_provider.plan.model import Attribute, Masking, Plan
from aegis_provider.table import Table
from aegis_provider.table.arrays import numbers_in
from aegis_provider.table.discretization import Binned, discretized
from aegis_provider.table.notation import Recognised, Writing, is_text, odd_texts, plainly, recognised_or_located
from aegis_provider.table.values import MISSING, Domain, ValueType, decimal_of, infer_type, key_of, possible_code

_LARGEST_KEY: Final = 2**62

MOST_CLASSES: Final = 200
"""The most values of a label that is drafted, or that is not the default one."""

LEAST: Final = 20
"""The fewest people who have a value that an entry lists or a name tells: records, if each is of another person."""


@dataclass(frozen=True)
class CountedAttribute:
    """An attribute with its domain and joint counts in the table.

    `whole`: the attribute in the whole table if only some of its records are counted; maskings are fitted to that.
    `rows`: the most records of a person. `sizes`: see `people`.
    """

    attribute: Attribute
    domain: Domain
    counts: JointCounts
    whole: "CountedAttribute | None" = None
    rows: int = 1
    sizes: Counts | None = None

    @property
    def people(self) -> Counts:
        """(values,) How many people have each value; where `LEAST` or more certainly have it, at least how many."""
        return self.counts.histogram() if self.sizes is None else self.sizes

    @property
    def least(self) -> int:
        """The fewest records of a group of values with at least `LEAST` people, whoever they are."""
        return LEAST * self.rows


@dataclass(frozen=True)
class MaskedDomain:
    """`texts`: the masked values, `""` first; `mapping`: for each value the index of its masked value."""

    texts: tuple[str, ...]
    mapping: tuple[int, ...]

    @classmethod
    def of(cls, masked: Sequence[str], *, secret: bool = False) -> "MaskedDomain":
        """Order masked values like the values they come from, or by text if that order must stay `secret`."""
        texts = sorted(dict.fromkeys(masked), key=lambda text: (text != MISSING, text if secret else ""))
        places = {text: place for place, text in enumerate(texts)}
        return cls(tuple(texts), tuple(places[text] for text in masked))

    def partition(self) -> Partition:
        """Group the values by their masked values."""
        return Partition(np.array(self.mapping, dtype=np.intp), len(self.texts))


@dataclass(frozen=True)
class CountedTable:
    """The attributes of a plan, counted in a table against the label.

    `recognised`: the recognised content of columns without a type in the plan: numbers and dates in other than plain
    notation, or so many other texts that all are read as texts. `people`: whose the records are, if the plan says so;
    the table then has at most `people.rows` records of each person.
    """

    table: Table
    label: Domain
    attributes: tuple[CountedAttribute, ...]
    recognised: Mapping[str, Recognised] = field(default_factory=dict)
    people: People | None = None

    @classmethod
    def of(cls, table: Table, plan: Plan) -> "CountedTable":
        """Count the attributes of the plan against its label.

        Reads the table once, once more if attributes are discretised, and again for each rule that needs quantiles, or
        if numbers or dates are not in plain notation. The result's `table` reads discretised attributes as bins, and
        others plainly.

        Raises:
            TableError: A column is missing, there are no records, a value is not of its attribute's type, or a few
            texts among numbers or dates are not explained by the plan.
            PlanError: All records are of one person.
        """
        people = None if plan.person is None else People.of(table, plan.person, plan.rows_per_person)
        table = table if people is None else people.bounded(table)
        names = [attribute.name for attribute in plan.attributes]
        table = discretized(plainly(table, plan.writings), plan.binned)
        tallies = tally(table, names, plan.label)
        if not len(tallies[0].counts):
            raise TableError(f"{table.name}: the table has no records")
        if recognised := dict(_recognised(table, plan, tallies)):
            forms = {name: Writing(content.form) for name, content in recognised.items() if not content.odd}
            table = plainly(table, forms)
            tallies = tally(table, names, plan.label) if forms else tallies
        label = _domain(table, plan.label, tallies[0].labels, None, plan.order)
        pairs = zip(plan.attributes, tallies, strict=True)
        counted = (_counted(table, attribute, each, label, people, plan.source) for attribute, each in pairs)
        return cls(table, label, tuple(counted), recognised, people)

    @property
    def person(self) -> str | None:
        """The column that says whose a record is, unless each record is of another person."""
        return None if self.people is None or self.people.are_records else self.people.column

    @property
    def rows(self) -> int:
        """The most records of a person."""
        return 1 if self.people is None else self.people.rows

    @property
    def records(self) -> int:
        """The number of records, `N`."""
        return int(self.attributes[0].counts.counts.sum())

    def attribute(self, name: str) -> CountedAttribute:
        """The attribute with this name, which the plan has."""
        return next(each for each in self.attributes if each.attribute.name == name)

    def chosen(self, plan: Plan) -> tuple[CountedAttribute, ...]:
        """Return what configurations of the plan choose for: the attributes, and a label that has maskings."""
        label = self.masked_label(plan)
        return self.attributes if label is None else (*self.attributes, label)

    def masked_label(self, plan: Plan) -> CountedAttribute | None:
        """Return the label as an attribute, counted against itself; `None` if it has no maskings."""
        if plan.masked_label is None:
            return None
        places, histogram = np.arange(len(self.label)), self.attributes[0].counts.label_histogram()
        counts = JointCounts(places, places, histogram, (len(places), len(places)))
        return CountedAttribute(plan.masked_label, self.label, counts, rows=self.rows)

    def doubtful_types(self, plan: Plan) -> Iterator[str]:
        """Yield a sentence for each attribute without a type in the plan whose decimals may be codes.

        Also one for lines of a CSV file that are not records, and one for a few records without a label.
        """
        yield from () if self.people is None else self.people.in_words()
        if any(said in (self.table.written or "") for said in ("left out", "assumed")):
            yield f"{self.table.name}: CSV in {self.table.written}"
        labels = dict(zip(self.label.texts, self.attributes[0].counts.label_histogram().tolist(), strict=True))
        if said := self.table.unlabelled(plan.label, labels.get(MISSING, 0), self.records):
            yield said
        for name, of in self.recognised.items():
            texts = f"{of.in_words}, so all are read as texts; clean them, or write `type: string`"
            yield f"{name}: {texts if of.odd else of.how_read} ({plan.source}: attributes.{name})"
        for attribute in self.attributes:
            code = None if attribute.attribute.value_type is not None else possible_code(attribute.domain.places)
            if code is not None and attribute.domain.value_type is ValueType.STRING:
                read, instead = "a code, so all its values are texts", "If they are numbers, write `type: number`"
            elif code is not None:
                read, instead = f"the number {decimal_of(code):f}", "If it is a code, write `type: string`"
            else:
                continue
            name = attribute.attribute.name
            yield f"{name}: {code!r} is read as {read}. {instead} ({plan.source}: attributes.{name}.type)"

    def restricted_to(self, table: Table, label: str) -> "CountedTable":
        """Count the same attributes in another table with only some of the records.

        Domains keep the values that occur there, and fitted maskings are those of the whole table.

        Raises:
            TableError: The table cannot be read, or has no records.
        """
        tallies = tally(table, [attribute.attribute.name for attribute in self.attributes], label)
        if not len(tallies[0].counts):
            raise TableError(
                f"{table.name}: every configuration suppresses all records; use a plan with one that leaves some"
            )
        order = self.label.texts if self.label.ordered else None
        known = _domain(table, label, tallies[0].labels, self.label.value_type, order)
        both = zip(self.attributes, tallies, strict=True)
        people = None if self.people is None else self.people.of_some(table)
        attributes = []
        for whole, again in both:
            typed = replace(whole.attribute, value_type=whole.domain.value_type)
            counted = _counted(table, typed, again, known, people)
            attributes.append(replace(counted, attribute=whole.attribute, whole=whole))
        return replace(self, table=table, label=known, attributes=tuple(attributes), people=people)

    def masked_domains(self, counted: CountedAttribute) -> dict[str, MaskedDomain]:
        """Return the masked domain of each deterministic masking, by id."""
        functions = [
            (masking, self.function(counted, masking)) for masking in counted.attribute.maskings if masking.is_by_value
        ]
        return {
            each.id: MaskedDomain.of(self.masked(counted, each), secret=function.secret) for each, function in functions
        }

    def masked(self, counted: CountedAttribute, masking: Masking) -> list[str]:
        """Return the masked text of each value of the attribute.

        Raises:
            TableError: A value has no masked text.
        """
        function, reading = self.function(counted, masking), self.table.reading(counted.attribute.name)
        with self._located(counted, masking):
            if isinstance(reading, Binned):
                return function.mask_bins(counted.domain, reading.ends(counted.domain))
            return function.mask(counted.domain)

    def function(self, counted: CountedAttribute, masking: Masking) -> MaskingFunction:
        """Return the masking function, fitted to this table's counts if needed.

        Raises:
            PlanError: The masking is not a function of the value.
            TableError: As for `masked`.
        """
        match masking.function:
            case MaskingFunction() as function:
                return function
            case FittedFunction() as function:
                whole = counted.whole or counted
                with self._located(counted, masking):
                    reading, binned = self.table.reading(counted.attribute.name), False
                    domain = whole.domain
                    if isinstance(reading, Binned):  # the numbers at which they begin
                        domain, binned = reading.ends(domain)[0], True
                    return function.fit(domain, whole.counts.histogram(), binned=binned)
            case _:
                why = "was masked elsewhere" if masking.is_elsewhere else "masks at random"
                raise PlanError(f"{masking.place}: {why}, so a value does not determine its masked value")

    def draws(self, counted: CountedAttribute, seed: int) -> dict[str, Draw]:
        """Return the draw of each random masking, by id."""
        return {
            masking.id: self.draw(counted, masking, seed) for masking in counted.attribute.maskings if masking.is_random
        }

    def draw(self, counted: CountedAttribute, masking: Masking, seed: int) -> Draw:
        """Return the draw of a random masking; the same seed gives the same draw.

        Raises:
            PlanError: The masking is of another kind.
            TableError: As for `masked`, or the domain is too large.
        """
        if not isinstance(masking.function, RandomFunction):
            raise PlanError(f"{masking.place}: is not random, so there is nothing to draw")
        joint = counted.counts.fold(range(len(counted.domain)), len(counted.domain))
        random = random_for(seed, counted.attribute.name, masking.id)
        with self._located(counted, masking):
            return masking.function.draw(counted.domain, joint, random)

    @contextmanager
    def _located(self, counted: CountedAttribute, masking: Masking) -> Iterator[None]:
        """Add the line of the value and the place of the masking to errors of a masking function."""
        name = counted.attribute.name
        try:
            yield
        except UnmaskableValueError as fault:
            is_binned = isinstance(self.table.reading(name), Binned)
            where = self.table.name if is_binned else self.table.located(name, fault.text)
            raise TableError(f"{where}: {name} {fault} ({masking.place})") from fault
        except ValueError as error:
            raise TableError(f"{self.table.name}: {name}: {error} ({masking.place})") from error


def _recognised(table: Table, plan: Plan, tallies: Sequence[Tally]) -> Iterator[tuple[str, Recognised]]:
    """Yield the notation of columns with numbers or dates that are not in plain notation."""
    for attribute, each in zip(plan.attributes, tallies, strict=True):
        texts, name, declared = set(each.texts), attribute.name, attribute.value_type
        if not is_text(table, name) or attribute.order is not None:
            continue
        # No notation needs recognition if the texts are plain values of a type.
        if declared is None and infer_type(texts) is not ValueType.STRING:
            continue
        with suppress(UnmaskableValueError):
            if declared is not None and all(key_of(text, declared) is not None for text in texts if text != MISSING):
                continue
        counts = dict.fromkeys(texts, 0)
        for text, records in zip(each.texts, each.counts.tolist(), strict=True):
            counts[text] += records
        of = recognised_or_located(table, name, counts, declared)
        if of is not None and of.odd and not (of.has_many_odd and declared is None):
            raise odd_texts(table, name, of, f" ({plan.source}: attributes.{name})")
        if of is not None:
            yield name, of


def _counted(
    table: Table, attribute: Attribute, counted: Tally, label: Domain, people: People | None, source: str = ""
) -> CountedAttribute:
    place = f" ({source}: attributes.{attribute.name}.type)" if source and attribute.value_type is not None else ""
    domain = _domain(table, attribute.name, counted.texts, attribute.value_type, attribute.order, place)
    counts = JointCounts(
        values=_places(domain, counted.texts),
        labels=_places(label, counted.labels),
        counts=counted.counts,
        shape=(len(domain), len(label)),
    )
    if people is None or people.are_records:
        return CountedAttribute(attribute, domain, counts)
    sizes = _sizes(table, attribute, domain, counts, people)
    return CountedAttribute(attribute, domain, counts, rows=people.rows, sizes=sizes)


def _sizes(table: Table, attribute: Attribute, domain: Domain, counts: JointCounts, people: People) -> Counts:
    """(values,) How many people have each value, at least; counted only if that may be fewer than `LEAST` or more."""
    records = counts.histogram()
    sizes: Counts = -(-records // people.rows)
    if ((records >= LEAST) & (sizes < LEAST)).any():
        for text, many in table.people_of_texts(attribute.name, people.column):
            place = domain.places[text]
            sizes[place] = max(sizes[place], many)  # a person may have several texts of a value
    return sizes


def _domain(
    table: Table,
    column: str,
    texts: NDArray[Any],
    declared: ValueType | None,
    order: Sequence[str] | None,
    place: str = "",
) -> Domain:
    """Return the domain of a column, in the order of the plan, or else of the table."""
    if order is None and set(texts) <= {MISSING, *table.orders.get(column, ())}:
        order = table.orders.get(column)
    try:
        _refuse_nul(texts)
        if isinstance(reading := table.reading(column), Binned):
            return Domain.in_order(texts, reading.key_of)
        return Domain.of(texts, declared, order)
    except UnmaskableValueError as fault:
        raise TableError(f"{table.located(column, fault.text)}: {column} {fault}{place}") from fault


def _refuse_nul(texts: Iterable[str]) -> None:
    for text in texts:
        if "\0" in text:
            raise UnmaskableValueError(text, "contains a NUL character")


def _places(domain: Domain, texts: NDArray[Any]) -> NDArray[np.intp]:
    return np.fromiter((domain.places[text] for text in texts), dtype=np.intp, count=len(texts))


@dataclass(frozen=True, eq=False)
class DistinctRecords:
    """The combinations of values of some columns that occur, with their counts.

    `codes`: (combinations, columns) the place of each value in its column's domain; `counts`: (combinations,) records.
    A combination may appear more than once if the table writes one value in two ways. `people`: (combinations,) the
    number, from 0, of the person that each is of, which tells combinations apart, too; `None` if records are people.
    `names`: the texts that say whose a record is, by number of the person; those without one have higher numbers.
    """

    columns: tuple[str, ...]
    domains: tuple[Domain, ...]
    codes: Places
    counts: Counts
    people: Places | None = None
    names: Sequence[str] = ()

    @classmethod
    def of(
        cls, counted: CountedTable, columns: Sequence[str], *, by_spelling: bool = False, by_person: bool = True
    ) -> "DistinctRecords":
        """Read these columns of a counted table once more; each is an attribute of the plan, or the label.

        Args:
            by_spelling: Whether every spelling is a separate value.
            by_person: Whether to tell people apart, if the plan names their column.
        """
        known = {attribute.attribute.name: attribute.domain for attribute in counted.attributes}
        domains = tuple(known.get(name, counted.label) for name in columns)
        if by_spelling:
            domains = tuple(each.by_spelling() for each in domains)
        person = [counted.person] if by_person and counted.person is not None else []
        combinations = counted.table.combinations([*columns, *person])
        codes = [_codes(combinations.column(n), domain) for n, domain in enumerate(domains)]
        counts = numbers_in(combinations.column("n"))
        # Engines return them in any order, on which the last digits of sums depend, and with these a search.
        order = _in_order([counts, *codes])
        found = cls(tuple(columns), domains, np.stack(codes, axis=1)[order], counts[order])
        if not person:
            return found
        texts = combinations.column(len(domains)).combine_chunks()
        return found.of_people(numbers_in(texts.indices)[order], texts.dictionary.to_pylist())

    def of_people(self, people: Places, names: Sequence[str]) -> "DistinctRecords":
        """Return the combinations by person: one for each record without one, which is of a person of its own.

        Args:
            people: (combinations,) the place of each one's person among `names`.
            names: The texts that say whose a record is.
        """
        unknown = people == (names.index(MISSING) if MISSING in names else len(names))
        rows = np.repeat(np.arange(len(people)), np.where(unknown, self.counts, 1))
        alone, whose = unknown[rows], people[rows].astype(np.intp)
        whose[alone] = len(names) + np.arange(int(alone.sum()))
        return replace(self.take(rows), counts=np.where(alone, 1, self.counts[rows]), people=whose, names=names)

    def names_of(self, people: Places) -> list[str]:
        """Return the texts of these people, `""` of those without one."""
        return [self.names[each] if each < len(self.names) else MISSING for each in people.tolist()]

    def take(self, rows: NDArray[Any]) -> "DistinctRecords":
        """Return some of the combinations: by their places, or by a mask."""
        people = None if self.people is None else self.people[rows]
        return replace(self, codes=self.codes[rows], counts=self.counts[rows], people=people)


def _in_order(columns: Sequence[Places]) -> Places:
    """Return what `lexsort` returns for columns of whole numbers from 0, by one sort if they fit into one number."""
    key = np.zeros(len(columns[0]), dtype=np.int64)
    size = 1
    for column in reversed(columns):
        numbers = int(column.max(initial=0)) + 1
        size *= numbers
        if size > _LARGEST_KEY:
            return np.lexsort(columns)
        key *= numbers
        key += column
    return np.argsort(key, kind="stable")


def _codes(texts: pa.ChunkedArray, domain: Domain) -> Places:
    coded = texts.combine_chunks()
    places = np.array([domain.places[text] for text in coded.dictionary.to_pylist()], dtype=np.intp)
    codes: Places = places[numbers_in(coded.indices)]
    return codes
