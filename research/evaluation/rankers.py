"""The rankers that need no training: Aegis by measure and by what is published, and its rivals."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Literal

import numpy as np

from aegis_advisor.arrays import FloatArray, IntArray
from aegis_advisor.evidence import AttributeEvidence, Masking
from aegis_advisor.measures import MEASURES
from aegis_advisor.ranking import Question, Recommendation, recommend
from aegis_advisor.reconstruction import Reference, reconstruct
from research.rivals.mascara import mascara
from research.rivals.mrmr import mrmr
from research.rivals.sampling import SEED as SAMPLED
from research.rivals.sampling import sampling, sampling_views
from research.study import Study

Ranker = Callable[[Study], FloatArray]
"""Returns the utility (configurations,) of each configuration; higher is better."""

Knowledge = Literal["counts", "no histograms", "half", "half, no histograms"]

KNOWLEDGE: dict[Knowledge, str] = {
    "counts": "all maskings counted, histograms known",
    "no histograms": "all maskings counted, no histograms",
    "half": "half of the maskings counted, histograms known",
    "half, no histograms": "half of the maskings counted, no histograms",
}
PUBLISHED = ("mutual_information", "chi_square", "g3")
"""The measures by which the published algorithm is evaluated."""

SEED = 11
RANKING = [measure for measure in MEASURES.values() if not measure.uses_scores]
"""All measures but those of labels with scores, which no table here has."""

DRAWS = 5
"""How often a ranker that draws at random ranks a study, each time with a seed of its own."""

TIES = 1e-9
"""Utilities this close, relative to the largest, are a tie."""


@dataclass(frozen=True, eq=False)
class Scores:
    """A ranker's output for a study.

    Attributes:
        utilities: (configurations,) higher is better; ties are equal.
        order: (configurations,) best first, ties broken; None if the ranker does not break ties.
    """

    utilities: FloatArray
    order: IntArray | None = None

    def tied(self, places: IntArray) -> int:
        """Return how many of the configurations at these indices share the best utility."""
        return int(np.sum(self.utilities[places] == self.utilities[places].max()))

    def pick(self, places: IntArray) -> FloatArray:
        """Return (places,) the probability that each is picked; equal for ties without an order."""
        if self.order is not None:
            chosen = self.order[np.isin(self.order, places)][0]
            return (places == chosen).astype(np.float64)
        best = self.utilities[places] == self.utilities[places].max()
        return best / best.sum()


@dataclass(frozen=True)
class Entrant:
    """A ranker that takes part.

    Attributes:
        id: unique.
        title: in the report's tables; unique among those of full knowledge.
        group: what is known about the maskings (`KNOWLEDGE`), `otherwise` (bias correction the opposite of the
            default), `published` or `rivals`.
        scores: ranks the configurations of a study.
        again: the same with other seeds, if it draws at random.
    """

    id: str
    title: str
    group: str
    scores: Callable[[Study], Scores]
    again: tuple[Callable[[Study], Scores], ...] = ()


def entrants() -> Iterator[Entrant]:
    """Yield all entrants in the report's order."""
    yield from _by_knowledge("counts")
    for measure in RANKING:
        if measure.correction is not None:
            correct = not measure.corrected_by_default
            asked = partial(_by_product, measure=measure.id, bias_correction=correct)
            how = "bias corrected" if correct else "not corrected"
            yield Entrant(f"{measure.id}, {how}", f"{named(measure.id)}, {how}", "otherwise", asked)
    for name in PUBLISHED:
        drawn = [
            partial(_by_product, measure=name, reference="own", rounding_seed=SEED + draw) for draw in range(DRAWS)
        ]
        yield Entrant(f"{name}, own", f"published: {named(name)}", "published", drawn[0], tuple(drawn[1:]))
    for title, rankers in RIVALS.items():
        first, *again = (partial(outside, ranker=ranker) for ranker in rankers)
        yield Entrant(title, title, "rivals", first, tuple(again))
    for knowledge in list(KNOWLEDGE)[1:]:
        yield from _by_knowledge(knowledge)


