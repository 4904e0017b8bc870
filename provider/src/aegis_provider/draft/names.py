"""Names of groups of categories, unique among all levels of an attribute."""

import re
from collections.abc import Mapping, Sequence
from itertools import chain, count
from typing import Final

from aegis_provider.counting.counts import Counts
from aegis_provider.counting.published_domain import LEAST
from aegis_provider.draft.merges import Group, Groups
from aegis_provider.table.values import ValueType, infer_type
from aegis_sdk.printable import with_blanks

_LONGEST: Final = 40
_NUMBERS: Final = (ValueType.INTEGER, ValueType.NUMBER)


def group_names(texts: Sequence[str], records: Counts, levels: Sequence[Groups]) -> Mapping[Group, str]:
    """Return a name for every group of the levels.

    A group is called by its values with 20 records or more, the most frequent first, but numbers in their order, if
    they fit into 40 characters. Otherwise it is called by the first of them and the number of the others. A rarer value
    is one of `others`, and how many these are is not said: people would know who is in the table. If a name is taken,
    it gets a number at the end.

    Args:
        texts: The values.
        records: (values,) The records of each value.
        levels: Groups of the values.
    """
    named: dict[Group, str] = {}
    for group in dict.fromkeys(chain.from_iterable(levels)):
        frequent = sorted((value for value in group if records[value] >= LEAST), key=lambda value: -int(records[value]))
        if all(texts[value] for value in frequent) and infer_type([texts[value] for value in frequent]) in _NUMBERS:
            frequent.sort(key=lambda value: float(texts[value]))
        told = [with_blanks(re.sub(r"\s+", " ", texts[value])) or "missing" for value in frequent]
        name = _called(told, has_others=len(told) < len(group))
        candidates = (name if number == 1 else f"{name} ({number})" for number in count(1))
        taken = set(named.values())
        named[group] = next(each for each in candidates if each not in taken)
    return named


def _called(texts: Sequence[str], *, has_others: bool) -> str:
    def rest(left: int) -> str:
        return " and others" if has_others else f" and {left} more" * (left > 0)

    for shown in range(len(texts), 0, -1):
        name = " | ".join(texts[:shown]) + rest(len(texts) - shown)
        if len(name) <= _LONGEST:
            return name
    return f"{texts[0][:_LONGEST]}..." + rest(len(texts) - 1) if texts else "others"
