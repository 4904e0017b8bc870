"""From a table to generated records that are judged, with a card that says what attacks on them achieve."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from aegis_provider.attacks import judge, open_case
from aegis_provider.extras import needs_extra
from aegis_provider.generate import DEFAULT_METHOD, Knobs, Wish, generate
from aegis_provider.generate.training import Watch
from aegis_provider.plan.reading import load_plan
from aegis_provider.table import Source, table_name
from aegis_provider.workflow.card_files import write_card
from aegis_provider.workflow.folder import digest_of
from aegis_provider.workflow.generated_card import GeneratedCard, generated_report
from aegis_provider.workflow.steps import Stage, unseen

ENDING: Final = ".card"


def release_generated(
    table: Source,
    plan_file: Path,
    output: Path,
    *,
    method: str = DEFAULT_METHOD,
    knobs: Knobs = Knobs(),  # noqa: B008 - immutable
    wish: Wish = Wish(),  # noqa: B008 - immutable
    seconds: float = 60.0,
    delimiter: str = ",",
    memory_limit: str = "1GB",
    watch: Watch = lambda _: None,
    stage: Stage = unseen,
) -> GeneratedCard:
    """Generate records that are like those of a table, try attacks on them, and write a card beside them.

    The card stands beside `output`, with the endings `.card.md`, `.card.html` and `.card.json`.

    Args:
        table, output, method, knobs, wish, delimiter, memory_limit, watch: As for `generate`.
        plan_file: The plan of the table.
        seconds: The time limit of the attacks.
        stage: Called with the name of each step after the training; returns a context that shows its progress.

    Raises:
        AegisError: As for `generate` and `open_case`.
    """
    plan = load_plan(plan_file, configurations_needed=False)
    with needs_extra("synth"):
        import sklearn  # noqa: F401, PLC0415 - an extra, which is better missed before the work than at its end
    how: Mapping[str, Any] = {"delimiter": delimiter, "memory_limit": memory_limit}
    generated = generate(table, plan, output, method=method, knobs=knobs, wish=wish, watch=watch, **how)
    with stage("trying attacks") as progress:
        opened = open_case(generated.table, table, plan=plan, holdout=wish.holdout, **how)
        judgement = judge(opened.case, seconds, progress)
    card = GeneratedCard(table_name(table), plan.label, digest_of(plan_file), generated, opened, judgement, seconds)
    write_card(output.with_suffix(ENDING), generated_report(card), json.dumps(card.as_json(), indent=1))
    return card
