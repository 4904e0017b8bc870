"""The section on the joint measure against measures of single attributes, paired over the splits."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from research.evaluation.outcomes import (
    CORRECTED,
    INTERACTIONS,
    JOINT,
    MUTUAL_INFORMATION,
    RANDOM,
    VIEW,
    Effect,
    Outcome,
    held_out,
    made_up,
    real,
    took_part,
)
from research.losses import Estimate
from research.report import Section, figure_of, table, with_interval
from research.training import MODELS

JOINTS = {JOINT: "joint", "joint, not corrected": "joint, not corrected"}
_TOGETHER = {*JOINTS, INTERACTIONS, "joint_interactions, not corrected"}
RIVALS = (MUTUAL_INFORMATION, CORRECTED, "Mascara", VIEW, "mRMR", RANDOM)
SAME = "same pick"
VERDICTS = ("better", "worse", SAME, "undecided")
_TOLD_ALL = frozenset({"counts", "otherwise"})
"""The groups of entrants that are given all counts, with the default bias correction or not."""


@dataclass(frozen=True)
class Difference:
    """The AUC that the joint measure's pick loses minus what another's pick loses, over the splits; negative is better.

    Attributes:
        estimate: the mean and its interval.
        same_pick: whether both pick the same in every question, so that no split has a difference.
    """

    estimate: Estimate
    same_pick: bool = False

    @classmethod
    def of(cls, joint: Effect, other: Effect) -> "Difference":
        """Compare both on the same splits."""
        return cls(joint.estimate(joint.loss() - other.loss()), joint.picks_as(other))

    @property
    def verdict(self) -> str:
        """The verdict: whether the interval is below, above or around 0, or both picks are the same."""
        if self.same_pick:
            return SAME
        if self.estimate.upper < 0:
            return "better"
        return "worse" if self.estimate.lower > 0 else "undecided"

    def __str__(self) -> str:
        return SAME if self.same_pick else f"{with_interval(self.estimate)} {self.verdict}"


def section(outcomes: Sequence[Outcome]) -> Section:
    """Make the section."""
    text = f"""
A difference is the AUC that the joint measure's pick loses minus what the other ranker's pick loses, on the same
splits, as a mean over models and questions, with its 95 % interval. It is *better* or *worse* if the interval excludes
0. *Same pick* means the same configuration in all questions.

On the tables held out of every choice, the default against others:

{table(_opponents(outcomes), [_verdicts(each) for each in held_out(outcomes)])}

On all tables, against mutual information, plain and bias corrected:

{table(_information_columns(), [_against_information(each) for each in outcomes])}

On all tables, against the measure of single attributes that lost least on that table, which nobody knows in advance:

{table(["table", "best in hindsight", "it loses", *_columns()], [_against_best(each) for each in outcomes])}

`joint_interactions` adds what two attributes tell only together, from a chi-square for each pair of maskings. Against
`joint`, by model: logistic regression adds up what single attributes tell, so it gains nothing from an interaction.

