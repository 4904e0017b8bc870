"""Names of groups of categories, unique among all levels of an attribute."""

from collections.abc import Mapping, Sequence
from itertools import chain, count
from typing import Final

from aegis_provider.counting.counts import Counts
from aegis_provider.draft.merges import Group, Groups

_LONGEST: Final = 40


def group_names(texts: Sequence[str], records: Counts, levels: Sequence[Groups]) -> Mapping[Group, str]:
    """Return a name for every group of the levels.

    A group is called by its values, the most frequent first, if they fit into 40 characters. Otherwise it is called by
    the first of them and the number of the others. If a name is taken, it gets a number at the end.

    Args:
        texts: The values.
        records: (values,) The records of each value.
        levels: Groups of the values.
    """
    named: dict[Group, str] = {}
    for group in dict.fromkeys(chain.from_iterable(levels)):
        frequent = sorted(group, key=lambda value: -int(records[value]))
        name = _called([" ".join(texts[value].split()) or "missing" for value in frequent])
        candidates = (name if number == 1 else f"{name} ({number})" for number in count(1))
        taken = set(named.values())
        named[group] = next(each for each in candidates if each not in taken)
    return named


def _called(texts: Sequence[str]) -> str:
    for shown in range(len(texts), 0, -1):
        rest = len(texts) - shown
        name = " | ".join(texts[:shown]) + (f" and {rest} more" if rest else "")
        if len(name) <= _LONGEST:
            return name
    return f"{texts[0][:_LONGEST]}..." + (f" and {len(texts) - 1} more" if len(texts) > 1 else "")
