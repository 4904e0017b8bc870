"""The release card as data."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from aegis_provider.classifiers import AUC, CHANCE, RAW, Interval
from aegis_provider.privacy import KnownShares
from aegis_provider.report.verdicts import leak_warning
from aegis_provider.search import LimitsCost, in_words
from aegis_provider.workflow.generating import Comparison
from aegis_sdk.reading import Alone, Share, number, share_with_limits, should_reach, shown, some
from aegis_sdk.wire import Expected


@dataclass(frozen=True)
class CardColumn:
    """A column of the table.

    Attributes:
        role: Its role: known to an attacker, or sensitive.
        becomes: The masking of its values, in words.
        kept: The share of its information about the label that is kept; `None` if it has none, or unknown.
        lost: The rest, beyond chance, as a share of all that there is to know about the label; `None` if unknown.
        shared: Whether the release has it.
        values: Its masked values, if it is masked; for groups whose names do not tell all their values, these.
    """

    name: str
    role: str
    becomes: str
    kept: float | None
    lost: float | None
    shared: bool = True
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class CardLabel:
    """A value of the label.

    Attributes:
        records: Its number of records in the table; `None` if too few to publish.
        released: Its number of records in the release; `None` on a published card, since the masked table shows it.
        share: Its share of the records of the table; `None` if not published.
        share_released: Its share of the records of the release.
    """

    records: int | None
    released: int | None
    share: float | None
    share_released: float | None


@dataclass(frozen=True)
class CardChoice:
    """The best configuration for a requirement.

    Attributes:
        require: The required privacy.
        configuration: Its id in the plan; empty if there is none or it is not in the plan.
        suppressed: The number of records left out.
        kept: The share of the table's utility that it keeps.
        proven: Whether it is proven optimal.
        suppressed_cells: The number of suppressed cells; `None` if it suppresses only whole records.
        at_most: An upper bound on what another one keeps, if known.
        predicted: The AUC above chance of the best model for the unmasked table, trained on this release, as a share of
            its AUC above chance on the table.
        is_aim: Whether this is the requirement on the release.
        suppressed_reason: Why the number of left-out records is not published; empty if it is.
    """

    require: Mapping[str, float]
    configuration: str
    suppressed: int | None
    kept: float | None
    proven: bool
    suppressed_cells: int | None = None
    at_most: float | None = None
    predicted: Interval | None = None
    is_aim: bool = False
    suppressed_reason: str = ""

    @property
    def in_words(self) -> str:
        """The requirement: `k = 5, l = 2`."""
        return in_words(self.require)


@dataclass(frozen=True)
class CardAuc:
    """How well a model predicts the label from a table, with the limits of the 95 % interval.

    `scale`: what `auc` is: the AUC, or `R2` of a label that is a number, the share of the variance that is predicted.
    `rmse`: the root of the mean squared error of a number, in its unit; `None` for classes, or if not published.
    """

    table: str
    model: str
    auc: float
    low: float
    high: float
    scale: str = AUC
    rmse: float | None = None

    @property
    def error(self) -> str:
        """The error of a number in words: `, RMSE 670`; empty for classes."""
        return "" if self.rmse is None else f", RMSE {number(self.rmse, 2)}"

    @property
    def nothing(self) -> float:
        """What a model reaches that knows nothing."""
        return CHANCE if self.scale == AUC else 0.0


@dataclass(frozen=True)
class CardTask:
    """What a release with several labels is worth for predicting one of them, and how it protects that one.

    Attributes:
        kept: The share of what the table tells about this label that it keeps; `None` if unknown.
        privacy: Its `k` and `l` in the attack on this label, measured in the masked table.
        model: A model that predicts this label; empty if none was trained.
        auc: Its AUC, trained on the release, or what `scale` says; `None` without one.
        raw_auc: The same, trained on the table.
        why: Why none was trained; empty if one was.
        scale: `AUC`, or `R2` if the label is a number.
        rmse: Of a number, the root of the mean squared error on the release, in its unit.
    """

    kept: float | None
    privacy: Mapping[str, float]
    model: str = ""
    auc: float | None = None
    raw_auc: float | None = None
    why: str = ""
    scale: str = AUC
    rmse: float | None = None


@dataclass(frozen=True)
class CardExpected:
    """What a model should reach on the release and on the table as it is (`None`: not known), by the entry's counts.

    Two digits, which whoever has the entry can compute. `masking`: the one that shows the label on the release; `None`
    if that shows it as it is.
    """

    masked: Expected
    whole: Expected | None
    masking: str | None = None

    def of(self, label: str, *, several: bool) -> str:
        """Say it: `a model should reach AUC 0.70 (0.69 to 0.71)`, with the label's name unless that is clear."""
        name = label if several or self.masking is not None else None
        return should_reach(self.masked, self.whole, name, self.masking, digits=2)