{table(_interaction_columns(), [_with_interactions(each) for each in outcomes])}
"""
    return Section("The joint measures", text, findings=[_finding(outcomes), _interaction_finding(outcomes)])


def _interaction_columns() -> list[str]:
    by_model = [f"{model}: joint, joint interactions" for model in MODELS]
    return ["table", "joint loses", "joint interactions loses", "difference", *by_model]


def _with_interactions(outcome: Outcome) -> list[str]:
    joint, added = outcome.by_id[JOINT], outcome.by_id[INTERACTIONS]
    losses = [figure_of(each.loss().mean()) for each in (joint, added)]
    by_model = [", ".join(figure_of(each.loss(model=model).mean()) for each in (joint, added)) for model in MODELS]
    return [outcome.study.name, *losses, str(Difference.of(added, joint)), *by_model]


def _interaction_finding(outcomes: Sequence[Outcome]) -> str:
    """Say where the measure of interactions wins, ties and loses against `joint`, and what both lose on average."""
    verdicts = {
        each.study.name: Difference.of(each.by_id[INTERACTIONS], each.by_id[JOINT]).verdict for each in outcomes
    }
    listed = "; ".join(
        f"{verdict} on {sum(each == verdict for each in verdicts.values())}"
        + ("" if verdict in {SAME, "undecided"} else _named(name for name, each in verdicts.items() if each == verdict))
        for verdict in VERDICTS
    )
    means = [
        figure_of(float(np.mean([each.by_id[name].loss().mean() for each in real(outcomes)])))
        for name in (INTERACTIONS, JOINT)
    ]
    return (
        f"Outcomes of `joint_interactions` compared with `joint`, in numbers of tables: {listed}. "
        f"On the real tables it loses {means[0]} on average, and `joint` {means[1]}."
    )


def _named(names: Iterable[str]) -> str:
    listed = ", ".join(f"`{name}`" for name in names)
    return f" ({listed})" if listed else ""


def _opponents(outcomes: Sequence[Outcome]) -> list[str]:
    against = [f"against {outcomes[0].by_id[name].entrant.title}" for name in RIVALS]
    return ["table", "joint loses", *against, "against the best in hindsight"]


def _verdicts(outcome: Outcome) -> list[str]:
    joint = outcome.by_id[JOINT]
    others = [*(outcome.by_id[name] for name in RIVALS), best_other(outcome)]
    loss = figure_of(joint.loss().mean())
    return [outcome.study.name, loss, *(str(Difference.of(joint, other)) for other in others)]


def _columns() -> list[str]:
    return [column for title in JOINTS.values() for column in (f"{title} loses", "difference")]


def _information_columns() -> list[str]:
    corrected = ["mutual information, bias corrected, loses", "joint against mutual information, bias corrected"]
    return ["table", "mutual information loses", *_columns(), *corrected]


def _against_information(outcome: Outcome) -> list[str]:
    other = outcome.by_id[MUTUAL_INFORMATION]
    corrected = outcome.by_id[CORRECTED]
    after_correction = [figure_of(corrected.loss().mean()), str(Difference.of(outcome.by_id[JOINT], corrected))]
    return [outcome.study.name, figure_of(other.loss().mean()), *_cells(outcome, other), *after_correction]


def _against_best(outcome: Outcome) -> list[str]:
    other = best_other(outcome)
    return [outcome.study.name, other.entrant.title, figure_of(other.loss().mean()), *_cells(outcome, other)]


def _cells(outcome: Outcome, other: Effect) -> list[str]:
    effects = [outcome.by_id[name] for name in JOINTS]
    return [cell for each in effects for cell in (figure_of(each.loss().mean()), str(Difference.of(each, other)))]


def best_other(outcome: Outcome) -> Effect:
    """Return the measure of single attributes, corrected or not, whose pick loses least on average."""
    others = [one for one in outcome.effects if one.entrant.group in _TOLD_ALL and one.entrant.id not in _TOGETHER]
    return min(others, key=lambda effect: float(effect.loss().mean()))


def _finding(outcomes: Sequence[Outcome]) -> str:
    compared = _verdicts_on(outcomes, MUTUAL_INFORMATION)
    return f"Outcomes of `joint` compared with mutual information, by the intervals, in numbers of tables: {compared}."


def _verdicts_on(outcomes: Sequence[Outcome], other: str) -> str:
    """Describe how many tables of each kind have each verdict, and which are worse."""
    kinds = {
        "real tables that took part in choosing the defaults": took_part(outcomes),
        "held-out real tables": held_out(outcomes),
        "made-up tables": made_up(outcomes),
    }
    counts = "; ".join(f"of {len(chosen)} {kind}, {_counted(chosen, other)}" for kind, chosen in kinds.items())
    worse = [f"`{each.study.name}`" for each in outcomes if _against(each, other) == "worse"]
    return f"{counts} (worse: {', '.join(worse)})" if worse else counts


def _against(outcome: Outcome, other: str) -> str:
    return Difference.of(outcome.by_id[JOINT], outcome.by_id[other]).verdict


def _counted(outcomes: Sequence[Outcome], other: str) -> str:
    verdicts = [_against(each, other) for each in outcomes]
    return ", ".join(f"{verdict} on {verdicts.count(verdict)}" for verdict in VERDICTS)
