"""The report of an answer by declared transfer utilities: masked and generated configurations in one ranking."""

from collections.abc import Iterator, Mapping
from typing import Any

from aegis_sdk.cli.terminal import aligned
from aegis_sdk.reading import GeneratedOutline, Share, generated_of, number, promises_of, shown
from aegis_sdk.wire import ATTACKS, SUPPRESSED, Advice, CoarseAdvice, TransferAdvice

_MOST_NAMES = 3


def declared_report(advice: Advice | CoarseAdvice, schema: Mapping[str, Any]) -> Iterator[str]:
    """Lines: what the numbers are, the ranking, and what is known of the best configuration. `schema`: the entry's."""
    yield from _about(advice)
    yield from _ranking(advice, schema)
    if isinstance(advice, Advice):
        yield from _by_attribute(advice)
    best = generated_of(schema, advice.configuration)
    if best is not None:
        yield from _generated(best)


def _about(advice: Advice | CoarseAdvice) -> Iterator[str]:
    """Say where the numbers come from, and what is left out."""
    transfer = advice.transfer
    records = f"{transfer.records:,} held-out" if isinstance(transfer, TransferAdvice) else "held-out"
    yield f"utilities are what its provider declares: what a rule learned from each tells about {records} real records"
    if transfer is not None and transfer.left_out:
        some = "configurations are" if transfer.left_out > 1 else "configuration is"
        yield f"{transfer.left_out} {some} left out, since no such utility is declared"


def _ranking(advice: Advice | CoarseAdvice, schema: Mapping[str, Any]) -> Iterator[str]:
    """The rows: utilities with their intervals, or shares for those who may not read these, and what is vouched for."""
    rows = advice.ranking or []
    if not rows:
        return
    promises = promises_of(schema, [row.configuration for row in rows])
    names = [name for name in promises if name not in SUPPRESSED][:_MOST_NAMES]
    told = [_told(advice, place) for place in range(len(rows))]
    cells = [
        (row.configuration, row.kind, *own, *(_number(promises[name][place]) for name in names))
        for place, (row, own) in enumerate(zip(rows, told, strict=True))
    ]
    unit = f" ({advice.unit})" if advice.unit else ""
    numbers = (f"utility{unit}", "95 % interval") if isinstance(advice, Advice) else ("rank", "utility kept")
    yield from ("", *aligned(("configuration", "kind", *numbers, *names), cells))


def _told(advice: Advice | CoarseAdvice, place: int) -> tuple[str | float, str]:
    """What a row says of its configuration."""
    if isinstance(advice, Advice):
        row = (advice.ranking or [])[place]
        return row.utility, _interval(row.low, row.high)
    coarse = (advice.ranking or [])[place]
    return str(coarse.rank or "-"), "-" if coarse.utility_share is None else str(Share(coarse.utility_share))


def _by_attribute(advice: Advice) -> Iterator[str]:
    """What the best configuration tells by each attribute, the dearest first."""
    attributes = advice.transfer.attributes if advice.transfer is not None else []
    if not attributes:
        return
    rows = [
        (shown(one.name), one.deviation, one.utility, _interval(one.low, one.high), one.reference_utility)
        for one in sorted(attributes, key=lambda one: -one.deviation)
    ]
    header = ("attribute", "deviation", "utility", "95 % interval", "best declared")
    yield from ("", f"what {advice.configuration} tells by each attribute:", *aligned(header, rows))


def _generated(best: GeneratedOutline) -> Iterator[str]:
    """What a generated configuration is, and how attacks on it did."""
    yield from ("", f"{best.id} is a generated table: {best.records:,} records that {shown(best.method)} drew")
    rows = [
        (name, attack.value, _interval(attack.low, attack.high), _number(attack.chance))
        for name in ATTACKS
        if (attack := best.attacks.get(name)) is not None
    ]
    if rows:
        yield from aligned(("attack", "success", "95 % interval", "by chance"), rows)


def _interval(low: float | None, high: float | None) -> str:
    return "-" if low is None or high is None else f"{number(low, 4)} to {number(high, 4)}"


def _number(value: float | None) -> str:
    return "-" if value is None else number(value, 6)
