"""Names of configurations that people can say: what sets each apart from the others of its entry.

`c0080` is `age in 8 bands, tenure in 16, 12 columns left out`. A name follows from the published maskings alone, and
says nothing that all configurations have in common.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import log2
from typing import Any, Final, Self

from aegis_sdk.printable import shown
from aegis_sdk.reading.maskings import briefly
from aegis_sdk.wire import DROP, IDENTITY

LONGEST: Final = 80
"""The most characters of a name."""

MOST_CELLS: Final = 1_000_000
"""Configurations times attributes, beyond which an entry's configurations have no names: finding them takes long."""

_LEAST, _MENTIONED = 2, 3
_MOST_TOLD: Final = 12
"""No more attributes fit in a name, unless theirs have one or two letters; to find more can take minutes."""

_WIDTHS: Final = (24, 16, 12)
_TIGHT: Final = 12
"""Where names of attributes are cut to this, units are left out, too. Shorter names could not be read."""

_LONGEST_ID: Final = 16

Words = tuple[str, str, str]
"""A masking as in `briefly`, and its id where another one of the attribute has the same words."""


@dataclass(frozen=True)
class ConfigurationNames:
    """The names of an entry's configurations, each made when it is asked for.

    `words`: each masking of an attribute as in `briefly`. `columns`: by attribute, the masking of each masked
    configuration. `generated`: the names of the others.
    """

    words: Mapping[str, Mapping[str, Words]]
    ids: Sequence[str]
    columns: Mapping[str, Sequence[str]]
    generated: Mapping[str, str] = field(default_factory=dict)
    _unclear_by_width: dict[int, frozenset[str]] = field(default_factory=dict, init=False, repr=False)
    _alike_by_width: dict[int, Counter[str]] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(cls, schema: Mapping[str, Any]) -> Self:
        """From an entry or its schema, as JSON. One with more than `MOST_CELLS` has no names."""
        listed, table = schema.get("configurations") or [], schema.get("configuration_table")
        generated = _generated([item for item in listed if item.get("kind") == "generated"])
        masked = [item for item in listed if item["id"] not in generated]
        attributes = schema.get("attributes") or []
        names = [attribute["name"] for attribute in attributes]
        ids = [item["id"] for item in masked] if table is None else table["ids"]
        if not 0 < len(ids) * len(names) <= MOST_CELLS:
            return cls({}, (), {}, generated)
        columns = {name: [item["maskings"].get(name, DROP) for item in masked] for name in names}
        return cls(_words(attributes), ids, columns if table is None else table["maskings"], generated)

    def name(self, configuration: str | None) -> str:
        """The name of a configuration, at most `LONGEST` characters; empty if it has none.

        No two have the same: where words that fit do not tell one from all others, its id follows them.
        """
        row = self._rows.get(configuration or "")
        if row is None:
            return self.generated.get(configuration or "", "")
        own = {name: column[row] for name, column in self.columns.items()}
        chosen, is_only = self._telling_apart(own)
        width = next((each for each in _WIDTHS if len(self._said(own, chosen, each)) <= LONGEST), None)
        if width is not None and is_only and self._unclear(width).isdisjoint(chosen):
            return self._with_more(own, chosen, width, LONGEST)
        end = _in_brackets(self.ids[row])
        return self._with_more(own, chosen, width or _WIDTHS[-1], LONGEST - len(end)) + end

    def _with_more(self, own: Mapping[str, str], chosen: list[str], width: int, most: int) -> str:
        """The name with at most this many characters, with fewer of the chosen attributes or with further ones."""
        while chosen and len(self._said(own, chosen, width)) > most:
            chosen.pop()
        shared = [name for name in self._differing if own[name] != DROP and name not in chosen]
        for name in shared[: max(_MENTIONED - len(chosen), 0)]:
            # Two that are cut say more than one that is not; a third one is mentioned only if nothing is cut for it.
            clear = [each for each in _WIDTHS if self._unclear(each).isdisjoint(chosen)]
            widths = [width, *(each for each in clear if len(chosen) < _LEAST and _TIGHT < each < width)]
            fitting = (each for each in widths if len(self._said(own, [*chosen, name], each)) <= most)
            if (fits := next(fitting, None)) is not None:
                chosen.append(name)
                width = fits
        return self._said(own, chosen, width)

    @cached_property
    def _rows(self) -> Mapping[str, int]:
        return {name: row for row, name in enumerate(self.ids)}

    @cached_property
    def _differing(self) -> Sequence[str]:
        """The attributes whose maskings differ, the most telling ones first; all if none differ."""
        bits = {name: _bits(column) for name, column in self.columns.items()}
        return sorted((name for name in bits if bits[name]), key=lambda name: -bits[name]) or list(self.columns)

    @cached_property
    def _left_out_differ(self) -> bool:
        """Whether configurations leave out different columns. Names then count all that one leaves out."""
        return any(DROP in self.columns[name] for name in self._differing)

    @cached_property
    def _parts(self) -> dict[tuple[str, ...], "_Part"]:
        """The parts met so far, by the maskings that lead to them. The first are by what each name says: how many
        columns are left out.
        """
        by_number: dict[str, list[int]] = {}
        for row, maskings in enumerate(zip(*self.columns.values(), strict=True)):
            by_number.setdefault(str(maskings.count(DROP)), []).append(row)
        return {(number,): _Part(self.columns, self._differing, rows) for number, rows in by_number.items()}

    def _telling_apart(self, own: Mapping[str, str]) -> tuple[list[str], bool]:
        """Attributes whose maskings, with the number of columns left out, no other configuration has, if any do."""
        met: tuple[str, ...] = (str([*own.values()].count(DROP)),)
        part, told = self._parts[met], list[str]()
        while part.attribute is not None and len(told) < _MOST_TOLD:
            told.append(part.attribute)
            met = (*met, own[part.attribute])
            if met not in self._parts:
                rows = part.by_masking[own[part.attribute]]
                self._parts[met] = _Part(self.columns, self._differing, rows)
            part = self._parts[met]
        return told, part.is_only

    def _said(self, own: Mapping[str, str], chosen: Sequence[str], width: int) -> str:
        """The name that mentions these attributes, each cut to this width, and counts the others that differ."""
        left_out = [name for name in self._differing if own[name] == DROP]
        said, before = list[str](), ""
        for name in (name for name in self._differing if name in chosen and own[name] != DROP):
            text, unit, mark = self._in_words(name, own[name], is_tight=width <= _TIGHT)
            is_said = unit and unit != before and width > _TIGHT
            said.append(" ".join(filter(None, (self._cut(name, width), text, unit if is_said else "", mark))))
            before = unit
        if more := len(self._differing) - len(left_out) - len(said):
            said.append(f"{more} more" if said else f"{more} column{'s' * (more > 1)} shared")
        if self._left_out_differ and DROP in own.values():
            named = [self._cut(name, width) for name in left_out if name in chosen]
            noun = "column" if width > _TIGHT else ""
            said.append(_left_out(named, [*own.values()].count(DROP), noun))
        return ", ".join(said)

    def _unclear(self, width: int) -> frozenset[str]:
        """The attributes that a name of this width does not tell from others, or whose maskings it does not."""
        if width not in self._unclear_by_width:
            cut = {name: self._cut(name, width) for name in self.columns}
            times = Counter(cut.values())
            unclear = (name for name in cut if times[cut[name]] > 1 or not self._is_clear(name, width))
            self._unclear_by_width[width] = frozenset(unclear)
        return self._unclear_by_width[width]

    def _is_clear(self, name: str, width: int) -> bool:
        used = {masking for masking in self.columns[name] if masking != DROP}
        words = [self._in_words(name, masking, is_tight=width <= _TIGHT) for masking in used]
        return len({(text, mark, unit if width > _TIGHT else "") for text, unit, mark in words}) == len(words)

    def _cut(self, name: str, width: int) -> str:
        """The name of an attribute, cut at its end, or in the middle if another one begins in the same way."""
        text = shown(name, LONGEST)
        if len(text) <= width:
            return text
        if self._beginnings(width)[name[: width - 1]] == 1:
            return f"{text[: width - 1]}…"
        return f"{text[: width // 2]}…{text[width // 2 + 1 - width :]}"

    def _beginnings(self, width: int) -> Counter[str]:
        """How many attributes begin alike, counted once: of ten thousand, pairs would take minutes."""
        if width not in self._alike_by_width:
            self._alike_by_width[width] = Counter(name[: width - 1] for name in self.columns)
        return self._alike_by_width[width]

    def _in_words(self, attribute: str, masking: str, *, is_tight: bool) -> Words:
        if masking == IDENTITY:
            return "as is" if is_tight else "as it is", "", ""
        return self.words[attribute].get(masking) or (f"as {shown(masking, _LONGEST_ID)}", "", "")