def _by_knowledge(knowledge: Knowledge) -> Iterator[Entrant]:
    """Yield an entrant per measure. Joint measures need the counts of every masking used, so `half` leaves them out."""
    for measure in RANKING:
        if not (measure.is_joint and knowledge.startswith("half")):
            asked = partial(_by_product, measure=measure.id, knowledge=knowledge)
            yield Entrant(f"{measure.id}, {knowledge}", named(measure.id), knowledge, asked)


def named(measure: str) -> str:
    """Return a measure's id as words."""
    return measure.replace("_", " ")


def outside(study: Study, ranker: Ranker) -> Scores:
    """Return the scores of a rival, which does not break ties."""
    return Scores(_rounded(ranker(study)))


@cache
def known(evidence: tuple[AttributeEvidence, ...], knowledge: Knowledge) -> tuple[AttributeEvidence, ...]:
    """Return the part of a study's evidence that is published."""
    if knowledge.startswith("half"):
        evidence = tuple(_half_counted(one, place) for place, one in enumerate(evidence))
    if knowledge.endswith("no histograms"):
        evidence = tuple(replace(one, histogram=None) for one in evidence)
    return evidence


@cache
def references(evidence: tuple[AttributeEvidence, ...], knowledge: Knowledge) -> tuple[Reference, ...]:
    """Return the pooled reference of each attribute, computed once for all measures."""
    return tuple(map(reconstruct, known(evidence, knowledge)))


def ask(study: Study, question: Question, knowledge: Knowledge = "counts") -> Recommendation:
    """Return the product's answer."""
    table, evidence = study.configurations, known(study.evidence, knowledge)
    pooled = references(study.evidence, knowledge)
    return recommend(
        evidence, pooled, table.codes, table.options, question, study.pairs, associations=study.associations
    )


def _by_product(
    study: Study,
    measure: str,
    knowledge: Knowledge = "counts",
    reference: Literal["pooled", "own"] = "pooled",
    rounding_seed: int | None = None,
    bias_correction: bool | None = None,  # noqa: FBT001 -- bound by name
) -> Scores:
    """Score by the product, and break ties as it does: by mutual information, then by the configurations' order."""
    if bias_correction is None:
        bias_correction = MEASURES[measure].corrected_by_default
    weights = np.full(len(study.evidence), 1 / len(study.evidence))
    question = Question(measure, study.attributes, weights, reference, rounding_seed, None, bias_correction)
    ranking = ask(study, question, knowledge).ranking
    utilities = np.empty(len(ranking))
    utilities[ranking.index] = -ranking.deviation
    return Scores(_rounded(utilities), ranking.index)


def _half_counted(evidence: AttributeEvidence, place: int) -> AttributeEvidence:
    """Keep the counts of half of the maskings, one of them informative, and only the mapping of the others."""
    rng = np.random.default_rng([SEED, place])
    telling = [number for number, masking in enumerate(evidence.maskings) if masking.groups > 1]
    first = int(rng.choice(telling))
    others = rng.permutation([number for number in range(len(evidence.maskings)) if number != first])
    counted = {first, *others[: (len(evidence.maskings) - 1) // 2].tolist()}
    return replace(evidence, maskings=tuple(_bare(each, n in counted) for n, each in enumerate(evidence.maskings)))


def _bare(masking: Masking, counted: bool) -> Masking:  # noqa: FBT001 -- private
    return masking if counted else replace(masking, joint=None)


def _rounded(utilities: FloatArray) -> FloatArray:
    """Return the utilities without the rounding noise that would separate ties."""
    scale = float(np.abs(utilities).max()) or 1.0
    return np.round(utilities / (scale * TIES)) * (scale * TIES)


def _no_opinion(study: Study) -> FloatArray:
    return np.zeros(len(study.configurations.ids))


def _drawing(ranker: Callable[..., FloatArray]) -> tuple[Ranker, ...]:
    return tuple(partial(ranker, seed=SAMPLED + draw) for draw in range(DRAWS))


RIVALS: Mapping[str, tuple[Ranker, ...]] = {
    "Mascara": (mascara,),
    "sampling": _drawing(sampling),
    "sampling in a view": _drawing(sampling_views),
    "mRMR": (mrmr,),
    "random choice": (_no_opinion,),
}
"""The rivals by title; those that draw at random have one ranker per seed."""
