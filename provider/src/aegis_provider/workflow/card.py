"""The release card: what a release is, as data."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from aegis_provider.check_result import CHANCE, RAW, Interval
from aegis_provider.search import in_words
from aegis_provider.workflow.generating import Comparison
from aegis_sdk.reading import Alone, Share, number, share_with_limits


@dataclass(frozen=True)
class CardColumn:
    """A column of the table.

    Attributes:
        name: Its name.
        role: Its role: what someone may know about a person, or what nobody should learn.
        becomes: What the release makes of its values.
        kept: The share that it keeps of what the column, taken by itself, tells about the label; `None` if that is
            nothing or not known.
        lost: What it loses of that, as a share of what the table tells about the label; `None` if that is not known.
    """

    name: str
    role: str
    becomes: str
    kept: float | None
    lost: float | None


@dataclass(frozen=True)
class CardLabel:
    """A value of the label.

    Attributes:
        records: The records of the table that have it; `None` if these are too few to be told.
        released: Those of the release; `None` on a published card, since the masked table tells it.
        share: Its share of the records of the table; `None` if that is not told.
        share_released: Its share of those of the release.
    """

    records: int | None
    released: int | None
    share: float | None
    share_released: float | None


@dataclass(frozen=True)
class CardChoice:
    """The best configuration for a requirement.

    Attributes:
        require: The privacy required.
        configuration: Its id in the plan, empty if no configuration was found or the plan does not have it.
        suppressed: How many records it leaves out.
        kept: The share that it keeps of what the table tells about the label.
        proven: Whether it is proven that no other one keeps more.
        suppressed_cells: How many single cells it suppresses; `None` if it suppresses whole records only.
        at_most: The most that another one may keep, as far as that is known.
        predicted: The share of what a model predicts from the table as it is that the same model predicts from this; it
            is the one that predicts best from the table. Counted from chance: 0 is no better than that.
        is_aim: Whether the release had to have this.
        suppressed_reason: Why it is not told how many records it leaves out; empty if it is.
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
        """What was required: `k = 5, l = 2`."""
        return in_words(self.require)


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
        plan_digest: The SHA-256 of the plan with the configurations; `None` on a published card, since this plan has
            exact numbers.
        passed: Whether the counts of the entry give no small count away.
        verdict: The verdict in words; if it fails, with the command that mends it.
        privacy_verdict: Whether the release has the privacy that it promises, in the same form.
        alone: How many of its records are alone on all columns that it shares, and in the worst configuration offered.
        together_verdict: Whether entry and card, read together with the masked table, give small counts away, likewise.
        records: The records of the release.
        suppresses: Whether it leaves records out.
        left_out: The records that it leaves out; `None` if some are that the entry does not count.
        left_out_reason: Why that is not told; empty if it is.
        suppressed_cells: The single cells of its records that are suppressed, and have become `*`.
        promised: Its promised privacy by name.
        reached: Its privacy by name, measured in the masked table.
        highest_risk: The highest risk of re-identification, and that of the table as it is; `None` if not known.
        warnings: What someone who only reads the numbers could overlook.
        labels: The label values.
        columns: The columns, and what becomes of them.
        never_shared: The columns left out of the plan, each with the reason.
        kept: The share that it keeps of what the table tells about the label, by `measure`.
        measure: The measure of utility.
        service: The service that ranked the configurations; `None` if the exact counts did, on the provider's machine.
        basis: Whether the order of the configurations is `exact` or `estimated`.
        considered: How many configurations were ranked.
        predicted: The share that it keeps of what the best model predicts from the table; see `CardChoice`.
        runner_up: The id of the next best configuration, and the share that it keeps.
        frontier: The best configuration for each k, the least private first.
        measured: How well models predict the label from the table, the releases, and nothing.
        check: Whether the advice held, and how it was tested, in words; empty if no models were trained.
        unfinished: What did not finish, and why.
        comparison: The release beside generated tables; `None` if there are none.
        rounded_to: What counts of the table are multiples of; `None` if they are exact.
        replayed: The kinds of identifying values of the table, none of which is in the table, the entry or the card
            but in the columns of `accepted`.
        accepted: The columns that have some, because that was accepted, and what they have.
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
    kept: float | None
    measure: str
    service: CardService | None
    basis: str
    considered: int
    predicted: Interval | None
    runner_up: tuple[str, float | None] | None
    frontier: tuple[CardChoice, ...]
    measured: tuple[CardAuc, ...]
    check: str
    unfinished: tuple[str, ...]
    comparison: Comparison | None = None
    rounded_to: int | None = None
    replayed: tuple[str, ...] = ()
    accepted: Mapping[str, str] = field(default_factory=dict)
    left_out_reason: str = ""

    @property
    def asked(self) -> Mapping[str, float]:
        """The privacy that was required, by name."""
        return next((each.require for each in self.frontier if each.is_aim), {})

    @property
    def privacy_line(self) -> str:
        """Say what was asked, what the plan promises, and what was measured: `k: 5 asked, 5 promised, 7 measured`."""
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
        """Say how many records it leaves out as far as the entry tells, which counts none that no release shows."""
        return "some" if self.left_out is None else f"{self.left_out:,}"

    def told(self, number: int | None) -> str:
        """Say a number of records of the table as far as it is told: `185`, or `fewer than 5`."""
        return f"fewer than {self.rounded_to}" if number is None else f"{number:,}"

    @property
    def headline(self) -> str:
        """Say how much the release keeps: `c32 keeps 81 % of what the table tells about default (AUC ...)`."""
        kept = "an unknown share" if self.kept is None else Share(self.kept).whole
        raw, own = self.auc_of(RAW), self.auc_of(self.configuration)
        if raw is not None and raw.low <= CHANCE:
            limits = f"{raw.model}: AUC {raw.auc:.3f}, {raw.low:.3f} to {raw.high:.3f}"
            nothing = f"the table itself tells nothing certain about {self.label} ({limits})"
            return f"{nothing}, so there is little that {self.configuration} could keep"
        measured = "" if raw is None or own is None else f" (AUC {own.auc:.3f} of {raw.auc:.3f}, measured here)"
        return f"{self.configuration} keeps {kept} of what the table tells about {self.label}{measured}"

    @property
    def by_models(self) -> str:
        """Say how much of what a model predicts it keeps; empty if that was not measured, or is nothing certain."""
        raw, share = self.auc_of(RAW), self.predicted
        if raw is None or share is None or raw.low <= CHANCE:
            return ""
        percents = share_with_limits(share.value, share.low, share.high)
        if percents is None:
            return f"{raw.model} predicts nearly nothing of {self.label} from the table: what is kept is not known"
        return f"{raw.model}, trained on it, keeps {percents} of its AUC above chance"

    def auc_of(self, table: str) -> CardAuc | None:
        """Return how well the model that is best for the table as it is does on a table; `None` if not known."""
        raw = [each for each in self.measured if each.table == RAW]
        best = max(raw, key=lambda each: each.auc, default=None)
        own = (each for each in self.measured if best is not None and (each.table, each.model) == (table, best.model))
        return next(own, None)
