"""What an entry gives away that its provider may not expect; `aegis summarize` warns of it."""

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any


def revealing_attributes(entry: Mapping[str, Any]) -> list[str]:
    """The attributes whose domain has a value for every two records or fewer: it tells much by itself."""
    return [each["name"] for each in entry["attributes"] if 2 * len(each["domain"]) > max(entry["records"], 20)]


def counted_though_suppressed(entry: Mapping[str, Any]) -> int:
    """How many (pairs of) masked values are counted that fewer records have than `k`.

    The releases that promise this `k` by leaving records out do not show them; the entry counts the whole table.
    """
    releases = [each for each in entry["configurations"] if each.get("suppressed") and "k" in each.get("privacy", {})]
    if not releases:
        return 0
    k = min(each["privacy"]["k"] for each in releases)
    shown = {item for each in releases for item in each["maskings"].items()}
    return sum(0 < count < k for count in _records_of(entry, shown))


def _records_of(entry: Mapping[str, Any], shown: set[tuple[str, str]]) -> Iterator[int]:
    """The records of each masked value that is shown, and of each pair of them."""
    for attribute in entry["attributes"]:
        views = [(attribute.get("joint"), "identity"), *((each["joint"], each["id"]) for each in attribute["maskings"])]
        yield from (sum(row) for joint, view in views if joint and (attribute["name"], view) in shown for row in joint)
    for pair in entry.get("pairs", ()):
        if shown.issuperset(zip(pair["attributes"], pair["maskings"], strict=True)):
            yield from chain.from_iterable(pair["joint"])
