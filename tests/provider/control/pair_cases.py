"""Random entries of one attribute and its partners: small tables, crossing maskings, pairs of many shapes."""

from dataclasses import dataclass

import numpy as np

from aegis_provider import document_of
from aegis_provider.control import RandomRounding, Roles, apply_controls, without_unshared
from aegis_sdk.wire import EntryDocument


@dataclass(frozen=True, eq=False)
class Case:
    """A table as its provider has it, and how it is shared.

    Attributes:
        base: the base of the multiples.
        tables: for each partner, (values, values of the partner, labels) the records; all have the same sums over the
            partner.
        maskings: (values,) the group of each value, by masking.
        partners: likewise for each partner; `identity` shares it as it is.
    """

    base: int
    tables: list[np.ndarray]
    maskings: dict[str, np.ndarray]
    partners: list[dict[str, np.ndarray]]

    @property
    def joint(self):
        """(values, labels)"""
        return self.tables[0].sum(axis=1)


def merged(maskings):
    """(values,) The values that some masking tells apart, and the maskings as functions of these."""
    rows = np.stack(list(maskings.values()), axis=1)
    _, first, atoms = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(np.argsort(first))  # values in their order
    atoms = order[atoms.reshape(-1)]
    firsts = np.sort(first)
    return atoms, {name: mapping[firsts] for name, mapping in maskings.items()}


def crossing(rng, values, count):
    """Intervals of values (values,): each masking moves, adds or removes one cut of the first."""
    cuts = set(rng.choice(np.arange(1, values), int(rng.integers(1, min(values, 5))), replace=False).tolist())
    found = [cuts]
    while len(found) < count:
        moved, cut = set(cuts), int(rng.choice(sorted(cuts)))
        others = [each for each in (cut - 1, cut + 1) if 0 < each < values and each not in cuts]
        moved.discard(cut)
        moved |= {int(rng.choice(others))} if others else set()
        found.append(moved or cuts)
    distinct = {tuple(sorted(each)): each for each in found}.values()
    return {
        f"m{place}": np.searchsorted(sorted(each), np.arange(values), side="right")
        for place, each in enumerate(distinct)
    }


def drawn_case(rng):
    """Return a case, sparse or dense, whose values all occur."""
    base, labels = int(rng.choice([3, 3, 5, 10])), int(rng.integers(2, 5))
    values, records = int(rng.integers(3, 8)), int(np.exp(rng.uniform(np.log(20 + 5 * base), np.log(500))))
    maskings = crossing(rng, values, int(rng.integers(2, 5)))
    atoms, maskings = merged(maskings)
    size = int(atoms.max()) + 1
    weights = rng.dirichlet(np.full(size * labels, rng.choice([0.2, 0.5, 1.0, 3.0])))
    joint = rng.multinomial(records, weights).reshape(size, labels)
    few = int(rng.integers(0, size))
    joint[few] = rng.multinomial(int(rng.integers(1, 9)), np.full(labels, 1 / labels))
    joint[joint.sum(axis=1) == 0, 0] = 1
    joint[0, joint.sum(axis=0) < 1] = 1
    tables, partners = [], []
    for _ in range(int(rng.choice(np.arange(1, 7), p=[0.3, 0.25, 0.2, 0.1, 0.1, 0.05]))):
        width = int(rng.integers(2, 5))
        shares = rng.dirichlet(np.full(width, rng.choice([0.3, 1.0, 5.0])), (size, labels))
        table = np.array([[rng.multinomial(joint[a, y], shares[a, y]) for y in range(labels)] for a in range(size)])
        table = table.transpose(0, 2, 1)
        if (table.sum(axis=(0, 2)) == 0).any():
            table = table[:, table.sum(axis=(0, 2)) > 0]
        width = table.shape[1]
        own = {"identity": np.arange(width)}
        if width > 2 and rng.random() < 0.3:
            own = crossing(rng, width, 2)
            groups, own = merged(own)
            folded = np.zeros((size, int(groups.max()) + 1, labels), dtype=np.int64)
            for value, group in enumerate(groups):
                folded[:, group] += table[:, value]
            table = folded
        tables.append(table)
        partners.append(own)
    if rng.random() < 0.25:
        maskings = {**maskings, "identity": np.arange(size)}
    return Case(base, tables, maskings, partners)


def exact_entry(case):
    """The entry with exact counts, and all pairs of a masking of the attribute and one of a partner."""
    labels = case.joint.sum(axis=0)
    attributes = [_attribute("a", case.joint, case.maskings)]
    attributes += [
        _attribute(f"b{place}", table.sum(axis=0), own)
        for place, (table, own) in enumerate(zip(case.tables, case.partners, strict=True))
    ]
    pairs, configurations = [], []
    for place, (table, own) in enumerate(zip(case.tables, case.partners, strict=True)):
        for first, rows in case.maskings.items():
            for second, columns in own.items():
                joint = np.zeros((rows.max() + 1, columns.max() + 1), dtype=np.int64)
                np.add.at(joint, (rows[:, np.newaxis], columns[np.newaxis]), table.sum(axis=2))
                pairs.append({"attributes": ["a", f"b{place}"], "maskings": [first, second], "joint": joint.tolist()})
                others = {f"b{each}": "drop" for each in range(len(case.tables)) if each != place}
                maskings = {"a": first, f"b{place}": second, **others}
                configurations.append({"id": f"c{len(configurations)}", "maskings": maskings})
    return {
        "format": 1,
        "name": "e",
        "records": int(labels.sum()),
        "label": {"name": "y", "domain": [f"y{each}" for each in range(labels.size)], "histogram": labels.tolist()},
        "attributes": attributes,
        "pairs": pairs,
        "configurations": configurations,
    }


def _attribute(name, joint, maskings):
    return {
        "name": name,
        "type": "string",
        "domain": [f"{name}{each}" for each in range(len(joint))],
        "histogram": joint.sum(axis=1).tolist(),
        "joint": joint.tolist(),
        "maskings": [_masking(name, mapping, joint) for name, mapping in maskings.items() if name != "identity"],
    }


def _masking(name, mapping, joint):
    groups = int(mapping.max()) + 1
    counts = np.zeros((groups, joint.shape[1]), dtype=np.int64)
    np.add.at(counts, mapping, joint)
    return {
        "id": name,
        "function": {"name": "test", "parameters": {}},
        "domain": [f"{name}-{each}" for each in range(groups)],
        "mapping": mapping.tolist(),
        "joint": counts.tolist(),
    }


def rounded(case, chance):
    """The entry as it is published by default, with a base of its own."""
    exact = EntryDocument.model_validate(exact_entry(case))
    controlled = apply_controls(exact, [RandomRounding(case.base, chance)], Roles((), ()))
    return EntryDocument.model_validate(document_of(without_unshared(controlled.entry)))
