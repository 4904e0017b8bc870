"""The results of the steps of a release, and the card made from them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final

from aegis_provider.advice import EntryAdvice
from aegis_provider.classifiers import AUC, RAW, CheckResult
from aegis_provider.counting.kept import Kept
from aegis_provider.counting.telling_names import TellingNames
from aegis_provider.plan.model import DROP, Plan
from aegis_provider.privacy import CERTAIN_VALUES_REMEDY, Column, KnownRows, certain_values_warning, columns_of
from aegis_provider.release.apply import Applied
from aegis_provider.report.verdicts import judged_line
from aegis_provider.search import SearchResult
from aegis_provider.table.values import MISSING
from aegis_provider.workflow.aim import Aim
from aegis_provider.workflow.card import (
    Card,
    CardAuc,
    CardChoice,
    CardColumn,
    CardExpected,
    CardLabel,
    CardPeople,
    CardService,
    CardTask,
)
from aegis_provider.workflow.card_head import made_up_rows
from aegis_provider.workflow.deadline import OVER
from aegis_provider.workflow.generating import Comparison
from aegis_sdk.reading import Alone, ConfigurationNames, Share, read_together_line, shown, verdict_line
from aegis_sdk.wire import Attribute, EntryDocument, Masking, Verdict

if TYPE_CHECKING:  # slow to load
    from aegis_provider.disclosure import Judged

# What names of configurations follow from; the counts of an entry can be large.
_NAMED: Final[dict[str, Any]] = {
    "attributes": {"__all__": {"name": True, "type": True, "maskings": {"__all__": {"id", "function", "domain"}}}},
    "configurations": True,
    "configuration_table": True,
}

_ABBREVIATED: Final = re.compile(r" and \d+ more$")
"""The end of the name of a drafted group that names only some of its values."""

_PACKAGES: Final = ("aegis-masking-provider", "aegis-masking-advisor", "aegis-masking")


@dataclass(frozen=True)
class Summarised:
    """The entry.

    Attributes:
        advice: Its configurations, ranked by the exact counts.
        telling: Names of masked values that disclose raw values of few records.
        accepted: The columns with accepted identifying values, and the kinds of these.
        in_time: Whether its rounding passed, or all draws were tried.
        telling_label: The columns that tell over 80 % of the label unmasked.
    """

    advice: EntryAdvice
    telling: tuple[TellingNames, ...]
    accepted: Mapping[str, str] = field(default_factory=dict)
    in_time: bool = True
    telling_label: tuple[str, ...] = ()


@dataclass(frozen=True)
class Masked:
    """The masked table.

    Attributes:
        applied: The result of writing it.
        labels: The number of records of each label value, in the original and in the masked table.
        blanks: By masked column with missing values, the label that all records without a value have; else "".
    """

    applied: Applied
    labels: Mapping[str, tuple[int, int]]
    blanks: Mapping[str, str]


@dataclass(frozen=True)
class Assessed:
    """The privacy of the release.

    Attributes:
        columns: The columns and their maskings.
        passed: Whether it has the promised privacy; `None` without a verdict.
        verdict: The verdict in a line.
        highest: The highest risk of re-identification; `None` if not measurable.
        highest_before: The same for the unmasked table.
        certain: Number of records in classes with a single value of some sensitive attribute.
        guessable: The share of records in classes where a guess of such a value is over 95 % right.
        alone: How many of its records are alone on all shared columns, and how many in the worst configuration offered.
        judged: The number of its records; of people, each once in every class with a record of theirs, if these count.
        known: The people with too few alike to someone who knows some of their records; `None` if records are people.
    """

    columns: tuple[Column, ...]
    passed: bool | None
    verdict: str
    highest: float | None
    highest_before: float | None
    certain: int
    guessable: float
    alone: Alone
    judged: int
    known: KnownRows | None = None


@dataclass(frozen=True)
class Findings:
    """The results of all steps.

    Attributes:
        kept: What the release keeps of each column.
        check: The check by models, or why none were trained.
        comparison: The comparison with generated tables, or why it failed; `None` if there are none.
        repeating: The identifiers that are the same in several records, if records are counted.
        expected: What a model of each label should reach, by the entry's counts.
    """

    search: SearchResult
    entry: EntryDocument
    judged: Judged
    summarised: Summarised
    masked: Masked
    together: Verdict
    assessed: Assessed
    kept: Mapping[str, Kept]
    check: CheckResult | str
    comparison: Comparison | str | None = None
    repeating: tuple[str, ...] = ()
    expected: Mapping[str, CardExpected] = field(default_factory=dict)

    @property
    def advice(self) -> EntryAdvice:
        """The ranking that chose the configuration."""
        return self.summarised.advice

    @property
    def accepted(self) -> Mapping[str, str]:
        """The columns with accepted identifying values, and the kinds of these."""
        return {**self.summarised.accepted, **self.masked.applied.checked.accepted}


def card_of(
    aim: Aim,
    table: str,
    plan: Plan,
    plan_digest: str,
    findings: Findings,
    summarize: str,
    service: CardService | None,
    *,
    published: bool = False,
) -> Card:
    """Return the card of a release.

    Args:
        aim: The requirements on the release.
        table: The name of the table.
        plan: The plan with the configurations.
        plan_digest: The SHA-256 of its file.
        findings: The results of all steps.
        summarize: The command that makes the entry.
        service: The service that ranked the configurations, if any.
        published: Whether others may read the card; then it omits names that disclose raw values.
    """
    applied, entry, best = findings.masked.applied, findings.entry, findings.advice.best.id
    faults = entry_faults(entry.name, findings.judged, findings.summarised.telling, summarize, published=published)
    card = Card(
        table=table,
        label=aim.label,
        made=datetime.now(UTC).date().isoformat(),
        versions={name: version(name) for name in _PACKAGES},
        aim=aim.described(),
        required=tuple(aim.require),
        configuration=best,
        plan_digest=plan_digest,
        passed=not faults and findings.together.passed,
        verdict=faults[0] if faults else judged_line(entry.name, findings.judged, summarize),
        privacy_verdict=_privacy_verdict(findings),
        alone=findings.assessed.alone,
        together_verdict=read_together_line(findings.together),
        records=applied.records,
        suppresses=bool(applied.suppressed or applied.held_back),
        left_out=applied.suppressed + applied.held_back,
        suppressed_cells=applied.suppressed_cells,
        promised=applied.promised,
        reached=applied.reached,
        highest_risk=(findings.assessed.highest, findings.assessed.highest_before),
        warnings=(*faults[1:], *_warnings(findings, plan, published=published)),
        labels=_labels(findings.masked.labels),
        columns=tuple(_columns(findings, listed=not faults)),
        never_shared=plan.left_out,
        service=service,
        unfinished=tuple(_unfinished(findings)),
        cut="; ".join(_cut(findings)),
        made_up={} if faults else made_up_rows(entry, best),
        about=ConfigurationNames.of(entry.model_dump(include=_NAMED)).name(best),
    )
    return _with_worth(_with_risks(card, findings), findings, plan)


def _with_risks(card: Card, findings: Findings) -> Card:
    """Return the card with what the release discloses about people, besides the privacy criteria."""
    assessed = findings.assessed
    shared = [column.name for column in assessed.columns if column.masking != DROP]
    return replace(
        card,
        telling_label=tuple(name for name in findings.summarised.telling_label if name in shared),
        holds=False if findings.masked.applied.checked.shown.below_k else assessed.passed,
        certain=assessed.certain / max(1, assessed.judged),
        guessable=assessed.guessable,
        people=people_of(findings.entry, assessed.known),
        repeating=findings.repeating,
    )


def _with_worth(card: Card, findings: Findings, plan: Plan) -> Card:
    """Return the card with what the release is worth: why it was chosen, and what models reach on it."""
    advice, search, runner_up = findings.advice, findings.search, findings.advice.runner_up
    ids = (configuration.id for configuration in search.configurations)
    shares = dict(zip(ids, search.shares, strict=True))
    card = replace(
        card,
        kept=shares.get(advice.best.id),
        measure=advice.measure,
        basis=advice.basis,
        considered=len(advice.ranking),
        runner_up=None if runner_up is None else (runner_up.id, shares.get(runner_up.id)),
        frontier=tuple(sorted(_frontier(findings, plan), key=lambda each: sorted(each.require.items()))),
        limits=search.limits,
        weights=plan.weights,
        comparison=findings.comparison if isinstance(findings.comparison, Comparison) else None,
        chosen=advice.named is not None,
        by_label=dict(_tasks(findings, plan)),
        expected=findings.expected,
    )
    check = findings.check
    if isinstance(check, str):
        return card
    notes = "; ".join([_held(findings), *check.notes])
    return replace(card, predicted=check.shares.get(advice.best.id), measured=tuple(_measured(check)), check=notes)


def _tasks(findings: Findings, plan: Plan) -> Iterator[tuple[str, CardTask]]:
    """Yield what the release is worth for each of several labels."""
    search, best, check = findings.search, findings.advice.best.id, findings.check
    place = next((place for place, each in enumerate(search.configurations) if each.id == best), None)
    reached = findings.masked.applied.checked.by_label
    for label in plan.labels if plan.other_labels else ():
        kept = None if place is None or label not in search.by_label else search.by_label[label][place]
        task = CardTask(kept, reached.get(label, {}))
        if not isinstance(check, str):
            one = check.by_label.get(label)
            model = (check.best_model or "") if one is None else one.model
            own, raw = (_auc(check, label, table) for table in (best, RAW))
            why, scale = ("", check.scale) if one is None else (one.why, one.scale)
            task = replace(task, model=model, auc=own, raw_auc=raw, why=why, scale=scale)
            task = replace(task, rmse=_error(check, label, best))
        yield label, task


def _auc(check: CheckResult, label: str, table: str) -> float | None:
    """Return the AUC of the model of a label on the release or on the table."""
    if (one := check.by_label.get(label)) is not None:
        own = one.raw if table == RAW else one.own
        return None if own is None else own.value
    found = None if check.best_model is None else check.of(table, check.best_model)
    return None if found is None else found.auc.value


def _error(check: CheckResult, label: str, table: str) -> float | None:
    """Return the error on the release of the model of a label that is a number; `None` of classes."""
    if (one := check.by_label.get(label)) is not None:
        return None if one.rmse is None else one.rmse.value
    found = None if check.scale == AUC or check.best_model is None else check.of(table, check.best_model)
    return None if found is None else found.accuracy.value


def people_of(entry: EntryDocument, known: KnownRows | None) -> CardPeople | None:
    """Return the people that the privacy of an entry counts; `None` if it counts records."""
    if entry.unit is None or entry.rows_per_person is None:
        return None
    return CardPeople(entry.rows_per_person, None if known is None else known.shares)


def texts_of_cards(plan: Plan, table: str) -> set[str]:
    """Return the texts of any configuration's card that are not in the entry, which is searched separately.

    Args:
        plan: The plan with the configurations.
        table: The name of the table.
    """
    becomes = {column.becomes for configuration in plan.configurations for column in columns_of(plan, configuration)}
    ids = {configuration.id for configuration in plan.configurations}
    return {PurePath(table).name, *plan.columns, *plan.left_out, *plan.left_out.values(), *becomes, *ids}


def _labels(labels: Mapping[str, tuple[int, int]]) -> dict[str, CardLabel]:
    before, after = (max(1, sum(label[place] for label in labels.values())) for place in (0, 1))
    return {
        value: CardLabel(records, released, records / before, released / after)
        for value, (records, released) in labels.items()
    }


def _privacy_verdict(findings: Findings) -> str:
    """Return the verdict on the release's privacy, qualified if too many records are alone on all columns."""
    assessed, shown = findings.assessed, findings.masked.applied.checked.shown
    return verdict_line(False, shown.below_k_in_words) if shown.below_k and assessed.passed else assessed.verdict


