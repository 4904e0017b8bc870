import difflib
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from aegis_sdk.cli.entry_files import document_of, read
from aegis_sdk.cli.entry_report import report
from aegis_sdk.cli.failures import InputError
from aegis_sdk.cli.options import EntryArgument, JsonOption
from aegis_sdk.cli.terminal import print_json
from aegis_sdk.reading import outline_of
from aegis_sdk.wire import Attribute, EntryDocument


def show(
    entry: EntryArgument,
    attribute: Annotated[
        list[str] | None, typer.Option(help="This attribute only, with its masked values; repeatable.")
    ] = None,
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """Say what an entry holds, and what is known of it."""
    document = document_of(entry, read(entry))
    outline = outline_of(document, chosen(entry, document, attribute))
    if as_json:
        print_json(asdict(outline))
    else:
        typer.echo("\n".join(report(outline, in_full=bool(attribute))))


def chosen(source: Path, entry: EntryDocument, names: Sequence[str] | None) -> list[Attribute]:
    """The attributes of these names, in the order of the entry; all, if none is named. Raises `InputError`."""
    known = [each.name for each in entry.attributes]
    for name in names or ():
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(known[:10])}"
            raise InputError(f"{source}: no attribute {name!r}; {hint}")
    return [each for each in entry.attributes if not names or each.name in names]
