"""Which listed masked value each text of a delivered column is.

An entry lists masked values as they are, but by default takes rare ones together, under a name such as `[10,20)` or
`a or others`. Where a text could be in several of these, they are compared together, so that nothing is taken for a
difference that may be none.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import scipy

from aegis_provider.counting.counts import Partition
from aegis_provider.errors import UnmaskableValueError
from aegis_provider.masking.lookup import Mapped
from aegis_provider.privacy.cells import STAR
from aegis_provider.receiving.outputs import can_be_output, rounded_by
from aegis_provider.receiving.spans import Span, is_interval, span_of
from aegis_provider.table.values import MISSING, ValueType, key_of

STARRED: Final = -1
"""The place of a suppressed cell."""
UNKNOWN: Final = -2
"""The place of a text that is none of the listed masked values."""

_TOGETHER = re.compile(r"(.* or )?(others|rare values)( \(\d+\))?|.* or .*|.* to .*", re.DOTALL)
_LOOKED_UP: Final = (Mapped.name, "hierarchy")
"""Functions whose masked values can be any texts, even values of the attribute that they do not stand for."""


@dataclass(frozen=True)
class Listed:
    """A column as an entry tells of it.

    Attributes:
        texts: The masked values that it lists.
        value_type: The type of the values before they are masked.
        function: What the masking does; `None` for an unmasked column.
        exact: Whether every masked value is listed as it is.
    """

    texts: Sequence[str]
    value_type: ValueType = ValueType.STRING
    function: Mapping[str, Any] | None = None
    exact: bool = True


@dataclass(frozen=True, eq=False)
class Placing:
    """The listed masked values in groups that are compared together, and the group of each text of a column."""

    groups: Partition
    of_text: Mapping[str, int]

    @property
    def unknown(self) -> list[str]:
        """The texts that are none of the listed masked values."""
        return [text for text, group in self.of_text.items() if group == UNKNOWN]


def placed(listed: Listed, texts: Iterable[str]) -> Placing:
    """Return where the texts of a column belong."""
    texts = list(dict.fromkeys(texts))
    own = _literal(listed, texts)
    left = [text for text in texts if text not in own and text != STAR]
    places: dict[str, Collection[int]] = {text: (place,) for text, place in own.items()}
    if left and not listed.exact and any(map(_is_of_several, listed.texts)):
        places |= _elsewhere(listed, own, left)
    groups = _groups(len(listed.texts), places.values())
    of_text = {text: int(groups.groups[min(at)]) for text, at in places.items() if at}
    missing = {text: STARRED if text == STAR else UNKNOWN for text in texts if text not in of_text}
    return Placing(groups, of_text | missing)


def _literal(listed: Listed, texts: Sequence[str]) -> dict[str, int]:
    """Return the places of texts that are listed, perhaps in another spelling of the same value."""
    places = {text: place for place, text in enumerate(listed.texts)}
    own = {text: places[text] for text in texts if text in places}
    if listed.function is None and listed.value_type is not ValueType.STRING:
        keys = {_key(text, listed.value_type): place for text, place in places.items()}
        keys.pop(None, None)
        known = {text: keys.get(_key(text, listed.value_type)) for text in texts if text not in own}
        own |= {text: place for text, place in known.items() if place is not None}
    return own


def _key(text: str, value_type: ValueType) -> object:
    try:
        return None if text == MISSING else key_of(text, value_type)
    except UnmaskableValueError:
        return None


def _is_of_several(text: str) -> bool:
    """Return whether a listed name can stand for several masked values."""
    return is_interval(text) or _TOGETHER.fullmatch(text) is not None


def _elsewhere(listed: Listed, own: Mapping[str, int], left: Sequence[str]) -> dict[str, Collection[int]]:
    """Return the places at which each text that is not listed may be counted; none if it is no masked value at all."""
    if listed.function is not None and listed.function["name"] in _LOOKED_UP:
        # Listed names are those of values then, so that even a text which equals one may stand for another.
        every = range(len(listed.texts))
        return dict.fromkeys([*own, *left], every)
    spans = [span_of(text) for text in listed.texts]
    free = [place for place in range(len(listed.texts)) if place not in set(own.values())]
    return {text: _candidates(listed, text, spans, free) for text in left}


def _candidates(listed: Listed, text: str, spans: Sequence[Span | None], free: Sequence[int]) -> Collection[int]:
    if not can_be_output(text, listed.function, listed.value_type):
        return ()
    if text == MISSING:
        return [place for place in free if "missing" in listed.texts[place]] or free
    mine = _span(listed, text)
    near = [] if mine is None else [n for n, span in enumerate(spans) if span is not None and span.overlaps(mine)]
    return near or free


def _span(listed: Listed, text: str) -> Span | None:
    """Return the values of the attribute that a text can stand for."""
    span, by = span_of(text), rounded_by(listed.function)
    return span if span is None or by is None else span.widened(by)


def _groups(size: int, together: Iterable[Collection[int]]) -> Partition:
    """Return the partition of places in which all of a collection are in one group."""
    pairs = [(min(places), place) for places in together for place in places]
    first, second = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
    links = scipy.sparse.coo_array((np.ones(len(first), dtype=np.int8), (first, second)), shape=(size, size))
    return Partition.of(scipy.sparse.csgraph.connected_components(links, directed=False)[1].astype(np.intp))
