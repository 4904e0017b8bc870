"""The command `aegis`: a thin user of the SDK. Results go to stdout, everything else to stderr."""

import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import typer
from pydantic import ValidationError

from aegis_sdk._client import Client
from aegis_sdk._errors import AegisError, ConflictError, ProblemError
from aegis_sdk._report import report
from aegis_sdk.wire import Advice, EntryDocument, NotJsonError, faults_of, read_json

BAD_INPUT = 2
FAILED = 1

_INPUT_STATUSES = (400, 404, 409, 413, 422)
_PROVIDER_LIBRARIES = ("duckdb", "numpy", "yaml")


class InputError(AegisError, ValueError):
    """Something the caller can put right in the command itself."""


app = typer.Typer(
    name="aegis",
    help="Find the masking configuration that keeps the most predictive utility, without showing a record.",
    epilog="The service and the key: AEGIS_URL (http://127.0.0.1:8000) and AEGIS_API_KEY.",
    rich_markup_mode=None,
    add_completion=False,
)

TableArgument = Annotated[Path, typer.Argument(metavar="TABLE", help="CSV with a header, or Parquet.")]
PlanOption = Annotated[Path, typer.Option("--plan", help="The plan file (YAML).")]
DelimiterOption = Annotated[str, typer.Option(help="Between the fields of a CSV table; `tab` for a tab.")]
MemoryOption = Annotated[str, typer.Option(help="What reading may hold in memory; the rest goes to disk.")]


@app.command(epilog="Example: aegis summarize health.csv --plan plan.yaml --name health --output entry.json --pairs")
def summarize(
    table: TableArgument,
    plan: PlanOption,
    name: Annotated[str, typer.Option(help="Name of the entry: a-z 0-9 - _ .")],
    output: Annotated[Path, typer.Option(help="The entry (JSON), to be read before it is published.")],
    delimiter: DelimiterOption = ",",
    memory_limit: MemoryOption = "1GB",
    pairs: Annotated[bool, typer.Option("--pairs", help="Count pairs of attributes too, for `joint`.")] = False,  # noqa: FBT002 - a flag
) -> None:
    """Count a table as its plan says and write the catalogue entry. Nothing is sent anywhere."""
    provider = _provider()
    intended = provider.load_plan(plan)
    provider.refuse_overwriting(output, table, plan)
    _say(f"counting {table} ...")
    entry = provider.summarize(
        table,
        intended,
        name=name,
        delimiter=_delimiter(delimiter),
        memory_limit=memory_limit,
        pairs=pairs,
        progress=_records_said(),
    )
    _validated(plan, entry)
    provider.write_entry(entry, output)
    for attribute in provider.revealing_attributes(entry):
        typer.echo(f"aegis: warning: {attribute!r} is nearly unique, and the entry lists each of its values", err=True)
    tables = f", {len(entry['pairs'])} tables of pairs" if pairs else ""
    _say(f"{output}: {entry['records']} records, {len(entry['configurations'])} configurations{tables}")


@app.command(epilog="Example: aegis publish entry.json")
def publish(
    entry: Annotated[Path, typer.Argument(metavar="ENTRY", help="What `aegis summarize` wrote.")],
    update: Annotated[bool, typer.Option("--update", help="Publish a new version if it has changed.")] = False,  # noqa: FBT002 - a flag
) -> None:
    """Publish an entry and print its id. One that is published already, unchanged, is left as it is."""
    content = _read(entry)
    document = _document(entry, content)
    with Client() as client:
        _say(f"publishing {document.name} ...")
        try:
            typer.echo(client.publish(content).id)
        except ConflictError as conflict:
            if conflict.entry is None:
                raise
            if update:
                client.update(conflict.entry, content)
            elif not _same(document, client.summaries(conflict.entry)):
                raise InputError(
                    f"{document.name!r} is published as {conflict.entry} with other content; "
                    "say --update to publish a new version"
                ) from None
            typer.echo(conflict.entry)


@app.command(epilog="Example: aegis advise ENTRY_ID --measure mutual_information --require k=5")
def advise(
    entry_id: Annotated[str, typer.Argument(metavar="ENTRY_ID", help="What `aegis publish` printed.")],
    measure: Annotated[
        str, typer.Option(help="mutual_information, chi_square, joint, g3, ...; GET /v1/measures lists all.")
    ],
    require: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=NUMBER", help="Privacy to vouch for, as k=5; repeatable."),
    ] = None,
    limit: Annotated[int, typer.Option(min=0, help="Rows of the ranking.")] = 20,
    bias: Annotated[
        bool | None,
        typer.Option(
            "--bias-correction/--no-bias-correction",
            help="Less the bias of small samples, or not; by default joint is, the others are not.",
            show_default=False,
        ),
    ] = None,
    raw: Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")] = False,  # noqa: FBT002 - a flag
) -> None:
    """Ask which configuration loses least. The ranking comes first, then the cost of the best per attribute."""
    required = dict(_requirement(each) for each in require or [])
    with Client() as client:
        _say(f"asking about {entry_id} ...")
        advice = client.advise(
            entry_id, measure, require=required or None, limit=limit, bias_correction=bias, on_progress=_progress_said()
        )
        if raw:
            typer.echo(advice.model_dump_json(indent=2))
            return
        schema = client.entry(entry_id, advice.entry.version).entry_schema
    typer.echo("\n".join(report(advice, schema)))


