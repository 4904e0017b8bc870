"""The same attributes behind views that overlap: merges of values drawn at random, which have no closed form."""

from dataclasses import replace

import numpy as np

from aegis_advisor.arrays import IntArray, fold
from aegis_advisor.evidence import AttributeEvidence, Masking
from bench.evaluation.study import Study

VIEWS = 4
MERGED = 4
"""So many values share a masked value, one more where the values do not divide by it."""

FEWEST = 8
"""Attributes with fewer values are left out: there is little to merge in more than one way."""

SEED = 5


def regrouped(study: Study) -> Study | None:
    """The study's attributes of enough values, each with views of values merged at random in place of its maskings.

    Reconstruction only: configurations and pairs remain those of the study, and do not fit. None if none is left.
    """
    known = [pair for pair in zip(study.evidence, study.truths, strict=True) if pair[0].values >= FEWEST]
    if not known:
        return None
    evidence = tuple(replace(one, maskings=_merges(one, truth)) for one, truth in known)
    return replace(study, evidence=evidence, truths=tuple(truth for _, truth in known))


def _merges(evidence: AttributeEvidence, truth: IntArray) -> tuple[Masking, ...]:
    rng = np.random.default_rng((SEED, *evidence.name.encode()))
    groups = evidence.values // MERGED
    mappings = [rng.permutation(np.arange(evidence.values) % groups) for _ in range(VIEWS)]
    return tuple(
        Masking(f"merge-{number}", groups, mapping, fold(truth, mapping, groups), deterministic=True)
        for number, mapping in enumerate(mappings)
    )
