"""Whether the release of a combination of choices meets the requirement."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aegis_provider.counting.counted_table import DistinctRecords
from aegis_provider.counting.counts import Counts, Partition, Places
from aegis_provider.errors import PlanError
from aegis_provider.plan.model import IDENTITY, Roles
from aegis_provider.privacy import CRITERIA, Classes, breaks, classes_by_role, left_out_people
from aegis_provider.privacy.classes import changes
from aegis_provider.search.lattice import Choices, Decision, Lattice, Node, search

Keys: TypeAlias = NDArray[np.int64]

_LARGEST_KEY = 1 << 62

# With up to this many possible cells per row, counting all cells is faster than sorting the rows.
_CELLS_PER_ROW = 2

# If somebody has more rows than this, sorting all is faster than comparing turns.
_MOST_TURNS = 24


@dataclass(frozen=True, eq=False)
class ClassCounter:
    """Distinct records with their group under every choice, in as few bytes as possible.

    Attributes:
        groups: (rows,) The group of each record, by attribute and choice.
        sensitive: For each sensitive attribute, (rows,) the place of the value, and the number of values.
        people: (rows,) the number of the person whose each record is; `None` if records are people. The rows are in
            turns: the first of everybody, the second of all who have two, and so on, in each by number.
        turns: The first row of each turn, and the number of rows.
    """

    lattice: Lattice
    groups: tuple[tuple[NDArray[Any], ...], ...]
    sensitive: tuple[tuple[Places, int], ...]
    counts: Counts
    people: Places | None = None
    turns: tuple[int, ...] = ()

    @classmethod
    def of(
        cls, lattice: Lattice, records: DistinctRecords, sensitive: Sequence[str], masked: Mapping[str, Places]
    ) -> "ClassCounter":
        """Return the counter.

        Args:
            records: The distinct records of the attributes of the lattice and of the sensitive ones.
            masked: The place of each value's masked value, for sensitive attributes that are masked.
        """
        turns: tuple[int, ...] = ()
        if records.people is not None:
            records, turns = _in_turns(records, records.people)
        groups = tuple(
            tuple(
                partition.groups.astype(np.min_scalar_type(partition.size))[_codes(records, choice.attribute)]
                for partition in choice.partitions
            )
            for choice in lattice.choices
        )
        values_of = dict(zip(records.columns, map(len, records.domains), strict=True))
        mappings = [masked.get(name, np.arange(values_of[name])) for name in sensitive]
        values = [
            (mapping[_codes(records, name)], int(mapping.max()) + 1)
            for name, mapping in zip(sensitive, mappings, strict=True)
        ]
        # Without sensitive attributes, a constant one replaces them.
        nothing = (np.zeros(len(records.counts), dtype=np.intp), 1)
        return cls(lattice, groups, tuple(values) or (nothing,), records.counts, records.people, turns)

    def short(self, node: Node, k: float, distinct: float, at_most: int | None = None, *, told: bool = False) -> int:
        """Count the records of classes with fewer than `k` people or `distinct` values of any sensitive attribute.

        Args:
            at_most: With more than this, any larger number may be returned.
            told: Whether a value that all people of a class have counts as its only one, as in `l`.
        """
        keys, size = self._keys(node)
        if self.people is not None:
            return self._short_of_people(keys, size, self.people, k, distinct, at_most, told=told)
        if distinct <= 1 and size <= _CELLS_PER_ROW * len(keys):  # most nodes of most searches, and three times faster
            sizes = np.bincount(keys, self._weights)
            return int(sizes[sizes < k].sum())
        by_attribute = [self._classes(keys, size, *column) for column in self.sensitive]
        sizes = by_attribute[0][0]
        fails = sizes < k
        for _, values in by_attribute:
            fails |= values < distinct
        return int(sizes[fails].sum())

    def _short_of_people(
        self,
        keys: Keys,
        size: int,
        people: Places,
        k: float,
        distinct: float,
        at_most: int | None,
        *,
        told: bool,
    ) -> int:
        """Count the records of everybody with one in a class of fewer than `k` people or `distinct` values.

        Those of others follow whose classes become too small without these people.
        """
        if size > _CELLS_PER_ROW * len(keys):
            keys, size = self._numbered(keys)
        (classes, whose), out = self._pairs(keys, people), np.zeros(len(self._records), dtype=np.bool_)
        by_value = [self._cells(keys, size, people, *each, told=told) for each in self.sensitive if distinct > 1]
        gone = 0
        while True:
            sizes = np.bincount(classes, minlength=size)
            fails = sizes < k
            for class_of, cells, owners in by_value:
                many = np.bincount(cells[~out[owners]] if gone else cells, minlength=len(class_of))
                fails |= np.bincount(class_of[many > 0], minlength=size) < distinct
                if told:
                    fails[class_of[(many > 0) & (many == sizes[class_of])]] = True
            broken = fails[classes]
            if not broken.any():
                return gone
            out[whose[broken]] = True
            gone = int(self._records[out].sum())
            if at_most is not None and gone > at_most:
                return gone
            stays = ~out[whose]
            classes, whose = classes[stays], whose[stays]

    def _pairs(self, keys: Keys, people: Places) -> tuple[Keys, Places]:
        """Return the class and the person of (pairs,) everybody in each class, once.

        The n-th rows of all are compared with their earlier ones, turn by turn: several times as fast as a sort.
        """
        if len(self.turns) > _MOST_TURNS:
            pairs = np.sort(keys << self._row_bits | people)
            pairs = pairs[changes(pairs)]
            return pairs >> self._row_bits, pairs & ((1 << self._row_bits) - 1)
        once = np.ones(len(keys), dtype=np.bool_)
        for n, (start, end) in enumerate(pairwise(self.turns)):
            for earlier in self.turns[:n]:
                once[start:end] &= keys[start:end] != keys[earlier : earlier + end - start]
        return keys[once], people[once]

    def _cells(
        self, keys: Keys, size: int, people: Places, column: Places, values: int, *, told: bool
    ) -> tuple[Keys, Keys, Places]:
        """Return the class of each cell of a class and a value, and the cell and the person of each row.

        `told`: Only one row of those of a person in a cell.
        """
        cells, many = keys * values + column, size * values
        if many > _CELLS_PER_ROW * len(keys):
            cells, many = self._numbered(cells)
        class_of = np.zeros(many, dtype=np.int64)
        class_of[cells] = keys
        return class_of, *(self._pairs(cells, people) if told else (cells, people))

    def _numbered(self, keys: Keys) -> tuple[Keys, int]:
        """Renumber the keys as 0, 1, ... in the same order; return also how many are distinct."""
        cells = np.sort(keys << self._row_bits | np.arange(len(keys)))  # several times as fast as `np.unique`
        sorted_numbers = np.cumsum(changes(cells >> self._row_bits)) - 1
        numbers = np.empty_like(keys)
        numbers[cells & ((1 << self._row_bits) - 1)] = sorted_numbers
        return numbers, int(sorted_numbers[-1]) + 1

    @cached_property
    def _records(self) -> Counts:
        """(people,) The number of records of each person."""
        whose = np.arange(len(self.counts)) if self.people is None else self.people
        return np.bincount(whose, self.counts).astype(np.int64)

    def _keys(self, node: Node) -> tuple[Keys, int]:
        """Return (rows,) the number of each row's class, and an exclusive upper bound of these numbers."""
        keys, size = np.zeros(len(self.counts), dtype=np.int64), 1
        room = _LARGEST_KEY >> (self._row_bits + max(_bits(values) for _, values in self.sensitive))
        for choice, groups, place in zip(self.lattice.choices, self.groups, node, strict=True):
            number = choice.partitions[place].size
            if number == 1:
                continue
            if size * number > room:
                keys, size = self._numbered(keys)
            keys *= number
            keys += groups[place]
            size *= number
        return (keys, size) if size <= room else self._numbered(keys)

    def _classes(self, keys: Keys, size: int, column: Places, values: int) -> tuple[Counts, Counts]:
        """Return (classes,) the records of each class, and its number of values of a sensitive attribute."""
        if size * values <= _CELLS_PER_ROW * len(keys):
            table = np.bincount(keys * values + column, self.counts, size * values).reshape(size, values)
            sizes = table.sum(axis=1)
            return sizes[sizes > 0].astype(np.int64), np.count_nonzero(table[sizes > 0], axis=1)
        bits = _bits(values)
        cells, counts = self._sorted((keys << bits) + column)
        starts = np.flatnonzero(changes(cells >> bits))
        sizes = np.diff(starts, append=len(cells)) if counts is None else np.add.reduceat(counts, starts)
        return sizes, np.add.reduceat(changes(cells), starts, dtype=np.int64)

    def _sorted(self, cells: Keys) -> tuple[Keys, Counts | None]:
        """Return the sorted cells, and their counts unless all are 1: faster than `argsort`."""
        if self._all_single:
            cells.sort()
            return cells, None
        cells <<= self._row_bits
        cells += np.arange(len(cells))
        cells.sort()
        return cells >> self._row_bits, self.counts[cells & ((1 << self._row_bits) - 1)]

    @cached_property
    def _weights(self) -> NDArray[np.float64]:
        return self.counts.astype(np.float64)

    @cached_property
    def _all_single(self) -> bool:
        return bool(np.all(self.counts == 1))

    @cached_property
    def _row_bits(self) -> int:
        return len(self.counts).bit_length()


