from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aegis_provider.cli.options import (
    AcceptOption,
    ConfigurationOption,
    DelimiterOption,
    EscapeFormulasOption,
    HoldoutOption,
    HtmlOption,
    OptionalPlanOption,
    PersonOption,
    PlanOption,
    RowsPerPersonOption,
    TableArgument,
    memory_limit,
    of_release,
    page_writer,
    refuse_contradictions,
)
from aegis_sdk.cli.options import JsonOption
from aegis_sdk.cli.terminal import InputError, print_result, progress_bar, say, time_bar, warn
from aegis_sdk.reading import Share

if TYPE_CHECKING:
    from aegis_provider.synth.generate.generated import Generated
    from aegis_provider.synth.generate.training import TrainingLook

_ROUNDING = 1e-6


def generate(
    table: TableArgument,
    plan: PlanOption,
    output: Annotated[Path, typer.Option(help="The file to write: Parquet if it ends in .parquet, otherwise CSV.")],
    method: Annotated[str, typer.Option(help="trees, wgan-gp, cart or mbi.")] = "trees",
    records: Annotated[
        int | None,
        typer.Option(min=1, max=10_000_000, help="Number of records; by default as many as are learnt from."),
    ] = None,
    holdout: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=0.9,
            metavar="SHARE",
            help="Share of records held out from training; by default that of the plan, or 0.2.",
        ),
    ] = None,
    epsilon: Annotated[
        float | None, typer.Option(min=0, help="mbi: the budget of differential privacy; by default none.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Keep it secret. An interrupted run resumes with the same seed.")
    ] = None,
    label_shares: Annotated[
        str | None,
        typer.Option(
            metavar="VALUE=SHARE,...", help="Shares of label values, which add up to 1; by default the table's."
        ),
    ] = None,
    privacy: Annotated[
        float | None,
        typer.Option(
            min=0, metavar="LAMBDA", help="Penalty on nearness to real records; by default 5 for trees, otherwise 0."
        ),
    ] = None,
    value: Annotated[
        float,
        typer.Option(min=0, metavar="LAMBDA", help="Not for cart: reward for nearness in important attributes."),
    ] = 0.0,
    seconds: Annotated[
        float, typer.Option(min=1, help="wgan-gp: time limit; training ends with the first model after it.")
    ] = 240.0,
    person: PersonOption = None,
    rows_per_person: RowsPerPersonOption = None,
    judged: Annotated[  # noqa: FBT002 - a flag
        bool,
        typer.Option("--card/--no-card", help="Try attacks, train models, and write a card with the results."),
    ] = True,
    escape_formulas: EscapeFormulasOption = False,  # noqa: FBT002 - a flag
    delimiter: DelimiterOption = None,
    accept_identifiers: AcceptOption = False,  # noqa: FBT002 - a flag
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """Generate a table that resembles this one, with records drawn by a model.

    The model learns the attributes and the label of the plan, except those with `identity: false`. Some records are
    held out (--holdout). Attacks, for at most a minute, measure what the generated records give away about the training
    records. Models measure their utility. A card with both is written beside the output: with `--output made.parquet`,
    `made.parquet.card.md`, `.html` and `.json`. An older card is removed first.

    The exit code is 1 unless the card says PASS: all attacks ran and failed.

    Ctrl-C ends training after the current step and uses the best model so far; without any model, nothing is written.
    """
    from aegis_provider.files import digest_of
    from aegis_provider.plan.limits import with_person
    from aegis_provider.plan.reading import load_plan
    from aegis_provider.synth.attacks.judging import Result
    from aegis_provider.synth.generate.generating import generate as generate_records
    from aegis_provider.synth.generate.methods.method import Knobs
    from aegis_provider.synth.generate.methods.registry import usual_knobs
    from aegis_provider.synth.generate.prepared import Wish
    from aegis_provider.synth.report.generated_card import card_beside, judge_generated, made_document
    from aegis_provider.table import delimiter_in, table_name
    from aegis_provider.workflow.card_files import remove_card

    intended, digest = load_plan(plan, configurations_needed=False), digest_of(plan)
    intended = with_person(intended, person, rows_per_person)
    delimiter = delimiter or delimiter_in(table, intended.label)
    knobs = Knobs(usual_knobs(method).privacy if privacy is None else privacy, value, epsilon)
    wish = Wish(records, _shares(label_shares), holdout, seed, seconds)
    remove_card(card_beside(output))
    say(f"learning from {table_name(table)} ...")
    how: Mapping[str, Any] = {"delimiter": delimiter, "memory_limit": memory_limit()}
    with time_bar("training", seconds) as bar:
        bar(0, "preparing; Ctrl-C keeps the best model as soon as there is one")
        generated = generate_records(
            table,
            intended,
            output,
            method=method,
            knobs=knobs,
            wish=wish,
            escape_formulas=escape_formulas,
            accept_identifiers=accept_identifiers,
            watch=lambda look: bar(look.seconds, _described(look)),
            **how,
        )
    for warning in generated.warnings:
        warn(warning)
    whose = [] if person is None else ["--person", person]
    whose += [] if rows_per_person is None else ["--rows-per-person", f"{rows_per_person}"]
    options = of_release(output, table_name(table), plan, delimiter, "--holdout", f"{generated.holdout!r}", *whose)
    if not judged:
        print_result(made_document(generated), _report(generated, _unknown(options)), as_json=as_json)
        return
    without = f"{output} is written, but has no card; aegis risk {options} tries the attacks"
    with _warning(without), progress_bar("attacking") as progress:
        card = judge_generated(generated, table, intended, digest, progress=progress, **how)
    said = [*card.findings, f"{card_beside(output)}.md, .html, .json: all of this, in full"]
    print_result(card.as_json(), _report(generated, said), as_json=as_json)
    if card.judgement.result is not Result.PASS:
        raise typer.Exit(1)


