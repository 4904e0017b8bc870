"""Reports about data requests, for people."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from aegis_sdk.cli.terminal import aligned
from aegis_sdk.printable import one_line
from aegis_sdk.reading import Share, number, shown
from aegis_sdk.wire import Change, Cost, DataRequest, DataRequestHead, Delivery, Verification

_LONG = 60
_TEXT = 500
_LINK = 4_000


def offered(request: DataRequestHead) -> str:
    """One line: the state of a request, and the configuration offered or agreed upon."""
    if request.problem is not None:
        return one_line(f"{request.state}: {request.problem.detail}")
    what = "" if request.configuration is None else f": {shown(request.configuration)}{_cost(request.cost)}"
    stale = "; the entry has a newer version" if request.stale else ""
    return one_line(f"{request.state}{what}{stale}")


def _cost(cost: Cost | None) -> str:
    if cost is None:
        return ""
    kept = "" if cost.utility_share is None else f", keeps {Share(cost.utility_share)}"
    return f" (rank {cost.rank}{kept})"


def listing(requests: Sequence[DataRequestHead], *, is_all: bool) -> Iterator[str]:
    """A row for each request."""
    if requests:
        columns = ("id", "state", "entry", "configuration", "consumer", "provider", "changed")
        yield from aligned(columns, [_row(one) for one in requests])
    else:
        yield "no requests"
    if not is_all:
        yield "and more: raise --limit, or narrow the list with --state, --entry or --side"


def _row(request: DataRequestHead) -> tuple[str, ...]:
    entry = f"{shown(request.entry.name, _LONG)} v{request.entry.version}"
    names = (request.configuration or "-", request.consumer, request.entry.tenant)
    return (request.id, shown(request.state), entry, *map(shown, names), time_text(request.changed_at))


def report(request: DataRequest) -> Iterator[str]:
    """A request with its history, and the actions that the caller may take."""
    yield offered(request)
    yield f"entry {shown(request.entry.name, _LONG)}, version {request.entry.version}, of {shown(request.entry.tenant)}"
    yield f"for {shown(request.consumer)}: {shown(request.purpose, _TEXT)}"
    yield f"contact: {'erased' if request.contact is None else shown(request.contact, _TEXT)}"
    needs = {name: value for name, value in request.request.items() if value is not None and name != "bias_correction"}
    yield "needs " + ", ".join(f"{name} {shown(_plain(value), _TEXT)}" for name, value in needs.items())
    yield ""
    yield from aligned(("when", "who", "what", "why"), [_step(one) for one in request.changes])
    if request.delivery is not None:
        yield ""
        yield from delivered(request.delivery)
    if request.verification is not None:
        yield from _verified(request.verification)
    if request.possible:
        yield ""
        yield f"you may: {', '.join(map(shown, request.possible))}"
    if request.expires_at is not None:
        yield f"expires {request.expires_at:%Y-%m-%d} unless somebody does something"


def delivered(delivery: Delivery) -> Iterator[str]:
    """The lines that report a delivery."""
    yield f"delivered: {delivery.records} records, {delivery.size} bytes of {shown(delivery.media_type, _LINK)}"
    until = "" if delivery.expires_at is None else f", until {time_text(delivery.expires_at)}"
    yield f"{shown(delivery.url, _LINK)}{until}"
    yield f"SHA-256 {shown(delivery.sha256, _LINK)}"
    if delivery.privacy:
        numbers = ", ".join(f"{shown(name)} = {number(reached, 6)}" for name, reached in delivery.privacy.items())
        yield f"{numbers}, as its provider measured"


def _verified(verification: Verification) -> Iterator[str]:
    if verification.sha256 is None:
        yield "its consumer has got no file"
        return
    counts = f"{verification.cells_compared} counts compared, {verification.cells_differing or 'none'} differ"
    records = "not counted" if verification.records is None else f"{verification.records} records"
    yield f"its consumer found: {records}, SHA-256 {shown(verification.sha256, _LINK)}, {counts}"
    if verification.privacy:
        numbers = ", ".join(f"{shown(name)} = {number(reached, 6)}" for name, reached in verification.privacy.items())
        yield f"{numbers}, as its consumer measured"


def _plain(value: object) -> str:
    if isinstance(value, dict):
        return " ".join(f"{name}={limit:g}" for name, limit in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _step(change: Change) -> tuple[str, ...]:
    who = shown(change.side) if change.tenant is None else f"{shown(change.side)} {shown(change.tenant)}"
    who += "" if change.by is None else f" ({shown(change.by)})"
    what = (
        shown(change.action)
        if change.configuration is None
        else f"{shown(change.action)} {shown(change.configuration)}"
    )
    return time_text(change.at), who, what, shown(change.reason, _TEXT) if change.reason else ""


def time_text(moment: datetime) -> str:
    """A time to the second, in UTC."""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
