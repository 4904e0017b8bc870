"""The task of a label is that of an entry made with this label alone, which is counted by itself here."""

from dataclasses import replace

import msgspec
import numpy as np
import pytest

from aegis_advisor.errors import NoTaskError
from aegis_advisor.evidence import EntryContent, associations_of, evidence_of, lacking, pairs_of
from aegis_advisor.evidence.content import NoiseContent
from aegis_advisor.evidence.perturbation import noise_variance
from aegis_advisor.evidence.task import _of_sums
from aegis_advisor.measures import MEASURES
from aegis_advisor.ranking import LabelChoices, Question, recommend, recommend_among_labels
from aegis_advisor.reconstruction import reconstruct
from aegis_advisor.verdict import Releases
from tests.for_each import for_each
from tests.labels import LABELS, entry_of, some_records


def content(document):
    return msgspec.convert(document, EntryContent)


def in_order(entry, names):
    """The entry with its attributes in this order."""
    by_name = {attribute.name: attribute for attribute in entry.attributes}
    return replace(entry, attributes=[by_name[name] for name in names])


def answer(entry, measure):
    """All that the advisor says about the configurations of an entry."""
    evidence, releases = evidence_of(entry), Releases.of(entry)
    names = tuple(attribute.name for attribute in entry.attributes)
    question = Question(measure, names, np.full(len(names), 1 / len(names)))
    asked = (
        evidence,
        [reconstruct(one) for one in evidence],
        releases.codes,
        list(map(tuple, releases.options)),
        question,
    )
    pairs, ways = tuple(pairs_of(entry).values()), ["identity", *(masking.id for masking in entry.label.maskings)]
    shown = np.array([ways.index(one.maskings.get(entry.label.name, "identity")) for one in entry.configurations])
    if shown.any():
        choices = LabelChoices(shown, tuple(map(entry.label.class_of, ways)))
        said = recommend_among_labels(*asked, choices, pairs, entry.joint_trace)
    else:
        associations = tuple(associations_of(entry).values())
        said = recommend(*asked, pairs, associations=associations, published=entry.joint_trace)
    ids = [each.id for each in entry.configurations]
    rows = zip(
        said.ranking.index, said.ranking.deviation, said.ranking.utility, said.ranking.standard_error, strict=True
    )
    bounds = [
        (one.name, one.knowledge, one.reference_utility, one.lower_bound, one.upper_bound, one.bound_value)
        for one in said.attributes
    ]
    ranking = [(ids[index], *numbers) for index, *numbers in rows]
    return ranking, [ids[index] for index in said.tied], said.ranking_basis, bounds, said.joint


def assert_equal(one, other):
    assert [row[0] for row in one[0]] == [row[0] for row in other[0]]
    np.testing.assert_allclose([row[1:] for row in one[0]], [row[1:] for row in other[0]], rtol=1e-9, atol=1e-12)
    assert one[1:3] == other[1:3]
    assert [row[:2] for row in one[3]] == [row[:2] for row in other[3]]
    numbers = [[np.array(row[2:], dtype=float) for row in each[3]] for each in (one, other)]
    np.testing.assert_allclose(numbers[0], numbers[1], rtol=1e-9, atol=1e-12)
    assert (one[4] is None) == (other[4] is None)
    if one[4] is not None:
        assert one[4].reference_source == other[4].reference_source
        np.testing.assert_allclose(one[4].known_utility, other[4].known_utility, rtol=1e-9)


TRACES = {name: {"value": 0.3 + place / 10} for place, name in enumerate(LABELS)}


def assert_task(records, labels, label, measures, **told):
    """The task of a label in an entry with these labels is that of an entry with this one, by these measures."""
    task = content(entry_of(records, labels, **told)).about(label)
    names = sorted(attribute.name for attribute in task.attributes)
    own = {"joint_trace": TRACES[label]} if told else {}
    task, alone = (in_order(each, names) for each in (task, content(entry_of(records, [label], **own))))
    for one, other in zip(evidence_of(task), evidence_of(alone), strict=True):
        np.testing.assert_array_equal(one.label_histogram, other.label_histogram)
        np.testing.assert_array_equal(one.histogram, other.histogram)
        assert (one.joint is None) == (other.joint is None)
        for known, expected in zip(one.exact_tables, other.exact_tables, strict=True):
            np.testing.assert_array_equal(known, expected)
    for measure in measures:
        assert_equal(answer(task, measure), answer(alone, measure))


