"""Rounded entries with several labels: all tables agree on the records of each value, so more labels tell no more."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from aegis_advisor.evidence import evidence_of, with_declared_rounding
from aegis_provider import ControlError, LaplaceNoise, MinimumCell, document_of, prepare_entry
from aegis_provider.control import LastingRandomness
from aegis_provider.control.counted_together import rounded_to_sums
from aegis_provider.control.dependent_rounding import rounded_once, rounded_up
from aegis_provider.control.rounded_labels import RoundedLabels
from aegis_provider.counting.counts import Partition
from aegis_provider.entry import consistent_evidence, consistent_pairs, content_of
from aegis_sdk.wire import Pair
from tests.advisor.evidence.test_task import answer, assert_equal, in_order
from tests.for_each import for_each
from tests.provider.several_labels import plan, table

KEY = LastingRandomness(bytes(32))


def prepared(path, chosen, **how):
    return prepare_entry(path, chosen, name="e", pairs=True, chance=KEY, **how)


def columns_of(entry):
    """Return by column the published records of each value."""
    return {entry.label.name: entry.label.histogram, **{each.name: each.histogram for each in entry.attributes}}


def masked_tables(entry):
    """Yield each table with a label: the names of both columns, the mapping of the first, and the counts."""
    for attribute in entry.attributes:
        for masking in attribute.maskings:
            yield (attribute.name, entry.label.name), masking.mapping, np.array(masking.joint)
        if attribute.joint is not None:
            yield (attribute.name, entry.label.name), range(len(attribute.domain)), np.array(attribute.joint)
    mappings = {(each.name, one.id): one.mapping for each in entry.attributes for one in each.maskings}
    mappings |= {(each.name, "identity"): range(len(each.domain)) for each in entry.attributes}
    for pair in entry.pairs:
        for side in (0, 1) if pair.joint is not None and pair.is_with_label(entry.labels[1:]) else ():
            name, label = pair.attributes[side], pair.attributes[1 - side]
            if label in entry.labels and pair.maskings[1 - side] == "identity":
                joint = np.array(pair.joint) if side == 0 else np.array(pair.joint).T
                yield (name, label), mappings[name, pair.maskings[side]], joint


def folded(records, mapping):
    return np.bincount(list(mapping), records).astype(int).tolist()


@for_each("seed", range(3))
def test_every_table_of_a_column_has_the_same_records_of_each_value(write, seed):
    entry = prepared(table(write, seed), plan(write, ["y", "s", "r"])).entry
    columns, seen = columns_of(entry), set()
    assert {sum(records) for records in columns.values()} == {entry.records}
    for (name, label), mapping, joint in masked_tables(entry):
        seen.add((name, label))
        assert joint.sum(axis=1).tolist() == folded(columns[name], mapping)
        assert joint.sum(axis=0).tolist() == columns[label]
        assert not (joint % entry.disclosure_control.rounded_to).any()
    assert seen >= {*product("ab", "ysr"), ("s", "r"), ("r", "s"), ("s", "y"), ("r", "y")}
    assert not any(pair.rounded_to for pair in entry.pairs if pair.is_with_label(("s", "r")))
    assert consistent_pairs(content_of(entry), consistent_evidence(entry))  # what the service checks


@for_each("seed", range(3))
def test_each_count_and_each_value_is_the_next_multiple(write, seed):
    done = prepared(table(write, seed), plan(write, ["y", "s", "r"]))
    base = done.entry.disclosure_control.rounded_to
    exact = {(names, tuple(mapping)): joint for names, mapping, joint in masked_tables(done.counted)}
    for name, records in columns_of(done.entry).items():
        assert np.abs(np.subtract(records, columns_of(done.counted)[name])).max() < base
    errors = [np.abs(joint - exact[names, tuple(mapping)]) for names, mapping, joint in masked_tables(done.entry)]
    few = [each.max() for each in errors if each.max() >= base]  # groups that cross others, as with one label
    assert len(few) <= 0.2 * len(errors)
    assert max(few, default=0) < 3 * base


def draw_of_sums(seed):
    """Return small counts, groups of rows and of columns that nest, and sums of both that were rounded before."""
    rng = np.random.default_rng(seed)
    size, base = rng.integers(2, 12, 2), int(rng.choice([3, 5, 10]))
    counts = rng.poisson(rng.choice([0.3, 1, 3]) * rng.gamma(1, 1, size)) + (np.arange(size[1]) == 0)
    views, sums, key = [], [], LastingRandomness(rng.bytes(32))
    up = rounded_up(np.array([counts.sum()]), base, key)
    for side in (0, 1):
        groups = np.unique(np.sort(rng.integers(0, 6, size[side])), return_inverse=True)[1]
        views.append([Partition(each, int(each.max()) + 1) for each in (groups, groups // 2)])
        drawn = key.of("side", str(side))
        sums.append(rounded_once(counts.sum(axis=1 - side)[:, np.newaxis], views[side], base, up, drawn)[:, 0])
    return counts, views, tuple(sums), base, key


def test_sums_that_were_rounded_before_move_counts_and_nested_sums_by_less_than_two_bases():
    bases = []
    for seed in range(60):
        counts, views, sums, base, key = draw_of_sums(seed)
        rounded, within = rounded_to_sums(counts, sums, base, key.of("table"), None, tuple(views))
        assert [rounded.sum(axis=1).tolist(), rounded.sum(axis=0).tolist()] == [each.tolist() for each in sums]
        assert rounded.min() >= 0
        off = [within - 1]
        for side, error in enumerate((rounded - counts, (rounded - counts).T)):
            off += [
                abs(error[each.groups == g].sum(axis=0)).max() // base for each in views[side] for g in range(each.size)
            ]
        bases.append(1 + max(off))
    assert set(bases) == {1, 2}


def test_a_reader_expects_errors_of_two_bases_in_the_task_of_each_label(write):
    entry, alone = (prepared(table(write, 1), plan(write, labels)).entry for labels in (["y", "s"], ["y"]))
    base, content = entry.disclosure_control.rounded_to, content_of(entry)
    for task, bases in ((content, 2), (content.about("s"), 2), (content_of(alone), 1)):
        declared = [with_declared_rounding(each) for each in evidence_of(task)]
        known = {one.perturbation.rounded_to for each in declared for one in each.maskings if one.joint is not None}
        assert min(known) == bases * base
        assert {each.label_perturbation.rounded_to for each in declared} == {base}


def test_a_table_is_the_same_whichever_label_is_the_default_and_whatever_others_there_are(write):
    path = table(write, 1)
    first, second = (
        {(names, tuple(mapping)): joint.tolist() for names, mapping, joint in masked_tables(prepared(path, each).entry)}
        for each in (plan(write, ["y", "s", "r"]), plan(write, ["r", "y"]))
    )
    same = first.keys() & second.keys()
    assert {names for names, _ in same} >= {("a", "y"), ("a", "r"), ("b", "r"), ("s", "y")}
    assert all(first[each] == second[each] for each in same)


def with_all_labels(entry, names):
    """Return the entry with the configurations that show all labels as they are, named by what they show of others."""
    shown = [
        replace(each, id=str([each.maskings[name] for name in "ab"]))
        for each in entry.configurations
        if all(each.maskings.get(name, "identity") == "identity" for name in "ysr")
    ]
    return replace(in_order(entry, names), configurations=shown)


def test_each_label_is_answered_as_by_the_entry_whose_default_it_is(write):
    path = table(write, 1)
    entry = content_of(prepared(path, plan(write, ["y", "s", "r"])).entry)
    for labels in (["s", "y", "r"], ["r", "y", "s"]):
        own = content_of(prepared(path, plan(write, labels)).entry)
        names = [each.name for each in own.attributes]
        task, own = with_all_labels(entry.about(labels[0]), names), with_all_labels(own, names)
        assert len(task.configurations) > 1
        for measure in ("mutual_information", "g3", "joint"):
            assert_equal(answer(task, measure), answer(own, measure))


def test_associations_and_traces_of_each_label_are_rounded(write):
    entry = prepared(table(write, 2, records=3_000), plan(write, ["y", "s", "r"])).entry
    told = [one for pair in entry.pairs for one in pair.with_labels.values()]
    assert told
    assert all(one.rounded_to == 3 and one.digits == 3 for one in told)
    held = {}  # the combinations of two columns, which every label would be another look at
    for pair in entry.pairs:
        masked = dict(zip(pair.attributes, pair.maskings, strict=True))
        for label, one in {"y": pair.with_label, **pair.with_labels}.items():
            columns = frozenset(("y", "identity") if each[0] == label else each for each in masked.items())
            held.setdefault(columns, set()).add(one.combinations)
    assert {len(each) for each in held.values()} == {1}
    assert set(entry.joint_traces) == {"s", "r"}
    assert all(trace.rounded_to for trace in entry.joint_traces.values())


def test_a_minimum_is_refused(write):
    with pytest.raises(ControlError, match="is possible with one label only; list one, add noise, or round"):
        prepared(table(write, 1), plan(write, ["y", "s"]), controls=[MinimumCell(5)])


def test_noise_in_every_table_of_every_label_is_one_budget(write):
    path, chosen = table(write, 4), plan(write, ["y", "s", "r"])
    entry = prepare_entry(path, chosen, [LaplaceNoise(1.0)], name="e", pairs=True).entry
    tables = [entry.label, *(one for each in entry.attributes for one in each.maskings), *entry.pairs]
    tables += [pair.with_label for pair in entry.pairs if pair.with_label is not None]
    noise = [one.noise for one in tables if not isinstance(one, Pair) or one.joint is not None]
    assert all(noise)
    assert sum(Fraction(one.epsilon) for one in noise) <= 1
    document = document_of(entry)
    assert {"joint_trace", "joint_traces"}.isdisjoint(document)
    assert all({"histogram", "joint"}.isdisjoint(each) for each in document["attributes"])
    assert all("with_labels" not in pair for pair in document["pairs"])


def test_without_noise_to_speak_of_each_label_has_its_counts_and_is_answered_as_by_its_own_entry(write):
    path, huge = table(write, 4), [LaplaceNoise(1e6)]
    header, *rows = [line.split(",") for line in path.read_text().split()]
    records = [dict(zip(header, row, strict=True)) for row in rows]
    entry = content_of(prepare_entry(path, plan(write, ["y", "s", "r"]), huge, name="e", pairs=True).entry)
    for labels in (["s", "y", "r"], ["r", "y", "s"]):
        label, task = labels[0], entry.about(labels[0])
        odd = next(one for one in task.attributes if one.name == "a").masking("odd")
        for group, name in enumerate(odd.domain):
            values = {"e": "024", "o": "135"}[name]
            counts = Counter(one[label] for one in records if one["a"][1] in values)
            assert odd.joint[group].tolist() == [counts[value] for value in task.label.domain]
        own = content_of(prepare_entry(path, plan(write, labels), huge, name="e", pairs=True).entry)
        names = [each.name for each in own.attributes]
        one, other = (utilities(with_all_labels(each, names)) for each in (task, own))
        assert one == pytest.approx(other, rel=1e-6)
        assert len(one) > 1


def utilities(task):
    """Return the utility of each configuration in a task."""
    return {row[0]: row[2] for row in answer(task, "mutual_information")[0]}


@for_each("records", [(5, 5), (5, 10)])
def test_labels_whose_tables_cannot_keep_the_shared_records_name_the_way_out(records):
    """A count of 20 is too far from 5 records; and no counts have 5 records of the one column and 10 of the other."""
    sums = {name: np.array([total]) for name, total in zip("ab", records, strict=True)}
    views, texts = (
        {("a", "identity"): Partition.identity(1), ("b", "identity"): Partition.identity(1)},
        {"a": "0", "b": "0"},
    )
    labels = RoundedLabels(5, KEY, ["a", "b"], {("a", "b"): np.array([[20]])}, texts, views, sums)
    with pytest.raises(ControlError, match=r"a and b: too few records .* list one label"):
        labels.joint("a", "b")
