"""What consumers and other tenants read of an answer: ranks, coarse shares, and a word for each masking."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from aegis_sdk.cli.terminal import aligned
from aegis_sdk.reading import Share, maskings_of, measured_of, shown
from aegis_sdk.wire import CoarseAdvice


def coarse_report(advice: CoarseAdvice, schema: Mapping[str, Any]) -> Iterator[str]:
    """Lines: the ranking, and how much of each attribute the best configuration keeps. `schema`: the entry's."""
    if advice.attributes:
        yield "shares are coarse, since exact numbers would reveal the counts; the entry's provider reads these"
    else:
        yield "order only: shares are given by mutual_information without bias correction, for two attributes or more"
    ranking = advice.ranking or []
    rows = [(row.configuration, str(row.rank or "-"), _percent(row.utility_share)) for row in ranking]
    columns = 3 if advice.attributes else 2
    if rows:
        header, *measured = measured_column(schema, [row.configuration for row in ranking])
        names = ("configuration", "rank", "utility kept")[:columns]
        cells = [(*row[:columns], *cell) for row, cell in zip(rows, measured, strict=True)]
        yield from ("", *aligned((*names, *header), cells))
    if advice.attributes:
        yield from ("", f"what {advice.configuration} keeps of each attribute:", *_kept(advice, schema))


def measured_column(schema: Mapping[str, Any], configurations: Sequence[str]) -> list[tuple[str, ...]]:
    """The header and the cells of the column `measured`; all are empty if nothing was measured on any of these."""
    measured = measured_of(schema, configurations)
    if not any(measured):
        return [()] * (len(configurations) + 1)
    return [("measured",), *((each or "-",) for each in measured)]


def _kept(advice: CoarseAdvice, schema: Mapping[str, Any]) -> Iterator[str]:
    used = maskings_of(schema, advice.configuration)
    rows = [
        (shown(one.name), used[one.name], one.maskings[used[one.name]].kept or "-")
        for one in advice.attributes or []
        if used.get(one.name) in one.maskings
    ]
    yield from aligned(("attribute", "masking", "kept"), rows)


def _percent(share: float | None) -> str:
    return "-" if share is None else str(Share(share))
