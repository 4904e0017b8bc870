"""Computations of a worker's child process: pure functions that unpack stored bytes, run the advisor and pack.

Callers who may not read the counts get their order by shares to two digits, which the schema shows anyway, weighted by
the utility of each attribute, rounded to a power of 2.
"""

import math
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from itertools import chain, repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aegis_advisor.evidence import (
    DROP,
    IDENTITY,
    AttributeEvidence,
    EntryContent,
    LabelContent,
    evidence_of,
)
from aegis_advisor.expected import Expected
from aegis_advisor.measures import MEASURES
from aegis_advisor.ranking import (
    MOST_LISTED,
    AttributeAssessment,
    LabelChoices,
    Question,
    RankedRows,
    Recommendation,
    expected_performance,
    recommend,
    recommend_among_labels,
)
from aegis_advisor.reconstruction import DualNewton, Reference, reconstruct
from aegis_sdk.reading.names import MOST_CELLS, ConfigurationNames
from app.advice.model import DEVIATION, EXPECTED, PackedReference, ReferenceKind
from app.advice.service.advice_input import AdviceInput, Known, known_of, pack_reference
from app.advice.service.coarse import (
    MEASURE,
    AttributeShares,
    CoarseOrder,
    Grid,
    attribute_shares,
    configuration_shares,
    detail_kept,
    expected_numbers,
    in_contract,
    order_by_attribute,
    order_of_all,
)
from app.advice.service.declared import Declared, by_declared
from app.advice.service.frontier import FRONTIER, RANK, Axis, expected_axis, frontier_in, stated_axes, worth_expecting
from app.advice.service.questions import needs_pairs, weights_of
from app.advice.service.tasks import first_number, reaching
from app.entries.model.configurations import MASKED, ConfigurationTable
from app.entries.model.documents import compress, decompress, stored_entry, with_arrays
from app.entries.model.entries import CountKind, CountTable

EXPECTED_ROWS = 20
"""For so many rows of a ranking the performance of a model is expected, a tenth of a second each."""


@dataclass(frozen=True, slots=True)
class ReferenceInput:
    """The input for computing the references of the attributes at `places`.

    `label`: the place of the label that they are for, None for the default one. All tables of the attributes, of this
    label and of pairs are then given.
    """

    schema: bytes
    places: tuple[int, ...]
    count_tables: tuple[CountTable, ...]
    label: int | None = None


def compute_references(given: ReferenceInput, seconds: float) -> list[PackedReference]:
    """The references of the attributes at the given places, in order; each computation stops after `seconds`."""
    has_pairs = any(table.kind is CountKind.PAIRS for table in given.count_tables)
    if given.label is None and has_pairs:
        evidence, first = evidence_of(stored_entry(given.schema, given.count_tables), given.places), 0
    elif given.label is not None:
        entry, first = stored_entry(given.schema, given.count_tables), first_number(given.label)
        evidence = evidence_of(entry.about(entry.attributes[given.label].name), given.places)
    else:
        position: dict[int | None, int] = {place: index for index, place in enumerate(given.places)}
        tables = tuple(replace(t, attribute=position.get(t.attribute)) for t in given.count_tables)
        evidence, first = evidence_of(with_arrays(_schema(given.schema).at(given.places), tables)), 0
    return [
        pack_reference(first + place, _reference(known, seconds))
        for place, known in zip(given.places, evidence, strict=True)
    ]


def _reference(evidence: AttributeEvidence, seconds: float) -> Reference:
    end = time.monotonic() + seconds
    return reconstruct(evidence, DualNewton(expired=lambda: time.monotonic() >= end))


@lru_cache(maxsize=1)
def _schema(stored: bytes) -> EntryContent:
    """A parsed schema, cached for all chunks of a version that this process computes."""
    return stored_entry(stored)


def compute_advice(given: AdviceInput) -> bytes:
    """The answer to a question, as compressed JSON in the contract's names."""
    if given.question.ranks_declared:
        declared = Declared.of(given)
        return compress(_with_names(by_declared(declared, given.schema), given, declared.table))
    known, every = known_of(given)
    asked, competing = given.question, known.table.of_kinds(given.question.kinds)
    if asked.target is not None:
        competing &= reaching(known.label, known.table, asked.target)
        known = known.toward(asked.target)
    answer = ranked(given, known, competing)
    grid = Grid.of(known.records)
    result, axes = _result(answer, grid), _axes(given, answer, known, grid)
    if MEASURES[asked.measure].is_joint:
        result = _with_expected(result, answer, known, axes if EXPECTED in asked.axes else {})
    for is_coarse, own in axes.items():
        view = result["coarse"] if is_coarse else result
        view[FRONTIER] = frontier_in(own, answer.ids)
    if asked.label is not None or asked.target is not None:
        left_out = len(every.codes) - int(np.count_nonzero(competing))
        target = {} if asked.target is None else {"target": asked.target}
        result["label"] = {"name": known.label.name, "listed": known.is_listed, **target, "left_out": left_out}
    if not known.is_listed:
        result["ranking_basis"] = "estimated"
    return compress(_with_names(result, given, every))


