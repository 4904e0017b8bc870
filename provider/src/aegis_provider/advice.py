"""Advice on an entry, computed on the provider's machine by the same mathematics as in the service."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING

import numpy as np

from aegis_advisor.errors import AdvisorError
from aegis_provider.errors import EntryError
from aegis_sdk.reading import ids_of, maskings_in
from aegis_sdk.wire import DROP, IDENTITY, Advice, EntryDocument

if TYPE_CHECKING:  # slow to load
    from aegis_advisor.evidence import EntryContent
    from aegis_advisor.expected import Expected


@dataclass(frozen=True)
class RankedConfiguration:
    """A configuration with its utility.

    Attributes:
        utility: How much it tells about the label, by the measure.
        error: The standard error of the utility; `None` if unknown.
    """

    id: str
    utility: float
    error: float | None


@dataclass(frozen=True)
class EntryAdvice:
    """The configurations of an entry, the most useful first.

    Attributes:
        measure: The measure of utility.
        basis: `exact` if this is provably the order by the true counts, otherwise `estimated`.
        ranking: All configurations considered, or as many as were requested from the service.
        named: The configuration to share instead of the first, if it was chosen by its id.
    """

    measure: str
    basis: str
    ranking: tuple[RankedConfiguration, ...]
    named: str | None = None

    @property
    def best(self) -> RankedConfiguration:
        """The configuration to share."""
        return self.ranking[0] if self.named is None else next(row for row in self.ranking if row.id == self.named)

    @property
    def runner_up(self) -> RankedConfiguration | None:
        """The best of the others, if any."""
        return next((row for row in self.ranking if row.id != self.best.id), None)


def advise(
    entry: EntryDocument,
    measure: str = "joint",
    left_out: Mapping[str, int] | None = None,
    weights: Mapping[str, float] | None = None,
) -> EntryAdvice:
    """Rank the masked configurations of an entry, as the service does.

    Args:
        measure: The measure of utility.
        left_out: By id, the number of records that configurations leave out; of equally useful ones, the one with the
            fewest is best.
        weights: How much attributes count, 1 by default; a joint measure takes only equal weights, and 0.

    Raises:
        EntryError: Its counts contradict each other, or cannot answer the question.
    """
    # Slow to load, and the results are used without.
    from aegis_advisor.evidence import associations_of  # noqa: PLC0415
    from aegis_advisor.measures import measure_named  # noqa: PLC0415
    from aegis_advisor.ranking import Question, recommend  # noqa: PLC0415
    from aegis_advisor.reconstruction import reconstruct  # noqa: PLC0415
    from aegis_advisor.verdict import Releases  # noqa: PLC0415
    from aegis_provider.entry import consistent_evidence, consistent_pairs, content_of, masked_places  # noqa: PLC0415

    evidence, content = consistent_evidence(entry), content_of(entry)
    pairs = tuple(consistent_pairs(content, evidence).values())
    releases, masked = Releases.of(content), masked_places(entry)
    ids = [ids_of(entry)[place] for place in masked]
    names = tuple(attribute.name for attribute in entry.attributes)
    shares = np.array([(weights or {}).get(name, 1.0) for name in names])
    corrected = measure_named(measure).corrected_by_default
    question = Question(measure, names, shares / shares.sum(), bias_correction=corrected)
    options = [tuple(option) for option in releases.options]
    try:
        references = [reconstruct(each) for each in evidence]
        found = recommend(
            evidence,
            references,
            releases.codes[masked],
            options,
            question,
            pairs,
            associations=tuple(associations_of(content).values()),
            published=content.joint_trace,
        )
    except AdvisorError as error:
        raise EntryError(f"{entry.name}: {error}") from error
    rows = [
        RankedConfiguration(ids[index], utility, None if isnan(error) else error)
        for (index, _, utility), error in zip(found.ranking, found.ranking.standard_error.tolist(), strict=True)
    ]
    best = len(found.tied)
    rows[:best] = sorted(rows[:best], key=lambda row: (left_out or {}).get(row.id, 0))
    return EntryAdvice(measure, found.ranking_basis, tuple(rows))


def expected_of(entry: EntryDocument, configuration: str) -> dict[str, tuple[Expected, Expected | None]]:
    """Return what a model of each label should reach on a masked table and on the table as it is, by published counts.

    On the masked table it is that of the label as the configuration shows it. A label that is not shown, or whose
    counts do not say it, is left out; `None` stands for a table as it is that they do not describe. Empty for a
    configuration that is not listed.
    """
    from aegis_provider.entry import content_of  # noqa: PLC0415 - slow to load, as above

    content, maskings = content_of(entry), {**maskings_in(entry, configuration)}
    found: dict[str, tuple[Expected, Expected | None]] = {}
    for label in entry.labels or (entry.label.name,):
        shown = maskings.get(label, IDENTITY)
        if maskings and shown != DROP:
            with suppress(AdvisorError):  # its release stands without
                masked, whole = _expected(content.about(label), {entry.label.name: IDENTITY, **maskings}, shown)
                found |= {} if masked is None else {label: (masked, whole)}
    return found


def _expected(task: EntryContent, maskings: Mapping[str, str], shown: str) -> tuple[Expected | None, Expected | None]:
    """Return what is expected on a masked table, and on the table as it is, of a label's task.

    Args:
        shown: The masking that shows the label.
    """
    from aegis_advisor.evidence import evidence_of, pairs_of  # noqa: PLC0415 - slow to load, as above
    from aegis_advisor.ranking import LabelChoices, expected_performance  # noqa: PLC0415
    from aegis_advisor.reconstruction import reconstruct  # noqa: PLC0415

    if shown not in {IDENTITY, *(masking.id for masking in task.label.maskings)}:
        return None, None
    evidence, scores = evidence_of(task), task.label.scores
    labels = LabelChoices(np.zeros(1, dtype=np.intp), (None, task.label.class_of(shown)))
    known = evidence, [reconstruct(each) for each in evidence]
    options = [tuple(dict.fromkeys((maskings[each.name], IDENTITY))) for each in evidence]
    codes, pairs = np.zeros((1, len(evidence)), dtype=np.intp), tuple(pairs_of(task).values())
    weights, variance = np.ones(len(evidence)), None if scores is None else scores.variance
    [masked], whole = expected_performance(*known, options, codes, pairs, weights, task.joint_trace, variance)
    if shown != IDENTITY:
        of_shown = labels.known(1, *known)
        [masked], _ = expected_performance(*of_shown, options, codes, pairs, weights, None, variance)
    return masked, whole


def of_service(answer: Advice) -> EntryAdvice:
    """Return the full answer of the service to a question."""
    rows = [RankedConfiguration(row.configuration, row.utility, row.standard_error) for row in answer.ranking or []]
    return EntryAdvice(str(answer.request["measure"]), answer.ranking_basis or "", tuple(rows))
