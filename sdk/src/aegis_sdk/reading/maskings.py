"""The maskings of an attribute: their functions in words, and which of them determines which, by their mappings."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

from aegis_sdk.printable import shown, some
from aegis_sdk.wire import DROP, IDENTITY, Attribute, Masking

Parameters: TypeAlias = Mapping[str, object]

_LONGEST = 80
_SHOWN = 5


def words_of(masking: Masking) -> str:
    """The function of a masking in plain words, or the name and parameters of an unknown function.

    Without a function in the entry, the words say so, and whether the values are or may be masked at random.
    """
    if masking.function is None:
        if masking.is_deterministic:
            return "not given"
        chance = "may be masked" if masking.transition is None else "masked"
        return f"not given; {chance} at random"
    return shown(in_words(masking.function.name, masking.function.parameters), _LONGEST)


def in_words(name: str, parameters: Parameters) -> str:
    """A function in words; an unknown one by name and parameters."""
    needed, sentence = _SENTENCES.get(name, ((), ""))
    if sentence and parameters.keys() >= {*needed}:
        return sentence.format(*(_value(parameters[each]) for each in needed))
    return (_WORDS[name](parameters) if name in _WORDS else None) or as_given(name, parameters)


def unit_of(masking: Masking) -> str | None:
    """The unit of a hierarchy of dates, such as `decade`; None for any other masking."""
    function = masking.function
    return _unit(function.parameters) if function is not None and function.name == "hierarchy" else None


def _unit(parameters: Parameters) -> str | None:
    unit = _at_level(parameters, "dates") if {"dates", "level"} <= parameters.keys() else None
    return unit if isinstance(unit, str) else None


def briefly(kind: str, masking: Mapping[str, Any]) -> tuple[str, str]:
    """A masking in two or three words, as one says it after the name of its attribute; the last one may be a unit.

    `("in 8", "bands")` for numbers, `("in 4", "groups")` for categories, `("by year", "")`, `("as tokens", "")`.

    Args:
        kind: The type of the attribute.
        masking: The masking in an entry or its schema, as JSON.
    """
    function, values = masking.get("function") or {}, sum(map(bool, masking["domain"]))  # a blank is in no group
    name, parameters = function.get("name", ""), function.get("parameters") or {}
    if name in _BRIEFLY and (said := _BRIEFLY[name](parameters)) is not None:
        return said
    if masking.get("transition") is not None:
        return "at random", ""
    if not masking["domain"]:
        return "masked", ""
    if values <= 1:
        return "as one", "value"
    is_banded = name == "bucketize" or "intervals" in parameters or kind in ("integer", "number")
    return f"in {values:,}", "periods" if kind == "date" else "bands" if is_banded else "groups"


def _characters(parameters: Parameters) -> tuple[str, str] | None:
    """The characters that a blur or a level of prefixes keeps."""
    kept = _at_level(parameters, "prefixes") if {"prefixes", "level"} <= parameters.keys() else parameters.get("keep")
    end = " last" if parameters.get("at") == "end" else ""
    return (f"by{end} {kept}", "characters" if kept != 1 else "character") if isinstance(kept, int) else None


def _by_level(parameters: Parameters) -> tuple[str, str] | None:
    unit = _unit(parameters)
    return _characters(parameters) if unit is None else (shown(f"by {unit}"), "")


def _saying(words: str, name: str = "") -> Callable[[Parameters], tuple[str, str] | None]:
    """The words, with the value of a parameter if one is named; none without it."""

    def said(parameters: Parameters) -> tuple[str, str] | None:
        if name and name not in parameters:
            return None
        return (shown(words.format(_value(parameters[name]))) if name else words), ""

    return said


_BRIEFLY: Mapping[str, Callable[[Parameters], tuple[str, str] | None]] = {
    "blur": _characters,
    "hierarchy": _by_level,
    "microaggregate": _saying("averaged by {}", "size"),
    "noise": _saying("with noise"),
    "pram": _saying("at random"),
    "randomised_response": _saying("at random"),
    "round": _saying("rounded to {}", "to"),
    "shuffle": _saying("shuffled"),
    "suppress": _saying("as *"),
    "token": _saying("as tokens"),
    "top_bottom": _saying("capped"),
}
"""Functions whose masked values one does not count, in words; none where parameters are missing."""


def as_given(name: str, parameters: Parameters) -> str:
    """The name and parameters of a function or a rule, as in the entry."""
    listed = ", ".join(f"{key} {_value(value)}" for key, value in parameters.items())
    return f"{name}: {listed}" if listed else name


def _value(value: object) -> str:
    """A parameter as text: a list as its items, an object as its number of members."""
    if isinstance(value, list):
        return " ".join(map(_value, value))
    if isinstance(value, dict):
        return f"of {len(value)}"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _listed(values: object) -> str:
    return ", ".join(map(_value, values)) if isinstance(values, list) else _value(values)


def _bucketize(parameters: Parameters) -> str | None:
    edges = f"with the edges {_listed(parameters['edges'])}" if "edges" in parameters else ""
    if "equal_frequency" in parameters:
        intervals = f"{_value(parameters['equal_frequency'])} intervals of about equal numbers of records"
        return f"{intervals}, {edges}" if edges else intervals
    if "width" in parameters:
        return f"intervals of width {_value(parameters['width'])}, from {_value(parameters.get('origin', 0))}"
    return _intervals(parameters["edges"]) if edges else None


def _intervals(edges: object) -> str:
    """The intervals between edges, such as `3 intervals: below 18, 18 to 65, from 65 on`; of many, the first ones."""
    if not isinstance(edges, list) or len(edges) < 2:  # noqa: PLR2004 -- an interval has two
        return f"intervals with the edges {_listed(edges)}"
    named = [_interval(_value(low), _value(high)) for low, high in pairwise(edges[: _SHOWN + 1])]
    more = ", ..." if len(edges) - 1 > len(named) else ""
    return f"{len(edges) - 1} interval{'s' * (len(edges) > 2)}: {', '.join(named)}{more}"  # noqa: PLR2004 -- as above


def _interval(low: str, high: str) -> str:
    if low == "-inf":
        return "all" if high == "inf" else f"below {high}"
    return f"from {low} on" if high == "inf" else f"{low} to {high}"


def _hierarchy(parameters: Parameters) -> str | None:
    """A hierarchy in words: its file or tree and level, or the width, unit or kept characters of a built one."""
    if "level" not in parameters:
        return None
    level = f"level {_value(parameters['level'])} of"
    built: dict[str, Callable[[object], str | None]] = {
        "intervals": lambda width: _bucketize({**parameters, "width": width}),
        "prefixes": lambda kept: _blur({"keep": kept}),
        "dates": lambda unit: f"the {_value(unit)} of each date",
    }
    for name, words in built.items():
        if name in parameters:
            at_level = _at_level(parameters, name)
            return f"{level} {name}: {_value(parameters[name])}" if at_level is None else words(at_level)
    if "file" in parameters:
        return f"{level} {_value(parameters['file'])}"
    return f"{level} a tree" if "tree" in parameters else None


def _at_level(parameters: Parameters, name: str) -> object | None:
    """The step of a built hierarchy at its level; None if there is no such level."""
    steps, level = parameters[name], parameters["level"]
    if isinstance(steps, list) and isinstance(level, int) and 1 <= level <= len(steps):
        step: object = steps[level - 1]
        return step
    return None


def _blur(parameters: Parameters) -> str | None:
    character = _value(parameters.get("character", "*"))
    if "positions" in parameters:
        return f"characters {_listed(parameters['positions'])} replaced by {character}"
    if "keep" not in parameters:
        return None
    end = "last" if parameters.get("at") == "end" else "first"
    kept = f"{_value(parameters['keep'])} character{'s' * (parameters['keep'] != 1)}"
    return f"all but the {end} {kept} replaced by {character}"


def _top_bottom(parameters: Parameters) -> str | None:
    top = [f"from {_value(parameters['top'])} on"] if "top" in parameters else []
    bottom = [f"below {_value(parameters['bottom'])}"] if "bottom" in parameters else []
    return f"one value {' and one '.join(top + bottom)}; all others unchanged" if top or bottom else None


def _mapping(parameters: Parameters) -> str | None:
    values = parameters.get("values")
    if not isinstance(values, dict):
        return None
    other = f", every other {shown(_value(parameters['other']))}" if "other" in parameters else ""
    masked = some(list(dict.fromkeys(map(_value, values.values()))), _SHOWN)
    return f"{len(values)} value{'s' * (len(values) != 1)} mapped one by one ({masked}){other}"


def _masked_table(parameters: Parameters) -> str:
    column = f"column {_value(parameters['column'])} of " if "column" in parameters else "those of "
    return f"{column}a table masked elsewhere"


def _noise(parameters: Parameters) -> str | None:
    if not {"kind", "scale"} <= parameters.keys():
        return None
    step = f", rounded to multiples of {_value(parameters['step'])}" if "step" in parameters else ""
    return f"masked at random: {_value(parameters['kind'])} noise of scale {_value(parameters['scale'])} added{step}"


def _token(parameters: Parameters) -> str:
    digits = f", of {_value(parameters['length'])} hexadecimal digits" if "length" in parameters else ""
    return f"a keyed hash of each value{digits}"


_WORDS: Mapping[str, Callable[[Parameters], str | None]] = {
    "blur": _blur,
    "bucketize": _bucketize,
    "hierarchy": _hierarchy,
    "mapping": _mapping,
    "masked_table": _masked_table,
    "noise": _noise,
    "token": _token,
    "top_bottom": _top_bottom,
}


_SENTENCES: Mapping[str, tuple[tuple[str, ...], str]] = {
    "microaggregate": (("size",), "the mean of a group of at least {} records with near numbers"),
    "pram": ((), "masked at random: drawn by its transition matrix"),
    "randomised_response": (("keep",), "masked at random: kept with probability {}, else any value"),
    "round": (("to",), "the nearest multiple of {}"),
    "shuffle": ((), "masked at random: the same values, permuted over the records"),
    "suppress": ((), "one masked value, *, for all"),
}
"""Functions in one sentence, with the parameters that it needs."""


@dataclass(frozen=True)
class Node:
    """The ids of maskings that group the values in the same way, and the number of these groups."""

    maskings: tuple[str, ...]
    groups: int


@dataclass(frozen=True)
class Lattice:
    """The maskings of an attribute, partially ordered: a coarser masking is a function of a finer one.

    `nodes`: from the finest (`identity`) to the coarsest (`drop`). `covers`: the edges of the Hasse diagram, as places
    of a finer node and a coarser one with no other node between them. `outside`: ids of the maskings without a mapping
    in the entry, whose position is not known.
    """

    nodes: tuple[Node, ...]
    covers: tuple[tuple[int, int], ...]
    outside: tuple[str, ...]

    def finer_than(self, masking: str) -> list[Node]:
        """The coarsest nodes that determine the masking; none for `identity` and for maskings outside the lattice."""
        return [self.nodes[finer] for finer, coarser in self.covers if masking in self.nodes[coarser].maskings]

    def same_as(self, masking: str) -> tuple[str, ...]:
        """The other maskings that group the values in the same way."""
        alike = (node.maskings for node in self.nodes if masking in node.maskings)
        return tuple(name for names in alike for name in names if name != masking)


def lattice_of(attribute: Attribute) -> Lattice:
    """The lattice of the maskings that have a mapping, plus `identity` and `drop`."""
    mapped = {each.id: each.mapping for each in attribute.maskings if each.mapping is not None}
    mappings = {**mapped, DROP: [0] * len(attribute.domain)}
    # An atom is a set of values that no mapping distinguishes. There are usually far fewer atoms than values.
    atoms = list(dict.fromkeys(zip(*mappings.values(), strict=True)))
    alike: dict[tuple[int, ...], list[str]] = {}
    for masking, groups in zip(mappings, zip(*atoms, strict=True), strict=True):
        # Numbered in order of appearance, so that equal groupings are equal tuples.
        numbers = {group: number for number, group in enumerate(dict.fromkeys(groups))}
        alike.setdefault(tuple(numbers[group] for group in groups), []).append(masking)
    nodes = {grouping: Node(tuple(names), max(grouping) + 1) for grouping, names in alike.items()}
    finest_first = sorted(nodes, key=lambda grouping: -nodes[grouping].groups)
    above = [set(_coarser(finest_first, place)) for place in range(len(finest_first))]
    ordered = [nodes[grouping] for grouping in finest_first]
    if ordered[0].groups == len(attribute.domain):
        ordered[0] = Node((IDENTITY, *ordered[0].maskings), ordered[0].groups)
    else:
        ordered.insert(0, Node((IDENTITY,), len(attribute.domain)))
        above = [set(range(1, len(ordered))), *({place + 1 for place in places} for places in above)]
    outside = tuple(each.id for each in attribute.maskings if each.mapping is None)
    return Lattice(tuple(ordered), tuple(_covers(above)), outside)


def _coarser(groupings: Sequence[tuple[int, ...]], place: int) -> Iterator[int]:
    """The places of the coarser groupings that are a function of the one at this place."""
    finer = groupings[place]
    for other in range(place + 1, len(groupings)):
        if len(set(zip(finer, groupings[other], strict=True))) == max(finer) + 1:
            yield other


def _covers(above: Sequence[set[int]]) -> Iterator[tuple[int, int]]:
    """The transitive reduction: pairs of a node and a node above it, with no other node between them."""
    for place, coarser in enumerate(above):
        further = set().union(*(above[each] for each in coarser))
        yield from ((place, each) for each in sorted(coarser - further))
