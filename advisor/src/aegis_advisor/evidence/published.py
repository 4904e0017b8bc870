"""Conversion of a published entry to evidence; the field names are those of the contract."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from aegis_advisor.arrays import IntArray
from aegis_advisor.evidence.attribute import AttributeEvidence, Masking
from aegis_advisor.evidence.pair import PairAssociation, PairCounts
from aegis_advisor.evidence.perturbation import Perturbation


def attribute_evidence(
    attribute: Mapping[str, Any], label: Mapping[str, Any], control: Mapping[str, Any] | None = None
) -> AttributeEvidence:
    """Return the evidence on one attribute of a validated entry, whose counts are lists or arrays.

    Args:
        attribute: an item of the entry's `attributes`.
        label: the entry's `label`.
        control: the entry's `disclosure_control`.
    """
    label_histogram = np.asarray(label["histogram"], dtype=np.int64)
    about_label = _perturbation(label, None)
    records = int(label_histogram.sum()) if about_label.is_none else None
    return AttributeEvidence(
        name=attribute["name"],
        values=len(attribute["domain"]),
        label_histogram=label_histogram,
        histogram=_counts(attribute.get("histogram")),
        joint=_counts(attribute.get("joint")),
        maskings=tuple(_masking(masking, records) for masking in attribute.get("maskings") or ()),
        label_perturbation=about_label,
        rounded_once=rounded_once(control or {}),
    )


def rounded_once(control: Mapping[str, Any]) -> int | None:
    """The base of the counts that declare nothing, by the entry's `disclosure_control`; None if they are exact."""
    return control.get("rounded_to") if control.get("rounding") == "once" else None


def pair_counts(pair: Mapping[str, Any], attributes: tuple[int, int]) -> PairCounts:
    """Return the counts of one of the entry's `pairs`, given the indices of its attributes in the evidence."""
    first, second = pair["maskings"]
    joint, known = np.asarray(pair["joint"], dtype=np.int64), pair.get("counted_with")
    counted_with = None if known is None else (np.asarray(known[0], np.int64), np.asarray(known[1], np.int64))
    return PairCounts(attributes, (first, second), joint, _perturbation(pair, None), counted_with)


def pair_association(pair: Mapping[str, Any], attributes: tuple[int, int]) -> PairAssociation:
    """Return what one of the entry's `pairs` tells of the label, given its attributes' indices in the evidence."""
    (first, second), known = pair["maskings"], pair["with_label"]
    numbers = float(known["chi_square"]), known["combinations"], known.get("rounded_to"), known.get("digits")
    return PairAssociation(attributes, (first, second), *numbers, _perturbation(known, None).noise_scale)


def _masking(masking: Mapping[str, Any], records: int | None) -> Masking:
    transition = masking.get("transition")
    return Masking(
        id=masking["id"],
        groups=len(masking["domain"]),
        mapping=_counts(masking.get("mapping")),
        joint=_counts(masking.get("joint")),
        deterministic=_is_deterministic(masking),
        perturbation=_perturbation(masking, records),
        transition=None if transition is None else np.asarray(transition, dtype=np.float64),
    )


def _perturbation(declared: Mapping[str, Any], records: int | None) -> Perturbation:
    """Return what a masking or the label declares about its counts.

    A declaration that all `records` are counted is dropped, since it says nothing. If the number of records is not
    certain (None), it is kept.
    """
    noise, counted = declared.get("noise"), declared.get("records")
    return Perturbation(
        noise_scale=None if noise is None else float(noise["scale"]),
        rounded_to=declared.get("rounded_to"),
        records=None if counted == records else counted,
        within=declared.get("within"),
    )


def _is_deterministic(masking: Mapping[str, Any]) -> bool:
    """Whether a masking is a function of the value: its mapping is known, or its provider says so."""
    return masking.get("mapping") is not None or bool(masking.get("deterministic"))


def _counts(published: Any) -> IntArray | None:  # noqa: ANN401 - lists of any depth, or an array
    return None if published is None else np.asarray(published, dtype=np.int64)