def entry_faults(
    name: str, judged: Judged, telling: Sequence[TellingNames], summarize: str, *, published: bool = False
) -> list[str]:
    """Return why the entry with this name must not be published, a line for each disclosure by counts or names."""
    counts = [] if judged.verdict.passed else [judged_line(name, judged, summarize)]
    return [*counts, *(verdict_line(False, each.in_words(published=published)) for each in telling)]


def _warnings(findings: Findings, plan: Plan, *, published: bool) -> Iterator[str]:
    yield from findings.masked.applied.checked.shown.values_in_words()
    applied, records = findings.masked.applied, findings.assessed.certain
    # An entry shows the head of the card without the masked table, which tells this number.
    told = None if published and records != findings.assessed.judged else records
    of = findings.assessed.judged
    certain = certain_values_warning(
        applied.reached, plan, told, of, of_people=applied.of_people, by_label=applied.checked.by_label
    )
    if certain is not None:
        yield f"{certain}. {CERTAIN_VALUES_REMEDY}"
    for name, label in findings.masked.blanks.items():
        if label:
            yield f"where {shown(name)} is blank, {shown(plan.label)} is always {shown(label)}"
    if not isinstance(findings.check, str) and findings.check.held is False:
        yield f"{findings.check.verdict}. `aegis apply` makes the other release"


