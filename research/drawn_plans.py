"""Maskings and configurations for any table: nested and other hierarchies and intervals, drawn without the label."""

import random
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray
from scipy.stats import entropy

from aegis_provider import Attribute, Configuration, Masking, Plan
from aegis_provider.masking import EdgeBuckets, Mapped, MaskingFunction
from aegis_provider.plan.model import DROP
from aegis_provider.table.values import Domain, ValueType
from research.study import Table

LABEL = "label"
CONFIGURATIONS = 30
CANDIDATES = 600
SPREAD = 0.35
"""How much finer or coarser than its configuration an attribute is masked, as a share of its maskings."""

TRADED = 0.15
"""The same if some attributes are masked finely and the others coarsely."""

FEW = 4
"""An attribute with at most this many values may be shared with its values replaced by codes."""


def drawn_plan(
    table: Table,
    seed: int,
    *,
    against: Collection[str] = (),
    count: int = CONFIGURATIONS,
    given: Mapping[str, tuple[Masking, ...]] | None = None,
) -> Plan:
    """Draw maskings of every attribute, and configurations from hardly masked to hardly anything left.

    Each candidate is drawn around its own coarseness. Candidates are sorted by privacy: by k (the records of the
    smallest group that agrees on all masked attributes), then by the number of such groups and by the bits shared,
    where fewer are more private. They are cut into as many strata as configurations are wanted. Each stratum keeps the
    candidate whose maskings have been used least so far. The configurations are in that order, the most private last.

    Args:
        table: the records; the label is ignored.
        seed: the seed of all draws.
        against: attributes masked finely where the others are masked coarsely, and vice versa.
        count: the number of configurations.
        given: by attribute its maskings from fine to coarse, if they are not to be drawn.
    """
    draw = random.Random(f"{table.name} {seed}")
    maskings = given or {name: _maskings(name, column, draw) for name, column in table.columns.items()}
    attributes = tuple(Attribute(name, None, maskings[name]) for name in table.columns)
    candidates = sorted(_candidates(table, attributes, draw, against), key=attrgetter("privacy"))
    kept = _spread(candidates, count)
    configurations = tuple(
        Configuration(f"c{place:02}", dict(zip(table.columns, one.maskings, strict=True)), {"k": one.k})
        for place, one in enumerate(kept, start=1)
    )
    return Plan("drawn", LABEL, attributes, configurations, {})


def subset(plan: Plan, seed: int, count: int = CONFIGURATIONS) -> Plan:
    """Return the plan with `count` of its configurations, drawn with the seed, in the plan's order."""
    places = sorted(random.Random(seed).sample(range(len(plan.configurations)), count))
    chosen = tuple(plan.configurations[place] for place in places)
    return replace(plan, configurations=chosen)


def _maskings(name: str, column: NDArray[np.str_], draw: random.Random) -> tuple[Masking, ...]:
    """Return maskings from fine to coarse. For two values only codes are possible: the next coarser step is `drop`."""
    domain = Domain.of(np.unique(column).tolist(), None)
    ordered = domain.value_type in {ValueType.INTEGER, ValueType.NUMBER}
    functions = _intervals(domain.keys) if ordered else _hierarchies(domain.texts, draw)
    if len(domain) <= FEW:
        coded = Mapped({text: f"code {place}" for place, text in enumerate(domain.texts)})
        functions = {"coded": coded, **functions}
    return tuple(Masking(f"{name}-{suffix}", function, suffix) for suffix, function in functions.items())


