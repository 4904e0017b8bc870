"""The entries that are attacked: drawn ones, the repository's example, and the Adult table."""

import csv
from collections.abc import Iterator, Sequence
from copy import deepcopy
from pathlib import Path

import numpy as np

from aegis_advisor.arrays import IntArray
from aegis_advisor.evidence import DROP
from aegis_provider import document_of
from aegis_provider.control import Control, Roles, apply_controls
from aegis_sdk.wire import EntryDocument
from app.entries.model.documents import Document
from research.drawn_plans import drawn_plan
from research.leakage.target import Target
from research.real_tables import health_table
from research.study import Study, Table, summarized
from tests import example

_VALUES = 6
_GROUPS = {"3": (0, 0, 1, 1, 2, 2), "2": (0, 0, 0, 0, 1, 1)}


def drawn(seed: int, controls: Sequence[Control] = ()) -> Target:
    """A small entry: two or three attributes, two to four labels, 50 to 2,000 records, every configuration."""
    rng = np.random.default_rng(seed)
    labels, attributes = int(rng.integers(2, 5)), int(rng.integers(2, 4))
    histogram = rng.multinomial(int(10 ** rng.uniform(1.7, 3.3)), rng.dirichlet(np.full(labels, 3.0)))
    joints = [_joint(rng, histogram) for _ in range(attributes)]
    names = [f"a{number}" for number in range(attributes)]
    entry = {
        "format": 1,
        "name": f"drawn-{seed}",
        "records": int(histogram.sum()),
        "label": {"name": "class", "domain": _texts(labels), "histogram": histogram.tolist()},
        "attributes": [_attribute(name, joint) for name, joint in zip(names, joints, strict=True)],
        "configurations": list(_configurations(names)),
    }
    return Target.of(_controlled(entry, controls), joints)


def health(controls: Sequence[Control] = ()) -> Target:
    """The repository's example."""
    study = Study.of(health_table(), example.plan())
    return Target.of(_controlled(example.entry("health"), controls), study.truths)


def adult(file: Path, controls: Sequence[Control] = ()) -> Target:
    """The Adult table (UCI repository), eight of its attributes with drawn maskings and 30 configurations."""
    with file.open(newline="", encoding="utf-8") as lines:
        header, *records = csv.reader(lines)
    columns = dict(zip(header, np.array(records).T, strict=True))
    label = columns.pop("income")
    names = ("age", "workclass", "education", "marital_status", "occupation", "race", "sex", "native_country")
    about, source = "census records of 1994; label: income", "UCI repository, CC BY 4.0"
    table = Table("adult", about, source, {name: columns[name] for name in names}, label)
    plan = drawn_plan(table, 1)
    return Target.of(_controlled(deepcopy(summarized(table, plan)), controls), Study.of(table, plan).truths)


def _controlled(entry: Document, controls: Sequence[Control]) -> Document:
    """The entry as its provider publishes it."""
    if not controls:
        return entry
    return document_of(apply_controls(EntryDocument.model_validate(entry), controls, Roles((), ())).entry)


def _joint(rng: np.random.Generator, histogram: IntArray) -> IntArray:
    shares = rng.dirichlet(np.ones(_VALUES), size=histogram.size)
    return np.stack([rng.multinomial(n, share) for n, share in zip(histogram, shares, strict=True)], axis=1)


def _attribute(name: str, joint: IntArray) -> Document:
    return {
        "name": name,
        "type": "string",
        "domain": _texts(_VALUES),
        "histogram": joint.sum(axis=1).tolist(),
        "maskings": [_masking(masking, mapping, joint) for masking, mapping in _GROUPS.items()],
    }


def _masking(name: str, mapping: Sequence[int], joint: IntArray) -> Document:
    counts = np.zeros((max(mapping) + 1, joint.shape[1]), dtype=np.int64)
    np.add.at(counts, list(mapping), joint)
    return {"id": name, "domain": _texts(len(counts)), "mapping": list(mapping), "joint": counts.tolist()}


def _configurations(names: Sequence[str]) -> Iterator[Document]:
    options = (*_GROUPS, DROP)
    for place, choice in enumerate(np.ndindex(*(len(options),) * len(names))):
        yield {"id": f"c{place}", "maskings": {name: options[i] for name, i in zip(names, choice, strict=True)}}


def _texts(size: int) -> list[str]:
    return [str(place) for place in range(size)]