@for_each(("seed", "label"), enumerate(LABELS))
def test_the_task_of_a_label_is_that_of_its_own_entry(seed, label):
    traces = {name: trace for name, trace in TRACES.items() if name != LABELS[0]}
    measures = [name for name in MEASURES if label != "charges" or name != "joint_interactions"]  # it needs the label
    assert_task(some_records(seed), LABELS, label, measures, joint_trace=TRACES[LABELS[0]], joint_traces=traces)


def test_counts_of_pairs_answer_for_a_column_that_is_not_listed():
    measures = [name for name in MEASURES if name != "joint_interactions"]
    assert_task(some_records(3), LABELS[:1], "charges", measures[:3])


BLOCKS = (
    {"age": "age-3", "zip": "zip-2", "charges": "identity"},
    {"age": "identity", "zip": "zip-2", "charges": "charges-2"},
)


def test_counts_with_the_masked_label_only_are_blocks_of_its_task(monkeypatch):
    monkeypatch.setattr("tests.labels.CONFIGURATIONS", BLOCKS)
    records, label = some_records(3), "charges"
    task, document = content(entry_of(records, LABELS[:1])).about(label), entry_of(records, [label])
    age = next(one for one in document["attributes"] if one["name"] == "age")
    assert "joint" not in age
    del next(one for one in age["maskings"] if one["id"] == "age-odd")["joint"]
    joint = np.zeros((6, 2), dtype=np.int64)
    np.add.at(joint, (records["age"], records[label] // 2), 1)
    block = {"attributes": ["age", label], "maskings": ["identity", "charges-2"], "joint": joint.tolist()}
    alone = content(document | {"pairs": [*document["pairs"], block]})
    assert [len(one.blocks) for one in evidence_of(task) if one.name == "age"] == [1]
    names = sorted(attribute.name for attribute in task.attributes)
    for measure in ("mutual_information", "g3", "joint"):
        assert_equal(*(answer(in_order(each, names), measure) for each in (task, alone)))


SHARED = {"age": {"identity", "age-odd", "drop"}, "zip": {"zip-2"}, "smoker": {"identity"}, "charges": {"identity"}}


def test_counts_that_are_lacking_are_named():
    document = entry_of(some_records(0), LABELS)
    entry = content(document)
    assert list(lacking(entry, "charges", SHARED)) == []
    # Of charges, only those with a finer masking are there, from which the others follow.
    pairs = [one for one in document["pairs"] if set(one["attributes"]) != {"zip", "charges"}]
    assert list(lacking(content(document | {"pairs": pairs}), "charges", SHARED)) == [("zip", "zip-2")]
    # No configuration shows age and zip as they are.
    assert list(lacking(entry, "age", {"charges": {"charges-2"}, "zip": {"identity"}})) == [("zip", "identity")]
    for name in ("income", "health 1"):
        with pytest.raises(NoTaskError):
            entry.about(name)


def test_noise_of_sums_has_their_variance():
    """And where terms are summed, the moment generating function of the sum is below that of the declared noise."""
    for scale, terms in ((0.5, 2), (2.0, 3), (20.0, 12)):
        declared, _ = _of_sums(NoiseContent(scale), None, terms)
        assert noise_variance(declared.scale) == pytest.approx(terms * noise_variance(scale), rel=1e-9)
        at = np.linspace(0.01, 0.99, 20) / declared.scale
        logs = [-np.log(1 - noise_variance(each) * (np.cosh(at) - 1)) for each in (scale, declared.scale)]
        assert (terms * logs[0] <= logs[1] + 1e-9).all()
