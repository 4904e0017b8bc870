"""The claims of the draft (003) that the paper does not repeat."""

from itertools import product

import numpy as np

from aegis_advisor.measures import MEASURES
from research.papers.claims import TESTS, UNJUDGED, Claim, counted
from research.papers.claims_of_aegis import CLOSE, Evidence
from research.papers.summaries import MEASURES as THREE
from tests.paper_examples import DRAFT_HEALTH, DRAFT_LABELS, DRAFT_MASKED, DRAFT_TABLES, MASKED_AGE
from tests.paper_examples import counted as counts_of

SPREAD = 0.1
FOLLOWS = 0.5


def claims(known: Evidence) -> list[Claim]:
    """Return the claims of the draft."""
    behind = [one.behind(measure).mean for one, measure in product(known.accuracies, THREE)]
    spreads = [one.spread[measure] for one, measure in product(known.algorithms, THREE)]
    follows = [one.follows["g3"] for one in known.algorithms]
    violations = MASKED_AGE.sum() - MASKED_AGE.max(axis=1).sum()
    formula, g3 = 1 - violations / MASKED_AGE.sum(), MEASURES["g3"](MASKED_AGE.astype(np.float64))
    blind = [(one.distances["1D"], one.distances["none"], one.pooled.no_histogram.sampled) for one in known.summaries]
    equal = [
        np.array_equal(counts_of(DRAFT_MASKED[name], DRAFT_HEALTH, DRAFT_LABELS), printed)
        for name, printed in DRAFT_TABLES.items()
    ]
    return [
        counted(
            "abstract",
            f"by each of three measures, the pick keeps predictive performance (within {CLOSE:g} of gold)",
            [each <= CLOSE for each in behind],
            f"tables and measures; behind by {max(behind):.3f} at most",
        ),
        counted(
            "1, note 1",
            f"configurations impact the correlation (deviations spread over {SPREAD:.0%} of its value)",
            [each > SPREAD for each in spreads],
            f"tables and measures; {min(spreads):.0%} to {max(spreads):.0%}",
        ),
        counted(
            "4.1",
            f"what changes g3 least keeps predictive utility (correlation with accuracy over {FOLLOWS:g})",
            [each > FOLLOWS for each in follows],
            f"tables; Spearman {min(follows):.2f} to {max(follows):.2f}",
        ),
        counted(
            "5.1, 6.1",
            "the share of records that do not violate is g3",
            [np.isclose(formula, g3)],
            f"example of 000, 4.3: {formula:.2f} by this formula, {g3:.2f} by the definition in 4.1",
        ),
        Claim(
            "5.2, 6.2",
            "the fit starts from the masked counts and meets the histogram",
            UNJUDGED,
            "masked counts have a row per masked value, the histogram a number per value; 000 starts uniform",
        ),
        counted(
            "6.4",
            "without histograms it is worse than with them, yet a reasonable approximation (better than sampling)",
            [given <= none < drawn for given, none, drawn in blind],
            f"tables; distance {np.mean([none for _, none, _ in blind]):.3f}, of sampling"
            f" {np.mean([drawn for *_, drawn in blind]):.3f}",
        ),
        counted(
            "6.6",
            "tables 2 to 4 are the counts of figure 3",
            equal,
            "tables; the second has 4, 1, 1 of the classes and the third 2, 1, 3 where the figure has 3, 1, 2",
            TESTS,
        ),
        Claim("7", "its evaluation", UNJUDGED, "tables and results are left empty in the draft"),
    ]
