"""Small pair counts, rounded so that nobody can infer one from all published counts together."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Final, TypeAlias

import numpy as np

from aegis_advisor.evidence import AttributeEvidence, evidence_of, pairs_of
from aegis_advisor.evidence import Masking as Counted
from aegis_advisor.verdict import PublishedCounts, Releases
from aegis_advisor.verdict.model import largest_small
from aegis_advisor.verdict.totals import find_likely
from aegis_provider.control.counted_together import Masked
from aegis_provider.control.dependent_rounding import rounded_once, rounded_up
from aegis_provider.control.lasting import LastingRandomness, cell_names
from aegis_provider.counting.counts import Partition
from aegis_provider.counting.merging import is_small
from aegis_provider.entry import content_of
from aegis_sdk.wire import IDENTITY, Configuration, EntryDocument, Pair

_Views: TypeAlias = Mapping[Masked, Partition]
"""The grouping of values by each masking, by attribute and masking id."""

_Both: TypeAlias = tuple[Masked, Masked]
"""Two attributes, each with a masking."""


def coarser_cells(entry: EntryDocument) -> Iterator[list[Partition]]:
    """Yield for each pair the partitions of its cells by the coarser pairs of maskings that configurations use."""
    views = views_of(entry)
    for pair in entry.pairs:
        first, second = masked = masked_of(pair)
        used = _used_together(entry.masked, (first[0], second[0]), views)
        coarser = [both for both in used if both != (first, second) and _follows(both, (first, second), views)]
        partitions = []
        for both in coarser:  # the cells of the finer table, row by row, by the cell of the coarser one
            rows, columns = (views[view].per_group_of(views[mine]) for view, mine in zip(both, masked, strict=True))
            sizes = [views[view].size for view in both]
            cells = (rows[:, np.newaxis] * sizes[1] + columns).ravel()
            partitions.append(Partition(cells, sizes[0] * sizes[1]))
        yield partitions


def views_of(entry: EntryDocument) -> _Views:
    """Return the grouping of values by each masking that has a mapping, and by `identity`."""
    views = {}
    for attribute in entry.attributes:
        views[attribute.name, IDENTITY] = Partition.identity(len(attribute.domain))
        for masking in attribute.maskings:
            if masking.mapping is not None:
                groups = np.array(masking.mapping, dtype=np.intp)
                views[attribute.name, masking.id] = Partition(groups, len(masking.domain))
    return views


def _used_together(configurations: Sequence[Configuration], names: tuple[str, str], views: _Views) -> Iterator[_Both]:
    """Yield every two views that a configuration uses together, once each."""
    first, second = names
    used = dict.fromkeys(
        ((first, configuration.maskings[first]), (second, configuration.maskings[second]))
        for configuration in configurations
    )
    yield from (both for both in used if both[0] in views and both[1] in views)


def _follows(both: _Both, other: _Both, views: _Views) -> bool:
    return all(views[view].follows_from(views[each]) for view, each in zip(both, other, strict=True))


def masked_of(pair: Pair) -> _Both:
    """Return the two attributes of a pair, each with its masking."""
    (first, second), (rows, columns) = pair.attributes, pair.maskings
    return (first, rows), (second, columns)


def masked_texts(entry: EntryDocument) -> Mapping[Masked, Sequence[str]]:
    """Return the masked values of each masking, and the values of each attribute, by attribute and masking id."""
    texts: dict[Masked, Sequence[str]] = {}
    for attribute in entry.attributes:
        texts[attribute.name, IDENTITY] = attribute.domain
        texts |= {(attribute.name, masking.id): masking.domain for masking in attribute.maskings}
    return texts


_DRAWS: Final = 10
"""How many times a table whose small counts a reader would know is rounded again before it is left out."""


@dataclass(frozen=True)
class RoundedPairs:
    """Pairs without small counts.

    Attributes:
        pairs: The remaining pairs.
        rounded: The names of the rounded pairs.
        left_out: The names of the pairs left out.
    """

    pairs: Sequence[Pair]
    rounded: tuple[str, ...]
    left_out: tuple[str, ...]


def rounded_pairs(entry: EntryDocument, least: int, chance: LastingRandomness) -> RoundedPairs:
    """Round pair counts separately to multiples of `least`, where exact ones must not be published.

    They stay exact if none is small and no other table counts the same two attributes: differences of two tables may be
    small. A reader knows the exact records of a masked value, and could infer a small count from these. So the tables
    in which a reader would know one are rounded again, and left out if that does not help.
    """
    both = Counter(frozenset(pair.attributes) for pair in entry.pairs if pair.joint is not None)
    to_round = {
        place: views
        for place, (pair, views) in enumerate(zip(entry.pairs, coarser_cells(entry), strict=True))
        if pair.joint is not None
        and (both[frozenset(pair.attributes)] > 1 or is_small(np.array(pair.joint), least).any())
    }
    exact_counts = replace(content_of(entry), disclosure_control=None)
    evidence, held = list(map(_with_unmasked, evidence_of(exact_counts))), dict(enumerate(entry.pairs))
    again, gone, texts = set(to_round), list[int](), masked_texts(entry)
    small = largest_small(entry.rows_per_person or 1)
    for draw in count():
        for place in again:
            exact = np.array(entry.pairs[place].joint, dtype=np.int64)
            masked = masked_of(entry.pairs[place])
            (first, rows), (second, columns) = sorted((each[0], texts[each]) for each in masked)
            cells = np.arange(exact.size).reshape(exact.shape)
            order = (cells if masked[0][0] == first else cells.T).ravel()  # whatever that of attributes in the plan
            drawn = chance.of("pair", first, second, str(draw))
            up = rounded_up(np.array([exact.sum()]), least, drawn.of("sum"))
            names = cell_names(rows, columns)
            coarser = [Partition(view.groups[order], view.size) for view in to_round[place]]
            flat = rounded_once(exact.reshape(-1, 1)[order], coarser, least, up, drawn, names)
            rounded_pair = {"rounded_to": least, "joint": flat[np.argsort(order)].reshape(exact.shape).tolist()}
            held[place] = entry.pairs[place].model_copy(update=rounded_pair)
        again = to_round.keys() & known_pairs(entry, evidence, held) if least > small else set()
        if not again:
            break
        if draw + 1 >= _DRAWS:
            gone += again
            # Their associations with the label stay.
            left = (place for place, pair in held.items() if place not in again or pair.with_label is not None)
            nothing = {"joint": None, "rounded_to": None}
            held = {place: held[place].model_copy(update=nothing if place in again else {}) for place in left}
            again = set()
    both_of = [zip(pair.attributes, pair.maskings, strict=True) for pair in entry.pairs]
    names = [" and ".join(f"{name} ({masking})" for name, masking in both) for both in both_of]
    rounded = tuple(names[place] for place in to_round if place not in gone)
    return RoundedPairs(list(held.values()), rounded, tuple(names[place] for place in sorted(gone)))


def known_pairs(entry: EntryDocument, evidence: Sequence[AttributeEvidence], pairs: Mapping[int, Pair]) -> set[int]:
    """Return the places of the pairs with small counts that a reader of all these counts knows.

    Args:
        evidence: The evidence on its attributes.
        pairs: Pairs by their places, with rounded counts.
    """
    rounded = pairs_of(content_of(entry.model_copy(update={"pairs": list(pairs.values())})))
    counts = {list(pairs)[index]: pair for index, pair in rounded.items()}
    nothing = Releases(np.zeros((0, len(entry.attributes)), dtype=np.int64), [], [])
    findings = find_likely(PublishedCounts(evidence, counts, nothing, entry.rows_per_person or 1))
    return {int(finding.path[1]) for finding in findings if finding.path[0] == "pairs"}


def _with_unmasked(evidence: AttributeEvidence) -> AttributeEvidence:
    """Return evidence with unmasked counts as an extra masking, so that they are compared with pairs."""
    if evidence.joint is None:
        return evidence
    unmasked = Counted(IDENTITY, evidence.values, np.arange(evidence.values), evidence.joint, deterministic=True)
    return replace(evidence, joint=None, maskings=(*evidence.maskings, unmasked))