def _unknown(options: str) -> list[str]:
    """Return what is not known without a card, and the commands that tell it."""
    return [
        f"some records may equal real ones. What attacks achieve: aegis risk {options}",
        f"what the records are worth: aegis synth fidelity {options}",
    ]


@contextmanager
def _warning(what: str) -> Iterator[None]:
    """Warn about unfinished output if Ctrl-C ends the block."""
    try:
        yield
    except KeyboardInterrupt:
        warn(what)
        raise


def _shares(text: str | None) -> dict[str, float] | None:
    """Return the shares in `VALUE=SHARE,...`."""
    if text is None:
        return None
    shares = {}
    for part in text.split(","):
        name, mark, number = part.rpartition("=")
        if name.strip() in shares:
            raise InputError(f"--label-shares: {name.strip()!r} appears twice; state each value once")
        try:
            shares[name.strip()] = float(number)
        except ValueError:
            mark = ""
        if not mark or not 0 <= shares.get(name.strip(), -1) < float("inf"):
            raise InputError(f"--label-shares: {part!r} is not VALUE=SHARE, such as yes=0.5")
    if abs(sum(shares.values()) - 1) > _ROUNDING:
        raise InputError(f"--label-shares: the shares add up to {sum(shares.values()):g}, not to 1")
    return shares


def _described(look: TrainingLook) -> str:
    losses = ", ".join(f"{name} {value:.2f}" for name, value in look.losses.items())
    quality = look.quality
    distances = (
        f"pair total variation {quality.pair_total_variation:.3f}, Fréchet distance {quality.frechet_distance:.3f}"
    )
    return f"{distances}{quality.in_words}{losses and f'; losses: {losses}'}"


def _report(generated: Generated, judged: Sequence[str]) -> Iterator[str]:
    from aegis_provider.identifiers import accepted_in_words

    training = generated.training
    yield (
        f"{generated.output}: {generated.table.num_rows:,} records by {generated.method}. Of {generated.of_records:,} "
        f"real ones, it learnt from {generated.learnt_from:,}, its models were judged by {generated.validated:,}, and "
        f"{generated.held_out:,} were held out"
    )
    if generated.people is not None:
        yield from generated.people.in_words()
    if generated.holdout_note:
        yield f"warning: {generated.holdout_note}"
    quality = training.quality
    reached = quality.in_words and f"{quality.in_words} of models trained on them"
    yield (
        f"beside the {generated.validated:,} records that judged its models: pair total variation "
        f"{Share(quality.pair_total_variation)}, Fréchet distance {quality.frechet_distance:.3f}{reached}"
    )
    if training.ended:
        among = f"the best of {len(training.looks)} models" if len(training.looks) > 1 else "the only model"
        yield f"{among}; the training ended because {training.ended}"
    yield generated.promise
    yield from judged
    if generated.accepted:
        yield accepted_in_words(generated.accepted)
    if generated.sha256:
        yield f"SHA-256, by which a plan can offer it: {generated.sha256}"
    if generated.left_out:
        yield f"left out by the plan (identity: false): {', '.join(generated.left_out)}"


def fidelity(
    release: TableArgument,
    against: Annotated[str, typer.Option(metavar="TABLE", help="The table that the release was made from.")],
    plan: OptionalPlanOption = None,
    configuration: ConfigurationOption = None,
    label: Annotated[str | None, typer.Option(help="The label, if there is no plan.")] = None,
    holdout: HoldoutOption = None,
    person: PersonOption = None,
    rows_per_person: RowsPerPersonOption = None,
    html: HtmlOption = None,
    delimiter: DelimiterOption = None,
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """Measure the utility and fidelity of a release.

    Models are trained on the release, generated or masked, and on as many real records. Both are tested on held-out
    real records. Clusters, associations and distances follow. Each number is compared with what is possible, measured
    between real records, and with chance. `aegis risk RELEASE --against TABLE` measures what attacks achieve.
    """
    from aegis_provider.plan.reading import load_plan
    from aegis_provider.report.rendering import text_lines
    from aegis_provider.synth.fidelity import fidelity as measure
    from aegis_provider.synth.report.fidelity import fidelity_document, fidelity_report
    from aegis_provider.table import table_name

    refuse_contradictions(plan, configuration, holdout, named=label is not None)
    if plan is None and label is None:
        raise InputError("no column to predict; give --plan, or name it with --label")
    intended = None if plan is None else load_plan(plan, configurations_needed=configuration is not None)
    write_page = page_writer(html, release, against, *(intended.files if intended else ()))
    say(f"reading {table_name(release)} ...")
    with progress_bar("measuring") as progress:
        result = measure(
            release,
            against,
            plan=intended,
            configuration=configuration,
            label=label,
            holdout=holdout,
            person=person,
            rows_per_person=rows_per_person,
            embed=html is not None,
            delimiter=delimiter,
            memory_limit=memory_limit(),
            progress=progress,
        )
    report = fidelity_report(result, Path(table_name(release)).name)
    write_page(report)
    print_result(fidelity_document(result), text_lines(report), as_json=as_json)
    if result.not_judged:
        raise typer.Exit(1)
