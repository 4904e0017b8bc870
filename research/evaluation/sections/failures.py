"""The section on where measures of single attributes fail, and how badly."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from research.evaluation.outcomes import (
    CHI_SQUARE_CORRECTED,
    G3,
    INTERACTIONS,
    JOINT,
    MUTUAL_INFORMATION,
    RANDOM,
    Effect,
    Outcome,
    leading,
    levels,
)
from research.evaluation.rankers import RANKING, named
from research.evaluation.sections.joint import SAME, Difference
from research.evaluation.synthetic_tables import KINDS
from research.plots import turns
from research.report import Section, figure_of, image, table, with_interval

TIED = ("ranker", "questions with a tie for the best", "most tied", "in", "distinct utilities, mean share", "fewest")
TOLD: Mapping[str, str] = {
    "redundant attributes": "Attributes that repeat each other",
    "interactions": "Attributes that predict only together",
    "near-unique attributes": "Attributes with nearly as many values as records",
    "imbalance": "Rare labels",
}

NEAR_UNIQUE = "near-unique attributes"
FAILING = ("interactions", "imbalance")
"""What the joint measure does not see; it is made for the other properties."""

EXPLAINED: Mapping[str, str] = {
    "redundant attributes": """
Each copy of an attribute adds its utility once more to the sum. Configurations here keep either the copies or
attributes with information of their own.
""",
    "interactions": """
Two attributes determine the label by exclusive or. No measure of single attributes sees that, nor does `joint`, nor
logistic regression. At 100 % it is luck that `joint` and mutual information lose little; at 67 % the linear part
misleads them. `joint_interactions` sees what two attributes say together, and counts it once where one of them has
copies. Where only three together determine the label, it must fail like the others.
""",
    "near-unique attributes": """
An attribute with nearly one value per record seems informative by chance. The correction for bias is made for this.
""",
    "imbalance": "The rarer a label, the fewer records there are to count, and the less any record says about it.",
}


def section(outcomes: Sequence[Outcome]) -> Section:
    """Make the section, with a part for each property that varies, and one on ties."""
    by_name = {each.study.name: each for each in outcomes}
    kinds = {kind: [by_name[name] for name in names if name in by_name] for kind, names in KINDS.items()}
    shown = {kind: chosen for kind, chosen in kinds.items() if chosen}
    parts = [_turned(kind, chosen) for kind, chosen in shown.items()]
    text = "\n\n".join(
        [
            "Each table below varies one property. A row is a ranker, and a cell is the AUC that its pick loses.",
            image("turns.svg", "AUC lost by ranker, as one property at a time varies"),
            *parts,
            _ties(outcomes),
        ]
    )
    findings = [*(_finding(kind, chosen) for kind, chosen in shown.items()), _finding_on_ties(outcomes)]
    return Section("Where measures fail", text, {"turns.svg": _turns(shown)}, findings)


def _turned(kind: str, chosen: Sequence[Outcome]) -> str:
    columns = ["ranker", *(each.study.name for each in chosen)]
    rows = [
        [effect.entrant.title, *(with_interval(each.by_id[effect.entrant.id].mean_loss()) for each in chosen)]
        for effect in chosen[0].in_full
    ]
    return f"### {kind.capitalize()}\n\n{EXPLAINED[kind].strip()}\n\n{table(columns, rows)}"


def _turns(kinds: Mapping[str, Sequence[Outcome]]) -> Figure:
    panels = {
        kind: {title: [each.by_id[name].mean_loss() for each in chosen] for name, title in leading(chosen).items()}
        for kind, chosen in kinds.items()
    }
    turned = {kind: [each.study.name.split()[-1] for each in chosen] for kind, chosen in kinds.items()}
    return turns(panels, turned, "AUC lost")


def _finding(kind: str, chosen: Sequence[Outcome]) -> str:
    """Describe the table where the property is strongest, or where the joint measure fails most."""
    shown = max(chosen, key=lambda each: each.by_id[JOINT].loss().mean()) if kind in FAILING else chosen[-1]
    losses = [float(shown.by_id[name].loss().mean()) for name in (JOINT, MUTUAL_INFORMATION, RANDOM)]
    joint, information, chance = map(figure_of, losses)
    worst = ", where it does worst" if kind in FAILING else ""
    compared = "more" if losses[0] > losses[2] else "less"
    corrected = f" Bias-corrected chi-square {_comparison(shown)}." if kind == NEAR_UNIQUE else ""
    seen = _seen(chosen) if kind == "interactions" else ""
    return (
        f"{TOLD[kind]}: on `{shown.study.name}`{worst}, `joint` loses {joint}, {compared} than a random choice"
        f" ({chance}). Mutual information loses {information}.{corrected}{seen}"
    )


def _seen(chosen: Sequence[Outcome]) -> str:
    """Say what `joint_interactions` loses on each of these tables, beside `joint`."""
    each = [
        f"{figure_of(float(one.by_id[INTERACTIONS].loss().mean()))} on `{one.study.name}` ("
        f"{figure_of(float(one.by_id[JOINT].loss().mean()))})"
        for one in chosen
    ]
    return f" `joint_interactions` loses, with what `joint` loses in brackets, {', '.join(each)}."


def _comparison(outcome: Outcome) -> str:
    """Compare bias-corrected chi-square with the joint measure."""
    joint, other = outcome.by_id[JOINT], outcome.by_id[CHI_SQUARE_CORRECTED]
    verdict = Difference.of(joint, other).verdict
    compared = {"better": "does worse", "worse": "does better", SAME: "does as well"}.get(verdict, "is undecided")
    loses = f"{compared}: it loses {figure_of(float(other.loss().mean()))}"
    return f"{loses}, with the {SAME}" if verdict == SAME else loses


def _ties(outcomes: Sequence[Outcome]) -> str:
    rows = [row for each in outcomes for row in _tied_by_g3(each)]
    columns = ["table", "configurations", "tied by g3", "AUC range of the tied"]
    listed = f"\n\nWhere g3 ties for the best:\n\n{table(columns, rows)}" if rows else ""
    return f"""### Ties

