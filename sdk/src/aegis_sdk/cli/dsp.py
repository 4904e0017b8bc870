"""Commands for the Dataspace Protocol as consumer: read a provider's catalogue, and request a table."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Final

import httpx
import typer

from aegis_sdk._client import Client
from aegis_sdk._downloads import Download, OtherFileError
from aegis_sdk._links import Links
from aegis_sdk._sending import checked_key, checked_url
from aegis_sdk.cli.group import verifier
from aegis_sdk.cli.options import JsonOption
from aegis_sdk.cli.receive import beside, packaged
from aegis_sdk.cli.terminal import InputError, aligned, print_json, print_result, say
from aegis_sdk.dataspace import Connector, DataspaceError, Inbox, Negotiation, StillOpenError, Transfer, listening
from aegis_sdk.reading import PARQUET, shown
from aegis_sdk.wire import LONGEST_REASON, PRIVACY_CRITERIA, Delivery
from aegis_sdk.wire import dataspace as dsp

DISPUTED: Final = 3
NOT_VERIFIED: Final = 4

_PRIVATE: Final = "AEGIS_LINKS_ALLOW_PRIVATE"
_LONGEST: Final = 255
_AEGIS: Final = "urn:aegis:"

UrlArgument = Annotated[str, typer.Argument(help="The provider's address, below which it says what it speaks.")]


def catalog(
    url: UrlArgument,
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="The most datasets.")] = 100,
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """List what a provider offers over the Dataspace Protocol, and the privacy that each promises.

    The key for the provider is that of AEGIS_API_KEY.
    """
    with _connected(url, dsp.POLL) as connector:
        datasets = list(islice(connector.datasets(), limit))
    if as_json:
        print_json({"datasets": [one.written() for one in datasets]})
        return
    rows = [
        (shown(one.id, _LONGEST), shown(one.title or ""), shown(_promised(offer)), shown(offer.id, _LONGEST))
        for one in datasets
        for offer in one.policies
    ]
    for line in aligned(("DATASET", "TITLE", "PROMISES", "OFFER"), rows):
        typer.echo(line)


def _promised(offer: dsp.Policy) -> str:
    """The privacy that an offer of Aegis promises, such as `k=5, t=0.2`; `-` for none, or for another's offer."""
    stated = {str(one.get("leftOperand")): one.get("rightOperand") for one in offer.constraints}
    of_people = " of people" if stated.get(f"{_AEGIS}unit") == "person" else ""
    numbers = {name: stated[f"{_AEGIS}{name}"] for name in PRIVACY_CRITERIA if f"{_AEGIS}{name}" in stated}
    return ", ".join(f"{name}={number}" for name, number in numbers.items()) + of_people if numbers else "-"