def ranked(given: AdviceInput, known: Known, competing: NDArray[np.bool_], *, has_errors: bool = True) -> "Answer":
    """Rank those of the competing configurations that meet the question's requirements."""
    asked, table, places = given.question, known.table, np.array(given.places)
    meeting = table.meeting(asked.required, asked.policy)
    kept, others = np.flatnonzero(meeting & competing), np.flatnonzero(competing & ~meeting)
    codes, options = table.codes[np.ix_(kept, places)], [table.options[place] for place in given.places]
    question, known_tables = _advisor_question(given), (known.evidence, known.references, codes, options)
    labels = None if asked.target is not None else _label_choices(known.label, table, kept)
    # The coarse order needs all deviations, which these have only in their ranking; and so does a frontier.
    whole = replace(question, limit=None, has_errors=has_errors)
    if labels is not None:
        recommendation = recommend_among_labels(*known_tables, whole, labels, known.pairs, known.published)
    else:
        of_joint = needs_pairs(asked, given.outline)
        recommendation = recommend(
            *known_tables,
            whole if of_joint or asked.frontier is not None else question,
            known.pairs if of_joint else (),
            table.codes[np.ix_(others, places)] if of_joint else None,
            known.memory,
            known.associations,
            known.published,
        )
    ids = [table.ids[place] for place in kept]
    return Answer(recommendation, ids, kept, question, codes, options, known.evidence, labels)


def _axes(given: AdviceInput, answer: "Answer", known: Known, grid: Grid) -> dict[bool, list[Axis]]:
    """The axes of the frontier but expected scores, by whether they are for coarse answers; none if none is asked."""
    asked, rows = given.question, answer.recommendation.ranking
    if asked.frontier is None:
        return {}
    deviations, ranks = np.empty(len(answer.ids)), np.empty(len(answer.ids))
    deviations[rows.index] = rows.deviation
    utility = {False: Axis(DEVIATION, deviations, unit=MEASURES[asked.measure].unit)}
    if asked.reference is not ReferenceKind.OWN:
        order = _coarse_order(answer, grid, None)
        ranks[order.order] = order.ranks
        utility[True] = Axis(RANK, ranks)
    return {
        is_coarse: [first, *stated_axes(asked, known.table, answer.places, given.schema, is_coarse=is_coarse)]
        for is_coarse, first in utility.items()
    }


def _with_expected(
    result: dict[str, Any], answer: "Answer", known: Known, axes: Mapping[bool, list[Axis]]
) -> dict[str, Any]:
    """The result with what a model should reach on the first tables of its rankings, and on the unmasked one.

    Of the tables on the frontier by the other `axes` first, if there are any: what is expected becomes one of them.
    """
    views, told = {False: result, True: result["coarse"]}, dict[bool, list[str]]()
    for is_coarse, view in views.items():
        told[is_coarse] = [row["configuration"] for row in view["ranking"][:EXPECTED_ROWS]]
        if is_coarse in axes:
            told[is_coarse] = [answer.ids[row] for row in worth_expecting(axes[is_coarse], EXPECTED_ROWS)]
    chosen, place = list(dict.fromkeys(chain(*told.values()))), {name: row for row, name in enumerate(answer.ids)}
    rows = np.array([place[name] for name in chosen], dtype=np.intp)
    each, whole = expected_of(answer, known, rows)
    by_name, alone = dict(zip(chosen, each, strict=True)), of_one_attribute(answer, chosen, answer.codes[rows])
    for is_coarse, view in views.items():
        numbers = {name: None if is_coarse and name in alone else by_name[name] for name in told[is_coarse]}
        for row in (row for row in view["ranking"] if row["configuration"] in numbers):
            expected = numbers[row["configuration"]]
            row["expected"] = None if expected is None else expected_numbers(expected, is_coarse=is_coarse)
        if is_coarse in axes:
            axes[is_coarse].append(expected_axis(numbers, answer.ids, is_coarse=is_coarse))
    return result | {"expected": None if whole is None else expected_numbers(whole)}


