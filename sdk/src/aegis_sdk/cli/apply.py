from pathlib import Path
from typing import Annotated

import typer

from aegis_sdk.cli.extras import provider
from aegis_sdk.cli.options import DelimiterOption, JsonOption, MemoryOption, PlanOption, TableArgument, delimiter_of
from aegis_sdk.cli.saying import print_json, say


def apply(
    table: TableArgument,
    plan: PlanOption,
    configuration: Annotated[str, typer.Option(help="Id of the configuration, as the plan has it.")],
    output: Annotated[Path, typer.Option(help="The masked table (CSV).")],
    delimiter: DelimiterOption = ",",
    memory_limit: MemoryOption = "1GB",
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """Write the table as a configuration masks it. Kept are the label and what of the plan is not dropped."""
    part = provider()
    intended = part.load_plan(plan)
    part.refuse_overwriting(output, table, plan)
    say(f"masking {part.shown(table)} ...")
    records = part.apply(
        table, intended, configuration, output, delimiter=delimiter_of(delimiter), memory_limit=memory_limit
    )
    if as_json:
        print_json({"output": str(output), "configuration": configuration, "records": records})
    else:
        say(f"{output}: {records} records")
