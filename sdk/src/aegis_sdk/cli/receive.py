import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final, TypeAlias

import typer

from aegis_sdk._client import Client
from aegis_sdk._downloads import Download, OtherFileError, sha256_of
from aegis_sdk._errors import AegisError, NotFoundError, UnexpectedAnswerError
from aegis_sdk._files import write_together
from aegis_sdk._links import Links
from aegis_sdk.cli.group import verifier
from aegis_sdk.cli.options import JsonOption, RequestIdArgument
from aegis_sdk.cli.terminal import InputError, print_result, progress_bar, say, warn
from aegis_sdk.reading import PARQUET, Packaged, package_name, package_of, shown, text_of
from aegis_sdk.wire import LONGEST_REASON, DataRequest, Delivery, DeliveryVerdict, Evidence

DISPUTED: Final = 3
NOT_VERIFIED: Final = 4

_DELIVERED: Final = "delivered"
_Result: TypeAlias = tuple[dict[str, Any], list[str], int]
"""The output as JSON and for people, and the exit code."""

_PRIVATE: Final = "AEGIS_LINKS_ALLOW_PRIVATE"


def receive(
    request_id: RequestIdArgument,
    output: Annotated[
        Path | None, typer.Option(help="The file to write.  [REQUEST_ID.csv or .parquet]", show_default=False)
    ] = None,
    delimiter: Annotated[
        str | None,
        typer.Option(help="Separator of a CSV table.  [from the header]", show_default=False),
    ] = None,
    dispute: Annotated[
        str | None,
        typer.Option(
            help="Dispute the delivery for this reason, without a download. Give no values of records.",
            show_default=False,
        ),
    ] = None,
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """Download a delivered table, and verify it against its entry.

    The file is read from the delivery's link and must have the declared size and SHA-256. Its counts are compared with
    the published ones of its configuration. The outcome is posted: received, or disputed with the differing counts. An
    interrupted download resumes. If the link does not work, use --dispute. What its columns hold is written beside a
    received table, as FILE.datapackage.json (Data Package 2.0), for `aegis_sdk.read` and other programs.

    The exit code is 0 for received, 3 for disputed, 4 for downloaded but not verified, because the provider's package
    is not installed or the entry's version was deleted, 2 for bad input, and 1 for everything else.
    """
    mark = None if delimiter is None else _mark(delimiter)
    with Client() as client:
        request = client.requests.get(request_id)
        if request.id.lower() != request_id.lower():  # the id is part of a file name
            raise UnexpectedAnswerError(f"the service has sent another request, {shown(request.id)}")
        if dispute is None:
            result, lines, code = _received(client, request, output, mark)
        else:
            result, lines, code = _disputed(client, request, output, dispute)
    print_result(result, lines, as_json=as_json)
    if code:
        raise typer.Exit(code)


def _mark(delimiter: str) -> str:
    """The delimiter that the option names.

    Raises:
        InputError: It is not a valid delimiter.
    """
    mark = {"tab": "\t", "\\t": "\t"}.get(delimiter, delimiter)
    if len(mark) != 1 or mark in '"\r\n\0':
        raise InputError(
            f"--delimiter: give one character other than a quote or line end, or `tab`, not {shown(delimiter)!r}"
        )
    return mark


def _received(client: Client, request: DataRequest, output: Path | None, delimiter: str | None) -> _Result:
    """Download and verify a delivery."""
    delivery = _delivery(request, "received")
    if (ended := delivery.expires_at) is not None and ended <= datetime.now(UTC):
        raise InputError(
            f"the link has ended ({ended:%Y-%m-%d %H:%M} UTC); ask its provider for another one, or --dispute it"
        )
    path = _path(output, request, delivery)
    try:
        _downloaded(path, delivery)
        return _verified(client, request, path, delimiter)
    except OtherFileError as error:
        return _other_file(client, request, path, error)


def _disputed(client: Client, request: DataRequest, output: Path | None, reason: str) -> _Result:
    """Dispute a delivery in a person's words, with the digest of the file if it was downloaded."""
    path = output or _named(request, _delivery(request, "disputed"))
    if not 0 < len(reason) <= LONGEST_REASON:
        raise InputError(f"--dispute: give a reason of 1 to {LONGEST_REASON:,} characters")
    there = path.is_file()
    if output is not None and not there:
        raise InputError(f"{path}: there is no such file; leave --output out if you have none")
    verdict = DeliveryVerdict(
        sha256=sha256_of(path) if there else None, size=path.stat().st_size if there else None, reason=reason
    )
    state = client.requests.dispute(request.id, verdict).state
    file = f"{path}: {verdict.size or 0:,} bytes, SHA-256 {verdict.sha256}" if there else "no file was checked"
    result = {"output": str(path) if there else None, "verdict": state, "verification": verdict.model_dump(mode="json")}
    return result, [f"{shown(state)}: {shown(reason, LONGEST_REASON)}", file], DISPUTED


def _delivery(request: DataRequest, what: str) -> Delivery:
    """The delivery of a request.

    Raises:
        InputError: There is no delivery, or not any more.
    """
    if request.state != _DELIVERED or request.delivery is None:
        raise InputError(f"this request is {shown(request.state)}, so nothing can be {what}")
    return request.delivery


def _named(request: DataRequest, delivery: Delivery) -> Path:
    return Path(f"{request.id}.{'parquet' if delivery.media_type == PARQUET else 'csv'}")


def _path(output: Path | None, request: DataRequest, delivery: Delivery) -> Path:
    """The path of the downloaded file.

    Raises:
        InputError: Another file has this path, or the directory does not exist.
    """
    path = output or _named(request, delivery)
    if not path.parent.is_dir():
        raise InputError(f"{path}: there is no directory {path.parent}; create it first")
    if path.exists() and (not path.is_file() or not _is_delivered(path, delivery)):
        raise InputError(f"{path}: something else is there; choose another --output")
    return path


def _is_delivered(path: Path, delivery: Delivery) -> bool:
    return path.stat().st_size == delivery.size and sha256_of(path) == delivery.sha256


def _downloaded(path: Path, delivery: Delivery) -> None:
    """Download the file, which gets its final name only if it is the delivered one.

    Raises:
        DownloadError: It is another file, or cannot be read.
    """
    if path.exists():
        return
    part = _part(path)
    links = Links(allow_private=os.environ.get(_PRIVATE, "").lower() in ("1", "true", "yes", "on"))
    say(f"downloading {delivery.size:,} bytes ...")
    with progress_bar("downloading") as progress:
        Download(delivery, part, links, progress=progress).run()
    part.replace(path)


def _verified(client: Client, request: DataRequest, path: Path, delimiter: str | None) -> _Result:
    """Verify the file, post the outcome, and report it."""
    verify, why = verifier()
    try:
        evidence = client.requests.evidence(request.id)
    except NotFoundError as error:
        return _not_verified(path, str(error))
    if verify is None:
        return _not_verified(path, why, packaged(client, request, evidence, path, delimiter))
    verified = verify(path, request, evidence, delimiter)
    post = client.requests.receive if verified.received else client.requests.dispute
    state = post(request.id, verified.verdict).state
    what = f"{shown(request.configuration or '')} of {shown(request.entry.name)}, version {request.entry.version}"
    file = f"{path}: {verified.verdict.size or 0:,} bytes, SHA-256 {verified.verdict.sha256} as delivered"
    about = [f"{shown(request.configuration or '')}: {shown(request.about, LONGEST_REASON)}"] if request.about else []
    package = packaged(client, request, evidence, path, delimiter) if verified.received else None
    lines = [f"{shown(state)}: {what}", *about, file, *verified.lines, *beside(package)]
    result = _told(path, state, verified.verdict) | verified.details | {"package": package}
    return result, lines, 0 if verified.received else DISPUTED


def _not_verified(path: Path, why: str, package: str | None = None) -> _Result:
    result = {"output": str(path), "verdict": "not verified", "why": why, "package": package}
    lines = [f"downloaded, not verified: {why}", f"it is in {path}, and nothing was posted", *beside(package)]
    return result, lines, NOT_VERIFIED


def packaged(client: Client, request: DataRequest, evidence: Evidence, path: Path, delimiter: str | None) -> str | None:
    """Write the Data Package of a delivered file beside it, from the entry as the caller sees it; return where.

    `None`, with a warning, if it cannot be written: the table is received all the same.
    """
    delivery = _delivery(request, "received")
    beside = path.with_name(package_name(path.name))
    try:
        head = client.entry(request.entry.id, request.entry.version)
        digest, has_stars = request.entry.digest, bool(evidence.suppressed_cells)
        privacy = delivery.privacy
        table = Packaged.delivered(head, delivery.configuration, privacy, digest=digest, has_stars=has_stars)
        described = package_of(path, path.name, delivery.sha256, head.entry_schema, table, delimiter)
        write_together({beside: text_of(described)})
    except (AegisError, OSError, ValueError, LookupError, TypeError) as error:  # also of a service that answers oddly
        warn(f"its Data Package is not written: {error}")
        return None
    return str(beside)


def beside(package: str | None) -> list[str]:
    """The line of a report that says where the package is, if there is one."""
    return [] if package is None else [f"its columns are described in {package}"]


def _other_file(client: Client, request: DataRequest, path: Path, error: OtherFileError) -> _Result:
    """Dispute a file other than the delivered one."""
    part = _part(path)
    verdict = DeliveryVerdict(sha256=error.sha256, size=part.stat().st_size, reason=f"Downloaded twice: {error}")
    state = client.requests.dispute(request.id, verdict).state
    lines = [f"{shown(state)}: {error}, not that of the delivered file", f"it is in {part}"]
    return _told(part, state, verdict), lines, DISPUTED


def _part(path: Path) -> Path:
    """The name of an incomplete file."""
    return path.with_name(f"{path.name}.part")


def _told(path: Path, state: str, verdict: DeliveryVerdict) -> dict[str, Any]:
    return {"output": str(path), "verdict": state, "verification": verdict.model_dump(mode="json")}