@dataclass(frozen=True)
class CardPeople:
    """That privacy counts people, of each of whom at most `rows` records are used.

    `known`: how many are not protected from someone who knows several of their records; `None` if not measured.
    """

    rows: int
    known: KnownShares | None = None


@dataclass(frozen=True)
class CardService:
    """The service that ranked the configurations: its address, and the id of the entry that it used."""

    address: str
    entry: str


@dataclass(frozen=True, kw_only=True)
class Card:
    """What a release is, and why it can be shared.

    Attributes:
        table: The name of the table.
        made: The day, as in ISO 8601.
        versions: The versions of the packages that made it.
        aim: The requirements, in words.
        required: The names of the required privacy criteria.
        configuration: The id of its configuration.
        about: What sets that apart from the others of its entry, in words: `ConfigurationNames`.
        plan_digest: The SHA-256 of the plan with the configurations; `None` on a published card, since this plan has
            exact numbers.
        passed: Whether the counts of the entry give away no small count.
        verdict: The verdict in words; if it fails, with the command that fixes it.
        privacy_verdict: The same on whether the release has its promised privacy.
        alone: How many of its records are alone on all shared columns, and how many in the worst configuration offered.
        together_verdict: The same on whether entry and card, combined with the masked table, give away small counts.
        records: The number of released records.
        suppresses: Whether it leaves out records.
        left_out: The number of left-out records; `None` if the entry does not count all of them.
        left_out_reason: Why that number is not published; empty if it is.
        suppressed_cells: The number of suppressed cells in released records, which became `*`.
        promised: Its promised privacy by name.
        reached: Its privacy by name, measured in the masked table.
        highest_risk: The highest risk of re-identification in the release and in the unmasked table; `None` if unknown.
        warnings: Cautions for readers of the numbers.
        columns: The columns and their maskings.
        never_shared: The columns left out of the plan, each with the reason.
        kept: The share of the table's utility that it keeps, by `measure`.
        service: The service that ranked the configurations; `None` if the exact counts did, on the provider's machine.
        basis: Whether the ranking is `exact` or `estimated`.
        considered: The number of ranked configurations.
        predicted: The share of the best model's AUC above chance that it keeps; see `CardChoice`.
        runner_up: The id of the next best configuration, and the share that it keeps.
        frontier: The best configuration for each k, the least private first.
        measured: The AUC of models trained on the table, the releases, and nothing.
        check: Whether the advice held, and how it was tested, in words; empty if no models were trained.
        unfinished: What did not finish, and why.
        cut: What was not searched, because time was up or Ctrl-C ended it; empty if nothing.
        comparison: The release compared with generated tables; `None` if there are none.
        rounded_to: The base to which counts of the table are rounded; `None` if they are exact.
        replayed: The kinds of identifying values of the table; release, entry and card contain none, except in
            `accepted` columns.
        telling_label: The shared columns that tell over 80 % of the label unmasked.
        accepted: The columns with accepted identifying values, and the kinds of these.
        holds: Whether the release has the promised privacy; `None` if that could not be measured.
        certain: The share of the released records in classes with a single value of some sensitive attribute.
        guessable: The share of released records in classes where a guess of such a value is over 95 % right.
        made_up: By shared column, five values drawn from the entry alone; empty if the entry must not be shared.
        consumer: Who gets the table, if that is known.
        purpose: What for, in the consumer's words.
        for_consumers: The head of the card in Markdown, for the entry and for who gets the table.
        people: The people that privacy counts; `None` if it counts records.
        repeating: The identifiers, never shared, that are the same in several records, if it does.
        holds_back: That records are held back beside what left before, in words; empty if none are.
        limits: What it costs to keep attributes, and to limit their maskings; `None` if the plan does neither.
        weights: How much attributes count in the measure, if not 1.
        chosen: Whether the provider chose the configuration by its id, not as the best.
        by_label: With several labels, what the release is worth for each, the default one first; what it keeps is then
            the mean over these. Empty with one label.
    """

    table: str
    label: str
    made: str
    versions: Mapping[str, str]
    aim: str
    required: tuple[str, ...]
    configuration: str
    plan_digest: str | None
    passed: bool
    verdict: str
    privacy_verdict: str
    alone: Alone
    together_verdict: str
    records: int
    suppresses: bool
    left_out: int | None
    suppressed_cells: int
    promised: Mapping[str, float]
    reached: Mapping[str, float]
    highest_risk: tuple[float | None, float | None]
    warnings: tuple[str, ...]
    labels: Mapping[str, CardLabel]
    columns: tuple[CardColumn, ...]
    never_shared: Mapping[str, str]
    kept: float | None = None
    measure: str = ""
    service: CardService | None = None
    basis: str = ""
    considered: int = 0
    predicted: Interval | None = None
    runner_up: tuple[str, float | None] | None = None
    frontier: tuple[CardChoice, ...] = ()
    measured: tuple[CardAuc, ...] = ()
    check: str = ""
    unfinished: tuple[str, ...] = ()
    comparison: Comparison | None = None
    cut: str = ""
    rounded_to: int | None = None
    replayed: tuple[str, ...] = ()
    accepted: Mapping[str, str] = field(default_factory=dict)
    left_out_reason: str = ""
    telling_label: tuple[str, ...] = ()
    holds: bool | None = None
    certain: float = 0.0
    guessable: float = 0.0
    made_up: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    consumer: str = ""
    purpose: str = ""
    for_consumers: str = ""
    about: str = ""
    limits: LimitsCost | None = None
    weights: Mapping[str, float] = field(default_factory=dict)
    people: CardPeople | None = None
    repeating: tuple[str, ...] = ()
    chosen: bool = False
    holds_back: str = ""
    by_label: Mapping[str, CardTask] = field(default_factory=dict)
    expected: Mapping[str, CardExpected] = field(default_factory=dict)

    @property
    def predicts(self) -> str:
        """The label, or all labels: `health, smoker and charges`."""
        return some([shown(name) for name in self.by_label or (self.label,)], _MOST_NAMES)

    @property
    def kept_about(self) -> str:
        """What the kept share is about: the label, or each of several, on average."""
        return f"{self.predicts}, on average" if self.by_label else shown(self.label)

    @property
    def kept_by_label(self) -> str:
        """The kept share of each of several labels: `health 85 %, smoker 91 %`; empty with one label."""
        each = ((name, task.kept) for name, task in self.by_label.items())
        return ", ".join(f"{shown(name)} {Share(kept).whole}" for name, kept in each if kept is not None)

    @property
    def unit(self) -> str:
        """What privacy counts, in the plural."""
        return "records" if self.people is None else "people"

    @property
    def counted(self) -> str:
        """A sentence on what privacy counts."""
        if self.people is not None:
            rows = "1 record" if self.people.rows == 1 else f"{self.people.rows} records"
            return f"People were counted, not records: at most {rows} of each"
        names = some([shown(name) for name in self.repeating], _MOST_NAMES)
        repeats = f": {names} repeat{'s' * (len(self.repeating) == 1)}" if self.repeating else ""
        option = f", and with --person {shlex.quote(self.repeating[0])} people are" if self.repeating else ""
        return f"Records were counted, not people{repeats}{option}"

    @property
    def sensitive_label(self) -> bool:
        """Whether the label is the only sensitive column."""
        return [column.name for column in self.columns if column.role == "sensitive"] == [self.label]

    @property
    def named(self) -> str:
        """Its configuration with its name: `c32: age in 8 bands, 12 columns left out`; empty without a name."""
        return f"{self.configuration}: {self.about}" if self.about else ""

    @property
    def leak_warning(self) -> str:
        """A warning that the table nearly gives the label away; empty if it does not."""
        raw = self.auc_of(RAW)
        return leak_warning(self.telling_label, self.label, 0.0 if raw is None else raw.auc, self.scale)

    @property
    def asked(self) -> Mapping[str, float]:
        """The required privacy, by name."""
        return next((choice.require for choice in self.frontier if choice.is_aim), {})

    @property
    def privacy_line(self) -> str:
        """Required, promised and measured privacy: `k: 5 asked, 5 promised, 7 measured`."""
        said = []
        for name in (each for each in self.required if each in self.reached):
            stated = {"asked": self.asked.get(name), "promised": self.promised.get(name)}
            known = [f"{number(limit, 6)} {what}" for what, limit in stated.items() if limit is not None]
            said.append(
                f"{name}: {', '.join([*known, f'{number(self.reached[name], 6)} measured in the masked table'])}"
            )
        return "; ".join(said)

    @property
    def left_out_told(self) -> str:
        """The published number of left-out records; the entry does not count records that no release shows."""
        return "some" if self.left_out is None else f"{self.left_out:,}"

    def told(self, number: int | None) -> str:
        """Return a number of records of the table, as far as published: `185`, or `fewer than 5`."""
        return f"fewer than {self.rounded_to}" if number is None else f"{number:,}"

    @property
    def headline(self) -> str:
        """The kept utility in a sentence: `c32 keeps 81 % of what the table tells about default (AUC ...)`."""
        kept = "an unknown share" if self.kept is None else Share(self.kept).whole
        raw, own = self.auc_of(RAW), self.auc_of(self.configuration)
        if raw is not None and raw.low <= raw.nothing:
            limits = f"{raw.model}: {raw.scale} {raw.auc:.3f}, {raw.low:.3f} to {raw.high:.3f}"
            nothing = f"the table itself tells nothing certain about {self.label} ({limits})"
            return f"{nothing}, so there is little that {self.configuration} could keep{self._unsearched}"
        of = f"{shown(self.label)}: " if self.by_label else ""
        measured = (
            "" if raw is None or own is None else f" ({of}{own.scale} {own.auc:.3f} of {raw.auc:.3f}, measured here)"
        )
        about = f"{self.kept_about}: {self.kept_by_label}" if self.kept_by_label else self.label
        return f"{self.configuration} keeps {kept} of what the table tells about {about}{measured}{self._unsearched}"

    @property
    def expectations(self) -> tuple[str, ...]:
        """What a model of each label should reach, in a line: `c32: a model should reach AUC 0.70 (0.69 to 0.71)`."""
        several = len(self.by_label) > 1
        return tuple(
            f"{self.configuration}: {each.of(label, several=several)}" for label, each in self.expected.items()
        )

    @property
    def _unsearched(self) -> str:
        return f"; {self.cut}" if self.cut else ""

    @property
    def by_models(self) -> str:
        """The kept share of a model's AUC in a sentence; empty if not measured or not significant."""
        raw, share = self.auc_of(RAW), self.predicted
        if raw is None or share is None or raw.low <= raw.nothing:
            return ""
        percents = share_with_limits(share.value, share.low, share.high)
        if percents is None:
            return f"{raw.model} predicts nearly nothing of {self.label} from the table: what is kept is not known"
        above = "AUC above chance" if raw.scale == AUC else raw.scale
        return f"{raw.model}, trained on it, keeps {percents} of its {above}"

    @property
    def scale(self) -> str:
        """What models are measured by: the AUC, or `R2` of a label that is a number."""
        return self.measured[0].scale if self.measured else AUC

    @property
    def states_error(self) -> bool:
        """Whether it has the error of models, in the label's unit."""
        return any(each.rmse is not None for each in self.measured)

    def auc_of(self, table: str) -> CardAuc | None:
        """Return the AUC on a table of the best model for the unmasked table; `None` if unknown."""
        raw = [measured for measured in self.measured if measured.table == RAW]
        best = max(raw, key=lambda each: each.auc, default=None)
        own = (
            measured
            for measured in self.measured
            if best is not None and (measured.table, measured.model) == (table, best.model)
        )
        return next(own, None)


CARD_ENDINGS: Final = (".json", ".md", ".html")
HIGHEST_SAID: Final = 0.2
"""A higher risk of the unmasked table would disclose the size of its rarest combination, 1 to 4 records."""

_MOST_NAMES: Final = 5