def _in_turns(records: DistinctRecords, people: Places) -> tuple[DistinctRecords, tuple[int, ...]]:
    """Return records in turns, their people numbered from those with the most rows; see `ClassCounter`."""
    _, whose, rows = np.unique(people, return_inverse=True, return_counts=True)
    ranks = np.empty(len(rows), dtype=np.intp)
    ranks[np.argsort(-rows, kind="stable")] = np.arange(len(rows))
    numbers = ranks[whose]
    by_person = np.argsort(numbers, kind="stable")
    many = np.sort(rows)[::-1]
    turn = np.empty(len(people), dtype=np.intp)
    turn[by_person] = np.arange(len(people)) - np.repeat(np.cumsum(many) - many, many)
    order = np.lexsort([numbers, turn])
    bounds = np.append(0, np.cumsum(np.bincount(turn)))
    return replace(records.take(order), people=numbers[order]), tuple(bounds.tolist())


def _codes(records: DistinctRecords, name: str) -> Places:
    return records.codes[:, records.columns.index(name)]


def _bits(values: int) -> int:
    """Return the number of bits for the places of this many values."""
    return (values - 1).bit_length()


_COUNTED: Final = frozenset({"k", "l"})
LARGEST_LATTICE = 30_000_000
_MOST_ONE_BY_ONE = 100_000


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The requirement on a release of these records, and its evaluation for nodes of the lattice.

    Attributes:
        records: The distinct records of the attributes of the lattice and of the other columns with a role.
        roles: The attacks to protect people from, on each label. What is known in one is the attributes of the lattice,
            then other labels, which every node has alike.
        suppressed: The most records that may be suppressed because their equivalence class breaks the requirement.
        masked: For columns outside the lattice that every release masks, the place of each value's masked value.
    """

    lattice: Lattice
    records: DistinctRecords
    roles: tuple[Roles, ...]
    require: Mapping[str, float]
    suppressed: int
    masked: Mapping[str, Places] = field(default_factory=dict)

    @property
    def is_monotone(self) -> bool:
        """Whether every node coarser than one that meets the requirement also meets it.

        A coarser class is a union of finer ones. If it has fewer than `k` people or `l` values, so does each of them.
        Coarser masking therefore never suppresses more records, and `k` and `l` are monotone even with suppression
        (Kohlmayer et al. 2012). By the other criteria that survive merged classes, a union is no worse than its worst
        class. But a failing union can include passing classes, so coarser masking may suppress more.

        With several labels, records may be left out because others are; by `k` and `l`, those that stay in a release
        can stay in every coarser one.

        People with records in several classes have more values in a union of these, one of which all may share, so only
        `k` is monotone then. The others hold nowhere that `holds_counts` does not.
        """
        if self.by_person:
            return self.require.keys() <= {"k"}
        survives = all(CRITERIA[name].survives_merged_classes for name in self.require)
        return self.require.keys() <= _COUNTED or (self.suppressed == 0 and survives)

    @property
    def is_bounded(self) -> bool:
        """Whether every node finer than one that `holds_counts` excludes is excluded, too, if others cannot be listed.

        That is so for people, whose classes are too many to check one by one.
        """
        return self.is_monotone or self.by_person

    @property
    def by_person(self) -> bool:
        """Whether people can have several records."""
        return self.records.people is not None

    def holds(self, node: Node) -> bool:
        """Return whether the records in classes that break the requirement are few enough to suppress."""
        if not self.holds_counts(node):
            return False
        if self.require.keys() <= _COUNTED and (len(self.roles) == 1 or not self.suppressed):
            return not self.by_person or self._short(node, told=True) <= self.suppressed
        return self.left_out(node, at_most=self.suppressed) <= self.suppressed

    def left_out(self, node: Node, require: Mapping[str, float] | None = None, at_most: int | None = None) -> int:
        """Return the number of records that a release suppresses, by default for the requirement.

        `at_most`: with more than this, any larger number may be returned.
        """
        wanted = self.require if require is None else require
        if self._apart:
            [classes] = self.classes(node)
            return int(classes.sizes[breaks(classes, wanted)].sum())
        return int(self.records.counts[self._out(node, wanted, at_most)[0]].sum())

    def released(self, node: Node) -> tuple[tuple[Classes, ...], int]:
        """Return the classes in each attack on a release without its suppressed records, and how many these are."""
        if self._apart:
            [classes] = self.classes(node)
            broken = breaks(classes, self.require)
            return (classes.without(broken),), int(classes.sizes[broken].sum())
        out, before = self._out(node, self.require)
        if not out.any():
            return before, 0
        rest = classes_by_role(self.records.take(~out), self._mappings(node), self.roles, before)
        return rest, int(self.records.counts[out].sum())

    @property
    def _apart(self) -> bool:
        """Whether no record is left out because another one is."""
        return len(self.roles) == 1 and not self.by_person

    def _out(
        self, node: Node, require: Mapping[str, float], at_most: int | None = None
    ) -> tuple[NDArray[np.bool_], tuple[Classes, ...]]:
        """Return (records,) which are left out, and the classes of all in each attack."""
        return left_out_people(self.records, self._mappings(node), self.roles, require, at_most)

    def holds_counts(self, node: Node) -> bool:
        """Check only `k` and `l`. This is monotone and faster than `holds`, and true wherever `holds` is true."""
        return self._short(node) <= self.suppressed

    def _short(self, node: Node, *, told: bool = False) -> int:
        """Count the records in classes with too few people or values; with several labels, in the worst attack."""
        k, distinct, short = self.require.get("k", 1), self.require.get("l", 1), 0
        for counter in self._counters:
            whole = (*node, *(0,) * (len(counter.lattice.choices) - len(node)))
            short = max(short, counter.short(whole, k, distinct, self.suppressed, told=told))
            if short > self.suppressed:
                break
        return short

    def classes(self, node: Node) -> tuple[Classes, ...]:
        """Return the equivalence classes of a node in each attack, with no class suppressed."""
        return classes_by_role(self.records, self._mappings(node), self.roles)

    def _mappings(self, node: Node) -> dict[str, Places]:
        pairs = zip(self.lattice.choices, node, strict=True)
        return {**{each.attribute: each.partitions[place].groups for each, place in pairs}, **self.masked}

    @cached_property
    def _counters(self) -> tuple[ClassCounter, ...]:
        """A counter for each attack; the other labels that are known in it follow the attributes of the lattice."""
        counts_values, counters = self.require.get("l", 1) > 1, []
        for one in self.roles:
            others = one.quasi_identifiers[len(self.lattice.choices) :]
            lattice = Lattice((*self.lattice.choices, *map(self._as_shown, others)))
            counters.append(ClassCounter.of(lattice, self.records, one.sensitive if counts_values else (), self.masked))
        return tuple(counters)

    def _as_shown(self, label: str) -> Choices:
        """Return the only choice for a label: as every release shows it."""
        values = len(self.records.domains[self.records.columns.index(label)])
        groups = self.masked.get(label)
        shown = Partition.identity(values) if groups is None else Partition(groups, int(groups.max()) + 1)
        return Choices.of(label, {IDENTITY: shown})


def decided(evaluation: Evaluation, source: str, spend: Callable[[], None]) -> Decision:
    """Decide every node of a lattice of up to 30 million.

    A requirement that is not monotone is checked for each node that meets its `k` and `l`, which are monotone.

    Args:
        spend: Called before every evaluation; what it raises ends this.

    Raises:
        PlanError: There are too many such nodes, or the lattice is too large; the message begins with `source`.
    """
    if evaluation.lattice.nodes > LARGEST_LATTICE:
        raise PlanError(_too_many(evaluation, source, f"{evaluation.lattice.nodes:,}"))

    def check(node: Node) -> bool:
        spend()
        return evaluation.holds(node) if evaluation.is_monotone else evaluation.holds_counts(node)

    decision = search(evaluation.lattice, check)
    if evaluation.is_monotone:
        return decision
    nodes = np.argwhere(decision.holds)
    if len(nodes) > _MOST_ONE_BY_ONE:
        raise PlanError(_too_many(evaluation, source, f"{len(nodes):,}"))
    holds = np.zeros_like(decision.holds)
    for node in map(tuple, nodes.tolist()):
        spend()
        holds[node] = evaluation.holds(node)
    return Decision(holds, decision.evaluated + len(nodes))


def _too_many(evaluation: Evaluation, source: str, nodes: str) -> str:
    names = ", ".join(name for name in evaluation.require if name not in _COUNTED)
    never = " and ".join(name for name, criterion in CRITERIA.items() if not criterion.survives_merged_classes)
    return (
        f"{source}: {names} would have to be checked one by one for {nodes} combinations of maskings, but at most "
        f"{_MOST_ONE_BY_ONE:,} are checked; suppress nothing and do not require {never}, or remove maskings from the "
        "plan"
    )
