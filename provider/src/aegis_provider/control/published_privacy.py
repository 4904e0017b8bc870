"""The published privacy of configurations: promises unchanged, and measured values beyond them in steps."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from aegis_advisor.evidence import evidence_of
from aegis_advisor.verdict import Totals, label_totals, published_privacy
from aegis_provider.entry import content_of
from aegis_provider.plan.model import DROP, IDENTITY, Plan
from aegis_sdk.wire import Attribute, Configuration, EntryDocument, GeneratedConfiguration

_MANY = 20
"""A value with this many times the base is assumed to have the published records: chance hardly changes them."""


def with_published_privacy(entry: EntryDocument, plan: Plan) -> EntryDocument:
    """Return an entry whose privacy values disclose no small count of a class (`published_privacy`).

    Args:
        entry: The entry, with its counts controlled.
        plan: Its plan, with the promises and the sensitive attributes.
    """
    promised = {configuration.id: configuration.promised for configuration in plan.configurations}

    def published(each: Configuration | GeneratedConfiguration) -> Configuration | GeneratedConfiguration:
        if not isinstance(each, Configuration) or not each.privacy:
            return each
        told, *by_label = (
            coarse_privacy(measured, promised.get(each.id, {}), entry, each, plan.sensitive)
            for measured in (each.privacy, *each.privacy_by_label.values())
        )
        changed: dict[str, Any] = {"privacy": told or None}
        if each.privacy_by_label:
            changed["privacy_by_label"] = dict(zip(each.privacy_by_label, by_label, strict=True))
        return each.model_copy(update=changed)

    if not entry.configurations:
        return entry
    return entry.model_copy(
        update={"configurations": [published(configuration) for configuration in entry.configurations]}
    )


def coarse_privacy(
    measured: Mapping[str, float],
    promised: Mapping[str, float],
    entry: EntryDocument,
    configuration: Configuration | None,
    sensitive: tuple[str, ...],
) -> dict[str, float]:
    """Return the privacy of a configuration in the steps that may be published beside an entry.

    Args:
        measured: Its privacy, by criterion.
        promised: Its promises, whatever is measured.
        entry: The entry, as it is published.
        configuration: The configuration; `None` if the entry does not have it.
        sensitive: The sensitive attributes. Readers are assumed to know them, and may think that the label is one.
    """
    first = {"attributes": entry.attributes[:1], "pairs": [], "configurations": None}
    known = [label_totals(evidence_of(content_of(entry.model_copy(update=first)))[0])]
    for each in entry.attributes:
        masking = None if configuration is None else configuration.maskings.get(each.name)
        if each.name in sensitive and masking is not None and masking != DROP:
            known.append(_totals_of(each, masking, entry))
    base, rows = _base(entry), entry.rows_per_person or 1
    every = [tuple((-(-least // rows), most) for least, most in totals) for totals in known if totals]  # people
    if rows > 1:  # nobody knows how many people have these records
        return published_privacy(measured, promised, every)
    narrowed = [  # with the published records for frequent values
        tuple((((least + most) // 2,) * 2 if least > _MANY * base else (least, most)) for least, most in totals)
        for totals in every
    ]
    return published_privacy(measured, promised, [*every, *narrowed])


def _base(entry: EntryDocument) -> int:
    control = entry.disclosure_control
    return 1 if control is None or control.rounded_to is None else control.rounded_to


def _totals_of(attribute: Attribute, masking: str, entry: EntryDocument) -> Totals:
    """Return the minimum and maximum records of each masked value; empty if the entry does not count them."""
    joint = attribute.joint
    if masking != IDENTITY:
        joint = next((each.joint for each in attribute.maskings if each.id == masking), None)
    if joint is None:
        return ()
    counts = np.array(joint, dtype=np.int64)
    slack = counts.shape[1] * (_base(entry) - 1)
    return tuple((max(1, count - slack), max(1, count + slack)) for count in counts.sum(axis=1).tolist())
