"""A small table with several columns to predict, and its plan with any of them as labels."""

import numpy as np

from aegis_provider import load_plan

MASKINGS = {
    "a": "maskings: {a3: {mapping: {a0: p, a1: p, a2: q, a3: q, a4: r, a5: r}}, "
    "odd: {mapping: {a0: e, a1: o, a2: e, a3: o, a4: e, a5: o}}, a1: {suppress: {}}}",
    "b": "maskings: {b2: {mapping: {b0: x, b1: x, b2: z, b3: z}}}, order: [b3, b2, b1, b0]",
    "s": "maskings: {s2: {mapping: {s0: u, s1: u, s2: v}}}",
    "r": "",
    "y": "",
}
CONFIGURATIONS = [
    {"a": "a3"},
    {"a": "odd", "b": "b2"},
    {"a": "a3", "s": "s2"},
    {"a": "a1"},
    {"a": "a3", "r": "drop"},
    {"a": "drop", "b": "b2", "s": "drop"},
]


def table(write, seed, records=300):
    random = np.random.default_rng(seed)
    score = random.normal(size=records)
    sizes = {"a": 6, "b": 4, "s": 3, "r": 2, "y": 4}
    columns = {
        name: np.clip((score + random.normal(size=records)) * size / 6 + size / 2, 0, size - 1).astype(int)
        for name, size in sizes.items()
    }
    lines = [",".join(f"{name}{columns[name][row]}" for name in sizes) for row in range(records)]
    return write("t.csv", "\n".join([",".join(sizes), *lines, ""]))


def plan(write, labels):
    """Return the plan with these labels, and the configurations that show the default one as it is."""
    chosen = [each for each in CONFIGURATIONS if labels[0] not in each]
    attributes = ", ".join(f"{name}: {{{text}}}" for name, text in MASKINGS.items() if name != labels[0])
    configurations = ", ".join(
        f"c{place}: {{{', '.join(f'{name}: {choice}' for name, choice in each.items())}}}"
        for place, each in enumerate(chosen)
    )
    text = f"labels: [{', '.join(labels)}]\nattributes: {{{attributes}}}\nconfigurations: {{{configurations}}}\n"
    return load_plan(write("plan.yaml", text))