def _columns(findings: Findings, *, listed: bool) -> Iterator[CardColumn]:
    attributes = {each.name: each for each in findings.entry.attributes}
    for column in findings.assessed.columns:
        told = findings.kept.get(column.name, Kept(None, None))
        is_shared, attribute = column.masking != DROP, attributes.get(column.name)
        becomes, values = column.becomes, dict[str, tuple[str, ...]]()
        if attribute is not None and is_shared:
            masking = next((each for each in attribute.maskings if each.id == column.masking), None)
            if MISSING in (attribute if masking is None else masking).domain:
                becomes += f"; blank: {'shared' if column.name in findings.masked.blanks else 'left out'}"
            values = values_of(attribute, masking) if listed and masking is not None else values
        yield CardColumn(column.name, column.role, becomes, told.kept, told.lost, is_shared, values)


def values_of(attribute: Attribute, masking: Masking) -> dict[str, tuple[str, ...]]:
    """Return all masked values in the entry; each whose name leaves some of its values out, with all of them."""
    mapping = masking.mapping or ()
    return {
        name: tuple(attribute.domain[value] for value, group in enumerate(mapping) if group == place)
        if _ABBREVIATED.search(name)
        else ()
        for place, name in enumerate(masking.domain)
        if name
    }


def _frontier(findings: Findings, plan: Plan) -> Iterator[CardChoice]:
    known = {configuration.id: configuration for configuration in plan.configurations}
    shares = {} if isinstance(findings.check, str) else findings.check.shares
    for place, point in enumerate(findings.search.frontier):
        best = point.configuration
        if best is None:
            yield CardChoice(point.requirement.privacy, "", None, None, point.complete, is_aim=place == 0)
            continue
        chosen = known.get(best.id, best)  # in the plan, it may suppress cells instead of records
        yield CardChoice(
            require=point.requirement.privacy,
            configuration=best.id if best.id in known else "",
            suppressed=chosen.suppressed or 0,
            suppressed_cells=chosen.suppressed_cells,
            kept=point.share,
            proven=point.complete,
            at_most=point.at_most,
            predicted=shares.get(best.id),
            is_aim=place == 0,
        )


