"""The claims of the paper on Aegis (000), part by part."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from aegis_advisor.arrays import FloatArray
from aegis_advisor.evidence import AttributeEvidence, Masking
from aegis_advisor.measures import MEASURES
from aegis_advisor.ranking import assess
from aegis_advisor.reconstruction import reconstruct
from research.papers.accuracy import GOLD, OURS, PUBLISHED, Accuracy, entrant
from research.papers.algorithm import Algorithm, measures_that_rank, private_places, rounding_error
from research.papers.claims import FAILS, HOLDS, PARTLY, TESTS, UNJUDGED, Claim, counted
from research.papers.growth import BY_JOINT, BY_MI, EXHAUSTIVE, FOREST, Point, drift, slopes, speeds
from research.papers.summaries import MEASURES as THREE
from research.papers.summaries import Summaries
from research.training import MODELS
from tests.paper_examples import AGE_COUNTS, FIGURE_3, MASKED_AGE, MASKED_BY_M1, MASKED_BY_M2, SAID, YOUNG

VARIES = 0.05
"""An accuracy that varies by more than this varies substantially."""

CLOSE = 0.01
"""An accuracy this far below another is comparable with it."""

FASTER = 10
LINEAR = 1.2
"""An exponent of time up to this is nearly linear."""

FEWEST = 5
K = 5
PARAMETERS = ("records", "attributes", "configurations")
"""What the paper varies; the domain size is ours."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """All that this run measured of 000 and 003, each in the order of the tables."""

    accuracies: Sequence[Accuracy]
    summaries: Sequence[Summaries]
    algorithms: Sequence[Algorithm]
    points: Mapping[str, Sequence[Point]]


def claims(known: Evidence) -> dict[str, list[Claim]]:
    """Return the claims by part of the paper."""
    return {
        "000, abstract and section 1": _introduction(known),
        "000, sections 2 to 4.1": _definitions(known),
        "000, sections 4.2 and 4.3": _reconstruction(known),
        "000, section 5": _evaluation(known),
    }


def _introduction(known: Evidence) -> list[Claim]:
    ranges = [one.range() for one in known.accuracies]
    rates = {step: speeds(known.points, step) for step in (FOREST, EXHAUSTIVE)}
    ranked, measures = measures_that_rank(known.accuracies[0].study)
    blind = [
        known_none.accuracy - one.known[measure, "1D"].accuracy
        for one in known.summaries
        for measure in THREE
        for known_none in [one.known[measure, "none"]]
    ]
    return [
        counted(
            "1, figure 1",
            f"accuracy differs substantially (by over {VARIES:g}) between configurations",
            [each > VARIES for each in ranges],
            f"tables; from {min(ranges):.3f} to {max(ranges):.3f}",
        ),
        counted(
            "abstract, 1",
            f"advice is faster than training on all, by an order of magnitude ({FASTER} times)",
            [rate >= FASTER for each in rates.values() for rate in each],
            f"sizes and models; forest {_span(rates[FOREST])} times, regression {_span(rates[EXHAUSTIVE])}",
        ),
        counted(
            "abstract, 1",
            "without histograms it still selects: the pick's accuracy falls by at most 0.001",
            [each >= -0.001 for each in blind],
            f"tables and measures; by at most {max(0.0, -min(blind)):.4f}",
        ),
        counted(
            "1",
            "the more is known, the better the reconstruction: 2D, 1D, none",
            [one.distances["2D"] <= one.distances["1D"] <= one.distances["none"] for one in known.summaries],
            f"tables; distance 0, {_mean_distance(known, '1D'):.3f}, {_mean_distance(known, 'none'):.3f} on average",
        ),
        Claim(
            "1, 3.2",
            "any measure of joint counts can be used",
            HOLDS if ranked == measures else PARTLY,
            f"of {measures} measures of the product, {ranked} rank all configurations",
        ),
        _beside_anonymity(known),
        Claim(
            "1",
            "it works if features, label or both are masked",
            UNJUDGED,
            "no label is masked here; the product's tests mask some"
            " ([decision 122](../../docs/decisions/0122-masked-labels.md))",
        ),
    ]


def _span(values: Sequence[float]) -> str:
    return f"{min(values):,.3g} to {max(values):,.4g}"


def _mean_distance(known: Evidence, summary: str) -> float:
    return float(np.mean([one.distances[summary] for one in known.summaries]))


def _beside_anonymity(known: Evidence) -> Claim:
    """Among configurations that promise k, is the pick still close to the best of them?"""
    behind = {}
    for one in known.accuracies:
        places = np.array(private_places(one.study, K), dtype=np.int64)
        if places.size >= FEWEST:
            pick = entrant("joint, counts").scores(one.study).pick(places)
            reached = [one.each(model)[places] for model in MODELS]
            behind[one.study.name] = float(np.mean([each.max() - each @ pick for each in reached]))
    return counted(
        "abstract, 1",
        f"it complements k-anonymity: among configurations with k = {K}, the pick is within {CLOSE:g} of the best",
        [each <= CLOSE for each in behind.values()],
        f"tables with {FEWEST} such configurations; behind by {', '.join(f'{each:.3f}' for each in behind.values())}",
    )


def _definitions(known: Evidence) -> list[Claim]:
    view = Masking("young or old", 2, np.where(YOUNG, 0, 1), MASKED_AGE, deterministic=True)
    age = AttributeEvidence("age", len(AGE_COUNTS), MASKED_AGE.sum(axis=0), AGE_COUNTS, None, (view,))
    assessed = [assess(age, reconstruct(age), MEASURES[name], [view.id]) for name in SAID]
    possible = [f"{one.lower_bound:.3g} to {one.upper_bound:.4g}" for one in assessed]
    alike, total = (sum(each) for each in zip(*(one.folded for one in known.algorithms), strict=True))
    zero = [share for one in known.algorithms for share in one.none_deviates.values()]
    exponents = {axis: slopes(known.points)[axis, BY_MI] for axis in ("attributes", "configurations", "domain")}
    return [
        counted(
            "2",
            "two configurations make two masked tables of the six records of figure 3",
            _as_printed(),
            "cells; the text puts age 43 into 31-40, which is 41-50",
            TESTS,
        ),
        Claim(
            "3.2.1",
            "age tells 0.640 bits, g3 = 0.53, chi-square = 85.96",
            UNJUDGED,
            f"the joint counts are not in the text; all that it gives allows {'; '.join(possible)}",
            TESTS,
        ),
        counted(
            "4.1",
            "algorithm 1 finds the least deviation: read literally, configurations deviate by more than 0",
            [share < 1 for share in zero],
            f"tables and measures; {min(zero):.0%} to {max(zero):.0%} of the configurations deviate by 0, and the pick"
            f" is behind gold by {max(one.behind(PUBLISHED).mean for one in known.accuracies):.3f} at most",
        ),
        counted(
            "4.1, lemma 1",
            "time is at most linear in attributes and configurations, and by 4.2 in values (by MI)",
            [each <= LINEAR for each in exponents.values()],
            "axes; exponents " + ", ".join(f"{each:.2f} ({axis})" for axis, each in exponents.items()),
        ),
        Claim(
            "4.1",
            "counts of masked tables need no masked table",
            HOLDS if alike == total else FAILS,
            f"of {total:,} tables of attributes and configurations, {alike:,} equal the counts of masked records",
        ),
    ]


def _as_printed() -> list[bool]:
    """Return for each masked cell of both tables whether the text prints what the masking makes of the value."""
    ages, weights = (list(map(int, FIGURE_3[name])) for name in ("Age", "Weight"))
    decades = [f"{(age - 1) // 10 * 10 + 1}-{(age - 1) // 10 * 10 + 10}" for age in ages]
    pairs = [
        (decades, MASKED_BY_M1["Age"]),
        ([f"{weight}"[0] + "*" for weight in weights], MASKED_BY_M1["Weight"]),
        (["*"] * len(ages), MASKED_BY_M1["Zip"]),
        (["Young" if age <= 45 else "Old" for age in ages], MASKED_BY_M2["Age"]),
        ([f"{weight // 5 * 5}-{weight // 5 * 5 + 5}" for weight in weights], MASKED_BY_M2["Weight"]),
    ]
    return [one == printed for made, told in pairs for one, printed in zip(made, told, strict=True)]


def _reconstruction(known: Evidence) -> list[Claim]:
    pairs = [pair for one in known.algorithms for pair in one.iterated]
    converged = [each.certificate.converged for pair in pairs for each in pair]
    empty = [one.empty for one in known.algorithms]
    sooner = [without.certificate.iterations <= given.certificate.iterations for given, without in pairs]
    steps = [np.mean([pair[place].certificate.iterations for pair in pairs]) for place in (0, 1)]
    error = max(rounding_error(one.study) for one in known.algorithms)
    information = MEASURES["mutual_information"](MASKED_AGE.astype(np.float64))
    return [
        counted(
            "4.2, example",
            "without constraints, four ages and five classes have 5 records each",
            (_unconstrained() == 5).ravel(),
            "cells",
            TESTS,
        ),
        Claim(
            "4.2",
            "all cells are above 0, so the fit converges",
            PARTLY if all(converged) and max(empty) > 0 else HOLDS if all(converged) else FAILS,
            f"of {len(converged)} fits, {sum(converged)} converge; {min(empty):.0%} to {max(empty):.0%} of cells are 0",
        ),
        Claim(
            "4.2",
            "in whole numbers and least squares the problem is NP-hard",
            UNJUDGED,
            "a reference of the paper, without an experiment; the product fits by relative entropy",
        ),
        counted(
            "4.2, case II",
            "without histograms it converges sooner",
            sooner,
            f"attributes with overlapping views need no more steps; {steps[0]:.1f} with, {steps[1]:.1f} without",
        ),
        Claim(
            "4.2",
            "randomised rounding keeps the counts on average",
            HOLDS if error < 5 else FAILS,
            f"the worst cell's mean is {error:.1f} standard errors off",
        ),
        Claim(
            "4.3, example",
            "masked age tells about 0.42 bits of health",
            HOLDS if abs(information - 0.42) < 0.005 else FAILS,
            f"I = {information:.4f} bits",
            TESTS,
        ),
    ]


def _unconstrained() -> FloatArray:
    """Return (4 ages, 5 classes) what is reconstructed of 100 people without any view or histogram of age."""
    reference = reconstruct(AttributeEvidence("age", 4, np.full(5, 20), None, None, ()))
    sizes = np.bincount(reference.atom_of_value)
    by_value: FloatArray = (reference.joint / sizes[:, np.newaxis])[reference.atom_of_value]
    return by_value


def _evaluation(known: Evidence) -> list[Claim]:
    behind = {one.study.name: one.behind(OURS).mean for one in known.accuracies}
    tasks = [
        float((one.of_pick(GOLD, model) - one.of_pick(OURS, model)).mean())
        for one, model in product(known.accuracies, MODELS)
    ]
    rivals = [one.behind(OURS, rival) for one in known.accuracies for rival in ("Mascara", "sampling")]
    variants = [each for one in known.summaries for each in (one.pooled.histogram, one.pooled.no_histogram)]
    own = [
        (one.own(summary), one.pooled.variants[name].sampled)
        for one, (summary, name) in product(known.summaries, (("1D", "known"), ("none", "unknown")))
    ]
    drifts = [drift(known.points[axis], title) for axis, title in product(PARAMETERS, (OURS, *THREE))]
    domain = [drift(known.points["domain"], title) for title in (OURS, *THREE)]
    exponents = {key: each for key, each in slopes(known.points).items() if key[0] in PARAMETERS}
    return [
        counted(
            "5, 5.2",
            f"the pick's accuracy is comparable with the best (within {CLOSE:g}), for each task",
            [each <= CLOSE for each in tasks],
            f"tables and models; behind by {max(tasks):.3f} at most, per table by "
            + ", ".join(f"{each:.3f}" for each in behind.values()),
        ),
        counted(
            "5",
            "it is no worse than Mascara and sampling (not certainly behind)",
            [each.lower <= 0 for each in rivals],
            f"tables and rivals; certainly ahead in {sum(each.upper < 0 for each in rivals)}",
        ),
        counted(
            "5",
            "reconstruction is better than sampling, with and without histograms",
            [variant.complete < variant.sampled for variant in variants],
            f"tables and variants, from all masked tables; from the picked one alone,"
            f" {sum(ours < drawn for ours, drawn in own)} of {len(own)}",
        ),
        counted(
            "5",
            "records, attributes and configurations do not impact effectiveness (loss not certainly larger)",
            [each.lower <= 0 for each in drifts],
            f"axes and measures; accuracy lost grows by {max(each.mean for each in drifts):.3f} at most",
        ),
        counted(
            "(not in it)",
            "nor does the domain size",
            [each.lower <= 0 for each in domain],
            f"measures; accuracy lost grows by {min(each.mean for each in domain):.3f} to"
            f" {max(each.mean for each in domain):.3f}",
        ),
        counted(
            "5",
            "time grows nearly linearly with records, attributes and configurations",
            [each <= LINEAR for each in exponents.values()],
            "axes and kinds of advice; exponents of MI "
            + ", ".join(f"{exponents[axis, BY_MI]:.2f}" for axis in PARAMETERS)
            + ", of joint "
            + ", ".join(f"{exponents[axis, BY_JOINT]:.2f}" for axis in PARAMETERS),
        ),
        Claim(
            "5.1, table 2; 5.2 on",
            "statistics, accuracies, distances and times",
            UNJUDGED,
            "the text ends in table 2; ours are above",
        ),
    ]
