from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any

import typer

from aegis_sdk._client import Client
from aegis_sdk.cli.options import (
    AskedLabelOption,
    EntryIdArgument,
    FrontierOption,
    JsonOption,
    KindsOption,
    MeasureOption,
    RequireOfPeopleOption,
    TargetOption,
    WeightsOption,
    axes_of,
    kinds_of,
    requirements_in,
    weights_of,
)
from aegis_sdk.cli.terminal import aligned, say
from aegis_sdk.reading import (
    Alone,
    ConfigurationNames,
    GeneratedOutline,
    Share,
    expectation,
    expected_words,
    generated_of,
    headline,
    label_of,
    labels_of,
    maskings_about,
    measured_of,
    most_joint,
    number,
    outcome,
    promises_of,
    reference_known,
    shown,
    some,
    utility_bounds,
)
from aegis_sdk.wire import (
    ATTACKS,
    SUPPRESSED,
    Advice,
    AdviceFrontier,
    AdviceHead,
    AttributeAdvice,
    CoarseAdvice,
    TransferAdvice,
)

_MOST_NAMES = 3
_CONFIDENCE = 1.96


def advise(
    entry_id: EntryIdArgument,
    measure: MeasureOption = None,
    label: AskedLabelOption = None,
    target: TargetOption = None,
    require: RequireOfPeopleOption = None,
    weights: WeightsOption = None,
    kinds: KindsOption = None,
    limit: Annotated[int, typer.Option(min=0, help="Number of ranking rows.")] = 20,
    bias: Annotated[
        bool | None,
        typer.Option(
            "--bias-correction/--no-bias-correction",
            help="Whether to subtract the measure's bias in small samples. By default, only joint measures are "
            "corrected.",
            show_default=False,
        ),
    ] = None,
    frontier: FrontierOption = None,
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """Ask which configuration loses the least utility. Prints the ranking, then the cost of the best by attribute."""
    (required, unit), weighted, named = requirements_in(require), weights_of(weights), kinds_of(kinds)
    axes = axes_of(frontier)
    with Client() as client:
        say(f"asking about {entry_id} ...")
        advice = client.advise(
            entry_id,
            measure,
            label=label,
            target=target,
            weights=weighted or None,
            require=required or None,
            limit=limit,
            bias_correction=bias,
            kinds=named,
            unit=unit,
            frontier=axes,
            on_progress=_progress_said(),
        )
        if as_json:
            typer.echo(advice.model_dump_json(indent=2))
            return
        schema = client.entry(entry_id, advice.entry.version).entry_schema
    typer.echo("\n".join(report(advice, schema)))


def _progress_said() -> Callable[[AdviceHead], None]:
    """A function that reports each change in the progress of an unfinished advice."""
    said = None

    def report_change(advice: AdviceHead) -> None:
        nonlocal said
        if advice.progress is not None and advice.progress != said:
            said = advice.progress
            say(f"{said.done} of {said.total} attributes reconstructed ...")

    return report_change


def report(advice: Advice | CoarseAdvice, schema: dict[str, Any]) -> Iterator[str]:
    """The lines of the report: the ranking, and the cost of the best configuration by attribute.

    `schema` is the entry's.
    """
    if expected := expectation(advice, schema):
        yield expected
    yield headline(advice, schema)
    if about := ConfigurationNames.of(schema).name(advice.configuration):
        yield f"{advice.configuration}: {about}"
    best_of, *others = outcome(advice, schema)
    yield best_of
    yield Alone.of(schema, advice.configuration).line()
    yield from others
    if advice.transfer is not None:
        yield from _declared_report(advice, schema)
    else:
        yield from _full_report(advice, schema) if isinstance(advice, Advice) else _coarse_report(advice, schema)
    if advice.frontier is not None:
        yield from _frontier(advice.frontier)
    yield from _certain_label(advice, schema)


def _frontier(frontier: AdviceFrontier) -> Iterator[str]:
    """Lines: the configurations that no other beats, the knee marked, and what has no place among them."""
    axes, knee = frontier.axes, frontier.knee
    header = [f"{axis.name} ({axis.unit})" if axis.unit else axis.name for axis in axes]
    rows = [
        (
            *(point.configuration, *(number(point.values[axis.name], 6) for axis in axes)),
            *("knee" if knee is not None and point.configuration == knee.configuration else "", point.about or ""),
        )
        for point in frontier.points
    ]
    yield from ("", "no other configuration beats these:", *aligned(("configuration", *header, "", "in words"), rows))
    if knee is not None:
        yield f"the knee is {knee.configuration}. {knee.why}"
    for axis in (axis for axis in axes if axis.unstated):
        yield f"{axis.unstated:,} {'are' if axis.unstated > 1 else 'is'} left out: no number on the axis {axis.name}"


def _full_report(advice: Advice, schema: dict[str, Any]) -> Iterator[str]:
    """The lines of a full answer: utilities and deviations."""
    if advice.joint is not None:
        whole = "the unmasked table has" if advice.joint.reference_source == "published" else "the known part has"
        yield f"{whole} a utility of {advice.joint.reference_utility:.6f}, with all attributes together"
        if advice.joint.interactions is not None:
            share = f"{advice.joint.interactions:.6f}"
            yield f"from interactions of two attributes: {share} of the utility of {advice.configuration}"
        yield from _interval(advice, most=most_joint(advice, schema))
    yield from _ranking(advice, schema)
    costs = _costs(advice, maskings_about(advice, schema, advice.configuration))
    by_attribute = "" if advice.joint is None else ", for each attribute alone"
    yield from ("", f"what {advice.configuration} costs{by_attribute}:", *costs)


def _interval(advice: Advice, most: int) -> Iterator[str]:
    """The line with the interval of the best utility by a joint measure if all counts were exact.

    Args:
        advice: The advice.
        most: The maximum of the measure.
    """
    best = next((row for row in advice.ranking or [] if row.configuration == advice.configuration), None)
    if best is not None and best.standard_error is not None:
        low, high = (best.utility + sign * _CONFIDENCE * best.standard_error for sign in (-1, 1))
        limits = f"{max(low, 0.0):.6f} to {min(high, most):.6f}"
        yield f"by exact counts, the utility of {advice.configuration} would be {limits} (95 %)"


def _ranking(advice: Advice, schema: Mapping[str, Any]) -> Iterator[str]:
    """The ranking, with the first privacy criteria that the entry promises, the number of suppressed records, and the
    performance of a model that the provider trained. None of these affects the order.
    """
    ranking = advice.ranking or []
    if not ranking:
        return
    promises = promises_of(schema, [row.configuration for row in ranking])
    names = [name for name in promises if name not in SUPPRESSED][:_MOST_NAMES]
    names += [name for name in SUPPRESSED if name in promises]
    measured, *cells = _last_columns(advice, schema)
    rows: list[tuple[str | float, ...]] = []
    for place, (row, cell) in enumerate(zip(ranking, cells, strict=True)):
        promised = (_promise(name, promises[name][place]) for name in names)
        rows.append((row.configuration, row.deviation, row.utility, *promised, *cell))
    header = ("configuration", *_measured_in(advice, "deviation", "utility"), *names, *measured)
    yield from ("", *aligned(header, rows))


def _certain_label(advice: Advice | CoarseAdvice, schema: Mapping[str, Any]) -> Iterator[str]:
    """A warning about configurations that promise only one label value in each class, which protects nothing."""
    listed = [row.configuration for row in advice.ranking or []]
    vouched = promises_of(schema, listed).get("l", [])
    certain = [each for each, number in zip(listed, vouched, strict=False) if number is not None and number <= 1]
    if certain:
        label, all_of_them = _certain_labels(schema, certain), "people" if schema.get("unit") else "records"
        yield ""
        yield (
            f"warning: the label of some people may be certain: in some classes all {all_of_them} may have the same "
            f"{label} (l = 1 in {some(certain, _MOST_NAMES)})"
        )


def _certain_labels(schema: Mapping[str, Any], configurations: Sequence[str]) -> str:
    """The labels of which these configurations state `l` of 1 or, where none does, all labels."""
    by_label = (
        one.get("privacy_by_label") or {} for one in schema.get("configurations") or [] if one["id"] in configurations
    )
    stated = {name for each in by_label for name, privacy in each.items() if privacy.get("l", 2) <= 1}
    labels = labels_of(schema)
    return " or ".join(map(shown, [name for name in labels if name in stated] or labels))


def _promise(name: str, number: float | None) -> str | float:
    """The number, as an integer if it is whole; a dash without a number, or for `l` of 1, which promises nothing."""
    if number is None or (name == "l" and number <= 1):
        return "-"
    return int(number) if float(number).is_integer() else number


def _costs(advice: Advice, maskings: dict[str, str]) -> Iterator[str]:
    """The cost of each masking, highest first, with bounds on the unmasked utility if they are far apart."""
    numbers = _measured_in(advice, "deviation", "utility", "unmasked")
    header = ("attribute", "masking", *numbers, "source", "unmasked, proven")
    costs: list[tuple[str | float, ...]] = []
    for attribute in advice.attributes or []:
        masking = maskings.get(attribute.name, "")
        if score := attribute.maskings.get(masking):
            whole = attribute.reference_utility
            certain = _certain(attribute)
            costs.append((attribute.name, masking, score.deviation, score.utility, whole, score.source, certain))
    used = len(header) if any(cost[-1] for cost in costs) else len(header) - 1
    dearest_first = sorted(costs, key=lambda cost: cost[2], reverse=True)
    yield from aligned(header[:used], [cost[:used] for cost in dearest_first])
    if used == len(header):
        yield "unmasked is the known utility of the attribute; the proven numbers are bounds on the true one"


def _measured_in(advice: Advice, *names: str) -> tuple[str, ...]:
    """The column names with the measure's unit."""
    return tuple(f"{name} ({advice.unit})" if advice.unit else name for name in names)


def _certain(attribute: AttributeAdvice) -> str:
    """The bounds on the unmasked attribute's utility, if they are far apart and the reference is not known."""
    bounds = utility_bounds(attribute)
    return str(bounds) if bounds.far_apart and not reference_known(attribute) else ""


def _coarse_report(advice: CoarseAdvice, schema: Mapping[str, Any]) -> Iterator[str]:
    """Lines: the ranking, and how much of each attribute the best configuration keeps. `schema`: the entry's."""
    if advice.attributes:
        yield "shares are coarse, since exact numbers would reveal the counts; only the entry's provider reads those"
    else:
        yield "order only: for shares, ask by mutual_information without bias correction, for two attributes or more"
    ranking = advice.ranking or []
    rows = [(row.configuration, str(row.rank or "-"), _share(row.utility_share)) for row in ranking]
    columns = 3 if advice.attributes else 2
    if rows:
        header, *measured = _last_columns(advice, schema)
        names = ("configuration", "rank", "utility kept")[:columns]
        cells = [(*row[:columns], *cell) for row, cell in zip(rows, measured, strict=True)]
        yield from ("", *aligned((*names, *header), cells))
    if advice.attributes:
        yield from ("", f"what {advice.configuration} keeps of each attribute:", *_kept(advice, schema))


def _last_columns(advice: Advice | CoarseAdvice, schema: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """The header and the cells of the columns of words: what a model should reach and did reach, and the names."""
    configurations = [row.configuration for row in advice.ranking or []]
    names = ConfigurationNames.of(schema)
    measured = measured_of(schema, configurations, label_of(advice.request, schema))
    expected = [None if row.expected is None else expected_words(row.expected) for row in advice.ranking or []]
    columns = {
        "expected": [words or "-" for words in expected] if any(expected) else [],
        "measured": [words or "-" for words in measured] if any(measured) else [],
        "in words": [names.name(one) for one in configurations],
    }
    kept = {name: column for name, column in columns.items() if any(column)}
    return [tuple(kept), *zip(*kept.values(), strict=True)] if kept else [()] * (len(configurations) + 1)


def _kept(advice: CoarseAdvice, schema: Mapping[str, Any]) -> Iterator[str]:
    used = maskings_about(advice, schema, advice.configuration)
    rows = [
        (shown(one.name), used[one.name], one.maskings[used[one.name]].kept or "-")
        for one in advice.attributes or []
        if used.get(one.name) in one.maskings
    ]
    yield from aligned(("attribute", "masking", "kept"), rows)


def _share(share: float | None) -> str:
    return "-" if share is None else str(Share(share))


def _declared_report(advice: Advice | CoarseAdvice, schema: Mapping[str, Any]) -> Iterator[str]:
    """Lines: the meaning of the numbers, the ranking, and the best configuration."""
    yield from _about(advice)
    yield from _declared_ranking(advice, schema)
    if isinstance(advice, Advice):
        yield from _declared_costs(advice)
    best = generated_of(schema, advice.configuration)
    if best is not None:
        yield from _generated(best)


def _about(advice: Advice | CoarseAdvice) -> Iterator[str]:
    """Say what the numbers mean, and what is left out."""
    transfer = advice.transfer
    records = f"{transfer.records:,} held-out" if isinstance(transfer, TransferAdvice) else "held-out"
    yield f"utilities are declared by the provider: those of a rule learned from each on {records} real records"
    if transfer is not None and transfer.left_out:
        some = "configurations are" if transfer.left_out > 1 else "configuration is"
        yield f"{transfer.left_out} {some} left out, since they declare no such utility"


def _declared_ranking(advice: Advice | CoarseAdvice, schema: Mapping[str, Any]) -> Iterator[str]:
    """The rows: utilities with their intervals, or shares for readers of coarse answers, and the promises."""
    rows = advice.ranking or []
    if not rows:
        return
    promises = promises_of(schema, [row.configuration for row in rows])
    names = [name for name in promises if name not in SUPPRESSED][:_MOST_NAMES]
    declared = [_declared_cells(advice, place) for place in range(len(rows))]
    said = ConfigurationNames.of(schema)
    cells = [
        (
            *(row.configuration, row.kind, *own),
            *(number(promises[name][place], 6) for name in names),
            said.name(row.configuration),
        )
        for place, (row, own) in enumerate(zip(rows, declared, strict=True))
    ]
    unit = f" ({advice.unit})" if advice.unit else ""
    numbers = (f"utility{unit}", "95 % interval") if isinstance(advice, Advice) else ("rank", "utility kept")
    yield from ("", *aligned(("configuration", "kind", *numbers, *names, "in words"), cells))


def _declared_cells(advice: Advice | CoarseAdvice, place: int) -> tuple[str | float, str]:
    """The cells of a row."""
    if isinstance(advice, Advice):
        row = (advice.ranking or [])[place]
        return row.utility, _limits(row.low, row.high)
    coarse = (advice.ranking or [])[place]
    return str(coarse.rank or "-"), "-" if coarse.utility_share is None else str(Share(coarse.utility_share))


def _declared_costs(advice: Advice) -> Iterator[str]:
    """The utility of the best configuration by attribute, the largest loss first."""
    attributes = advice.transfer.attributes if advice.transfer is not None else []
    if not attributes:
        return
    rows = [
        (shown(one.name), one.deviation, one.utility, _limits(one.low, one.high), one.reference_utility)
        for one in sorted(attributes, key=lambda one: -one.deviation)
    ]
    header = ("attribute", "deviation", "utility", "95 % interval", "best declared")
    yield from ("", f"what {advice.configuration} tells by each attribute:", *aligned(header, rows))


def _generated(best: GeneratedOutline) -> Iterator[str]:
    """The description of a generated configuration, and the success of attacks on it."""
    yield from ("", f"{best.id} is a generated table: {best.records:,} records that {shown(best.method)} drew")
    rows = [
        (name, attack.value, _limits(attack.low, attack.high), number(attack.chance, 6))
        for name in ATTACKS
        if (attack := best.attacks.get(name)) is not None
    ]
    if rows:
        yield from aligned(("attack", "success", "95 % interval", "by chance"), rows)


def _limits(low: float | None, high: float | None) -> str:
    return "-" if low is None or high is None else f"{number(low, 4)} to {number(high, 4)}"