class _Part:
    """Some configurations, as rows; `attribute`: the one whose maskings tell most about which of them one is.

    `is_only`: whether there is one.
    """

    def __init__(self, columns: Mapping[str, Sequence[str]], names: Sequence[str], rows: Sequence[int]) -> None:
        told = ((name, columns[name]) for name in names) if len(rows) > 1 else ()
        bits = {name: _bits([column[row] for row in rows]) for name, column in told}
        best = max(bits, key=lambda name: bits[name], default=None)
        self.is_only = len(rows) == 1
        self.attribute = best if best is not None and bits[best] else None
        self.by_masking: dict[str, list[int]] = {}
        column = () if self.attribute is None else columns[self.attribute]
        for row in rows if column else ():
            self.by_masking.setdefault(column[row], []).append(row)


def _generated(items: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    said = {item["id"]: f"{item['records']:,} records generated by {shown(item['method'])}" for item in items}
    times = Counter(said.values())
    return {name: text + (_in_brackets(name) if times[text] > 1 else "") for name, text in said.items()}


def _in_brackets(configuration: str) -> str:
    return f" ({shown(configuration, LONGEST // 2)})"


def _bits(column: Sequence[str]) -> float:
    """The entropy of a column of maskings."""
    counts = Counter(column).values()
    return sum(count * log2(len(column) / count) for count in counts) / len(column) if len(counts) > 1 else 0.0


def _left_out(named: Sequence[str], number: int, noun: str) -> str:
    """The columns left out: `sex and 11 others left out`, or `12 columns left out`."""
    others = number - len(named)
    if not named:
        return f"{others} {noun}{'s' * (others > 1)} left out" if noun else f"{others} left out"
    rest = [f"{others} other{'s' * (others > 1)}"] if others else []
    *first, last = [*named, *rest]
    return f"{', '.join(first)} and {last} left out" if first else f"{last} left out"


def _words(attributes: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Words]]:
    """Each masking of each attribute in words; with its id where another one has the same words."""
    words: dict[str, dict[str, Words]] = {}
    for attribute in attributes:
        own = {masking["id"]: briefly(attribute["type"], masking) for masking in attribute.get("maskings") or []}
        times = Counter(own.values())
        words[attribute["name"]] = {
            name: (*said, "" if times[said] == 1 else f"({shown(name, _LONGEST_ID)})") for name, said in own.items()
        }
    return words
