"""Evidence as if the label had been masked before anything was counted: the consumer's question."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from aegis_advisor.arrays import FloatArray, IntArray, fold
from aegis_advisor.atoms import coarsening
from aegis_advisor.evidence.attribute import AttributeEvidence, Masking


def with_label_masked(evidence: AttributeEvidence, class_of: IntArray) -> AttributeEvidence:
    """Return the evidence on an attribute and a masked label.

    Counts of all labels are folded. Those of blocks whose classes lie within the new ones become counts of their
    masking; blocks of coarser classes stay blocks, and others say nothing about the masked label.

    Args:
        class_of: (labels,) the masked label of each label, below the number of masked labels; each has a label.
    """
    classes, terms = int(class_of.max()) + 1, int(np.bincount(class_of).max())
    joint, scores = evidence.joint, evidence.label_scores
    whole = None if joint is not None else next(_of_whole_values(evidence, class_of), None)
    if whole is not None and whole.perturbation.is_none:
        joint = whole.joint
    elif joint is not None:
        joint = _merged(joint, class_of)
    inexact = () if whole is None or joint is not None else (whole,)
    return replace(
        evidence,
        label_histogram=fold(evidence.label_histogram[:, np.newaxis], class_of, classes)[:, 0],
        joint=joint,
        maskings=(*(_counted(evidence, masking, class_of, terms) for masking in evidence.maskings), *inexact),
        label_perturbation=evidence.label_perturbation.of_sums(terms),
        blocks=tuple(_still_blocks(evidence, class_of, classes)),
        label_scores=None if scores is None else _mean_scores(scores, evidence.label_histogram, class_of),
    )


def _merged(joint: IntArray, class_of: IntArray) -> IntArray:
    """Add up the columns (groups, labels) of each class."""
    return np.ascontiguousarray(fold(np.ascontiguousarray(joint.T), class_of, int(class_of.max()) + 1).T)


def _counted(evidence: AttributeEvidence, masking: Masking, class_of: IntArray, terms: int) -> Masking:
    """A masking with its counts of the masked label: its own, or those of a block with the same groups."""
    if masking.joint is not None:
        perturbation = masking.perturbation.of_sums(terms)
        return replace(masking, joint=_merged(masking.joint, class_of), perturbation=perturbation)
    for mapping, label_mapping, joint, block in _tables(evidence):
        merges = coarsening(label_mapping, class_of, joint.shape[1])
        if merges is not None and masking.mapping is not None and np.array_equal(mapping, masking.mapping):
            perturbation = block.perturbation.of_sums(int(np.bincount(merges).max()))
            return replace(masking, joint=_merged(joint, merges), perturbation=perturbation)
    return masking


def _of_whole_values(evidence: AttributeEvidence, class_of: IntArray) -> Iterator[Masking]:
    """The counts of all values with the masked label, in blocks that tell them apart."""
    for mapping, label_mapping, joint, block in _tables(evidence):
        merges = coarsening(label_mapping, class_of, joint.shape[1])
        if merges is not None and np.array_equal(mapping, np.arange(evidence.values)):
            perturbation = block.perturbation.of_sums(int(np.bincount(merges).max()))
            yield replace(block, joint=_merged(joint, merges), perturbation=perturbation, label_mapping=None)


def _still_blocks(evidence: AttributeEvidence, class_of: IntArray, classes: int) -> Iterator[Masking]:
    """The blocks whose classes are coarser than the masked labels."""
    for _, label_mapping, joint, block in _tables(evidence):
        merged = coarsening(class_of, label_mapping, classes)
        if merged is not None and coarsening(label_mapping, class_of, joint.shape[1]) is None:
            yield replace(block, label_mapping=merged)


def _tables(evidence: AttributeEvidence) -> Iterator[tuple[IntArray, IntArray, IntArray, Masking]]:
    """The mapping, the mapping of the label and the counts of each block."""
    for block in evidence.blocks:
        if block.mapping is not None and block.label_mapping is not None and block.joint is not None:
            yield block.mapping, block.label_mapping, block.joint, block


def _mean_scores(scores: FloatArray, histogram: IntArray, class_of: IntArray) -> FloatArray:
    """The mean score of each class, by the records of its labels."""
    weights = np.maximum(histogram, 0) + 1e-9  # classes without records have the plain mean
    means: FloatArray = np.bincount(class_of, weights * scores) / np.bincount(class_of, weights)
    return means
