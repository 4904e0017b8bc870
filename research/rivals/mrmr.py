"""mRMR: relevance minus redundancy, from the same pair counts that the joint measure uses.

Peng, Long & Ding 2005, Feature selection based on mutual information: criteria of max-dependency, max-relevance and
min-redundancy, equation 6, with means over the attributes and over the other attributes of each. Here it is a sum over
the attributes shared, so that sharing one more can raise it (the form of Brown et al. 2012, Conditional likelihood
maximisation, section 4).
"""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from aegis_advisor.arrays import FloatArray
from aegis_advisor.evidence import IDENTITY, AttributeEvidence, PairCounts
from aegis_advisor.measures import mutual_information
from research.study import Study, mapping_of

Masked = tuple[int, str]
"""The index of an attribute, and the id of its masking."""


def mrmr(study: Study) -> FloatArray:
    """Return (configurations,) sum_i I(A_i; Y) - 1 / (m - 1) sum_{i<j} I(A_i; A_j) of the m attributes shared, in bit.

    An attribute is shared if it has more than one masked value. Each A_i is masked as the configuration says.

    Raises:
        ValueError: counts that a configuration needs are not known.
    """
    relevance = Relevance(study.evidence)
    redundancy = redundancies(study.pairs)
    table = study.configurations
    return np.array([_score(_shared(study.evidence, table.options, row), relevance, redundancy) for row in table.codes])


class Relevance(dict[Masked, float]):
    """The mutual information, in bits, of masked attributes and the label, computed on first use."""

    def __init__(self, evidence: Sequence[AttributeEvidence]) -> None:
        super().__init__()
        self._evidence = evidence

    def __missing__(self, masked: Masked) -> float:
        place, option = masked
        self[masked] = mutual_information(_table(self._evidence[place], option))
        return self[masked]


def redundancies(pairs: Sequence[PairCounts]) -> dict[frozenset[Masked], float]:
    """Return the mutual information, in bits, of all pairs of masked attributes with known pair counts."""
    return {
        frozenset(zip(pair.attributes, pair.maskings, strict=True)): mutual_information(pair.joint.astype(np.float64))
        for pair in pairs
    }


def _score(
    shared: Sequence[Masked], relevance: Mapping[Masked, float], redundancy: Mapping[frozenset[Masked], float]
) -> float:
    masked_pairs = [frozenset(pair) for pair in combinations(shared, 2)]
    for pair in masked_pairs:
        if pair not in redundancy:
            raise ValueError(f"the pair counts of {sorted(pair)} are not known")
    overlap = sum(redundancy[pair] for pair in masked_pairs)
    return sum(relevance[one] for one in shared) - overlap / max(len(shared) - 1, 1)


def _shared(
    evidence: Sequence[AttributeEvidence], options: Sequence[tuple[str, ...]], codes: Sequence[int]
) -> list[Masked]:
    """Return the attributes that a configuration shares, with the masking of each."""
    masked = [(place, names[code]) for place, (names, code) in enumerate(zip(options, codes, strict=True))]
    return [one for one in masked if mapping_of(evidence[one[0]], one[1]).any()]


def _table(evidence: AttributeEvidence, option: str) -> FloatArray:
    joint = evidence.joint if option == IDENTITY else evidence.masking(option).joint
    if joint is None:
        raise ValueError(f"the counts of {option!r} of {evidence.name!r} are not known")
    return joint.astype(np.float64)
