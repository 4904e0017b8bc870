"""Other orders of offers: by what a catalogue knows, by words, and by what a provider could measure or publish."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from aegis_advisor.arrays import FloatArray, IntArray
from aegis_advisor.evidence import DROP, IDENTITY, EntryContent, evidence_of
from aegis_advisor.expected.performance import generalised
from aegis_advisor.measures import MEASURES
from aegis_sdk.reading import maskings_in
from research.discovery.entries import Offer

TERM_SATURATION, LENGTH = 1.2, 0.75
"""The usual constants of BM25, `k1` and `b`."""

EPSILON, DELTA = 1.0, 1e-5


def bm25(query: Sequence[str], documents: Sequence[Sequence[str]]) -> FloatArray:
    """(documents,) the scores of Robertson's BM25, as Lucene computes it, for words of a query.

    Robertson and Zaragoza 2009, "The probabilistic relevance framework: BM25 and beyond".
    """
    lengths = np.array([len(words) for words in documents], dtype=np.float64)
    counts = [Counter(words) for words in documents]
    scores, norm = np.zeros(lengths.size), TERM_SATURATION * (1 - LENGTH + LENGTH * lengths / lengths.mean())
    for word in dict.fromkeys(query):
        often = np.array([one[word] for one in counts], dtype=np.float64)
        containing = np.count_nonzero(often)
        rarity = np.log1p((lengths.size - containing + 0.5) / (containing + 0.5))
        scores += rarity * often * (TERM_SATURATION + 1) / (often + norm)
    return scores


def information(offer: Offer, content: EntryContent) -> float:
    """The sum over the attributes of what their masked values tell about the label, in bits, by published counts."""
    told, choices = 0.0, maskings_in(offer.entry, offer.best)
    for one in evidence_of(content):
        joint = one.joint if choices[one.name] == IDENTITY else None
        if choices[one.name] not in (IDENTITY, DROP):
            joint = next(each.joint for each in one.maskings if each.id == choices[one.name])
        if joint is not None:
            told += MEASURES["mutual_information"](np.maximum(joint, 0).astype(np.float64))
    return told


def private_r_squared(masked: IntArray, classes: IntArray, random: np.random.Generator) -> float:
    """The `R^2` of linear regression from sufficient statistics with Gaussian noise, as Saibot publishes them.

    A record is its masked values as numbers from -1 to 1 and, for each class, 1 or -1. Its products move each of the
    `m` sums by at most 1, so noise of `noise_scale(m)` makes all of them differentially private. Of several classes, it
    is the mean over these.
    """
    spread = np.maximum(masked.max(axis=0, initial=0), 1)
    labels = np.where(classes[:, np.newaxis] == np.unique(classes)[1:], 1.0, -1.0)
    records = np.hstack([np.ones((len(masked), 1)), 2 * masked / spread - 1, labels])
    sums, size = records.T @ records, records.shape[1]
    noise = np.triu(random.normal(0, noise_scale(size * (size + 1) // 2), (size, size)))
    sums = sums + noise + np.triu(noise, 1).T
    means = sums[0] / max(sums[0, 0], 1.0)
    spreads = (sums / max(sums[0, 0], 1.0) - np.outer(means, means))[1:, 1:]
    values, vectors = np.linalg.eigh(spreads[: masked.shape[1], : masked.shape[1]])
    shared = vectors.T @ spreads[: masked.shape[1], masked.shape[1] :]
    floor = 1 / len(masked)
    explained = (np.square(shared) / np.maximum(values, floor)[:, np.newaxis]).sum(axis=0)
    return float(np.mean(np.clip(explained / np.maximum(np.diag(spreads)[masked.shape[1] :], floor), 0, 1)))


def noise_scale(sums: int) -> float:
    """The standard deviation of Gaussian noise on so many sums that a record moves by at most 1 each.

    `sqrt(2 ln(1.25 / delta)) sqrt(sums) / epsilon`: Dwork and Roth 2014, "The algorithmic foundations of differential
    privacy", theorem A.1.
    """
    return float(np.sqrt(2 * np.log(1.25 / DELTA) * sums) / EPSILON)


def shrunk(trace: float, classes: int, dimensions: int, records: int) -> tuple[float, float]:
    """The `R^2` of new records by Browne, from the adjusted trace, and that less two of its standard errors."""
    adjusted = share(trace, classes)
    error = np.sqrt(4 * adjusted * (1 - adjusted) ** 2 / records)
    below = generalised(adjusted, dimensions, records)
    return below, below - 2 * float(error)


def share(trace: float, classes: int) -> float:
    """The share of the label's variance explained, the mean over its dimensions."""
    return float(np.clip(trace / max(classes - 1, 1), 0, 1))