def expected_of(
    answer: "Answer", known: Known, rows: NDArray[np.intp]
) -> tuple[list[Expected | None], Expected | None]:
    """What is expected of the label as each of these configurations shows it, and of the label as it is, unmasked."""
    scores, whole = known.label.scores, None
    labels = answer.labels or LabelChoices(np.zeros(len(answer.codes), dtype=np.intp), (None,))
    each: list[Expected | None] = [None] * rows.size
    for code in np.union1d(0, labels.codes[rows]).tolist():
        alike = np.flatnonzero(labels.codes[rows] == code)
        told, unmasked = expected_performance(
            *labels.known(code, known.evidence, known.references),
            answer.options,
            answer.codes[rows[alike]],
            known.pairs,
            answer.question.weights,
            known.published if code == 0 else None,
            None if scores is None else scores.variance,
        )
        whole = unmasked if code == 0 else whole
        for index, expected in zip(alike.tolist(), told, strict=True):
            each[index] = expected
    return each, whole


def of_one_attribute(answer: "Answer", names: Sequence[str], rows: NDArray[np.integer[Any]]) -> set[str]:
    """The configurations that share one attribute of the question at most: what is expected is a number about it."""
    shown = np.zeros(len(rows), dtype=np.int64)
    for one, options, weight, column in zip(
        answer.evidence, answer.options, answer.question.weights, rows.T, strict=True
    ):
        sizes = {IDENTITY: one.values, DROP: 1} | {masking.id: masking.groups for masking in one.maskings}
        shown += (weight > 0) & (np.array([sizes[option] for option in options])[column] > 1)
    return {name for name, attributes in zip(names, shown.tolist(), strict=True) if attributes <= 1}


def _label_choices(label: LabelContent, table: ConfigurationTable, kept: NDArray[np.intp]) -> LabelChoices | None:
    """How these configurations show the label; None if all show it as it is."""
    if table.label_codes is None or not table.label_codes[kept].any():
        return None
    mappings = (None, *(label.class_of(masking.id) for masking in label.maskings))
    return LabelChoices(table.label_codes[kept], mappings)


def _with_names(result: dict[str, Any], given: AdviceInput, table: ConfigurationTable) -> dict[str, Any]:
    """A result with the names of the configurations that it ranks, by id; none of generated ones."""
    if table.codes.size > MOST_CELLS:
        return result | {"names": {}}
    masked = np.flatnonzero(table.of_kinds([MASKED]))
    columns = {
        attribute.name: np.array(options, dtype=object)[table.codes[masked, place]].tolist()
        for place, (attribute, options) in enumerate(zip(given.listed, table.options, strict=True))
    }
    listed = {"ids": [table.ids[place] for place in masked], "maskings": columns}
    names = ConfigurationNames.of({**decompress(given.schema), "configuration_table": listed})
    views = [result, result["coarse"] or {}]
    ids = {view.get("configuration") for view in views}
    for view in views:
        ids |= {row["configuration"] for row in (*view.get("ranking", ()), *view.get(FRONTIER, {}).get("points", ()))}
    return result | {"names": {name: said for name in sorted(filter(None, ids)) if (said := names.name(name))}}


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """An answer and its input.

    Attributes:
        recommendation: with all rows for a joint measure or a frontier, otherwise up to the question's limit.
        places: (configurations,) those ranked, in the table of the task.
        codes: (configurations, attributes) indices into `options`.
        options: for each attribute the masking ids of the codes.
        labels: how they show the label, if some mask it; then `maskings` do not tell what a configuration keeps.
    """

    recommendation: Recommendation
    ids: Sequence[str]
    places: NDArray[np.intp]
    question: Question
    codes: NDArray[np.integer[Any]]
    options: Sequence[tuple[str, ...]]
    evidence: Sequence[AttributeEvidence]
    labels: LabelChoices | None = None

    def shares_of(
        self, shares: Sequence[AttributeShares], configurations: NDArray[np.intp] | slice
    ) -> NDArray[np.float64]:
        """The shares that these configurations keep, from the shares of the attributes."""
        return configuration_shares(shares, self.question.weights, self.codes[configurations], self.options)


def _advisor_question(given: AdviceInput) -> Question:
    asked = given.question
    names = tuple(given.outline[place].name for place in given.places)
    return Question(
        measure=asked.measure,
        attributes=names,
        weights=weights_of(asked, names),
        reference=asked.reference.value,
        rounding_seed=asked.rounding_seed,
        limit=asked.limit,
        bias_correction=bool(asked.bias_correction),
    )


