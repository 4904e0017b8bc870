"""The joint measure against measures of single attributes, paired over the splits."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.advisor.measures import MEASURES
from bench.evaluation.effectiveness import Effect, Outcome
from bench.evaluation.losses import Estimate
from bench.evaluation.report import Section, figure_of, table, with_interval

JOINT = "joint"
COLUMNS = (
    "table",
    "joint: AUC lost",
    "best of the others, in hindsight",
    "its AUC lost",
    "difference",
    "not worse",
    "better",
    "difference to mutual information",
    "not worse",
    "better",
)


@dataclass(frozen=True)
class Difference:
    """AUC that the joint measure's pick loses more than another's, over the splits; negative is better."""

    estimate: Estimate

    @classmethod
    def of(cls, joint: Effect, other: Effect) -> "Difference":
        """Paired: both on the same splits."""
        return cls(Estimate.of(joint.loss() - other.loss()))

    @property
    def not_worse(self) -> bool:
        """The interval reaches 0, or less."""
        return self.estimate.lower <= 0

    @property
    def better(self) -> bool:
        """The whole interval is below 0."""
        return self.estimate.upper < 0

    @property
    def cells(self) -> list[str]:
        """For a table."""
        return [with_interval(self.estimate), *("yes" if held else "no" for held in (self.not_worse, self.better))]


def section(outcomes: Sequence[Outcome]) -> Section | None:
    """Where it is better, where not; None where the product has no such measure."""
    if JOINT not in MEASURES:
        return None
    best = [_best_other(each) for each in outcomes]
    hindsight = [Difference.of(_joint(each), other) for each, other in zip(outcomes, best, strict=True)]
    plain = [Difference.of(_joint(each), each.by_id["mutual_information, counts"]) for each in outcomes]
    rows = [
        [*_losses(each, other), *first.cells, *second.cells]
        for each, other, first, second in zip(outcomes, best, hindsight, plain, strict=True)
    ]
    text = f"""
The joint measure is Pillai's trace of the one-hot masked attributes against the one-hot label. It sees what attributes
have in common, from the counts of every two of them. Below: the AUC that its pick loses less what another's loses, on
the same splits, mean over the models, with the 95 % interval over the splits. It is held against mutual information,
and against whichever of the {len(MEASURES) - 1} measures of single attributes lost least on that table, which nobody
knows before.

{table(COLUMNS, rows)}
"""
    return Section(
        "The joint measure",
        text,
        found=[
            _found("the best measure of single attributes in hindsight", outcomes, hindsight),
            _found("mutual information", outcomes, plain),
        ],
    )


def _losses(outcome: Outcome, other: Effect) -> list[str]:
    ours, theirs = (figure_of(effect.loss().mean()) for effect in (_joint(outcome), other))
    return [outcome.study.name, ours, other.entrant.title, theirs]


def _joint(outcome: Outcome) -> Effect:
    return outcome.by_id[f"{JOINT}, counts"]


def _best_other(outcome: Outcome) -> Effect:
    """The measure of single attributes, told all counts, whose pick loses least on average."""
    others = [outcome.by_id[f"{measure}, counts"] for measure in MEASURES if measure != JOINT]
    return min(others, key=lambda effect: float(effect.loss().mean()))


def _found(other: str, outcomes: Sequence[Outcome], differences: Sequence[Difference]) -> str:
    paired = list(zip(outcomes, differences, strict=True))
    worse = [each.study.name for each, difference in paired if not difference.not_worse]
    better = [each.study.name for each, difference in paired if difference.better]
    return (
        f"Joint measure against {other}, beyond the interval over the splits: worse on {_listed(worse)}, better on"
        f" {_listed(better)}; {len(outcomes)} tables."
    )


def _listed(names: Sequence[str]) -> str:
    return f"{len(names)} ({', '.join(names)})" if names else "none"
