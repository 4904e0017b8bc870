"""Reports values of a release that are not understood; with too many, the release cannot be judged."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from aegis_provider.synth.released import NotUnderstood
from aegis_sdk.reading import Share, shown

NOT_JUDGED: Final = "NOT JUDGED"

_SHOWN: Final = 5
_LOOKS: Final = 2


def why_not_judged(not_understood: Mapping[str, NotUnderstood]) -> str:
    """Return the columns with too many values that are not understood, and the remedy."""
    columns = [
        f"{Share(cells.share)} of the cells in {shown(name)} (such as {_looks(cells)})"
        for name, cells in not_understood.items()
    ]
    more = f" and in {len(columns) - _SHOWN} more columns" if len(columns) > _SHOWN else ""
    return (
        f"{', '.join(columns[:_SHOWN])}{more} are not understood; state what masked values stand "
        "for (--plan, --configuration), or write values as the table has them"
    )


def notes_on(not_understood: Mapping[str, NotUnderstood]) -> Iterator[str]:
    """Yield a note for each column with values that are not understood."""
    for name, each in not_understood.items():
        cells = f"{Share(each.share)} of the cells, such as {_looks(each)}"
        yield f"Not understood in {shown(name)}, so taken to tell nothing: {cells}."


def documents_of(not_understood: Mapping[str, NotUnderstood]) -> dict[str, Any]:
    """Return values that are not understood as JSON, by column."""
    return {name: {"share": each.share, "looks": list(each.looks)} for name, each in not_understood.items()}


def _looks(each: NotUnderstood) -> str:
    return " or ".join(shown(look) for look in each.looks[:_LOOKS])
