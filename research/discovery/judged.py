"""Each offer of a task with the keys of all orders, and the worth of its release."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from aegis_advisor.arrays import BoolArray, FloatArray
from aegis_advisor.expected import beyond_table
from aegis_provider.advice import expected_of
from aegis_provider.entry import content_of
from research.discovery.catalogue import lower_ends, strengths
from research.discovery.entries import LABEL, Offer, exact, name_of, rounded
from research.discovery.rivals import bm25, information, private_r_squared, share, shrunk
from research.discovery.tasks import Cut, Task
from research.discovery.truths import Truth, truth

OURS: Final = "lower end"
ALONE: Final = "lower end of the same records"
BESIDE: Final = "beside others"
EXACT: Final = "exact "
"""Before the name of an order by exact counts."""


@dataclass(frozen=True, eq=False)
class Judged:
    """The offers of a task.

    Attributes:
        keys: by order, (offers,) its key, the highest first.
        truths: (offers, 3) the AUC of each release: of the whole sample, and of both halves.
        exact: (offers,) that of the best release by exact counts.
        clean: (offers,) whether there is no noise in the labels.
    """

    task: Task
    keys: Mapping[str, FloatArray]
    truths: FloatArray
    exact: FloatArray
    clean: BoolArray


def judged(task: Task, kept: Path, count: int) -> Judged:
    """Make the offers of a task, with rounded and with exact counts, and train on their releases."""
    cuts = list(task.cuts(count))
    offers = [rounded(task, cut, kept) for cut in cuts]
    exacts = [exact(task, cut, one.plan, kept) for cut, one in zip(cuts, offers, strict=True)]
    truths = [_truths(task, *each, kept) for each in zip(cuts, offers, exacts, strict=True)]
    rows = [_keys(task, *each) for each in zip(cuts, offers, (first for first, _ in truths), strict=True)]
    others = [{f"{EXACT}{name}": key for name, key in _ours(one).items()} for one in exacts]
    keys = {name: np.array([row[name] for row in each]) for each in (rows, others) for name in each[0]}
    contents = [content_of(offer.entry) for offer in offers]
    shares = np.array([share(offer.joint, len(one.label.domain)) for offer, one in zip(offers, contents, strict=True)])
    keys[BESIDE] = lower_ends([strengths(one) for one in contents], shares, keys["records"])
    keys["words"] = bm25(_query(task), [_words(task, cut) for cut in cuts])
    reached = np.array([(first.auc, *first.halves) for first, _ in truths])
    clean = np.array([cut.noise == 0 for cut in cuts])
    return Judged(task, keys, reached, np.array([second.auc for _, second in truths]), clean)


def _truths(task: Task, cut: Cut, offer: Offer, other: Offer, kept: Path) -> tuple[Truth, Truth]:
    first = truth(task, offer, kept / f"{name_of(task, cut)} truth.pickle")
    if offer.best == other.best:
        return first, first
    return first, truth(task, other, kept / f"{name_of(task, cut)} exact truth.pickle")


def _keys(task: Task, cut: Cut, offer: Offer, reached: Truth) -> dict[str, float]:
    """The keys of an offer, by order."""
    random = np.random.default_rng([cut.number, task.table.records])
    content, release = content_of(offer.entry), offer.release
    records, attributes = cut.table.records, len(cut.table.columns)
    dimensions = int(release.masked.max(axis=0, initial=0).sum())
    browne, less = shrunk(offer.joint, len(content.label.domain), dimensions, records)
    return {
        "random": float(random.random()),
        "newest": float(cut.number),
        "records": float(records),
        "cells": float(records * attributes),
        "mutual information": information(offer, content),
        "joint": offer.joint,
        "provider's AUC": reached.own,
        "private R^2": private_r_squared(release.masked, release.classes, random),
        "R^2 by Browne": browne,
        "R^2 less two errors": less,
        **_ours(offer),
    }


def _ours(offer: Offer) -> dict[str, float]:
    """The expected AUC of the best configuration, and its lower end; that of chance if the counts do not say it."""
    said = expected_of(offer.entry, offer.best).get(LABEL)
    if said is None:
        return {"estimate": 0.5, ALONE: 0.5, OURS: 0.5}
    expected, content = said[0], content_of(offer.entry)
    beyond = beyond_table(expected, content.records, len(content.label.domain))
    return {"estimate": expected.auc or 0.5, ALONE: expected.low, OURS: beyond.low}


def _query(task: Task) -> Sequence[str]:
    """The words of a consumer who knows the task well: what it is about, and all attributes there may be."""
    return _split(task.table.about, *task.table.columns)


def _words(task: Task, cut: Cut) -> Sequence[str]:
    return _split(task.table.about, *cut.table.columns)


def _split(*texts: str) -> Sequence[str]:
    return " ".join(texts).lower().replace("_", " ").split()
