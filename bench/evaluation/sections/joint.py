"""The joint measure against measures of single attributes, paired over the splits."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.advisor.measures import MEASURES
from bench.evaluation.effectiveness import Effect, Outcome
from bench.evaluation.losses import Estimate
from bench.evaluation.report import Section, figure_of, table, with_interval

JOINT = {"joint, counts": "joint", "joint, not corrected": "joint, not corrected"}
MUTUAL_INFORMATION = "mutual_information, counts"
_HOW = ("counts", "otherwise")


@dataclass(frozen=True)
class Difference:
    """AUC that the joint measure's pick loses more than another's, over the splits; negative is better."""

    estimate: Estimate

    @classmethod
    def of(cls, joint: Effect, other: Effect) -> "Difference":
        """Paired: both on the same splits."""
        return cls(joint.estimate(joint.loss() - other.loss()))

    @property
    def verdict(self) -> str:
        """Where the interval lies: below 0, above, or around it."""
        if self.estimate.upper < 0:
            return "better"
        return "worse" if self.estimate.lower > 0 else "same"

    def __str__(self) -> str:
        return f"{with_interval(self.estimate)} {self.verdict}"


def section(outcomes: Sequence[Outcome]) -> Section:
    """Where it is better, where not."""
    text = f"""
The joint measure is Pillai's trace of the one-hot masked attributes against the one-hot label, less the bias of small
samples as it is by default, or not corrected, which leaves it the guarantee of an exact ranking. It sees what attributes
have in common, from the counts of every two of them. Below, the AUC that
its pick loses less what another's loses, on the same splits, mean over the models and questions, with the 95 % interval
over the splits: *better* and *worse* where the interval is off 0, *same* where it is not.

Against mutual information:

{table(["table", "it loses", *_columns()], [_against_information(each) for each in outcomes])}

Against whichever measure of single attributes lost least on that table, which nobody knows before:

{table(["table", "best in hindsight", "it loses", *_columns()], [_against_best(each) for each in outcomes])}
"""
    found = [
        _found(name, title, kind, outcomes)
        for kind in ("mutual information", "the best measure of single attributes in hindsight")
        for name, title in JOINT.items()
    ]
    return Section("The joint measure", text, found=found)


def _columns() -> list[str]:
    return [column for title in JOINT.values() for column in (f"{title} loses", "difference")]


def _against_information(outcome: Outcome) -> list[str]:
    other = outcome.by_id[MUTUAL_INFORMATION]
    return [outcome.study.name, figure_of(other.loss().mean()), *_cells(outcome, other)]


def _against_best(outcome: Outcome) -> list[str]:
    other = best_other(outcome)
    return [outcome.study.name, other.entrant.title, figure_of(other.loss().mean()), *_cells(outcome, other)]


def _cells(outcome: Outcome, other: Effect) -> list[str]:
    effects = [outcome.by_id[name] for name in JOINT]
    return [cell for each in effects for cell in (figure_of(each.loss().mean()), str(Difference.of(each, other)))]


def best_other(outcome: Outcome) -> Effect:
    """The measure of single attributes, told all counts, whose pick loses least on average; corrected or not."""
    names = [f"{measure.id}, {how}" for measure in MEASURES.values() if not measure.is_joint for how in _HOW]
    others = [outcome.by_id[name] for name in names if name in outcome.by_id]
    return min(others, key=lambda effect: float(effect.loss().mean()))


def _found(name: str, title: str, other: str, outcomes: Sequence[Outcome]) -> str:
    verdicts: dict[str, list[str]] = {"better": [], "same": [], "worse": []}
    for each in outcomes:
        rival = each.by_id[MUTUAL_INFORMATION] if other == "mutual information" else best_other(each)
        verdicts[Difference.of(each.by_id[name], rival).verdict].append(each.study.name)
    return (
        f"{title.capitalize()} against {other}, beyond the interval over the splits: better on"
        f" {_listed(verdicts['better'])}, worse on {_listed(verdicts['worse'])}, of {len(outcomes)} tables."
    )


def _listed(names: Sequence[str]) -> str:
    return f"{len(names)} ({', '.join(names)})" if names else "none"