@app.command(epilog="Example: aegis apply health.csv --plan plan.yaml --configuration c17 --output masked.csv")
def apply(
    table: TableArgument,
    plan: PlanOption,
    configuration: Annotated[str, typer.Option(help="Id of the configuration, as the plan has it.")],
    output: Annotated[Path, typer.Option(help="The masked table (CSV).")],
    delimiter: DelimiterOption = ",",
    memory_limit: MemoryOption = "1GB",
) -> None:
    """Write the table as a configuration masks it. Kept are the label and what of the plan is not dropped."""
    provider = _provider()
    intended = provider.load_plan(plan)
    provider.refuse_overwriting(output, table, plan)
    _say(f"masking {table} ...")
    records = provider.apply(
        table, intended, configuration, output, delimiter=_delimiter(delimiter), memory_limit=memory_limit
    )
    _say(f"{output}: {records} records")


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the command and exits: 0, 2 for bad input, 1 otherwise; a failure is one line on stderr."""
    try:
        words = sys.argv[1:] if arguments is None else list(arguments)
        code = app(args=words or ["--help"], prog_name="aegis", standalone_mode=False) or 0
    except typer.TyperException as error:
        code = _fail(error.format_message(), BAD_INPUT)
    except AegisError as error:
        code = _fail(_explained(error), _exit_code(error))
    except OSError as error:
        code = _fail(str(error), FAILED)
    sys.exit(code)


def _fail(message: str, code: int) -> int:
    typer.echo(f"aegis: {' '.join(message.split())}", err=True)
    return code


def _exit_code(error: AegisError) -> int:
    """Bad input is what the service says is wrong with it, or the SDK, by an error that is a `ValueError` too."""
    refused = isinstance(error, ProblemError) and error.status in _INPUT_STATUSES
    return BAD_INPUT if refused or isinstance(error, ValueError) else FAILED


def _explained(error: AegisError) -> str:
    """The error, with the first of the faults that the service found."""
    faults = error.errors if isinstance(error, ProblemError) else []
    if not faults:
        return str(error)
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    return f"{str(error).rstrip('.')}; {faults[0].pointer}: {faults[0].detail}{more}"


def _say(progress: str) -> None:
    if sys.stderr.isatty():
        typer.echo(progress, err=True)


def _progress_said() -> Callable[[Advice], None]:
    """Says how far an unfinished advice is, whenever it has come further."""
    said = None

    def say(advice: Advice) -> None:
        nonlocal said
        if advice.progress is not None and advice.progress != said:
            said = advice.progress
            _say(f"{said.done} of {said.total} attributes reconstructed ...")

    return say


def _records_said() -> Callable[[int, int], None]:
    """Says how far the counting of pairs is, whenever another tenth of the records is done."""
    said = 0

    def say(done: int, records: int) -> None:
        nonlocal said
        if (tenths := 10 * done // records) > said:
            said = tenths
            _say(f"counting pairs of attributes: {10 * tenths} % of the records ...")

    return say


def _provider() -> ModuleType:
    """The provider's part, imported only here: the base installation works without its libraries."""
    try:
        from aegis_sdk import provider  # noqa: PLC0415 - see above
    except ModuleNotFoundError as error:
        if error.name not in _PROVIDER_LIBRARIES:
            raise
        raise AegisError(
            f"{error.name} is not installed: install the SDK with its extra, pip install './sdk[provider]'"
        ) from error
    return provider


def _delimiter(text: str) -> str:
    return {"tab": "\t", "\\t": "\t"}.get(text, text)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error


def _document(path: Path, content: bytes) -> EntryDocument:
    try:
        document = read_json(content)
    except NotJsonError as error:
        raise InputError(f"{path}: not JSON: {error}") from error
    return _validated(path, document)


def _validated(source: Path, entry: object) -> EntryDocument:
    """The entry as the service would take it; otherwise what of its source is at fault."""
    try:
        return EntryDocument.model_validate(entry)
    except ValidationError as error:
        fault = faults_of(error)[0]
        raise InputError(f"{source}: {fault.pointer or 'the entry'}: {fault.detail}") from error


def _same(document: EntryDocument, published: dict[str, Any]) -> bool:
    """Whether the entries are one but for their visibility, which is no part of a version."""
    try:
        other = EntryDocument.model_validate(published)
    except ValidationError:  # a service that is newer than this command
        return False
    return document.model_copy(update={"visibility": other.visibility}) == other


def _requirement(text: str) -> tuple[str, float]:
    found = re.fullmatch(r"(\w+)=(\d+\.?\d*|\.\d+)", text, re.ASCII)
    if not found:
        raise InputError(f"--require is NAME=NUMBER, as k=5, not {text!r}")
    return found[1], float(found[2])


if __name__ == "__main__":
    main()
