"""The release card: what a release is, as data."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Final

from aegis_provider.advice import EntryAdvice
from aegis_provider.check import RAW, CheckResult
from aegis_provider.disclosure import Judged
from aegis_provider.plan.model import Plan
from aegis_provider.privacy import certain_values_warning
from aegis_provider.report.disclosure_verdict import judged_line
from aegis_provider.search import SearchResult
from aegis_provider.workflow.aim import Aim
from aegis_provider.workflow.steps import Assessed, Masked
from aegis_sdk.wire import EntryDocument

_PACKAGES: Final = ("aegis-provider", "aegis-advisor", "aegis-sdk")


@dataclass(frozen=True)
class CardColumn:
    """A column of the table.

    Attributes:
        name: Its name.
        role: Its role: what someone may know about a person, or what nobody should learn.
        becomes: What the release makes of its values.
        kept: The share that it keeps of what the column, taken by itself, tells about the label; `None` if that is
            nothing or not known.
    """

    name: str
    role: str
    becomes: str
    kept: float | None


@dataclass(frozen=True)
class CardChoice:
    """The best configuration for a requirement.

    Attributes:
        require: The privacy required.
        configuration: Its id in the plan, empty if no configuration was found or the plan does not have it.
        suppressed: How many records it leaves out.
        suppressed_cells: How many single cells it suppresses; `None` if it suppresses whole records only.
        kept: The share that it keeps of what the table tells about the label.
        proven: Whether it is proven that no other one keeps more.
    """

    require: Mapping[str, float]
    configuration: str
    suppressed: int | None
    suppressed_cells: int | None
    kept: float | None
    proven: bool

    @property
    def in_words(self) -> str:
        """What was required: `k = 5, l = 2`."""
        return ", ".join(f"{name} = {limit:g}" for name, limit in self.require.items())


@dataclass(frozen=True)
class CardAuc:
    """How well a model predicts the label from a table, with the limits of the 95 % interval."""

    table: str
    model: str
    auc: float
    low: float
    high: float


@dataclass(frozen=True)
class CardService:
    """The service that ranked the configurations: its address, and the id of the entry by whose counts it did so."""

    address: str
    entry: str


@dataclass(frozen=True)
class Card:
    """What a release is, and why it can be shared.

    Attributes:
        table: The name of the table.
        label: The label.
        made: The day, as in ISO 8601.
        versions: The packages that made it.
        aim: What it had to be, in words.
        required: The names of the privacy criteria that were required.
        configuration: The id of its configuration.
        plan_digest: The SHA-256 of the plan with the configurations.
        passed: Whether the counts of the entry give no small count away.
        verdict: The verdict in words; if it fails, with the command that mends it.
        privacy_verdict: Whether the release has the privacy that it promises, in the same form.
        records: The records of the release.
        left_out: The records that it leaves out.
        suppressed_cells: The single cells of its records that are suppressed, and have become `*`.
        promised: Its promised privacy by name.
        reached: Its privacy by name, measured in the masked table.
        highest_risk: The highest risk of re-identification, and that of the table as it is; `None` if not known.
        warnings: What someone who only reads the numbers could overlook.
        labels: The records of each label value, in the table and in the release.
        columns: The columns, and what becomes of them.
        never_shared: The columns left out of the plan, each with the reason.
        kept: The share that it keeps of what the table tells about the label, by `measure`.
        measure: The measure of utility.
        service: The service that ranked the configurations; `None` if the exact counts did, on the provider's machine.
        basis: Whether the order of the configurations is `exact` or `estimated`.
        considered: How many configurations were ranked.
        runner_up: The id of the next best configuration, and the share that it keeps.
        frontier: The best configuration for each k, the least private first.
        measured: How well models predict the label from the table, the releases, and nothing.
        check: Whether the advice held, in words; empty if no models were trained.
        unfinished: What did not finish, and why.
    """

    table: str
    label: str
    made: str
    versions: Mapping[str, str]
    aim: str
    required: tuple[str, ...]
    configuration: str
    plan_digest: str
    passed: bool
    verdict: str
    privacy_verdict: str
    records: int
    left_out: int
    suppressed_cells: int
    promised: Mapping[str, float]
    reached: Mapping[str, float]
    highest_risk: tuple[float | None, float | None]
    warnings: tuple[str, ...]
    labels: Mapping[str, tuple[int, int]]
    columns: tuple[CardColumn, ...]
    never_shared: Mapping[str, str]
    kept: float | None
    measure: str
    service: CardService | None
    basis: str
    considered: int
    runner_up: tuple[str, float | None] | None
    frontier: tuple[CardChoice, ...]
    measured: tuple[CardAuc, ...]
    check: str
    unfinished: tuple[str, ...]

    @property
    def headline(self) -> str:
        """Say how much the release keeps: `c32 keeps 81 % of what the table tells about default (AUC ...)`."""
        kept = "an unknown share" if self.kept is None else f"{100 * self.kept:.0f} %"
        raw, own = self.auc_of(RAW), self.auc_of(self.configuration)
        measured = "" if raw is None or own is None else f" (AUC {own.auc:.3f} of {raw.auc:.3f}, measured here)"
        return f"{self.configuration} keeps {kept} of what the table tells about {self.label}{measured}"

    def auc_of(self, table: str) -> CardAuc | None:
        """Return how well the model that is best for the table as it is does on a table; `None` if not known."""
        raw = [each for each in self.measured if each.table == RAW]
        best = max(raw, key=lambda each: each.auc, default=None)
        own = (each for each in self.measured if best is not None and (each.table, each.model) == (table, best.model))
        return next(own, None)


@dataclass(frozen=True)
class Findings:
    """The results of all steps.

    Attributes:
        search, entry, judged, advice, masked, assessed: The results.
        check: What models predict; or why none were trained.
    """

    search: SearchResult
    entry: EntryDocument
    judged: Judged
    advice: EntryAdvice
    masked: Masked
    assessed: Assessed
    check: CheckResult | str


def card_of(
    aim: Aim,
    table: str,
    plan: Plan,
    plan_digest: str,
    findings: Findings,
    summarize: str,
    service: CardService | None,
) -> Card:
    """Return the card of a release.

    Args:
        aim: What it had to be.
        table: The name of the table.
        plan: The plan with the configurations.
        plan_digest: The SHA-256 of its file.
        findings: The results of all steps.
        summarize: The command that makes the entry.
        service: The service that ranked the configurations, if one did.
    """
    applied, advice, entry = findings.masked.applied, findings.advice, findings.entry
    shares = dict(zip((each.id for each in findings.search.configurations), findings.search.shares, strict=True))
    runner_up, certain = advice.runner_up, certain_values_warning(applied.reached, plan)
    return Card(
        table=table,
        label=aim.label,
        made=datetime.now(UTC).date().isoformat(),
        versions={name: version(name) for name in _PACKAGES},
        aim=aim.described(),
        required=tuple(aim.require),
        configuration=advice.best.id,
        plan_digest=plan_digest,
        passed=findings.judged.verdict.passed,
        verdict=judged_line(entry.name, findings.judged, summarize),
        privacy_verdict=findings.assessed.verdict,
        records=applied.records,
        left_out=applied.suppressed,
        suppressed_cells=applied.suppressed_cells,
        promised=applied.promised,
        reached=applied.reached,
        highest_risk=(findings.assessed.highest, findings.assessed.highest_before),
        warnings=() if certain is None else (certain,),
        labels=findings.masked.labels,
        columns=tuple(_columns(findings)),
        never_shared=plan.left_out,
        kept=shares.get(advice.best.id),
        measure=advice.measure,
        service=service,
        basis=advice.basis,
        considered=len(advice.ranking),
        runner_up=None if runner_up is None else (runner_up.id, shares.get(runner_up.id)),
        frontier=tuple(sorted(_frontier(findings.search, plan), key=lambda each: sorted(each.require.items()))),
        measured=() if isinstance(findings.check, str) else tuple(_measured(findings.check)),
        check="" if isinstance(findings.check, str) else findings.check.verdict,
        unfinished=tuple(_unfinished(findings)),
    )


def _columns(findings: Findings) -> Iterator[CardColumn]:
    costs = {each.attribute: each for each in findings.advice.costs}
    for column in findings.assessed.columns:
        cost = costs.get(column.name)
        kept = None if cost is None or cost.whole <= 0 else min(1.0, max(0.0, cost.utility / cost.whole))
        yield CardColumn(column.name, column.role, column.becomes, kept)


def _frontier(search: SearchResult, plan: Plan) -> Iterator[CardChoice]:
    known = {each.id: each for each in plan.configurations}
    for point in search.frontier:
        privacy, best = point.requirement.privacy, point.configuration
        if best is None:
            yield CardChoice(privacy, "", None, None, None, point.complete)
        else:
            chosen = known.get(best.id, best)  # in the plan, it may suppress cells instead of records
            name = best.id if best.id in known else ""
            yield CardChoice(
                privacy, name, chosen.suppressed or 0, chosen.suppressed_cells, point.share, point.complete
            )


def _measured(check: CheckResult) -> Iterator[CardAuc]:
    for each in check.performances:
        yield CardAuc(each.table, each.model, each.auc.value, each.auc.low, each.auc.high)


def _unfinished(findings: Findings) -> Iterator[str]:
    if findings.search.interrupted:
        yield "the search of configurations was stopped"
    elif not findings.search.frontier[0].complete:
        more = findings.search.frontier[0].at_most_more
        limit = "" if more is None else f": another one may keep up to {100 * more:.0f} % more"
        yield f"it is not proven that no configuration keeps more{limit}"
    if isinstance(findings.check, str):
        yield f"no models were trained: {findings.check}"
        return
    for model, tables in findings.check.unfinished.items():
        yield f"{model} was not trained on {', '.join(tables)}"
