"""Entries as their providers make them, and the releases of their best configurations."""

import hashlib
import pickle
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aegis_advisor.arrays import IntArray
from aegis_provider import (
    Attribute,
    Configuration,
    LastingRandomness,
    Plan,
    Requirement,
    find_configurations,
    load_plan,
    prepare_entry,
)
from aegis_provider.advice import advise
from aegis_provider.draft import start
from aegis_provider.masking import MaskingFunction
from aegis_provider.plan.model import DROP, IDENTITY
from aegis_provider.table.discretization import Edges
from aegis_provider.table.values import Domain
from aegis_sdk.wire import EntryDocument
from research.discovery.tasks import COPY, Cut, Task
from research.study import places_of

LABEL: Final = "label"
MOST: Final = 30
"""The most configurations of an entry."""

LEFT_OUT: Final = 0.01
"""The share of the records that a release may leave out, as `aegis release` has it by default."""

UNKNOWN: Final = -1
"""A text that no record of the entry has."""


@dataclass(frozen=True, eq=False)
class Release:
    """The masked records of a configuration, and the held-out sample masked likewise.

    Attributes:
        masked: (records, attributes) the places of the masked values that are shared.
        classes: (records,) the places of the labels among the task's classes.
        held_out: (held-out records, attributes) the sample; -1 for a text that no record of the entry has.
    """

    masked: IntArray
    classes: IntArray
    held_out: IntArray


@dataclass(frozen=True, eq=False)
class Offer:
    """An entry, with what the benchmark needs of its best configuration by `joint`.

    Attributes:
        entry: the entry.
        plan: the plan with the configurations.
        best: the id of the best one.
        joint: its utility.
        release: its release.
    """

    entry: EntryDocument
    plan: Plan
    best: str
    joint: float
    release: Release


def rounded(task: Task, cut: Cut, kept: Path) -> Offer:
    """Return the entry of a cut as its provider publishes it, from the folder if it is there."""

    def offer(path: Path) -> Offer:
        chance = LastingRandomness(hashlib.sha256(name_of(task, cut).encode()).digest())
        plan = planned(path, cut.k)
        return _offer(task, cut, plan, prepare_entry(path, plan, name="table", pairs=True, chance=chance).entry)

    return _kept(cut, kept / f"{name_of(task, cut)} rounded.pickle", offer)


def exact(task: Task, cut: Cut, plan: Plan, kept: Path) -> Offer:
    """Return the same with exact counts."""

    def offer(path: Path) -> Offer:
        return _offer(task, cut, plan, prepare_entry(path, plan, name="table", pairs=True, exact=True).entry)

    return _kept(cut, kept / f"{name_of(task, cut)} exact.pickle", offer)


def name_of(task: Task, cut: Cut) -> str:
    """Return a name for files that are kept."""
    return f"{task.table.name} {cut.number:02}"


def _kept(cut: Cut, place: Path, offer: Callable[[Path], Offer]) -> Offer:
    if place.exists():
        loaded: Offer = pickle.loads(place.read_bytes())
        return loaded
    with TemporaryDirectory(prefix="aegis-discovery-") as folder:
        path = Path(folder) / "table.csv"
        cut.table.write(path, LABEL)
        result = offer(path)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(pickle.dumps(result))
    return result


def _offer(task: Task, cut: Cut, plan: Plan, entry: EntryDocument) -> Offer:
    best = advise(entry).best
    return Offer(entry, plan, best.id, best.utility, release(task, cut, plan, plan.configuration(best.id)))


def planned(path: Path, k: int) -> Plan:
    """Draft a plan and search its maskings with little effort."""
    start(path, LABEL, path.with_suffix(".yaml"))
    plan = load_plan(path.with_suffix(".yaml"), configurations_needed=False)
    result = find_configurations(path, plan, Requirement({"k": k}, LEFT_OUT), effort="small", most=MOST)
    return replace(plan, configurations=result.configurations)


def release(task: Task, cut: Cut, plan: Plan, configuration: Configuration) -> Release:
    """Mask the records of an entry and the held-out sample, and leave out the records of small groups.

    Raises:
        ValueError: it leaves out others than the configuration says.
    """
    sample, shared = task.sample, [one for one in plan.attributes if configuration.maskings[one.name] != DROP]
    masked = np.zeros((cut.table.records, len(shared)), dtype=np.int64)
    held_out = np.zeros((sample.records, len(shared)), dtype=np.int64)
    for number, one in enumerate(shared):
        column = cut.table.columns[one.name]
        domain = Domain.of(np.unique(column).tolist(), one.value_type)
        mapping = _mapping(one, configuration.maskings[one.name], domain)
        masked[:, number] = mapping[places_of(column, domain.texts)]
        places = nearest_places(sample.columns[one.name.removesuffix(f" {COPY}")], domain.texts)
        held_out[:, number] = np.where(places == UNKNOWN, UNKNOWN, mapping[places])
    _, group, sizes = np.unique(masked, axis=0, return_inverse=True, return_counts=True)
    shown = sizes[group.ravel()] >= cut.k
    if np.count_nonzero(~shown) != (configuration.suppressed or 0):
        raise ValueError(f"{name_of(task, cut)}: {np.count_nonzero(~shown)} records are left out")
    classes = np.searchsorted(np.unique(task.table.label), cut.table.label)
    return Release(masked[shown], classes[shown], held_out)


def _mapping(attribute: Attribute, masking: str, domain: Domain) -> IntArray:
    """(values,) the place of each value's masked value, in the order of the values."""
    if masking == IDENTITY and isinstance(attribute.discretization, Edges):
        edges, numbers = np.array(attribute.discretization.edges, np.float64), np.array(domain.keys, np.float64)
        bins = np.searchsorted(edges, numbers, side="right")
        return np.asarray(np.unique(bins, return_inverse=True)[1])
    if masking == IDENTITY:
        return np.arange(len(domain))
    chosen = attribute.masking(masking)
    if chosen is None or not isinstance(chosen.function, MaskingFunction):
        raise TypeError(f"{masking} does not mask values one by one, as drafted plans do")
    texts = chosen.function.mask(domain)
    order = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    return np.array([order[text] for text in texts])


def nearest_places(column: NDArray[np.str_], domain: tuple[str, ...]) -> IntArray:
    """Return (records,) the index of each text in a domain: of a number, that of the next lower one there."""
    try:
        numbers = np.array(domain, dtype=np.float64)
    except ValueError:
        places = {text: place for place, text in enumerate(domain)}
        texts, inverse = np.unique(column, return_inverse=True)
        return np.array([places.get(text, UNKNOWN) for text in texts.tolist()], dtype=np.int64)[inverse]
    return np.asarray(np.maximum(np.searchsorted(numbers, column.astype(np.float64), side="right") - 1, 0))
