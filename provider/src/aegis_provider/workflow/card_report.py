"""The release card for readers: its sections and its texts."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from aegis_advisor.measures import measure_named
from aegis_provider.classifiers import AUC, NOTHING, RAW
from aegis_provider.identifiers import accepted_in_words
from aegis_provider.privacy import BY_LABEL, CRITERIA
from aegis_provider.report.model import BASELINES, Part, Report, Section, Term, Terms, TextTable
from aegis_provider.workflow.card import HIGHEST_SAID, Card, CardChoice, CardColumn
from aegis_provider.workflow.card_head import head_of
from aegis_sdk.charts import BAD, GOOD, Axis, Interval, Lengths, Measured, Plane, Series, SeriesBars
from aegis_sdk.reading import Share, as_sentence, number, share_with_limits, shown

_UNKNOWN: Final = "not known"
_NOTHING: Final = "tells nothing"
_NONE: Final = "-"


def kept_in_words(share: float | None) -> str:
    """Return a share in whole percent, a positive share never as 0."""
    return _UNKNOWN if share is None else Share(share).whole


def choices(card: Card) -> Iterator[Part]:
    """Yield the best configuration for each requirement as a table, and as a picture."""
    models = any(choice.predicted for choice in card.frontier)
    cells = any(choice.suppressed_cells is not None for choice in card.frontier)
    columns = {
        "required": [RAW, *(choice.in_words for choice in card.frontier), NOTHING],
        "configuration": [_NONE, *(choice.configuration or _NONE for choice in card.frontier), _NONE],
        "records left out": [_NONE, *map(_left_out, card.frontier), _NONE],
        **(
            {"cells suppressed": [_NONE, *(_counted(choice.suppressed_cells) for choice in card.frontier), _NONE]}
            if cells
            else {}
        ),
        "keeps": ["100 %", *(f"{kept_in_words(each.kept)}{possible(each)}" for each in card.frontier), "0 %"],
        **({"keeps, by models": ["100 %", *map(_by_models, card.frontier), "0 %"]} if models else {}),
    }
    rows = list(zip(*columns.values(), strict=True))
    yield TextTable(tuple(columns), rows, _caption(card, models=models))
    known = [choice for choice in card.frontier if choice.kept is not None]
    if known:
        yield _picture(card, known, models=models)


def _left_out(choice: CardChoice) -> str:
    return "some" if choice.suppressed_reason else _counted(choice.suppressed)


def _counted(number: int | None) -> str:
    return _NONE if number is None else f"{number:,}"


def possible(choice: CardChoice) -> str:
    """Return how much another configuration may keep, unless this one is proven optimal."""
    if choice.kept is None or choice.proven:
        return ""
    limited = choice.at_most is not None and choice.at_most < 1
    return f", at most {kept_in_words(choice.at_most)} possible" if limited else " or more"


def _by_models(choice: CardChoice) -> str:
    one = choice.predicted
    return _NONE if one is None else share_with_limits(one.value, one.low, one.high) or _UNKNOWN


def _caption(card: Card, *, models: bool) -> str:
    kept = f"keeps: the share of what the table tells about {card.kept_about}, by the measure {card.measure}"
    above = "AUC above 0.5" if card.scale == AUC else card.scale
    predicted = f"by models: the share of what {_model(card)} predicts from the table, as {above} (95 % interval)"
    unproven = "or more: that is the best found, but another one may keep more"
    return "; ".join(
        [
            kept,
            *([unproven] if any(possible(choice) == " or more" for choice in card.frontier) else []),
            *([predicted] if models else []),
            *([f"records left out: rounded to a multiple of {card.rounded_to}"] if card.rounded_to else []),
            f"{_NONE}: none, not in the plan, or not measured",
        ]
    )


def _model(card: Card) -> str:
    """Return the name of the best model for the unmasked table."""
    best = card.auc_of(RAW)
    return "a model" if best is None else best.model


def _picture(card: Card, known: list[CardChoice], *, models: bool) -> Plane:
    told = [Measured(each.kept or 0.0, _bounds(each)) for each in known]
    series = [Series.at_places(f"by the measure {card.measure}", GOOD, told, is_joined=True)]
    if models:
        predicted = [
            None
            if each.predicted is None
            else Measured(each.predicted.value, Interval(each.predicted.low, each.predicted.high))
            for each in known
        ]
        series.append(Series.at_places(f"by {_model(card)}, with 95 % intervals", BAD, predicted))
    aim = next((place for place, each in enumerate(known) if each.is_aim), None)
    return Plane(
        Axis("privacy", "required privacy"),
        Axis("kept", f"kept of what the table tells about {card.kept_about}", "share", levels=BASELINES),
        series,
        [each.in_words for each in known],
        notes=[_below(card, known, models=models)],
        marked=None if aim is None else (aim, "this release"),
    )


def _bounds(choice: CardChoice) -> Interval | None:
    """Return the share and its upper bound, if the configuration is not proven optimal."""
    if choice.proven or choice.at_most is None or choice.kept is None:
        return None
    return Interval(choice.kept, max(choice.kept, choice.at_most))


def _below(card: Card, known: list[CardChoice], *, models: bool) -> str:
    """Return the sentences below the picture."""
    said = [f"What the best configuration keeps at each privacy, by the measure {card.measure}, counted in this table"]
    if any(map(_bounds, known)):
        said.append("A line upwards ends where it is proven that nothing keeps more")
    if models:
        said.append(
            f"Beside it, how much better than chance {_model(card)} predicts, as a share of what it does unmasked"
        )
    return f"{'. '.join(said)}."


_LABELS_SHOWN: Final = 30
_COLUMNS_SHOWN: Final = 200
_VALUES_SHOWN: Final = 100
#: The total share of the whole that is negligible.
NEGLIGIBLE: Final = 0.02
_BARS: Final = 20


def card_report(card: Card) -> Report:
    """Return the card as a report: its head for those who decide, and the rest folded."""
    sections = [
        Section("The verdict", list(_verdict(card))),
        Section("What is shared, in detail", list(_shared(card))),
        Section("Who is protected, and how", list(_privacy(card))),
        Section("What it is good for", list(_utility(card))),
        Section("What it could have been", list(choices(card))),
        *_beside(card),
        Section("What this does not say", list(_limits(card))),
        Section("How it was made", list(_origin(card))),
    ]
    return Report(
        f"Release card of {card.table}", head_of(card), [replace(section, folded=True) for section in sections]
    )


def _verdict(card: Card) -> Iterator[str]:
    alone = card.alone  # said in full unless the verdict on privacy mentions it
    yield card.verdict
    yield card.privacy_verdict
    yield as_sentence(alone.sentence if alone.is_much(offered=False) else alone.line(offered=True))
    yield card.together_verdict
    yield f"{card.headline}."
    yield from (f"{each}." for each in card.expectations)
    if card.by_models:
        yield as_sentence(card.by_models)
    yield from _warnings(card)


def _beside(card: Card) -> Iterator[Section]:
    if card.comparison is not None:
        from aegis_provider.workflow.generating import comparison_parts  # noqa: PLC0415 - few cards have one

        parts = comparison_parts(card.comparison, card.label, card.configuration)
        yield Section("Compared with generated tables", list(parts))


def _warnings(card: Card) -> Iterator[str]:
    for each in card.warnings:
        yield f"{each[0].upper()}{each[1:]}."
    for each in card.unfinished:
        yield f"Not finished: {each}."


def _shared(card: Card) -> Iterator[Part]:
    about = "about " if card.left_out and card.rounded_to else ""  # a rounded count looks like an exact one
    left_out = f"{about}{card.left_out_told} records of the table are left out"
    left_out = left_out if card.suppresses else "no record is left out"
    cells = f", and {card.suppressed_cells:,} single cells are suppressed: they are *" if card.suppressed_cells else ""
    yield f"{card.records:,} records, masked by the configuration {card.configuration}; {left_out}{cells}."
    if card.holds_back:
        yield f"{card.holds_back[0].upper()}{card.holds_back[1:]}."
    yield (
        f"A configuration says how each column is masked; configurations.yaml has {card.configuration}. The entry, "
        "entry.json, is what others may read about the table: counts, and no records. Counts of the table on this card "
        "are those of the entry."
    )
    rows = [
        (
            shown(column.name),
            column.role,
            shown(column.becomes, 100),
            *_kept_and_lost(card, column),
        )
        for column in card.columns
    ]
    caption = (
        f"keeps: the share of what the column alone, or a copy of it, tells about {shown(card.label)}; loses: the "
        f"rest, beyond chance, as a share of all that there is to know about {shown(card.label)}. Several columns can "
        "tell the same, so these do not add up"
    )
    yield TextTable(("column", "role", "its values become", "keeps", "loses"), rows, caption, most=_COLUMNS_SHOWN)
    masked = [(shown(each.name), _listed(each)) for each in card.columns if 0 < len(each.values) <= _VALUES_SHOWN]
    if masked:
        yield TextTable(("masked column", "all its values"), masked, most=_COLUMNS_SHOWN)
    yield from _costs(card)
    if card.never_shared:
        reasons = [(shown(name), reason) for name, reason in card.never_shared.items()]
        yield TextTable(("never shared", "because"), reasons)
    labels = [
        (shown(value), card.told(each.records), kept_in_words(each.share), kept_in_words(each.share_released))
        for value, each in card.labels.items()
    ]
    yield TextTable(
        (card.label, "records of the table", "share", "share released"),
        labels,
        f"how leaving out records moved the label{_of_rounded(card)}",
        most=_LABELS_SHOWN,
    )


def _listed(column: CardColumn) -> str:
    of = (f" (that is: {', '.join(map(shown, values))})" if values else "" for values in column.values.values())
    return "; ".join(f"{shown(name)}{rest}" for name, rest in zip(column.values, of, strict=True))


def _of_rounded(card: Card) -> str:
    base = card.rounded_to
    return f"; the records of the table are rounded to a multiple of {base}, and their shares with them" if base else ""


def _kept_and_lost(card: Card, column: CardColumn) -> tuple[str, str]:
    """Return both shares in words; without information about the label, there is nothing to keep or to lose."""
    if column.name == card.label:
        return _NONE, _NONE
    nothing = column.lost is not None and (column.kept is None or not (column.kept or column.lost))
    return _NOTHING if nothing else kept_in_words(column.kept), kept_in_words(column.lost)


def _costs(card: Card) -> Iterator[Part]:
    """Yield the costs of masking as bars, the highest first and all negligible ones in one bar."""
    lost = {
        shown(column.name): column.lost
        for column in card.columns
        if column.lost is not None and column.name != card.label
    }
    dearest_first = sorted(lost.items(), key=lambda item: -item[1])
    few = len(lost) - negligible([share for _, share in dearest_first], 1.0)
    bars, rest = dearest_first[: min(few, _BARS)], dearest_first[min(few, _BARS) :]
    if rest:
        bars.append((f"{len(rest)} others, together", sum(share for _, share in rest)))
    if any(share for _, share in bars):
        axis = f"share of all that there is to know about {shown(card.label)}"
        caption = "What several columns tell counts for each of them, so these do not add up: together they lose less."
        yield SeriesBars(
            "What the masking of each column loses of what the column tells by itself",
            Axis("lost", axis, "share"),
            [name for name, _ in bars],
            [Lengths("lost", BAD, [share for _, share in bars])],
            notes=[caption],
        )


def _privacy(card: Card) -> Iterator[Part]:
    named = [name for name in dict.fromkeys([*card.required, *card.promised]) if name in card.reached]
    rows = [
        (
            CRITERIA[name].axis.replace("records", card.unit),
            number(card.asked.get(name), 6),
            number(card.promised.get(name), 6),
            number(card.reached[name], 6),
            CRITERIA[name].in_worst_class(card.reached[name], of_people=card.people is not None),
        )
        for name in named
    ]
    yield TextTable(("privacy", "asked", "promised", "measured in the masked table", "so"), rows)
    release, before = card.highest_risk
    if release is not None and before is not None:
        most = "it may be up to 100 %; what it is exactly would tell how rare its rarest records are"
        before_said = most if before >= HIGHEST_SAID else f"it is {Share(before)}"
        knows, picks = "all quasi-identifiers of a person", "the person's record"
        if card.people is not None:
            knows, picks = "the quasi-identifiers of one record of a person", "the person"
        yield (
            f"Someone who knows {knows} picks {picks} with a chance of at most {Share(release)}. In the table as it "
            f"is, {before_said}."
        )
    if card.people is not None and card.people.known is not None:
        yield as_sentence(card.people.known.sentence)
    if card.replayed or card.accepted:
        kinds = ", ".join(card.replayed) or "identifying values"
        found = f"except that {accepted_in_words(card.accepted)}" if card.accepted else ""
        yield (
            f"The masked table, the entry and this card were searched for the {kinds} of the table: none is there"
            f"{', ' * bool(found)}{found}."
        )
    yield Terms([Term(f"{name}: {CRITERIA[name].word}", CRITERIA[name].meaning) for name in named])


def _utility(card: Card) -> Iterator[Part]:
    yield (
        f"Of what the table tells about {card.kept_about}, by the measure {card.measure}, it keeps "
        f"{kept_in_words(card.kept)}. It {'was chosen by its id from' if card.chosen else 'is the best of'} "
        f"{card.considered:,} configurations; their order is "
        f"{card.basis}."
    )
    if card.by_label:
        yield TextTable(("label", "keeps", "k", "l", "a model reaches", "on the table", "model"), list(task_rows(card)))
    if card.weights:
        weights = ", ".join(f"{shown(name)} {weight:g}" for name, weight in card.weights.items())
        yield f"In that measure, columns count: {weights}; every other one counts 1."
    if card.runner_up is not None:
        rank = "best of the others" if card.chosen else "next best"
        yield f"The {rank}, {card.runner_up[0]}, keeps {kept_in_words(card.runner_up[1])}."
    if card.measured:
        rows: list[tuple[str, ...]] = [
            (each.table, each.model, f"{each.auc:.3f}", f"{each.low:.3f} to {each.high:.3f}") for each in card.measured
        ]
        header: tuple[str, ...] = ("trained on", "model", card.scale, "95 % interval")
        if card.states_error:
            errors = [number(each.rmse, 2) for each in card.measured]
            header, rows = (*header, "RMSE"), [(*row, error) for row, error in zip(rows, errors, strict=True)]
        yield TextTable(header, rows, "models were tested on other records")
        yield f"{card.check[0].upper()}{card.check[1:]}."
    yield Terms(list(_utility_terms(card)))


def task_rows(card: Card) -> Iterator[tuple[str, ...]]:
    """Yield a row for each of several labels: what is kept, how it is protected, and how well a model predicts it."""
    for name, task in card.by_label.items():
        both = (task.auc, "" if task.rmse is None else f", RMSE {number(task.rmse, 2)}"), (task.raw_auc, "")
        aucs = (_NONE if auc is None else f"{task.scale} {auc:.3f}{error}" for auc, error in both)
        privacy = (number(task.privacy[each], 6) if each in task.privacy else _NONE for each in BY_LABEL)
        kept = _NONE if task.kept is None else kept_in_words(task.kept)
        yield shown(name), kept, *privacy, *aucs, task.model or task.why or _NONE


def _utility_terms(card: Card) -> Iterator[Term]:
    label = shown(card.label)
    told = (
        f"how well all shared columns together explain {label}: squared correlations, less what chance would give"
        if measure_named(card.measure).is_joint
        else f"what each column tells about {label} by itself, as a mean over the columns"
    )
    yield Term(f"the measure {card.measure}", told)
    if card.measured:
        yield _scale_term(card)
        yield Term(
            RAW,
            "the table with its columns unmasked. Masked ones are easier to learn, so a model can do slightly better",
        )
        yield Term(NOTHING, f"a model that knows only how many records have each {label}: the least")


def _scale_term(card: Card) -> Term:
    label = shown(card.label)
    if card.scale == AUC:
        return Term(
            AUC,
            f"how often a model tells two records with different {label} apart: of one record that has a value of it "
            "and one that has not, it ranks the right one first. 0.5 is chance, 1 is always",
        )
    told = f"the share of the variance of {label}, as it is, that a model predicts: 0 is nothing, 1 everything"
    told += f". RMSE: the root of its mean squared error, in the unit of {label}" if card.states_error else ""
    return Term(card.scale, told)


def _limits(card: Card) -> Iterator[Part]:
    yield (
        "The privacy numbers hold against someone who knows the quasi-identifiers of a person and nothing else. "
        "Whoever knows more, or has another release of the same people, can learn more."
    )
    if card.people is None:
        smaller = "If one person has several records, the groups are smaller than they look."
        yield f"{card.counted}. {smaller}"
    else:
        yield f"{card.counted}. The groups hold against someone who knows one record of a person."
    yield _rounded(card)
    if card.suppressed_cells:
        yield "What it keeps is of its records before cells are suppressed. What models reach is of the masked table."
    yield (f"What it keeps is about {card.predicts} only. For another question, another configuration may be better.")


def _rounded(card: Card) -> str:
    rounded = "The counts in the entry are rounded at random."
    if card.service is None:
        return f"{rounded} A service that ranks configurations by them may prefer another one that keeps about as much."
    return f"{rounded} The service ranked the configurations by them, so another one may keep a little more."


def _origin(card: Card) -> Iterator[Part]:
    versions = ", ".join(f"{name} {version}" for name, version in card.versions.items())
    ranked_by = "the exact counts, on the provider's machine"
    if card.service is not None:
        entry = card.service.entry
        ranked_by = f"the service at {card.service.address}, by the published counts of the entry {entry}"
    rows = [
        ("table", shown(card.table)),
        ("label", shown(card.label)),
        ("had to have", card.aim),
        ("configuration", card.configuration),
        ("ranked by", ranked_by),
        *([("configurations.yaml, SHA-256", card.plan_digest)] if card.plan_digest else []),
        ("made by", versions),
        ("on", card.made),
    ]
    yield TextTable(("what", "value"), rows)


def negligible(numbers: Sequence[float], whole: float) -> int:
    """Return how many of the last numbers are together negligible; never 1, which is shown by itself.

    Args:
        numbers: Numbers of at least 0, the largest first.
        whole: Their reference.
    """
    small, rest = 0, 0.0
    for one in reversed(numbers):
        rest += one
        if rest > NEGLIGIBLE * whole:
            break
        small += 1
    return small if small > 1 else 0
