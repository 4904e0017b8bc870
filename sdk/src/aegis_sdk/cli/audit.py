from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from aegis_sdk._client import Client
from aegis_sdk._downloads import sha256_of
from aegis_sdk.cli.options import JsonOption
from aegis_sdk.cli.requests import time_text
from aegis_sdk.cli.terminal import InputError, aligned, print_json, print_result
from aegis_sdk.printable import shown
from aegis_sdk.receipts import ReceiptError, check_receipt, content_of, jws_of, keys_in
from aegis_sdk.wire import AuditRecord, PublicKeySet, ReceiptClaims

_LONG = 80
_DIGEST = 100


def audit(
    request_id: Annotated[
        str | None, typer.Argument(metavar="[REQUEST_ID]", help="Data request whose receipt to get and check.")
    ] = None,
    check: Annotated[
        Path | None, typer.Option(metavar="RECEIPT", help="Check the receipt in this file instead.")
    ] = None,
    output: Annotated[Path | None, typer.Option(help="Store the receipt in this file.")] = None,
    file: Annotated[Path | None, typer.Option(help="Your file, which must be the delivered one.")] = None,
    keys: Annotated[Path | None, typer.Option(help="File with the public keys; by default, the service's.")] = None,
    since: Annotated[str | None, typer.Option(metavar="TIME", help="Only records from 2026-03-01 on, say.")] = None,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="Only records before this time (UTC).")] = None,
    entry: Annotated[str | None, typer.Option(metavar="ENTRY_ID", help="Only records about this entry.")] = None,
    request: Annotated[str | None, typer.Option(metavar="REQUEST_ID", help="Only records about this request.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1_000_000, help="Show at most this many records, the newest.")] = 50,
    pin: Annotated[str | None, typer.Option(metavar="KEY_ID", help="The only key to accept.")] = None,
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """Get or check the receipt of a request, or list the audit log."""
    if request_id is None and check is None:
        if output or keys or pin or file:
            raise InputError("--output, --keys, --pin and --file need a receipt: give REQUEST_ID or --check")
        _list(entry, request, (_moment(since), _moment(until)), limit, as_json=as_json)
        return
    if request_id is not None and check is not None:
        raise InputError("give either REQUEST_ID to get a receipt, or --check to check your own, not both")
    if entry or request or since or until:
        raise InputError("--entry, --request, --since and --until are for the list of records; leave them out")
    jws = _fetched(request_id, output) if request_id is not None else jws_of(content_of(check or Path()))
    claims = check_receipt(jws, _pinned(_keys(keys), pin), None if file is None else sha256_of(file))
    if request_id is not None and claims.request != request_id:
        raise ReceiptError(f"the service has sent the receipt of another request, {claims.request}")
    result = {"claims": claims.model_dump(mode="json"), "jws": jws}
    print_result(result, _report(claims, is_file_checked=file is not None), as_json=as_json)


def _fetched(request_id: str, output: Path | None) -> str:
    """The receipt of a request, which is also stored if an output file is given."""
    with Client() as client:
        jws = client.requests.receipt(request_id).jws
    if output is not None:
        output.write_text(f"{jws}\n", encoding="utf-8")
    return jws


def _keys(path: Path | None) -> PublicKeySet:
    if path is not None:
        return keys_in(content_of(path))
    with Client() as client:
        return client.audit.keys()


def _pinned(keys: PublicKeySet, key_id: str | None) -> PublicKeySet:
    """The keys, or only the accepted one."""
    return keys if key_id is None else PublicKeySet(keys=[one for one in keys.keys if one.kid == key_id])


def _report(claims: ReceiptClaims, *, is_file_checked: bool) -> Iterator[str]:
    yield f"the receipt is valid, signed by the service on {time_text(claims.signed_at)}"
    yield f"request {shown(claims.request, _LONG)} of {shown(claims.consumer)}: {shown(claims.state)}"
    entry = claims.entry
    named = f"entry {shown(entry.id, _LONG)}, version {entry.version}, of {shown(claims.provider)}"
    yield f"{named}: {_digest(entry.digest)}"
    yield f"terms {_digest(claims.terms)}"
    if claims.configuration is not None:
        yield f"configuration {shown(claims.configuration)}"
    if claims.file_sha256 is not None:
        checked = "; it matches your file" if is_file_checked else ""
        yield f"file sha256:{_digest(claims.file_sha256)}{checked}"
    if claims.audit is not None:
        yield f"record {claims.audit.sequence} of the audit log: {_digest(claims.audit.hash)}"
    yield ""
    rows = []
    for change in claims.changes:
        who = shown(change.side) if change.tenant is None else f"{shown(change.side)} {shown(change.tenant)}"
        what = change.action if change.configuration is None else f"{change.action} {change.configuration}"
        rows.append((time_text(change.at), who, shown(what, _LONG)))
    yield from aligned(("when", "who", "what"), rows)


def _digest(text: str) -> str:
    return shown(text, _DIGEST)


def _list(
    entry: str | None, request: str | None, times: tuple[datetime | None, datetime | None], limit: int, *, as_json: bool
) -> None:
    with Client() as client:
        first = [*islice(client.audit.records(*times, entry, request), limit + 1)]
    records, is_all = first[:limit], len(first) <= limit
    if as_json:
        items = [one.model_dump(mode="json", exclude_unset=True) for one in records]
        print_json({"items": items, "more": not is_all})
        return
    if records:
        typer.echo("\n".join(aligned(("record", "when", "who", "what", "about"), [_row(one) for one in records])))
    else:
        typer.echo("no records")
    if not is_all:
        typer.echo("and more: raise --limit, or narrow the list with --entry, --request, --since or --until")


def _row(record: AuditRecord) -> tuple[str | int, ...]:
    who = "service" if record.tenant is None else shown(record.tenant)
    who += "" if record.subject is None else f" ({shown(record.subject)})"
    about = record.request or record.entry or record.target or ""
    about += "" if record.version is None or record.request else f" v{record.version}"
    value = record.value or (record.configuration if record.request else None)
    what = record.action if value is None else f"{record.action} {value}"
    return record.sequence, time_text(record.at), who, shown(what, _LONG), shown(about, _LONG) if about else ""


def _moment(text: str | None) -> datetime | None:
    """A time, in UTC by default."""
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise InputError(f"a time is written as 2026-03-01 or 2026-03-01T12:00:00Z, not {text!r}") from None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