def _result(answer: Answer, grid: Grid) -> dict[str, Any]:
    recommendation, ids = answer.recommendation, answer.ids
    alike, measure = recommendation.indistinguishable, MEASURES[answer.question.measure]
    rows = recommendation.ranking.head(answer.question.limit)
    shares, kept = None, np.full(len(rows), np.nan)
    if _has_shares(answer.question) and answer.labels is None:
        shares = [attribute_shares(assessment) for assessment in recommendation.attributes]
        kept = np.minimum.accumulate(answer.shares_of(shares, rows.index))  # rounding must not reverse the order
    return {
        "configuration": ids[recommendation.best],
        "deviation": recommendation.deviation,
        "tied": [ids[index] for index in recommendation.tied[:MOST_LISTED]],
        "considered": recommendation.considered,
        "ranking_basis": recommendation.ranking_basis,
        "indistinguishable": None if alike is None else [ids[index] for index in alike],
        "indistinguishable_count": recommendation.indistinguishable_count,
        "ranking": _ranking_result(rows, set(recommendation.tied), ids, kept),
        "attributes": list(map(_attribute_result, recommendation.attributes, shares or repeat(None))),
        "joint": recommendation.joint,
        "unit": measure.unit,
        "better": measure.better,
        "coarse": _coarse_result(answer, shares, grid),
    }


def _coarse_result(answer: Answer, shares: Sequence[AttributeShares] | None, grid: Grid) -> dict[str, Any] | None:
    """The order for other tenants; None with the reference `own`, which they may not use."""
    question = answer.question
    if question.reference == "own":
        return None
    kept = None if shares is None else answer.shares_of(shares, slice(None))
    order = _coarse_order(answer, grid, question.limit, kept)
    return in_contract(order, answer.ids, None if kept is None else kept[order.order])


def _coarse_order(
    answer: Answer, grid: Grid, limit: int | None, kept: NDArray[np.float64] | None = None
) -> CoarseOrder:
    """The coarse order; of equal ranks, those first that keep the larger share, if it is given."""
    question, recommendation = answer.question, answer.recommendation
    if recommendation.joint is not None or answer.labels is not None:
        return order_together(answer, grid, limit)
    detail = detail_kept(answer.evidence, question.weights, answer.codes, answer.options)
    preferences = [detail] if kept is None else [kept, detail]
    by_attribute = recommendation.attributes, question.weights, answer.codes, answer.options
    return order_by_attribute(*by_attribute, limit, grid, preferences)


def order_together(answer: Answer, grid: Grid, limit: int | None) -> CoarseOrder:
    """The coarse order of an answer by a joint measure, or of tables that show the label differently."""
    recommendation, deviations, joint = answer.recommendation, np.empty(len(answer.ids)), answer.recommendation.joint
    rows, weights = recommendation.ranking, answer.question.weights
    if joint is not None:
        # Relative to the utility from the counts: the trace of the unmasked table is for the provider only.
        deviations[rows.index] = joint.known_utility - rows.utility
        whole = abs(joint.known_utility)  # without attributes, a joint measure is 0
    else:
        deviations[rows.index] = rows.deviation
        whole = float(weights @ [abs(one.reference_utility) for one in recommendation.attributes])
    detail = detail_kept(answer.evidence, weights, answer.codes, answer.options)
    return order_of_all(deviations, whole, limit, grid, [detail])


def _has_shares(question: Question) -> bool:
    """Whether the answer has shares; deviations from the reference `own` have no common whole."""
    return question.measure == MEASURE and not question.bias_correction and question.reference == "pooled"


def _ranking_result(
    ranking: RankedRows, tied: Collection[int], ids: Sequence[str], kept: NDArray[np.float64]
) -> list[dict[str, Any]]:
    """The rows; those tied with the best share its rank."""
    return [
        {
            "configuration": ids[ranking.index[row]],
            "deviation": float(ranking.deviation[row]),
            "utility": float(ranking.utility[row]),
            "standard_error": _if_known(ranking.standard_error[row]),
            "difference_error": _if_known(ranking.difference_error[row]),
            "rank": 1 if int(ranking.index[row]) in tied else row + 1,
            "utility_share": _if_known(share),
            "deviation_share": _if_known(round(1 - share, 2)),
        }
        for row, share in enumerate(kept.tolist())
    ]


def _if_known(number: float) -> float | None:
    return None if math.isnan(number) else float(number)


def _attribute_result(assessment: AttributeAssessment, shares: AttributeShares | None) -> Mapping[str, Any]:
    words = {} if shares is None else shares.kept
    maskings = {name: {"kept": words.get(name), **asdict(score)} for name, score in assessment.maskings.items()}
    return {
        "name": assessment.name,
        "knowledge": assessment.knowledge,
        "reference_utility": assessment.reference_utility,
        "reference_estimated": assessment.reference_estimated,
        "bound": assessment.bound,
        "bound_value": assessment.bound_value,
        "lower_bound": assessment.lower_bound,
        "upper_bound": assessment.upper_bound,
        "maskings": maskings,
        "reconstruction": assessment.certificate,
    }
