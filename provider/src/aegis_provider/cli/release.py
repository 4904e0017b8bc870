from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import aegis_sdk  # loads httpx only when its client is used
from aegis_provider.cli.options import (
    AcceptCompositionOption,
    AcceptOption,
    ChosenOption,
    ColludingOption,
    ConsumerOption,
    DelimiterOption,
    EffortOption,
    EscapeFormulasOption,
    FoldOption,
    IndexOption,
    KeepLeaksOption,
    KeepOption,
    NewRandomnessOption,
    OddOption,
    PersonOption,
    RowsPerPersonOption,
    TableArgument,
    kept_of,
    memory_limit,
    names_of,
    offering,
)
from aegis_sdk.cli.options import (
    AcceptUniqueOption,
    JsonOption,
    RequireOption,
    WeightsOption,
    requirements_of,
    weights_of,
)
from aegis_sdk.cli.terminal import aligned, print_result, stage, warn
from aegis_sdk.reading import ACCEPT_UNIQUE, Share, number, shown

if TYPE_CHECKING:
    from aegis_provider.workflow import Card, Released

_LEAKING = 10


def release(
    context: typer.Context,
    table: TableArgument,
    label: Annotated[
        list[str],
        typer.Option(help="The column that the others are to predict. Repeat it for others; the first is the default."),
    ],
    output: Annotated[Path, typer.Option(metavar="DIR", help="The folder of the release.")],
    plan: Annotated[
        Path | None, typer.Option(help="A plan of the table; by default one is drafted in the folder.")
    ] = None,
    require: RequireOption = None,
    suppress_at_most: Annotated[
        float, typer.Option(metavar="SHARE", help="Leave out at most this share of the records.")
    ] = 0.01,
    effort: EffortOption = "normal",
    publish: Annotated[  # noqa: FBT002 - a flag
        bool, typer.Option("--publish", help="Publish the entry and ask the service for the best configuration.")
    ] = False,
    measure: Annotated[str, typer.Option(help="The measure of utility, as for `aegis advise`.")] = "joint",
    name: Annotated[str | None, typer.Option(help="Name of the entry; by default that of the table.")] = None,
    also_generate: Annotated[  # noqa: FBT002 - a flag
        bool,
        typer.Option("--also-generate", help="Also offer generated tables, and compare them with masked ones."),
    ] = False,
    accept_unique: AcceptUniqueOption = False,  # noqa: FBT002 - a flag
    delimiter: DelimiterOption = None,
    escape_formulas: EscapeFormulasOption = False,  # noqa: FBT002 - a flag
    accept_identifiers: AcceptOption = False,  # noqa: FBT002 - a flag
    new_randomness: NewRandomnessOption = False,  # noqa: FBT002 - a flag
    to: ConsumerOption = "anyone",
    accept_composition: AcceptCompositionOption = False,  # noqa: FBT002 - a flag
    colluding: ColludingOption = False,  # noqa: FBT002 - a flag
    configuration: ChosenOption = None,
    index: IndexOption = False,  # noqa: FBT002 - a flag
    odd_as_missing: OddOption = False,  # noqa: FBT002 - a flag
    fold_case: FoldOption = False,  # noqa: FBT002 - a flag
    keep_leaks: KeepLeaksOption = None,
    keep: KeepOption = None,
    weights: WeightsOption = None,
    person: PersonOption = None,
    rows_per_person: RowsPerPersonOption = None,
    seconds: Annotated[
        float,
        typer.Option(
            min=1,
            help="Time limit; reading, a greedy descent, counting and masking run whole, the rest ends and is listed.",
        ),
    ] = 1800.0,
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """Mask a table so that it can be shared and stays useful.

    Drafts a plan, searches configurations with the required privacy (by default k=5), counts what they share, ranks
    them, masks the table by the best one, and measures privacy and utility of the result. One folder holds everything,
    with a card that explains it. Nothing is sent anywhere without --publish.

    With --also-generate, the folder, plan, entry and card also contain generated tables and the results of attacks on
    each. `aegis apply` copies one. They have no formal guarantee.

    If more than 1 % of the records are alone on all columns that a configuration shares, whatever the plan assumes
    about an attacker's knowledge, the exit code is 1 and nothing is published without --accept-unique.

    What left before, from other folders, is in the ledger of the table (`aegis ledger show`). If that and this release
    together break the promise, nothing is written without --accept-composition. The refusal has the command that
    shares a configuration with which they keep it.

    Ctrl-C during the search continues with the best configurations so far. The same command again resumes an
    interrupted run.
    """
    from pydantic import TypeAdapter

    from aegis_provider.workflow import USUAL
    from aegis_provider.workflow import release as make_release

    with offering(context), aegis_sdk.Client() if publish else nullcontext() as client:
        released = make_release(
            table,
            label[0],
            other_labels=label[1:],
            output=output,
            plan=plan,
            require=requirements_of(require) or USUAL,
            suppress_at_most=suppress_at_most,
            measure=measure,
            effort=effort,
            seconds=seconds,
            name=name,
            publish=client,
            delimiter=delimiter,
            memory_limit=memory_limit(),
            accept_identifiers=accept_identifiers,
            new_randomness=new_randomness,
            to=to,
            accept_composition=accept_composition,
            colluding=colluding,
            configuration=configuration,
            index=index,
            odd_as_missing=odd_as_missing,
            fold_case=fold_case,
            keep_leaks=names_of("keep-leaks", keep_leaks),
            keep=kept_of(keep),
            weights=weights_of(weights),
            person=person,
            rows_per_person=rows_per_person,
            also_generate=also_generate,
            escape_formulas=escape_formulas,
            accept_unique=accept_unique,
            stage=stage,
        )
    for warning in released.findings.masked.applied.warnings:
        warn(warning)
    card = TypeAdapter(type(released.card)).dump_python(released.card, mode="json")
    document = {"output": str(output), "entry": released.entry_id, "card": card, "together": list(released.together)}
    faults = list(faults_of(released, accept_unique=accept_unique))
    print_result(document, _report(released, faults), as_json=as_json)
    if faults:
        raise typer.Exit(1)


def faults_of(released: Released, *, accept_unique: bool) -> Iterator[str]:
    """Yield reasons not to share the release yet."""
    card, shown = released.card, released.findings.masked.applied.checked.shown
    if not card.passed:
        yield "see FAIL above"
    if card.alone.is_much(offered=True) and not accept_unique:
        yield f"too many {card.unit} are alone on what is shared: mask more, or accept that: {ACCEPT_UNIQUE}"
    if shown.below_k and not accept_unique:
        yield f"{shown.below_k_in_words}, or accept that: {ACCEPT_UNIQUE}"


def _report(released: Released, faults: Sequence[str]) -> Iterator[str]:
    from aegis_provider.workflow.steps import PLAN

    card = released.card
    yield from lights_of(card)
    yield card.headline
    yield from card.expectations
    if card.named:
        yield card.named
    yield card.alone.line(offered=True)
    if card.by_models:
        yield card.by_models
    yield card.verdict
    yield card.together_verdict
    yield from (f"for you only: {each.in_words()}" for each in released.findings.summarised.telling)
    yield from (f"for you only: {each}" for each in released.together)
    yield from _measured(released)
    yield from (f"warning: {each}" for each in card.warnings)
    yield from _leaking(card)
    yield from (f"not finished: {each}" for each in card.unfinished)
    yield ""
    yield from _compared(released)
    tables = "masked.csv" if card.comparison is None else "masked.csv, generated-*.csv"
    yield from (f"{released.folder}: not to be shared yet: {fault}" for fault in faults)
    to_share = "to share" if not faults else "to share then"
    yield f"{released.folder}: {to_share}: {tables}, datapackage.json, entry.json, card.md, card.html, card.json"
    own = ["provider-only.json", "configurations.yaml", *([PLAN] if (released.folder / PLAN).exists() else [])]
    yield f"{released.folder}: for you only: {', '.join(own)}"
    if released.entry_id:
        yield f"published: {released.entry_id}; to let others see it: aegis entries visibility {released.entry_id} all"


def _measured(released: Released) -> Iterator[str]:
    """Yield the privacy measured in the masked table, and which identifying values are in it."""
    from aegis_provider.identifiers import accepted_in_words

    card, checked = released.card, released.findings.masked.applied.checked
    rounded = f", rounded to a multiple of {card.rounded_to}" if card.left_out and card.rounded_to else ""
    cells = f", {card.suppressed_cells:,} cells suppressed (*)" if card.suppressed_cells else ""
    yield f"{card.privacy_line}; {card.left_out_told} records left out{rounded}{cells}"
    if checked.replayed:
        yield checked.replayed
    if card.accepted != checked.accepted:
        yield f"entry and card: {accepted_in_words(card.accepted)}"


def _compared(released: Released) -> Iterator[str]:
    """Yield tables of what models, labels, requirements and generated tables keep, each with a blank line after it."""
    card = released.card
    if models := list(_models(card)):
        yield from aligned(("trained on", card.scale, "95 % interval", *["RMSE"] * card.states_error), models)
        yield from () if isinstance(released.findings.check, str) else released.findings.check.notes
        yield ""
    if card.by_label:
        from aegis_provider.workflow.card_report import task_rows

        header = ("label", "keeps", "k", "l", "a model reaches", "on the table", "model")
        yield from aligned(header, list(task_rows(card)))
        yield ""
    yield from aligned(("required", "keeps"), list(frontier_rows(card)))
    yield ""
    if card.comparison is not None:
        from aegis_provider.workflow.generating import HEADER, compared_in_words, rows_of

        yield from aligned(HEADER, rows_of(card.comparison))
        if said := compared_in_words(card.comparison, card.configuration):
            yield said
        yield ""


def lights_of(card: Card) -> Iterator[str]:
    """Yield what is shared in a sentence, and a line for each light, coloured in a terminal."""
    from aegis_provider.report.model import Light
    from aegis_provider.workflow.card_head import head_of

    sentence, *parts = head_of(card)
    yield str(sentence)
    for light in parts:
        if isinstance(light, Light):
            word = typer.style(light.tone.upper(), fg={"fine": "green", "look": "yellow", "stop": "red"}[light.tone])
            yield f"{light.subject}: {word}. {light.text}"


def _leaking(card: Card) -> Iterator[str]:
    """Yield the columns that are left out because they give the label away, with the reason."""
    from aegis_provider.plan.model import LEAKS

    leaking = [(name, why) for name, why in card.never_shared.items() if why.startswith(LEAKS)]
    yield from (f"left out: {shown(name)} {why}" for name, why in leaking[:_LEAKING])
    if leaking:
        more = f"and {len(leaking) - _LEAKING} more; " if len(leaking) > _LEAKING else ""
        yield f"{more}--keep-leaks NAME, in a new folder, keeps what is known before {shown(card.label)} is"


def _models(card: Card) -> Iterator[tuple[str, ...]]:
    for name in dict.fromkeys(each.table for each in card.measured):
        measured = card.auc_of(name)
        if measured is not None:
            limits, error = f"{measured.low:.3f} to {measured.high:.3f}", [number(measured.rmse, 2)] * card.states_error
            yield name, f"{measured.auc:.3f}", limits, *error


def frontier_rows(card: Card) -> Iterator[tuple[str, str]]:
    """Yield each requirement of the frontier, and what its best configuration keeps."""
    from aegis_provider.workflow.card_report import possible

    for choice in card.frontier:
        yield choice.in_words, "nothing was found" if choice.kept is None else f"{Share(choice.kept)}{possible(choice)}"