def request(
    url: UrlArgument,
    dataset: Annotated[str, typer.Argument(help="The dataset, as `aegis dsp catalog` lists it.")],
    offer: Annotated[
        str | None, typer.Option(help="The offer.  [the first of the dataset]", show_default=False)
    ] = None,
    purpose: Annotated[str | None, typer.Option(help="Purpose of the data.")] = None,
    output: Annotated[
        Path | None, typer.Option(help="The file to write.  [by the agreement's id]", show_default=False)
    ] = None,
    wait: Annotated[float, typer.Option(min=0, help="Seconds to wait for the provider.")] = 600.0,
    pid: Annotated[
        str | None, typer.Option(help="Continue the negotiation with this id of yours.", show_default=False)
    ] = None,
    callback: Annotated[
        str | None,
        typer.Option(
            help="URL at which the provider reaches --listen. By default, Aegis is polled.", show_default=False
        ),
    ] = None,
    listen: Annotated[str, typer.Option(help="Where messages of the provider arrive.")] = "127.0.0.1:8765",
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """Negotiate a table over the Dataspace Protocol, and receive it.

    The terms of the offer are accepted, an agreement with other rules is refused, and so is another offer: its id is
    printed. The file must have the size and the SHA-256 that the provider states; where it offers the evidence of its
    entry, the counts are compared as `aegis receive` does. It is then completed, or disputed.

    The provider's messages need an address that it can reach: --callback. Without one, the process is polled, which
    works behind NAT, but only with Aegis. If the provider takes longer than --wait, --pid continues later.

    The exit code is 0 for received, 3 for disputed, 4 for received without comparing counts, and 1 or 2 for errors.
    """
    if pid is not None and offer is None:
        raise InputError("--pid: name the --offer of this negotiation, too")
    if output is not None:
        _refuse_path(output)
    with _listening(url, callback, listen) as connector:
        chosen = _offer(connector.dataset(dataset), offer)
        negotiation = connector.request(chosen, dataset, pid, purpose)
        say(f"negotiating as {negotiation.consumer_pid} ...")
        _agree(connector, negotiation, wait)
        transfer = connector.transfer(negotiation)
        if connector.wait(transfer, ("STARTED", "TERMINATED", "COMPLETED"), wait) != "STARTED":
            _refuse_unfinished(negotiation, str(transfer.state), transfer.reasons)
        result, lines, code = _received(url, connector, transfer, output)
    print_result(result, lines, as_json=as_json)
    if code:
        raise typer.Exit(code)


@contextmanager
def _connected(url: str, callback: str, inbox: Inbox | None = None) -> Iterator[Connector]:
    key = checked_key(os.environ.get("AEGIS_API_KEY") or "")
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    with httpx.Client(headers=headers, timeout=60.0) as http:
        yield Connector.at(checked_url(url), http, callback, inbox)


@contextmanager
def _listening(url: str, callback: str | None, listen: str) -> Iterator[Connector]:
    """A connector that listens for messages, or polls without a callback."""
    if callback is None:
        with _connected(url, dsp.POLL) as connector:
            yield connector
        return
    host, _, port = listen.rpartition(":")
    if not (host and port.isascii() and port.isdigit() and int(port) < 65_536):  # noqa: PLR2004 - the ports
        raise InputError(f"--listen: give HOST:PORT, not {shown(listen)!r}")
    inbox = Inbox()
    try:
        with listening(inbox, host.strip("[]"), int(port), callback) as address, _connected(url, address, inbox) as one:
            yield one
    except OSError as error:
        raise InputError(f"--listen: nothing can listen at {shown(listen)}: {error.strerror}") from None


def _offer(dataset: dsp.Dataset, wanted: str | None) -> dsp.Policy:
    """The offer of a dataset with this id, or the first.

    Raises:
        InputError: It has no such offer.
    """
    offers = {one.id: one for one in dataset.policies}
    if wanted is not None and wanted not in offers:
        raise InputError(f"--offer: the dataset has no offer {shown(wanted, _LONGEST)}; `aegis dsp catalog` lists them")
    return offers[wanted or next(iter(offers))]


def _agree(connector: Connector, negotiation: Negotiation, wait: float) -> None:
    """Come to a final agreement about the offer.

    Raises:
        StillOpenError: The provider takes longer.
        DataspaceError: It offers something else, refuses, or agrees on other rules.
    """
    state = connector.wait(negotiation, ("OFFERED", "AGREED", "VERIFIED", "FINALIZED", "TERMINATED"), wait)
    if state == "OFFERED" and negotiation.offer is not None:
        connector.terminate(negotiation, "Another offer was requested.")
        raise DataspaceError(
            f"the provider offers {shown(negotiation.offer.id, _LONGEST)} instead: request it by --offer"
        )
    if state == "AGREED":
        connector.verify(negotiation)
    if state not in ("FINALIZED", "TERMINATED"):
        state = connector.wait(
            negotiation, ("FINALIZED", "TERMINATED"), wait if state == "VERIFIED" else min(wait, 60.0)
        )
    if state != "FINALIZED":
        _refuse_unfinished(negotiation, state, negotiation.reasons)


def _refuse_unfinished(negotiation: Negotiation, state: str, reasons: list[Any]) -> None:
    """Say why there is no table yet, or none at all.

    Raises:
        StillOpenError: The provider has not decided yet.
        DataspaceError: It has ended the process.
    """
    if state == "TERMINATED":
        why = "; ".join(shown(str(one)) for one in reasons[:5]) or "without a reason"
        raise DataspaceError(f"the provider has ended it: {why}")
    offer = "OFFER" if negotiation.offer is None else negotiation.offer.id
    raise StillOpenError(negotiation.consumer_pid, state, offer)


def _received(
    url: str, connector: Connector, transfer: Transfer, output: Path | None
) -> tuple[dict[str, Any], list[str], int]:
    """Download and verify the file of a transfer, and tell the provider."""
    delivery = _described(transfer)
    ending = "parquet" if delivery.media_type == PARQUET else "csv"
    path = output or Path(f"{transfer.consumer_pid.split(':')[2]}.{ending}")
    _refuse_path(path)
    part = path.with_name(f"{path.name}.part")
    links = Links(allow_private=os.environ.get(_PRIVATE, "").lower() in ("1", "true", "yes", "on"))
    try:
        Download(delivery, part, links).run()
    except OtherFileError as error:
        connector.terminate(transfer, f"Downloaded twice: {error}")
        return {"output": str(part), "verdict": "disputed"}, [f"disputed: {error}", f"it is in {part}"], DISPUTED
    part.replace(path)
    return _compared(url, connector, transfer, path)


def _refuse_path(path: Path) -> None:
    """Look where a file is to be written.

    Raises:
        InputError: Something is there, or there is no such directory.
    """
    if path.exists() or not path.parent.is_dir():
        raise InputError(f"{path}: something is there, or there is no such directory; choose another --output")


def _compared(url: str, connector: Connector, transfer: Transfer, path: Path) -> tuple[dict[str, Any], list[str], int]:
    """Compare the counts of a file with the evidence, if the provider offers it, and complete or dispute it."""
    request_id = None if transfer.address is None else transfer.address.named("request")
    verify, why = verifier()
    about: dict[str, Any] = {"output": str(path)}
    if verify is None or request_id is None:
        connector.complete(transfer)
        said = why if verify is None else "the provider names no evidence"
        return (
            about | {"verdict": "received", "why": said},
            [f"received in {path}, counts not compared: {said}"],
            NOT_VERIFIED,
        )
    with Client(url) as client:
        request, evidence = client.requests.get(request_id), client.requests.evidence(request_id)
        verified = verify(path, request, evidence, None)
        package = packaged(client, request, evidence, path, None) if verified.received else None
    if verified.received:
        connector.complete(transfer)
        told = about | {"verdict": "received", "package": package}
        return told, [f"received in {path}", *verified.lines, *beside(package)], 0
    reason = verified.verdict.reason or f"{verified.verdict.cells_differing} counts differ from the entry's."
    connector.terminate(transfer, reason[:LONGEST_REASON])
    return about | {"verdict": "disputed"}, [f"disputed: {reason}", *verified.lines], DISPUTED


def _described(transfer: Transfer) -> Delivery:
    """The file as the provider describes it.

    Raises:
        DataspaceError: It does not say where it is, its size or its SHA-256, so nothing could be verified.
    """
    address = transfer.address
    named = {} if address is None else {one.name: one.value for one in address.properties or ()}
    size = named.get("size", "")
    if address is None or address.endpoint is None or "sha256" not in named or not (size.isascii() and size.isdigit()):
        raise DataspaceError("the provider does not state the file's place, size and SHA-256, so it cannot be verified")
    return Delivery(
        url=address.endpoint,
        media_type=named.get("mediaType", "text/csv"),
        size=int(size[:18]),
        sha256=named["sha256"],
        records=0,
        configuration=named.get("configuration", ""),
        delivered_at=datetime.now(UTC),
    )
