"""The part of an entry that says how attributes go together: joint counts of pairs of masked attributes."""

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

from aegis_provider.counting.counted_table import CountedAttribute, CountedTable, MaskedDomain
from aegis_provider.counting.counts import Partition
from aegis_provider.counting.pair_counts import Pair, Views, count_pairs, pairs_to_count
from aegis_provider.errors import PlanError, TableError
from aegis_provider.plan.model import IDENTITY, Masking, Plan
from aegis_provider.progress import Progress

# More would make an entry that no service takes.
_MOST_CELLS = 10_000_000


def pair_tables(
    counted: CountedTable, plan: Plan, masked: Sequence[Mapping[str, MaskedDomain]], progress: Progress
) -> list[dict[str, Any]]:
    """The entry's `pairs`, as JSON values: all that two attributes tell together in some configuration of the plan.

    Each is a table of two (masked) attributes that a configuration shares together, so it tells nothing that the
    masked table of this configuration would not tell, but for the records that this leaves out, which are counted too.
    Left out is what follows: a table that is another one folded, and those of a masking with one masked value.

    Args:
        counted: the table.
        plan: that it is counted for.
        masked: for each attribute what its maskings make of its values.
        progress: told of how many records are counted.

    Raises:
        TableError: there are more cells than an entry can hold, or the table has changed.
    """
    views = [_views(plan, each, domains) for each, domains in zip(counted.attributes, masked, strict=True)]
    pairs = list(pairs_to_count(plan, views))
    _refuse_too_many_cells(counted, views, pairs)
    joints = count_pairs(counted, views, pairs, progress) if pairs else []
    return [
        {
            "attributes": [plan.attributes[place].name for place in pair.attributes],
            "maskings": list(pair.maskings),
            "joint": joint.tolist(),
        }
        for pair, joint in zip(pairs, joints, strict=True)
    ]


def refuse_uncountable(plan: Plan) -> None:
    """Refuses a masking of which, or beside which, no pairs can be published.

    Of one that is left to chance, the counts are a draw of its own, not what the values of other attributes say. Of one
    that was masked elsewhere, no value tells what it became. Of one whose mapping is secret, pairs of the attribute,
    however masked, would tell which masked value is which.

    Raises:
        PlanError: the plan has one.
    """
    for attribute in plan.attributes:
        used = {each.maskings[attribute.name] for each in plan.configurations}
        for masking in attribute.maskings:
            if masking.is_secret or (not masking.is_by_value and masking.id in used):
                raise PlanError(f"{masking.place}: has no pair counts, since {_why(masking)}; summarize without pairs")


def _why(masking: Masking) -> str:
    if masking.is_secret:
        return "its mapping is secret"
    return "it was masked elsewhere" if masking.is_elsewhere else "it is left to chance"


def refuse_undone_secrets(counted: CountedTable, masked: Sequence[Mapping[str, MaskedDomain]]) -> None:
    """Refuses a masking whose joint counts would tell which token is which.

    They would if that tells the values apart, as it has the same rows in another order, and if it is left to chance or
    was masked elsewhere.

    Raises:
        PlanError: the plan has one.
    """
    for each, domains in zip(counted.attributes, masked, strict=True):
        for masking in each.attribute.maskings if each.attribute.is_secret else ():
            values = len(each.domain)
            tells = not masking.is_secret and (not masking.is_by_value or len(domains[masking.id].texts) == values > 1)
            if tells:
                raise PlanError(
                    f"{masking.place}: its counts would tell which token of {each.attribute.name!r} is which; "
                    "leave it out of the plan, or the token"
                )


def _views(plan: Plan, counted: CountedAttribute, masked: Mapping[str, MaskedDomain]) -> Views:
    """What configurations use of an attribute, the identity first; without what has one masked value."""
    used = {each.maskings[counted.attribute.name] for each in plan.configurations}
    views = {IDENTITY: Partition.identity(len(counted.domain))}
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
        f"{counted.table.name}: the pairs have {sum(cells)} cells, and an entry holds {_MOST_CELLS}; the largest is "
        f"{first} with {second}, {rows} x {columns}: mask such attributes more coarsely, or summarize without pairs"
    )


def _shape(views: Sequence[Views], pair: Pair) -> tuple[int, int]:
    first, second = (views[place][name].size for place, name in zip(pair.attributes, pair.maskings, strict=True))
    return first, second
