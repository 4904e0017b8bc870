from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from aegis_provider.cli.options import (
    AcceptOption,
    DelimiterOption,
    EscapeFormulasOption,
    MemoryOption,
    PlanOption,
    TableArgument,
)
from aegis_provider.cli.stages import stage
from aegis_provider.errors import PlanError
from aegis_sdk.cli.decisions import RequestIdArgument
from aegis_sdk.cli.options import AcceptUniqueOption, JsonOption
from aegis_sdk.cli.request_report import delivered
from aegis_sdk.cli.terminal import print_result, warn
from aegis_sdk.wire import read_json

if TYPE_CHECKING:
    from aegis_provider.handover import Fulfilled

WORK: Final = Path(".aegis-fulfil")

ToOption = Annotated[
    str,
    typer.Option(
        "--to",
        metavar="PLACE",
        help="Where to put the masked table: s3://BUCKET/PREFIX, az://CONTAINER/PREFIX, gs://BUCKET/PREFIX, a web "
        "server's address that takes PUT, or a directory.",
    ),
]
LinkOption = Annotated[
    str | None,
    typer.Option(
        metavar="URL", help="Where consumers find the files of the directory or web server. Buckets need none."
    ),
]
WorkOption = Annotated[
    Path, typer.Option(metavar="DIR", help="Keeps what is done until it is delivered, so that a new run goes on.")
]


def fulfil(
    request_id: RequestIdArgument,
    table: TableArgument,
    plan: PlanOption,
    to: ToOption,
    link: LinkOption = None,
    card: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also deliver this release card, the JSON of `aegis release`.")
    ] = None,
    file_format: Annotated[
        Literal["csv", "parquet"], typer.Option("--format", help="The format of the masked table.")
    ] = "csv",
    escape_formulas: EscapeFormulasOption = False,  # noqa: FBT002 - a flag
    accept_unique: AcceptUniqueOption = False,  # noqa: FBT002 - a flag
    work: WorkOption = WORK,
    delimiter: DelimiterOption = None,
    memory_limit: MemoryOption = "1GB",
    accept_identifiers: AcceptOption = False,  # noqa: FBT002 - a flag
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """Mask the table as a data request was approved, and deliver it.

    Plan, entry and approval must be about the same, which is compared by digest and masking. The privacy that the plan
    promises is measured in the masked table, its records get a random order, and it is put into your own storage. The
    service is told where it is, and what it is; it never gets the table. A generated table is delivered as it is.

    If more than 1 % of the records are alone on all shared columns, whatever the plan says that someone may know, the
    table is not delivered without --accept-unique.

    Credentials are read from the environment, as other tools do: AWS_ACCESS_KEY_ID, AZURE_STORAGE_ACCOUNT_NAME,
    GOOGLE_SERVICE_ACCOUNT and so on. Links to buckets are presigned and last for seven days at most.

    If it is stopped, the same command again goes on. While it runs, no other program can fulfil the request.
    """
    from aegis_provider.handover import Task, storage_at
    from aegis_provider.handover import fulfil as fulfil_task
    from aegis_provider.plan.reading import load_plan
    from aegis_provider.table import delimiter_in
    from aegis_sdk import Client

    storage, intended = storage_at(to, link), load_plan(plan)
    with Client() as service:
        task = Task(
            service,
            request_id,
            table,
            intended,
            delimiter=delimiter or delimiter_in(table, intended.label),
            memory_limit=memory_limit,
            accept_identifiers=accept_identifiers,
            ending=f".{file_format}",
            escape_formulas=escape_formulas,
            card=None if card is None else _card(card),
            accept_unique=accept_unique,
            stage=stage,
        )
        fulfilled = fulfil_task(task, storage, work)
    for warning in filter(None, (*fulfilled.masked.warnings, fulfilled.warning)):
        warn(warning)
    print_result(json.loads(fulfilled.request.model_dump_json()), _report(fulfilled), as_json=as_json)


def relink(
    request_id: RequestIdArgument,
    to: ToOption,
    link: LinkOption = None,
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """Give a new link to a delivered table, for example since a presigned one has ended.

    The file must still be in the storage that `aegis fulfil` has put it into.
    """
    from aegis_provider.handover import relink as give_new_link
    from aegis_provider.handover import storage_at
    from aegis_sdk import Client

    storage = storage_at(to, link)
    with Client() as service:
        request = give_new_link(service, request_id, storage)
    lines = () if request.delivery is None else delivered(request.delivery)
    print_result(json.loads(request.model_dump_json()), lines, as_json=as_json)


def _card(path: Path) -> dict[str, Any]:
    try:
        card = read_json(path.read_bytes())
    except (OSError, ValueError) as error:
        raise PlanError(f"{path}: is no release card: {error}") from error
    if not isinstance(card, dict):
        raise PlanError(f"{path}: is no release card: a card is a JSON object")
    return card


def _report(fulfilled: Fulfilled) -> Iterator[str]:
    delivery, masked = fulfilled.request.delivery, fulfilled.masked
    if delivery is not None:
        first, *others = delivered(delivery)
        yield first
        yield from () if fulfilled.alone is None else (fulfilled.alone.line(),)
        yield from others
    if masked.suppressed:
        yield f"left out: {masked.suppressed:,} record{'s' * (masked.suppressed != 1)}, as the plan declares"
    if masked.checked is not None and masked.checked.replayed:
        yield masked.checked.replayed
    if masked.unmeasured:
        yield f"promised, but not measurable in a table: {', '.join(masked.unmeasured)}"
