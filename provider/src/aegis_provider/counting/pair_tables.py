"""The `pairs` of an entry: joint counts of pairs of masked attributes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, TypeAlias

from aegis_provider.counting.counted_table import CountedAttribute, CountedTable, MaskedDomain
from aegis_provider.counting.pair_cells import LabelAssociation, LabelSums, PairCells
from aegis_provider.counting.pair_counts import Pair, Views, count_pairs, pairs_used
from aegis_provider.counting.published_domain import PublishedDomain
from aegis_provider.counting.unmasked_trace import UnmaskedTrace
from aegis_provider.errors import PlanError, TableError
from aegis_provider.plan.model import IDENTITY, Masking, Plan
from aegis_provider.progress import Progress

# The service rejects entries with more.
_MOST_CELLS = 10_000_000


PairName: TypeAlias = tuple[tuple[str, ...], tuple[str, ...]]
"""The names of two attributes, and the masking of each."""


@dataclass(frozen=True)
class PairsTold:
    """The published tables of pairs, and further results for controls.

    Attributes:
        pairs: The entry's `pairs` as JSON values.
        sums: By pair, its label sums, which determine its chi-square with the label. They are not part of an entry.
        frequent: By pair, the association of its frequent combinations with the label; the others are pooled.
        trace: The trace of the unmasked table; `None` if pairs were not counted.
    """

    pairs: Sequence[dict[str, Any]] = ()
    sums: Mapping[PairName, LabelSums] = field(default_factory=dict)
    frequent: Mapping[PairName, LabelAssociation] = field(default_factory=dict)
    trace: UnmaskedTrace | None = None


def pair_tables(
    counted: CountedTable,
    plan: Plan,
    masked: Sequence[Mapping[str, MaskedDomain]],
    published: Sequence[PublishedDomain],
    progress: Progress,
    *,
    shared_only: bool = False,
) -> PairsTold:
    """Return the entry's `pairs`: the joint counts of every two attributes in a configuration of the plan.

    Each is a table of two (masked) attributes that a configuration releases together. It contains no more than the
    masked table of this configuration, except for the records which that table leaves out. Redundant tables are
    omitted: those that another one implies, and those of a masking with one masked value. The association of two
        attributes with the label does not follow from other pairs, so each pair has it.

    Args:
        counted: The table.
        plan: Its plan.
        masked: For each attribute, the masked domains of its maskings.
        published: For each attribute, its listed values.
        progress: Called with (done, total), counting records.
        shared_only: Whether controls follow, which may need the associations of frequent combinations.

    Raises:
        TableError: There are more cells than an entry can have, or the table has changed.
    """
    views = [_views(plan, *each) for each in zip(counted.attributes, masked, published, strict=True)]
    pairs = list(pairs_used(plan, views))
    _refuse_too_many_cells(counted, views, [pair for pair in pairs if pair.is_needed])
    counts = count_pairs(counted, plan.label, views, pairs, progress) if pairs else ()
    documents, sums, frequent = [], {}, {}
    for pair, cells in counts:
        told, document = cells.with_label(), _document(plan, pair, cells)
        name = name_of(document)
        sums[name] = told.sums
        if shared_only:
            frequent[name] = cells.without_rare().with_label()
        with_label = {"chi_square": told.chi_square, "combinations": told.combinations}
        documents.append({**document, "with_label": with_label})
    return PairsTold(documents, sums, frequent)


def _document(plan: Plan, pair: Pair, cells: PairCells) -> dict[str, Any]:
    names = {
        "attributes": [plan.attributes[place].name for place in pair.attributes],
        "maskings": list(pair.maskings),
    }
    joint = {"joint": cells.joint().tolist()} if pair.is_needed else {}
    return {**names, **joint}


def name_of(pair: Mapping[str, Any]) -> PairName:
    """Return the name of one of the entry's `pairs`."""
    return tuple(pair["attributes"]), tuple(pair["maskings"])


def refuse_uncountable(plan: Plan) -> None:
    """Reject a plan with a masking whose pairs cannot be published.

    The counts of a random masking are a draw of their own, unrelated to the values of other attributes. A table masked
    elsewhere has no mapping. If a mapping is secret, pairs of its attribute, however masked, would reveal which masked
    value is which.

    Raises:
        PlanError: The plan has such a masking.
    """
    for attribute in plan.attributes:
        used = {configuration.maskings[attribute.name] for configuration in plan.configurations}
        for masking in attribute.maskings:
            if masking.is_secret or (not masking.is_by_value and masking.id in used):
                raise PlanError(
                    f"{masking.place}: has no pair counts, because {_why(masking)}; summarize without pairs"
                )


def _why(masking: Masking) -> str:
    if masking.is_secret:
        return "its mapping is secret"
    return "it was masked elsewhere" if masking.is_elsewhere else "it masks at random"


def refuse_undone_secrets(counted: CountedTable, masked: Sequence[Mapping[str, MaskedDomain]]) -> None:
    """Reject a masking whose joint counts would reveal which token is which.

    They would if its masked values are as distinct as the values, since the masked table then has the same rows as the
    unmasked one in another order. They would also if it is random or was masked elsewhere.

    Raises:
        PlanError: The plan has such a masking.
    """
    for attribute, domains in zip(counted.attributes, masked, strict=True):
        for masking in attribute.attribute.maskings if attribute.attribute.is_secret else ():
            values = len(attribute.domain)
            tells = not masking.is_secret and (not masking.is_by_value or len(domains[masking.id].texts) == values > 1)
            if tells:
                raise PlanError(
                    f"{masking.place}: its counts would reveal which token of {attribute.attribute.name!r} is which; "
                    "remove this masking or the token from the plan"
                )


def _views(
    plan: Plan, counted: CountedAttribute, masked: Mapping[str, MaskedDomain], published: PublishedDomain
) -> Views:
    """Return the views of an attribute that configurations use and that have several masked values, identity first."""
    used = {configuration.maskings[counted.attribute.name] for configuration in plan.configurations}
    views = {IDENTITY: published.partition}
    views |= {name: domain.partition() for name, domain in masked.items()}
    return {name: view for name, view in views.items() if name in used and view.size > 1}


def _refuse_too_many_cells(counted: CountedTable, views: Sequence[Views], pairs: Sequence[Pair]) -> None:
    cells = [prod(_shape(views, pair)) for pair in pairs]
    if sum(cells) <= _MOST_CELLS:
        return
    largest = pairs[cells.index(max(cells))]
    (rows, columns), names = _shape(views, largest), counted.attributes
    first, second = (
        f"{names[place].attribute.name!r} ({masking})"
        for place, masking in zip(largest.attributes, largest.maskings, strict=True)
    )
    raise TableError(
        f"{counted.table.name}: the pairs have {sum(cells)} cells, but an entry can have {_MOST_CELLS}; the largest is "
        f"{first} with {second}, {rows} x {columns}: mask such attributes more coarsely, or summarize without pairs"
    )


def _shape(views: Sequence[Views], pair: Pair) -> tuple[int, int]:
    first, second = (views[place][name].size for place, name in zip(pair.attributes, pair.maskings, strict=True))
    return first, second
