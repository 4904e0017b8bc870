"""Ranking of configurations that mask the label in different ways (the paper's question).

Each configuration has the utility of its own table, of masked values and masked labels. The reference is that of the
unmasked attributes and the unmasked label. So the configurations with one masked label are scored as in an entry with
that label, and only their reference differs.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress

import numpy as np

from aegis_advisor.arrays import Codes, FloatArray, IntArray
from aegis_advisor.evidence import AttributeEvidence, PairCounts, PublishedTrace, with_label_masked
from aegis_advisor.measures import TIE_BREAK, Measure
from aegis_advisor.ranking.advice import recommend
from aegis_advisor.ranking.deviation import AttributeAssessment, assess
from aegis_advisor.ranking.order import CodeBlocks, rank
from aegis_advisor.ranking.recommendation import (
    JointAssessment,
    Question,
    RankedRows,
    RankingBasis,
    Recommendation,
    uses_exact_tables,
)
from aegis_advisor.ranking.scores import reference_of, tie_tolerance
from aegis_advisor.reconstruction import Reference, reconstruct


@dataclass(frozen=True, slots=True, eq=False)
class LabelChoices:
    """How configurations show the label.

    Attributes:
        codes: (configurations,) places in `mappings`.
        mappings: each (labels,), the masked label of each label; None for the label as it is.
    """

    codes: Codes
    mappings: tuple[IntArray | None, ...]
    _known: "dict[int, _Known]" = field(default_factory=dict, repr=False)

    def known(self, code: int, evidence: Sequence[AttributeEvidence], references: Sequence[Reference]) -> "_Known":
        """The evidence on attributes and the label as a code shows it, with its references: reconstructed once.

        Args:
            evidence: on these attributes and the label as it is, the same at each call; likewise `references`.
        """
        class_of = self.mappings[code]
        if class_of is None:
            return evidence, references
        if code not in self._known:
            masked = [with_label_masked(one, class_of) for one in evidence]
            self._known[code] = masked, list(map(reconstruct, masked))
        return self._known[code]


_Known = tuple[Sequence[AttributeEvidence], Sequence[Reference]]


@dataclass(frozen=True, slots=True, eq=False)
class _Task:
    """The configurations (rows,) that show the label alike, and how they are scored."""

    rows: IntArray
    evidence: Sequence[AttributeEvidence]
    references: Sequence[Reference]
    codes: Codes
    options: Sequence[tuple[str, ...]]
    pairs: Sequence[PairCounts]
    is_masked: bool

    def answer(self, question: Question) -> Recommendation:
        return recommend(self.evidence, self.references, self.codes, self.options, question, self.pairs)

    def is_exact(self, weights: FloatArray) -> bool:
        """Whether the table of every masked value and label is certain, of the attributes with weight."""
        return all(
            one.rounded_once is None and uses_exact_tables(one, [names[code] for code in np.unique(column)])
            for one, names, column, weight in zip(self.evidence, self.options, self.codes.T, weights, strict=True)
            if weight > 0
        )


def recommend_among_labels(
    evidence: Sequence[AttributeEvidence],
    references: Sequence[Reference],
    codes: Codes,
    options: Sequence[tuple[str, ...]],
    question: Question,
    labels: LabelChoices,
    pairs: Sequence[PairCounts] = (),
    published: PublishedTrace | None = None,
) -> Recommendation:
    """Pick the configuration that loses the least utility, where some mask the label.

    Arguments and errors are those of `recommend`. Which configurations are indistinguishable is not known.

    Args:
        labels: how each configuration shows the label.

    Raises:
        ValueError: the reference is `own`, or the measure sees interactions, whose counts are of the label as it is.
    """
    measure = question.resolve(evidence[0].label_scores)
    if question.reference == "own" or measure.sees_interactions:
        raise ValueError(f"{question.measure!r} with the reference {question.reference!r} needs the label as it is")
    tasks = list(_tasks(evidence, references, codes, options, labels, pairs))
    answers = [task.answer(replace(question, limit=None)) for task in tasks]
    utility = _by_configuration(tasks, answers, "utility")
    assessments = _against_the_whole(evidence, references, measure, tasks, answers)
    joint = _joint(measure, question, assessments, answers, evidence, tasks, published)
    if joint is not None:
        deviations = np.abs(joint.reference_utility - utility)
    else:
        deviations = _deviations(tasks, answers, assessments, question.weights)

    def information() -> list[FloatArray]:
        if question.measure == TIE_BREAK.id and not measure.is_corrected:
            return [utility]
        asked = replace(question, measure=TIE_BREAK.id, bias_correction=False, limit=None)
        return [_by_configuration(tasks, [task.answer(asked) for task in tasks], "utility")]

    ranking = rank(
        CodeBlocks.of(np.arange(len(codes))[:, np.newaxis], [len(codes)]),
        deviations=deviations,
        tie_utilities=information,
        tolerance=tie_tolerance(evidence, [one.reference_utility for one in assessments], measure, question.weights),
        limit=question.limit,
    )
    order, errors = ranking.order, _by_configuration(tasks, answers, "standard_error")
    return Recommendation(
        best=ranking.best,
        deviation=float(ranking.deviations[ranking.best]),
        tied=tuple(ranking.tied.tolist()),
        considered=len(codes),
        ranking_basis=_basis(measure, question, tasks, answers),
        ranking=RankedRows(
            index=order,
            deviation=ranking.deviations[order],
            utility=utility[order],
            standard_error=errors[order],
            difference_error=_difference_errors(measure, tasks, answers, errors, ranking.best)[order],
        ),
        attributes=assessments,
        indistinguishable=None,
        indistinguishable_count=None,
        joint=joint,
    )


def _tasks(
    evidence: Sequence[AttributeEvidence],
    references: Sequence[Reference],
    codes: Codes,
    options: Sequence[tuple[str, ...]],
    labels: LabelChoices,
    pairs: Sequence[PairCounts],
) -> Iterator[_Task]:
    """One task for each way to show the label."""
    for code in np.unique(labels.codes).tolist():
        rows, known = np.flatnonzero(labels.codes == code), labels.known(code, evidence, references)
        yield _Task(rows, *known, codes[rows], options, pairs, is_masked=labels.mappings[code] is not None)


def _by_configuration(tasks: Sequence[_Task], answers: Sequence[Recommendation], what: str) -> FloatArray:
    """(configurations,) a column of the rankings."""
    found = np.empty(sum(task.rows.size for task in tasks))
    for task, answer in zip(tasks, answers, strict=True):
        found[task.rows[answer.ranking.index]] = getattr(answer.ranking, what)
    return found


def _difference_errors(
    measure: Measure, tasks: Sequence[_Task], answers: Sequence[Recommendation], errors: FloatArray, best: int
) -> FloatArray:
    """(configurations,) upper bounds of the standard errors of each deviation minus that of the best.

    The reference is common to all, and by a measure that is monotone in the label no table is beyond it: it cancels.
    The error of the difference of two utilities is at most the sum of their errors, `errors`. Tables that show the
    label as the best does are compared in their own answer.
    """
    if not measure.label_monotone or answers[0].joint is not None:
        return np.full(errors.size, np.nan)
    bounds: FloatArray = errors + errors[best]
    for task, answer in zip(tasks, answers, strict=True):
        if task.rows[answer.best] == best:
            bounds[task.rows[answer.ranking.index]] = answer.ranking.difference_error
    return bounds


def _deviations(
    tasks: Sequence[_Task],
    answers: Sequence[Recommendation],
    assessments: Sequence[AttributeAssessment],
    weights: FloatArray,
) -> FloatArray:
    """(configurations,) the weighted mean over the attributes of how far each table is from the reference."""
    deviations = np.zeros(sum(task.rows.size for task in tasks))
    for task, answer in zip(tasks, answers, strict=True):
        parts = zip(assessments, answer.attributes, task.options, task.codes.T, weights, strict=True)
        for whole, shown, names, column, weight in parts:
            known = [shown.maskings[name].utility if name in shown.maskings else math.nan for name in names]
            deviations[task.rows] += weight * np.abs(whole.reference_utility - np.array(known)[column])
    return deviations


def _against_the_whole(
    evidence: Sequence[AttributeEvidence],
    references: Sequence[Reference],
    measure: Measure,
    tasks: Sequence[_Task],
    answers: Sequence[Recommendation],
) -> tuple[AttributeAssessment, ...]:
    """The assessments with the label as it is, against the best utility of any way to show it.

    By a measure that is monotone in the label, no masked label knows more. By others, it can seem to, and what it seems
    to gain is a deviation, too: otherwise the label with the fewest classes would always be best.
    """
    whole = next((answer.attributes for task, answer in zip(tasks, answers, strict=True) if not task.is_masked), None)
    if whole is None:
        whole = tuple(assess(*each, measure, ()) for each in zip(evidence, references, strict=True))
    assessments = []
    for place, one in enumerate(whole):
        masked = [answer.attributes[place].reference_utility for answer in answers if measure.label_monotone]
        best = measure.best([one.reference_utility, *masked])
        maskings = {name: replace(each, deviation=abs(best - each.utility)) for name, each in one.maskings.items()}
        assessments.append(replace(one, reference_utility=best, maskings=maskings))
    return tuple(assessments)


def _joint(
    measure: Measure,
    question: Question,
    assessments: Sequence[AttributeAssessment],
    answers: Sequence[Recommendation],
    evidence: Sequence[AttributeEvidence],
    tasks: Sequence[_Task],
    published: PublishedTrace | None,
) -> JointAssessment | None:
    """The joint assessment of the best of the answers, against the highest utility that is known."""
    single = [one.reference_utility for one, weight in zip(assessments, question.weights, strict=True) if weight > 0]
    known = [(answer.ranking.utility[0], answer.joint) for answer in answers if answer.joint is not None]
    if not known:
        return None
    whole = [measure.label_monotone or not task.is_masked for task in tasks]
    best = max(*single, *(joint.known_utility for _, joint in compress(known, whole)), -math.inf)
    of_measure = measure.uses_scores == (evidence[0].label_scores is not None)
    is_whole = of_measure and measure.is_corrected and len(single) == len(evidence)
    reference, source = reference_of(best, published if is_whole else None, interactions=False)
    chosen = max(known, key=lambda one: one[0])[1]
    return replace(chosen, reference_utility=reference, lower_bound=None, known_utility=best, reference_source=source)


def _basis(
    measure: Measure, question: Question, tasks: Sequence[_Task], answers: Sequence[Recommendation]
) -> RankingBasis:
    """Exact if every table is, and no masked label can know more than the label as it is."""
    if measure.label_guarantee != "exact":
        return "estimated"
    if answers[0].joint is not None:
        return "exact" if all(answer.ranking_basis == "exact" for answer in answers) else "estimated"
    return "exact" if all(task.is_exact(question.weights) for task in tasks) else "estimated"
