"""The command that measures what entries add to one's own table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aegis_provider.cli.options import DelimiterOption, TableArgument, memory_limit, names_of
from aegis_sdk import Client
from aegis_sdk.cli.options import JsonOption
from aegis_sdk.cli.terminal import InputError, aligned, print_result, progress_bar
from aegis_sdk.printable import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aegis_provider.augment import Augmented, Gain


def augment(
    table: TableArgument,
    label: Annotated[str, typer.Option(help="The column to predict.")],
    keys: Annotated[
        str,
        typer.Option(
            metavar="NAME,NAME",
            help="Coarse columns by which counts are joined, such as region,month; NAME=URI for an attribute of that "
            "concept.",
        ),
    ],
    save: Annotated[
        Path | None, typer.Option(help="Write the table with the features of the best entry to this CSV file.")
    ] = None,
    delimiter: DelimiterOption = None,
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """Measure what the counts of entries add to your own table.

    Asks the service for entries with attributes of these names and for the
    counts that you may read, adds what they say of each key value as columns,
    and cross-validates a linear model and boosting with and without them. All
    of that is done here: no value of the table leaves this machine.
    """
    from aegis_provider.augment import augment as measured
    from aegis_provider.augment import own_table
    from aegis_provider.files import refuse_overwriting
    from aegis_provider.table import delimiter_in

    if save is not None:
        refuse_overwriting(save, table)
    named = {column: named or column for column, _, named in (key.partition("=") for key in names_of("keys", keys))}
    if not all(named):
        raise InputError(f"--keys: no column before '=' in {keys!r}; write NAME or NAME=URI")
    how = {"delimiter": delimiter or delimiter_in(table, label), "memory_limit": memory_limit()}
    own = own_table(table, label, named, **how)
    with Client() as client, progress_bar("training models") as progress:
        result = measured(client, own, progress)
    if save is not None:
        _write(save, result)
    print_result(as_document(result), report(result), as_json=as_json)


def _write(path: Path, result: Augmented) -> None:
    """Write the table with the features of the best entry.

    Raises:
        InputError: No entry has any.
    """
    import pyarrow as pa
    from pyarrow import csv

    from aegis_provider.files import written_whole

    if not result.gains:
        raise InputError(f"{path}: no entry has counts that can be joined, so there is nothing to save")
    with written_whole(path) as part:
        csv.write_csv(pa.table({**result.own.columns, **result.gains[0].features}), part)


def report(result: Augmented) -> Iterator[str]:
    """Yield the lines of the report: the gain by each entry, the best first, and what cannot be used."""
    scale, alone = result.scale, result.alone
    yield f"{shown(result.own.label)} by {shown(result.own.name)} alone: {scale} {alone.in_words(3)}"
    if result.gains:
        header = ("entry", "id", "tenant", f"gain in {scale}", "columns", "model")
        rows = [_row(one) for one in result.gains]
        yield from ("", *aligned(header, rows), "")
        yield "±: 95 % intervals, paired, over five folds; the first of many gains is mostly overestimated"
    else:
        yield "no entry has counts by these keys that you may read"
    yield from (f"not usable: {shown(one.head.name)} ({one.head.id}): {one.why}" for one in result.unusable)


def _row(one: Gain) -> tuple[str | float, ...]:
    head = one.head
    gain = one.gain.in_words(4, "+")
    return shown(head.name), head.id, shown(head.tenant), gain, len(one.features), one.model


def as_document(result: Augmented) -> dict[str, Any]:
    """Return the result as JSON values."""
    gains = [
        {
            "id": one.head.id,
            "name": one.head.name,
            "tenant": one.head.tenant,
            "gain": one.gain.value,
            "low": one.gain.low,
            "high": one.gain.high,
            "model": one.model,
            "features": list(one.features),
        }
        for one in result.gains
    ]
    unusable = [{"id": one.head.id, "name": one.head.name, "why": one.why} for one in result.unusable]
    alone = result.alone
    return {
        "label": result.own.label,
        "scale": result.scale,
        "alone": {"value": alone.value, "low": alone.low, "high": alone.high},
        "gains": gains,
        "unusable": unusable,
    }
