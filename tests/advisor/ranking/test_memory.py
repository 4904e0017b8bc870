"""Whatever was asked before, an answer is the same as if it were the first."""

from dataclasses import fields, is_dataclass

import numpy as np

from aegis_advisor.measures import MEASURES
from aegis_advisor.ranking import Memory, Question, recommend
from aegis_advisor.ranking.scores import MOST
from aegis_advisor.reconstruction import reconstruct
from tests.advisor.cases import evidence_of, mapped, random_mapping, random_table
from tests.for_each import for_some


def entry(rng):
    evidence = []
    for name in ("a", "b", "c"):
        table = random_table(rng, values=8, records=500)
        views = [mapped(f"v{at}", random_mapping(rng, 8, groups), table) for at, groups in enumerate((5, 3, 2))]
        evidence.append(evidence_of(table, views, name=name))
    return evidence, [reconstruct(one) for one in evidence]


def drawn_question(rng):
    measure = rng.choice([one.id for one in MEASURES.values() if not one.is_joint])
    weights = rng.choice([0.0, 0.5, 1.0, 2.0], size=3) + np.array([1e-3, 0, 0])
    own = bool(rng.random() < 0.2)
    return Question(
        str(measure),
        ("a", "b", "c"),
        weights / weights.sum(),
        reference="own" if own else "pooled",
        rounding_seed=int(rng.integers(5)) if own and rng.random() < 0.5 else None,
        bias_correction=MEASURES[measure].correction is not None and bool(rng.random() < 0.5),
    )


def same(one, other):
    if is_dataclass(one):
        return all(same(getattr(one, field.name), getattr(other, field.name)) for field in fields(one))
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return one == other


@for_some(1, "seed", range(3))
def test_answers_do_not_depend_on_what_was_asked_before(seed):
    rng = np.random.default_rng(seed)
    (evidence, references), memory = entry(rng), Memory()
    options = [("identity", "drop", "v0", "v1", "v2")] * 3
    for _ in range(40):
        question = drawn_question(rng)
        # With the reference `own`, unmasked attributes cannot be compared with masked ones; other options come and go.
        codes = rng.integers(1 if question.reference == "own" else 0, 5, (int(rng.integers(1, 12)), 3))
        fresh = recommend(evidence, references, codes, options, question)
        assert same(recommend(evidence, references, codes, options, question, memory=memory), fresh)


def test_a_memory_that_is_full_begins_anew():
    memory = Memory()
    for number in range(MOST + 5):
        assert memory.once(number, lambda number=number: number) == number
    assert memory.once(MOST + 4, lambda: None) == MOST + 4
    assert memory.once(0, lambda: "again") == "again"