g3 depends only on the most frequent class of each group; if that is the same everywhere, all configurations tie.

{table(TIED, list(_tied_by_measure(outcomes)))}{listed}"""


def _tied_by_measure(outcomes: Sequence[Outcome]) -> Iterator[list[str]]:
    for measure in RANKING:
        effects = [each.by_id[f"{measure.id}, counts"] for each in outcomes]
        most = [max(effect.tied) for effect in effects]
        shares = [_distinct(effect) for effect in effects]
        worst = int(np.argmax(most))
        worst_tie = [str(most[worst]), outcomes[worst].study.name] if most[worst] > 1 else ["-", "-"]
        questions = sum(tied > 1 for effect in effects for tied in effect.tied)
        yield [named(measure.id), str(questions), *worst_tie, figure_of(np.mean(shares), 2), figure_of(min(shares), 2)]


def _distinct(effect: Effect) -> float:
    """Return the share of distinct utilities among the configurations."""
    return np.unique(effect.scores.utilities).size / effect.scores.utilities.size


def _tied_by_g3(outcome: Outcome) -> Iterator[list[str]]:
    """Yield a row for each level with a tie: how many tie, and the range of their AUC."""
    effect = outcome.by_id[G3]
    for places, tied in zip(levels(effect.scores.utilities.size), effect.tied, strict=True):
        utilities = effect.scores.utilities[places]
        if tied > 1:
            reach = np.ptp(outcome.auc[places][utilities == utilities.max()])
            yield [outcome.study.name, str(places.size), str(tied), figure_of(float(reach))]


def _finding_on_ties(outcomes: Sequence[Outcome]) -> str:
    effects = [each.by_id[G3] for each in outcomes]
    tied = [number > 1 for effect in effects for number in effect.tied]
    shares = [_distinct(effect) for effect in effects]
    fewest = int(np.argmin(shares))
    return (
        f"In {sum(tied)} of {len(tied)} questions, g3 gives several configurations the same best utility. It tells"
        f" apart {np.mean(shares):.0%} of the configurations on average, and {shares[fewest]:.0%} on"
        f" `{outcomes[fewest].study.name}`."
    )
