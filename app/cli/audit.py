"""Check an exported audit log. Nothing here needs a database."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Annotated, BinaryIO, NoReturn

import orjson
import typer

from aegis_sdk.receipts import HEAD, RECEIPT, ReceiptError, checked_claims, content_of, keys_in
from aegis_sdk.wire import PublicKeySet
from app.audit.model import BrokenLogError, PromisedRecord, check_chain
from app.audit.promises import counted, coverage, head_promise, promise_of
from app.cli.commands import fail

#: The beginning of a signed head in an export; records begin differently.
_HEAD_LINE = b'{"head":'

#: A record has few texts, of at most 2,000 characters.
_LONGEST_LINE = 1 << 20

_UNSIGNED = "nothing is signed, so the whole log could be forged: give --signed, or accept that with --unsigned"


def verify(
    file: Annotated[Path, typer.Argument(help="A log written by `aegis-server audit export`.")],
    keys: Annotated[Path, typer.Option(help="The public keys: a copy of /.well-known/aegis-keys.json that you trust.")],
    signed: Annotated[
        list[Path] | None,
        typer.Option(help="A receipt or signed head (JWS) from your files that the log must contain; repeatable."),
    ] = None,
    *,
    unsigned: Annotated[
        bool, typer.Option("--unsigned", help="Accept an unsigned log, whose end cannot be checked.")
    ] = False,
) -> None:
    """Check an exported log without a database: that no record was changed, removed, moved or added, that something of
    it is signed, and that it reaches all that is. The exit code is 0 if so, 1 if not, and 2 if it cannot be read.
    """
    try:
        known = keys_in(content_of(keys))
        kept = [_kept(path, known) for path in signed or ()]
        with file.open("rb") as opened:
            lines = _lines(opened)
            heads, first = _heads_in(lines, known)
            last = check_chain(chain([first] if first else [], lines), [*heads, *kept])
    except OSError as error:
        fail(f"{error.filename}: {error.strerror}")
    except (BrokenLogError, ReceiptError) as error:
        _refuse(str(error))
    intact = f"{counted(last.sequence, 'record')}, none changed, removed or moved"
    if not (heads or kept or unsigned):
        _refuse(f"{intact}, but {_UNSIGNED}")
    typer.echo(f"{intact}; {coverage(last, max((one.place.sequence for one in [*heads, *kept]), default=0))}")


def _lines(file: BinaryIO) -> Iterator[bytes]:
    while line := file.readline(_LONGEST_LINE + 1):
        if len(line) > _LONGEST_LINE:
            raise BrokenLogError(f"a line has more than {_LONGEST_LINE} bytes, so this is not a log")
        yield line


def _heads_in(lines: Iterator[bytes], keys: PublicKeySet) -> tuple[list[PromisedRecord], bytes]:
    """The signed heads with which a log begins, and the line after them."""
    heads: list[PromisedRecord] = []
    for line in lines:
        if not line.startswith(_HEAD_LINE):
            return heads, line
        try:
            jws = str(orjson.loads(line)["head"])
            heads.append(head_promise(jws, keys))
        except (orjson.JSONDecodeError, ReceiptError) as error:
            raise ReceiptError(f"signed head {len(heads) + 1} of the log: {error}") from None
    return heads, b""


def _kept(path: Path, keys: PublicKeySet) -> PromisedRecord:
    """The record that a receipt or a signed head in a file commits to."""
    content = content_of(path)
    try:
        return promise_of(checked_claims(content, keys, HEAD), f"head in {path}")
    except ReceiptError as head_error:
        try:
            claims = checked_claims(content, keys, RECEIPT)
        except ReceiptError:
            raise ReceiptError(f"{path}: {head_error}") from None
    return promise_of(claims.get("audit") or {}, f"receipt in {path}", str(claims["signed_at"]))


def _refuse(message: str) -> NoReturn:
    """Exit with a message and code 1: the log failed the check."""
    typer.echo(f"aegis-server: {message}", err=True)
    raise typer.Exit(1)
