from pathlib import Path
from typing import Annotated

import typer

from aegis_sdk.cli.extras import provider
from aegis_sdk.cli.files import validated
from aegis_sdk.cli.options import DelimiterOption, JsonOption, MemoryOption, PlanOption, TableArgument, delimiter_of
from aegis_sdk.cli.saying import print_json, progress_bar, say, warn


def summarize(
    table: TableArgument,
    plan: PlanOption,
    name: Annotated[str, typer.Option(help="Name of the entry: a-z 0-9 - _ .")],
    output: Annotated[Path, typer.Option(help="The entry (JSON), to be read before it is published.")],
    delimiter: DelimiterOption = ",",
    memory_limit: MemoryOption = "1GB",
    pairs: Annotated[bool, typer.Option("--pairs", help="Count pairs of attributes too, for `joint`.")] = False,  # noqa: FBT002 - a flag
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """Count a table as its plan says and write the catalogue entry. Nothing is sent anywhere."""
    part = provider()
    intended = part.load_plan(plan)
    part.refuse_overwriting(output, table, *intended.files)
    say(f"counting {part.shown(table)} ...")
    with progress_bar("counting") as progress:
        entry = part.summarize(
            table,
            intended,
            name=name,
            delimiter=delimiter_of(delimiter),
            memory_limit=memory_limit,
            pairs=pairs,
            progress=progress,
        )
    validated(plan, entry)
    part.write_entry(entry, output)
    revealing = part.revealing_attributes(entry)
    for attribute in revealing:
        warn(f"{attribute!r} is nearly unique, and the entry lists each of its values")
    small = part.counted_though_suppressed(entry)
    if small:
        warn(
            f"{small} masked values, or pairs of them, have fewer records than the k of a release that "
            "leaves these out; the entry counts them all the same"
        )
    tables = len(entry.get("pairs", ()))
    found = {"records": entry["records"], "configurations": len(entry["configurations"]), "pairs": tables}
    if as_json:
        print_json({"output": str(output), **found, "nearly_unique": revealing, "below_k": small})
    else:
        counted = f", {tables} tables of pairs" if pairs else ""
        say(f"{output}: {found['records']} records, {found['configurations']} configurations{counted}")
