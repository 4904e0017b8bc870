"""The commands that do with a data request what its page does. Replace the words in capitals."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from aegis_sdk import wire
from app.pages.commands import Commands, aegis, curl
from app.pages.viewers import Viewer

#: The plan that `aegis release` writes after its search.
_PLAN: Final = "release/configurations.yaml"

_WHY: Final = ("--why", "REASON")

#: The body of an action in the API.
_BODIES: Final[Mapping[str, Mapping[str, Any]]] = {
    "approve": {"reason": "REASON"},
    "decline": {"reason": "REASON"},
    "counter": {"configuration": "CONFIGURATION", "reason": "REASON"},
    "accept": {},
    "withdraw": {},
    "end": {"reason": "REASON"},
}


def request_commands(viewer: Viewer, request: wire.DataRequest, *, may_erase: bool, is_signed: bool) -> Commands:
    """The commands for reading the request and for the actions that the viewer may take now."""
    place = f"/v1/requests/{request.id}"
    receipt = (aegis("audit", request.id, "--output", "receipt.jws"),) if is_signed else ()
    erasure = (curl(viewer, f"{place}/contact", method="DELETE"),) if may_erase else ()
    return Commands(
        (aegis("requests", "show", request.id), *_aegis(request), *receipt),
        (curl(viewer, place), *_curl(viewer, request, place), *erasure),
    )


def _aegis(request: wire.DataRequest) -> Iterator[str]:
    lines: Mapping[str, tuple[str, ...]] = {
        "approve": ("approve", request.id, *_WHY),
        "counter": ("counter", request.id, "CONFIGURATION", *_WHY),
        "decline": ("decline", request.id, *_WHY),
        "accept": ("accept", request.id),
        "withdraw": ("withdraw", request.id),
    }
    yield from (aegis("requests", *words) for action, words in lines.items() if action in request.possible)
    yield from (make(request) for action, make in _FILES.items() if action in request.possible)


def receive_line(request: wire.DataRequest) -> str:
    """The command that downloads a delivery and verifies it."""
    is_parquet = request.delivery is not None and request.delivery.media_type.endswith("parquet")
    return aegis("receive", request.id, "--output", f"received.{'parquet' if is_parquet else 'csv'}")


def fulfil_line(request: wire.DataRequest) -> str:
    """The command that masks the provider's table as agreed, uploads it and delivers it."""
    return aegis("requests", "fulfil", request.id, "TABLE.csv", "--plan", _PLAN, "--to", "FOLDER", "--link", "URL")


def _relink_line(request: wire.DataRequest) -> str:
    return aegis("requests", "relink", request.id, "--to", "FOLDER", "--link", "URL")


_FILES: Final[Mapping[str, Callable[[wire.DataRequest], str]]] = {
    "deliver": fulfil_line,
    "relink": _relink_line,
    "receive": receive_line,
}


def check_lines(viewer: Viewer, request: wire.DataRequest) -> tuple[str, ...]:
    """The commands that check a downloaded receipt, with the delivered file if there is one."""
    file = () if request.delivery is None else ("--file", "FILE")
    keys = f"{curl(viewer, '/.well-known/aegis-keys.json')} > keys.json"
    return keys, aegis("audit", "--check", receipt_name(request.id), "--keys", "keys.json", *file)


def receipt_name(request_id: str) -> str:
    """The file name of a downloaded receipt."""
    return f"receipt-{request_id}.json"


def _curl(viewer: Viewer, request: wire.DataRequest, place: str) -> Iterator[str]:
    for action, body in _BODIES.items():
        if action in request.possible:
            yield curl(viewer, f"{place}/actions", body={"action": action, **body})
    if "deliver" in request.possible:
        yield deliver_line(viewer, request)


def deliver_line(viewer: Viewer, request: wire.DataRequest) -> str:
    """The call that delivers a table that was masked by other means; replace its numbers, too."""
    body = {
        "action": "deliver",
        "url": "https://STORE.EXAMPLE/FILE.csv",
        "media_type": "text/csv",
        "size": 1,
        "sha256": "SHA-256",
        "records": 1,
        "configuration": request.configuration,
        "entry_digest": request.entry.digest,
        "privacy": request.request.get("require") or {},
    }
    return curl(viewer, f"/v1/requests/{request.id}/actions", body=body)
