"""A measure is a record in the registry, which is all that a question needs."""

from dataclasses import fields

import numpy as np
import pytest

from aegis_advisor.measures import MEASURES, Ceiling, Measure, determination, registry, utility_ceilings
from aegis_advisor.ranking import Question, assess, recommend
from aegis_advisor.reconstruction import reconstruct
from tests.advisor.cases import evidence_of, mapped, random_mapping, random_table
from tests.for_each import for_each

HITS = Measure(
    "hits",
    "fraction",
    "higher",
    monotone=True,
    reason="Who knows the value can guess as if only the masked one were known.",
    label_monotone=False,
    label_reason="Merged labels are easier to guess.",
    formula="sum_a max_y F(a, y) / N",
    source="1 - g3",
    function=lambda table, _atoms: float(table.max(axis=1).sum() / table.sum()),
    slopes=lambda table, atoms: -determination.g3_gradient(table, atoms),
    bias=lambda table, atoms: -determination.g3_bias(table, atoms),
    ceiling=Ceiling(
        determination.modes_by_row, determination.modes_by_group, lambda score, known: score / known.records
    ),
)


@pytest.fixture
def added(monkeypatch):
    monkeypatch.setitem(registry._BY_ID, HITS.id, HITS)


def two_attributes():
    rng = np.random.default_rng(5)
    for name in ("a", "b"):
        table = random_table(rng)
        views = [mapped(f"v{at}", random_mapping(rng, 9, groups), table) for at, groups in enumerate((4, 3, 2))]
        yield evidence_of(table, views, name=name)


def advice(measure):
    evidence = list(two_attributes())
    options = [("v0", "v1", "v2", "drop")] * 2
    codes = np.array([(one, other) for one in range(4) for other in range(4)])
    question = Question(measure, ("a", "b"), np.array([0.5, 0.5]))
    return recommend(evidence, [reconstruct(one) for one in evidence], codes, options, question)


@pytest.mark.usefixtures("added")
def test_a_measure_that_is_added_to_the_registry_is_advised_by_as_its_mirror_image_is():
    ours, theirs = advice("hits"), advice("g3")
    assert (ours.best, ours.ranking_basis) == (theirs.best, theirs.ranking_basis)
    assert ours.ranking.index.tolist() == theirs.ranking.index.tolist()
    assert ours.ranking.deviation == pytest.approx(theirs.ranking.deviation)
    assert ours.ranking.utility == pytest.approx(1 - theirs.ranking.utility)
    assert ours.ranking.standard_error == pytest.approx(theirs.ranking.standard_error)
    assert ours.ranking.difference_error == pytest.approx(theirs.ranking.difference_error)
    assert ours.indistinguishable.tolist() == theirs.indistinguishable.tolist()


@pytest.mark.usefixtures("added")
def test_a_measure_that_is_added_to_the_registry_has_bounds():
    for evidence in two_attributes():
        reference, used = reconstruct(evidence), ("v0", "drop", "identity")
        ours, theirs = (assess(evidence, reference, MEASURES[one], used) for one in ("hits", "g3"))
        assert ours.lower_bound == pytest.approx(1 - theirs.upper_bound)
        assert ours.upper_bound == pytest.approx(1 - theirs.lower_bound)
        assert ours.reference_utility == pytest.approx(1 - theirs.reference_utility)
        assert utility_ceilings(evidence)["hits"] == pytest.approx(ours.upper_bound)


@for_each("lacking", ["ceiling", "slopes", "monotone", "reason"])
def test_a_record_that_lacks_what_is_known_of_a_measure_cannot_be_made(lacking):
    known = {field.name: getattr(HITS, field.name) for field in fields(HITS) if field.name != lacking}
    with pytest.raises(TypeError, match=lacking):
        Measure(**known)
