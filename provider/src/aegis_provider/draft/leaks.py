"""Columns that give the label away or lie after it in time, and columns that repeat others."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import log, prod
from typing import Final

import numpy as np

from aegis_advisor.measures import held_out_share
from aegis_provider.counting.coded_table import BY_LABEL, CodedTable, Two
from aegis_provider.counting.counted_table import LEAST, CountedAttribute, CountedTable
from aegis_provider.counting.counts import Counts, Partition, Places
from aegis_provider.counting.pair_cells import PairCells
from aegis_provider.plan.model import LEAKS
from aegis_provider.table.values import MISSING, ValueType
from aegis_sdk.reading import Share, shown
from aegis_sdk.wire import EntryDocument

#: A column with a higher share of the label's information is left out.
ALL: Final = 0.95

#: A column with a higher share is a warning.
MUCH: Final = 0.8

# The same of dates that are there or not, if they are always there for a label value, or never.
_ONE_SIDED: Final = 0.5

# All pairs are looked at of the columns that tell the most, up to so many cells of a pair: of a few columns in any
# table, and of more where that takes a second.
_FEW: Final = 8
_MOST_CELLS: Final = 1 << 20
_MANY: Final = 20
_CELLS_OF_MANY: Final = 1 << 17
_RECORDS_OF_MANY: Final = 1_000_000
_BY_CHANCE: Final = 1e-6

_VALUES, _FILLED = 0, 1


@dataclass(frozen=True)
class Leaks:
    """What the columns of a table give away.

    Attributes:
        left_out: The columns that give the label away, each with the reason.
        telling: Of the others, those that tell over 80 % of the label, each with that share.
        notes: Remarks on the others: what they tell, and what they repeat.
        copies: Columns whose values stand for those of earlier ones, one for one; each with these.
    """

    left_out: Mapping[str, str] = field(default_factory=dict)
    telling: Mapping[str, float] = field(default_factory=dict)
    notes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    copies: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class _Pair:
    """Two columns: their places, the share of the label's information that they tell together, and what follows.

    `follows`: whether the first follows from the second, and the second from the first.
    """

    places: tuple[int, int]
    share: float
    follows: tuple[bool, bool]


def share_told(joint: Counts, filled: Places) -> float:
    """Return the share of the label's information that a column tells, by its values or by whether it has one.

    Args:
        joint: (values, labels) counts.
        filled: (values,) 0 for a missing value, and 1 for others.
    """
    return max(held_out_share(joint), held_out_share(_folded(joint, filled)))


def leaks_in(counted: CountedTable, label: str, kept: Collection[str] = ()) -> Leaks:
    """Find columns that give the label away, by the counts, and by pairs of the 20 columns that tell the most.

    Of more than a million records, or a database's, it is the eight columns that tell the most. Columns with equal
    counts are compared, too.

    Left out are columns, and the better one of two columns, that tell over 95 % of the label's information, as
    `held_out_share` estimates it; dates that are there or not with over 80 % of it, or over 50 % if a label value has
    them always or never, since they are of an event that makes the label; and columns that come after these dates, are
    there only with them, or tell whether they are there. Records without a label do not count.

    Args:
        counted: The table, counted against the label.
        kept: The columns that are not left out.

    Raises:
        TableError: The table cannot be read.
    """
    finder = _Finder(counted, label)
    why = dict(finder.single())
    event = finder.event()
    if event is not None:
        why |= {name: reason for name, reason in finder.after(event) if name not in why}
    left = [place for place, name in enumerate(finder.names) if name not in why or name in kept]
    pairs = finder.pairs(left)
    why |= finder.together([each for each in pairs if not {finder.names[place] for place in each.places} & {*kept}])
    left_out = {name: f"{LEAKS}: {why[name]}" for name in finder.names if name in why and name not in kept}
    notes: dict[str, list[str]] = {name: [f"{LEAKS}: {why[name]}"] for name in kept if name in why}
    for name, note in [*finder.empty(), *finder.repeated(pairs)]:
        notes.setdefault(name, []).append(note)
    telling = {name: share for name, share in finder.telling().items() if name not in left_out}
    copies: dict[str, list[str]] = {}
    for first, second in (each.places for each in pairs if all(each.follows)):
        copies.setdefault(finder.names[second], []).append(finder.names[first])
    return Leaks(left_out, telling, {name: said for name, said in notes.items() if name not in left_out}, copies)


def telling_among(counted: CountedTable, label: str) -> dict[str, float]:
    """Return the columns of a counted table that tell over 80 % of the label, each with that share."""
    return _Finder(counted, label).telling()


def telling_in(entry: EntryDocument) -> dict[str, float]:
    """Return the columns of an entry with exact counts that tell over 80 % of the label, each with that share."""
    labelled = np.array([text != MISSING for text in entry.label.domain])
    known = {each.name: (np.array(each.joint), each.domain) for each in entry.attributes if each.joint}
    shares = {
        name: share_told(joint[:, labelled], np.array([text != MISSING for text in domain], dtype=np.intp))
        for name, (joint, domain) in known.items()
    }
    return {name: share for name, share in shares.items() if share > MUCH}


class _Finder:
    """Looks at the columns of a counted table.

    Attributes:
        names: The columns.
        filled: Of each, (2, labels) the records without and with a value, of those that have a label.
        shares: Of each, the share of the label's information that it tells.
    """

    def __init__(self, counted: CountedTable, label: str) -> None:
        self._counted, self._label, self._of_label = counted, label, shown(label)
        self._labelled = np.array([text != MISSING for text in counted.label.texts])
        self.names = [each.attribute.name for each in counted.attributes]
        self.filled: list[Counts] = []
        self.shares: list[float] = []
        self._alike: dict[int, list[int]] = {}
        for place, each in enumerate(counted.attributes):  # their dense counts are not kept: there may be thousands
            joint, filled = each.counts.dense()[:, self._labelled], _filled(each)
            self.filled.append(_folded(joint, filled))
            self.shares.append(share_told(joint, filled))
            self._alike.setdefault(hash(joint[np.lexsort(joint.T)].tobytes()), []).append(place)

    def telling(self) -> dict[str, float]:
        """Return the columns that tell over 80 % of the label by themselves, each with that share."""
        return {name: share for name, share in zip(self.names, self.shares, strict=True) if share > MUCH}

    def single(self) -> Iterator[tuple[str, str]]:
        """Yield the columns that tell nearly all about the label by themselves, with the reason."""
        for name, share in zip(self.names, self.shares, strict=True):
            if share > ALL:
                yield name, f"tells over {Share(ALL).whole} of {self._of_label}"

    def event(self) -> int | None:
        """Return the place of the dates of an event that makes a value of the label, if there are any."""
        dates = [place for place in range(len(self.names)) if self._is_date(place)]
        made = {place: max(map(_made, _one_by_one(self.filled[place]))) for place in dates}
        best = max(dates, key=lambda place: made[place], default=None)
        return None if best is None or not made[best] else best

    def after(self, event: int) -> Iterator[tuple[str, str]]:
        """Yield this event, and the columns that come after it, with the reason."""
        yield self.names[event], f"is there or not as {self._of_label} says, so it lies after {self._of_label}"
        others = [place for place in range(len(self.names)) if place != event]
        with_dates = [place for place in others if self._is_date(place) and self._cells(place, event) <= _MOST_CELLS]
        there: list[Two] = [((place, _VALUES), (event, _FILLED)) for place in others]
        dates: list[Two] = [((place, _VALUES), (event, _VALUES)) for place in with_dates]
        coded = self._coded([*others, event], event)
        joints = dict(zip([*there, *dates], coded.joints([*there, *dates]), strict=True))
        for place, two in zip(others, there, strict=True):
            days = joints.get(((place, _VALUES), (event, _VALUES)))
            if self._needs(place, joints[two]) or (days is not None and self._never_before(place, event, days)):
                yield (
                    self.names[place],
                    f"comes with or after {shown(self.names[event])}, which lies after {self._of_label}",
                )

    def _needs(self, place: int, joint: Counts) -> bool:
        """Return whether a column tells if an event took place, or has values only if it did.

        Args:
            place: The column.
            joint: (values, 2) the records without and with the event.
        """
        if held_out_share(joint) > ALL:
            return True
        without, there = _folded(joint, _filled(self._counted.attributes[place]))[1]
        return not without and bool(there * log(joint[:, 1].sum() / joint.sum()) < log(_BY_CHANCE))

    def _never_before(self, place: int, event: int, joint: Counts) -> bool:
        """Return whether dates are never before an event, given the (dates, event's dates) counts."""
        first, second = (self._counted.attributes[each].domain for each in (place, event))
        days = joint[int(MISSING in first.texts) :, int(MISSING in second.texts) :]
        keys = [[key for key in each.keys if key is not None] for each in (first, second)]
        earlier = np.searchsorted(np.array(keys[1], dtype=object), np.array(keys[0], dtype=object), side="right")
        not_before = sum(int(row[:place].sum()) for row, place in zip(days, earlier, strict=True))
        return bool(LEAST <= days.sum() == not_before)

    def pairs(self, places: Sequence[int]) -> list[_Pair]:
        """Count pairs of these columns: of those that tell the most, and of those with equal counts."""
        most = sorted(places, key=lambda place: -self.shares[place])[: self._most()]
        alike = [[place for place in group if place in places] for group in self._alike.values()]
        copies = ((group[0], each) for group in alike for each in group[1:])
        limits = dict.fromkeys([*combinations(sorted(most[:_FEW]), 2), *copies], _MOST_CELLS)
        limits |= {two: _CELLS_OF_MANY for two in combinations(sorted(most), 2) if two not in limits}
        both = [two for two, cells in limits.items() if self._cells(*two) * len(self._labelled) <= cells]
        coded = self._coded({place for two in both for place in two})
        counts = coded.counts([((one, 0), (two, 0), BY_LABEL) for one, two in both]) if both else []
        return [self._pair(two, cells) for two, cells in zip(both, counts, strict=True)]

    def _most(self) -> int:
        are_few = self._counted.records <= _RECORDS_OF_MANY and self._counted.table.engine.is_duckdb
        return _MANY if are_few else _FEW

    def _pair(self, places: tuple[int, int], cells: PairCells) -> _Pair:
        told = np.zeros((prod(cells.shape[:2]), cells.shape[2]), dtype=np.int64)
        np.add.at(told, (cells.first * cells.shape[1] + cells.second, cells.label), cells.counts)
        joint = cells.joint()
        return _Pair(places, held_out_share(told[:, self._labelled]), (_determines(joint.T), _determines(joint)))

    def together(self, pairs: Iterable[_Pair]) -> dict[str, str]:
        """Return of two columns that tell nearly all about the label the one that tells more, with the reason."""
        why: dict[str, str] = {}
        for pair in pairs:
            one, two = pair.places
            more, less = (one, two) if self.shares[one] > self.shares[two] else (two, one)
            is_new = not {self.names[one], self.names[two]} & {*why}
            if is_new and pair.share > ALL:
                less_name = shown(self.names[less])
                why[self.names[more]] = f"with {less_name}, it tells over {Share(ALL).whole} of {self._of_label}"
        return why

    def repeated(self, pairs: Iterable[_Pair]) -> Iterator[tuple[str, str]]:
        """Yield columns that repeat others, with a remark."""
        for pair in pairs:
            names = [shown(self.names[place]) for place in pair.places]
            if all(pair.follows):
                yield self.names[pair.places[1]], f"a copy of {names[0]}: {names[0]} is enough"
            elif any(pair.follows):
                which = pair.follows.index(True)
                yield self.names[pair.places[which]], f"follows from {names[1 - which]}: {names[1 - which]} is enough"

    def empty(self) -> Iterator[tuple[str, str]]:
        """Yield columns that are empty exactly where the label has one value, with a remark."""
        labels = [text for text in self._counted.label.texts if text != MISSING]
        for name, filled in zip(self.names, self.filled, strict=True):
            there = filled > 0
            if filled.sum(axis=1).min() >= LEAST and there[0].sum() == 1 and not (there[0] & there[1]).any():
                yield name, f"is empty exactly where {self._of_label} is {shown(labels[int(np.argmax(there[0]))])}"

    def _is_date(self, place: int) -> bool:
        return self._counted.attributes[place].domain.value_type is ValueType.DATE

    def _cells(self, one: int, two: int) -> int:
        return prod(len(self._counted.attributes[place].domain) for place in (one, two))

    def _coded(self, places: Collection[int], event: int | None = None) -> CodedTable:
        """Code the values of these columns, and whether this event took place."""
        attributes = self._counted.attributes
        partitions = {place: [Partition.identity(len(attributes[place].domain))] for place in sorted(places)}
        if event is not None:
            partitions[event].append(Partition(_filled(attributes[event]), 2))
        return CodedTable.of(self._counted, self._label, partitions)


def _filled(counted: CountedAttribute) -> Places:
    """Return (values,) 0 for a missing value, and 1 for others."""
    return np.array([text != MISSING for text in counted.domain.texts], dtype=np.intp)


def _folded(joint: Counts, filled: Places) -> Counts:
    """Return (2, columns) the counts of records without and with a value."""
    folded = np.zeros((2, joint.shape[1]), dtype=np.int64)
    np.add.at(folded, filled, joint)
    return folded


def _one_by_one(filled: Counts) -> Iterator[Counts]:
    """Yield for each label value the counts of records with it and with others."""
    for label in filled.T:
        yield np.stack([label, filled.sum(axis=1) - label], axis=1)


def _made(filled: Counts) -> float:
    """Return how far an event makes a label value: 0 if it does not.

    Args:
        filled: (2, 2) the records without and with its date, of this label value and of others.
    """
    share = held_out_share(filled)
    return share if share > (MUCH if filled[0].all() else _ONE_SIDED) else 0.0


def _determines(joint: Counts) -> bool:
    """Return whether the first of two columns determines the second, for enough records that it is no chance."""
    return bool(((joint > 0).sum(axis=1) <= 1).all()) and held_out_share(joint) > ALL