def _intervals(values: Sequence[Decimal]) -> dict[str, MaskingFunction]:
    """Return intervals of neighbouring values.

    Eighths, quarters and halves of the values nest in each other; intervals of 3 and of 7 values nest in nothing.
    """
    eighth = -(-len(values) // 8)
    widths = sorted(width for width in {3, 7, eighth, 2 * eighth, 4 * eighth} if 1 < width < len(values))
    return {f"w{width}": EdgeBuckets((*values[::width], Decimal("Infinity"))) for width in widths}


def _hierarchies(texts: Sequence[str], draw: random.Random) -> dict[str, MaskingFunction]:
    """Merge two categories at a time, then two such pairs; also three at a time, which nests in neither."""
    first, second = list(texts), list(texts)
    draw.shuffle(first)
    draw.shuffle(second)
    merged = {"pairs": (first, 2), "threes": (second, 3), "fours": (first, 4)}
    return {
        suffix: Mapped({text: f"{suffix} {place // size}" for place, text in enumerate(order)})
        for suffix, (order, size) in merged.items()
        if size < len(texts)
    }


@dataclass(frozen=True)
class _Candidate:
    """The masking of each attribute, the size of the smallest group, the number of groups, and the bits shared."""

    maskings: tuple[str, ...]
    k: int
    groups: int
    bits: float

    @property
    def privacy(self) -> tuple[float, ...]:
        """The sort key, which rises with privacy."""
        return self.k, -self.groups, -self.bits


def _candidates(
    table: Table, attributes: Sequence[Attribute], draw: random.Random, against: Collection[str]
) -> Iterator[_Candidate]:
    """Yield distinct candidates, each with its privacy."""
    columns = [_masked_columns(attribute, table.columns[attribute.name]) for attribute in attributes]
    bits = [{masking: entropy(np.bincount(column), base=2) for masking, column in each.items()} for each in columns]
    signs, spread = [attribute.name in against for attribute in attributes], TRADED if against else SPREAD
    for maskings in dict.fromkeys(_candidate(columns, signs, spread, draw) for _ in range(CANDIDATES)):
        shared = [
            (options[one], each[one]) for options, each, one in zip(columns, bits, maskings, strict=True) if one != DROP
        ]
        groups = _group_sizes([column for column, _ in shared]) if shared else np.array([table.records])
        yield _Candidate(maskings, int(groups.min()), int(groups.size), round(sum(each for _, each in shared), 9))


def _candidate(
    columns: Sequence[dict[str, NDArray[np.int64]]], signs: Sequence[bool], spread: float, draw: random.Random
) -> tuple[str, ...]:
    coarse = draw.random()
    around = [draw.gauss(1 - coarse if sign else coarse, spread) for sign in signs]
    return tuple(_at([*options, DROP], place) for options, place in zip(columns, around, strict=True))


def _at(ordered: Sequence[str], coarse: float) -> str:
    place = round(coarse * (len(ordered) - 1))
    return ordered[min(max(place, 0), len(ordered) - 1)]


def _masked_columns(attribute: Attribute, column: NDArray[np.str_]) -> dict[str, NDArray[np.int64]]:
    """Return by masking (records,) the masked values as numbers."""
    texts, places = np.unique(column, return_inverse=True)
    domain = Domain.of(texts.tolist(), None)
    masked = {}
    for masking in attribute.maskings:
        if not isinstance(masking.function, MaskingFunction):
            raise TypeError(f"{masking.id} masks several columns at once, which drawn plans never do")
        by_text = dict(zip(domain.texts, masking.function.mask(domain), strict=True))
        masked[masking.id] = np.unique([by_text[text] for text in texts.tolist()], return_inverse=True)[1][places]
    return masked


def _group_sizes(columns: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Return the number of records of every combination that occurs in the columns (records,)."""
    group = np.zeros(columns[0].size, dtype=np.int64)
    for column in columns:
        group = np.unique(group * (int(column.max()) + 1) + column, return_inverse=True)[1]
    return np.bincount(group)


def _spread(ordered: Sequence[_Candidate], count: int) -> list[_Candidate]:
    """Choose from every stratum the candidate whose maskings have been used least so far."""
    used: Counter[tuple[int, str]] = Counter()
    kept = []
    for stratum in np.array_split(np.arange(len(ordered)), count):
        freshest = max(
            (ordered[place] for place in stratum.tolist()),
            key=lambda each: sum(1 / (1 + used[item]) for item in enumerate(each.maskings)),
        )
        used.update(enumerate(freshest.maskings))
        kept.append(freshest)
    return kept