def _measured(check: CheckResult) -> Iterator[CardAuc]:
    for performance in check.performances:
        yield CardAuc(
            performance.table,
            performance.model,
            performance.auc.value,
            performance.auc.low,
            performance.auc.high,
            check.scale,
            None if check.scale == AUC else performance.accuracy.value,
        )


def _held(findings: Findings) -> str:
    """Return whether the advice held, in words; a configuration chosen by its id followed none."""
    named = findings.advice.named
    if named is not None or isinstance(findings.check, str):
        return f"whether the advice held was not tested, since {named} was chosen by its id"
    return findings.check.verdict


def _cut(findings: Findings) -> Iterator[str]:
    """Yield what time ended before it was done, for the first line."""
    yield from filter(None, [findings.search.cut_of_first])
    if findings.check == OVER:
        yield "--seconds left no time to train models"
    elif isinstance(findings.check, CheckResult) and findings.check.unfinished:
        yield "--seconds ended the training of models"


def _unfinished(findings: Findings) -> Iterator[str]:
    best = findings.search.frontier[0]
    if findings.search.lost is None and not best.complete:
        ended = "ran out of time" if best.unsearched else "made the evaluations of its effort"
        ended = "was stopped" if findings.search.interrupted else ended
        most = "more" if best.at_most is None else f"up to {Share(best.at_most).whole}"
        may = "more --seconds" if best.unsearched else "--effort thorough"
        yield f"the search {ended}: another configuration may keep {most}. A run with {may} may tell"
    if not findings.summarised.in_time:
        yield "counts were rounded anew until time was up: with more --seconds, another draw may pass"
    if any(each.reason == "undecided" for each in (*findings.judged.verdict.findings, *findings.together.findings)):
        yield "what the counts give away was not decided in full, which does not pass; more --seconds may decide it"
    if isinstance(findings.comparison, str):
        yield f"generated tables were not compared: {findings.comparison}"
    elif findings.comparison is not None and findings.comparison.unfinished:
        masks = ", ".join(findings.comparison.unfinished)
        yield f"{masks} not compared with generated tables, for want of --seconds"
    if isinstance(findings.check, str):
        yield f"no models were trained: {findings.check}"
        return
    for model, tables in findings.check.unfinished.items():
        yield f"{model} was not trained on {', '.join(tables)}, for want of --seconds"
