"""Attacks a generated table, measures its utility, and writes the card with both."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aegis_provider.errors import TableError
from aegis_provider.plan.model import Plan
from aegis_provider.progress import Progress
from aegis_provider.synth.attacks import judge, open_case
from aegis_provider.synth.fidelity import Fidelity, fidelity
from aegis_provider.synth.generate import Generated
from aegis_provider.synth.report.generated_card import GeneratedCard, generated_report
from aegis_provider.table import Source, table_name
from aegis_provider.workflow.card_files import write_card


def card_beside(output: Path) -> Path:
    """Return the path of an output's card without its ending, unique per output."""
    return output.with_name(f"{output.name}.card")


def judge_generated(
    generated: Generated,
    table: Source,
    plan: Plan,
    plan_digest: str,
    *,
    seconds: float = 60.0,
    delimiter: str = ",",
    memory_limit: str = "1GB",
    progress: Progress = lambda _done, _all: None,
) -> GeneratedCard:
    """Attack generated records and measure their utility; if they are in a file, write a card beside it.
    For `made.csv`, these are `made.csv.card.md`, `made.csv.card.html` and `made.csv.card.json`.

    Args:
        generated: The records.
        table: The original table: anything that `open_table` accepts.
        plan: The plan of the records.
        plan_digest: The SHA-256 of its file.
        seconds: The time limit of the attacks.
        delimiter: The delimiter of the table if it is CSV.
        memory_limit: The memory limit of DuckDB.
        progress: Called with the number of attacks done.

    Raises:
        TableError: The table cannot be read any more.
        OutputError: The card cannot be written.
        AegisError: The extra `synth` is not installed.
    """
    how: Mapping[str, Any] = {"holdout": generated.holdout, "delimiter": delimiter, "memory_limit": memory_limit}
    opened = open_case(generated.table, table, plan=plan, is_sure=True, **how)
    judgement = judge(opened.case, seconds, progress)
    worth: Fidelity | str
    try:
        worth = fidelity(generated.table, table, plan=plan, **how)
    except TableError as error:  # too few records, or label values, to train and test on
        worth = str(error)
    card = GeneratedCard(table_name(table), plan.label, plan_digest, generated, opened, judgement, seconds, worth)
    if generated.output is not None:
        report, as_json = generated_report(card), json.dumps(card.as_json(), indent=1)
        write_card(card_beside(generated.output), report, as_json, private=True)
    return card
