"""The counts of one configuration, beside those that a plain loop adds up from records."""

from collections import Counter
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from aegis_advisor.evidence import ConfigurationContent, ConfigurationsContent
from aegis_advisor.evidence.content import TableContent
from app.entries.model.documents import entry_in
from app.requests.model.approved_counts import ApprovedCounts, configuration_in

LABELS = ["n", "y"]
AGES = ["18", "19", "20", "21", "30", "31"]
PLACES = ["a", "b", "c", "d"]
TENS, YOUNG, HALF = [0, 0, 1, 1, 2, 2], [0, 0, 0, 0, 1, 1], [0, 0, 1, 1]
RECORDS = [
    (age, place, label)
    for number, (age, place, label) in enumerate(product(range(6), range(4), range(2)))
    for _ in range(1 + number * 7 % 5)
]


def joint(column, mapping, size):
    counts = Counter((mapping[record[column]], record[2]) for record in RECORDS)
    return [[counts[row, label] for label in range(2)] for row in range(size)]


def pair(first, second, sizes):
    counts = Counter((first[age], second[place]) for age, place, _ in RECORDS)
    return [[counts[row, column] for column in range(sizes[1])] for row in range(sizes[0])]


def masking(name, column, mapping, size, **more):
    texts = [f"{name}{n}" for n in range(size)]
    return {"id": name, "domain": texts, "mapping": mapping, "joint": joint(column, mapping, size)} | more


IDENTITY = list(range(6))


def document(**changes):
    ages = {"name": "age", "type": "integer", "domain": AGES, "joint": joint(0, IDENTITY, 6)}
    places = {"name": "place", "type": "string", "domain": PLACES}
    return {
        "records": len(RECORDS),
        "label": {
            "name": "y",
            "domain": LABELS,
            "histogram": [sum(each) for each in zip(*joint(0, IDENTITY, 6), strict=True)],
        },
        "attributes": [
            ages | {"maskings": [masking("tens", 0, TENS, 3), masking("young", 0, YOUNG, 2)]},
            places | {"maskings": [masking("half", 1, HALF, 2)]},
        ],
        "pairs": [
            {"attributes": ["age", "place"], "maskings": ["tens", "half"], "joint": pair(TENS, HALF, (3, 2))},
        ],
    } | changes


def counts_of(told, **maskings):
    return ApprovedCounts.of(entry_in(told), ConfigurationContent(id="c", maskings=maskings))


def test_the_joint_counts_of_each_masking_are_those_of_the_records():
    counts = counts_of(document(), age="young", place="half")
    assert [each.joint.tolist() for each in counts.tables] == [joint(0, YOUNG, 2), joint(1, HALF, 2)]
    assert [each.masking for each in counts.tables] == ["young", "half"]
    assert {each.inexact.off_by for each in counts.tables} == {0}


def test_what_is_dropped_is_not_told():
    counts = counts_of(document(), age="drop", place="half")
    assert [each.attribute.name for each in counts.tables] == ["place"]
    assert counts.pairs == ()


def test_counts_that_are_not_published_are_added_up_from_finer_ones_or_are_not_known():
    told = document()
    del told["attributes"][0]["maskings"][1]["joint"]
    assert counts_of(told, age="young", place="drop").tables[0].joint.tolist() == joint(0, YOUNG, 2)
    assert counts_of(told, age="drop", place="identity").tables[0].joint is None


def test_pair_counts_are_those_given_or_added_up_from_finer_ones():
    own = counts_of(document(), age="tens", place="half").pairs[0]
    assert own.joint.tolist() == pair(TENS, HALF, (3, 2))
    coarser = counts_of(document(), age="young", place="half").pairs[0]
    assert (coarser.joint.tolist(), coarser.maskings) == (pair(YOUNG, HALF, (2, 2)), ("young", "half"))
    assert counts_of(document(), age="identity", place="half").pairs == ()


def test_pairs_in_the_other_order_are_added_up_likewise():
    turned = {"attributes": ["place", "age"], "maskings": ["half", "tens"]}
    told = document(pairs=[turned | {"joint": np.transpose(pair(TENS, HALF, (3, 2))).tolist()}])
    one = counts_of(told, age="young", place="half").pairs[0]
    assert (one.attributes, one.joint.T.tolist()) == (("place", "age"), pair(YOUNG, HALF, (2, 2)))


def test_masked_values_that_were_counted_together_stay_together():
    counted = np.array(pair(TENS, HALF, (3, 2)))
    together = np.array([counted[0] * 0, counted[0] + counted[1], counted[2]])
    rounded = {"rounded_to": 3, "joint": together.tolist(), "counted_with": [[1, 1, 2], [0, 1]]}
    told = document(pairs=[{"attributes": ["age", "place"], "maskings": ["tens", "half"]} | rounded])
    one = counts_of(told, age="young", place="half").pairs[0]
    assert one.joint.tolist() == pair(YOUNG, HALF, (2, 2))
    assert [each.tolist() for each in one.counted_with] == [[0, 1], [0, 1]]
    # Of 18 and 19 with 30 and 31, the coarser masked values are counted together, too.
    across = np.array([counted[0] * 0, counted[1], counted[0] + counted[2]])
    told["pairs"][0] |= {"joint": across.tolist(), "counted_with": [[2, 1, 2], [0, 1]]}
    one = counts_of(told, age="young", place="half").pairs[0]
    assert one.joint.tolist() == [[0, 0], counted.sum(axis=0).tolist()]
    assert one.counted_with[0].tolist() == [1, 1]


def test_inexact_counts_say_how_far_they_may_be_off():
    noisy = {"noise": {"kind": "laplace", "scale": 2.0}}
    told = document(
        label=document()["label"] | noisy,
        pairs=[
            {"attributes": ["age", "place"], "maskings": ["tens", "half"], "joint": pair(TENS, HALF, (3, 2))} | noisy
        ],
    )
    told["attributes"][0]["maskings"][0] |= {"rounded_to": 5}
    counts = counts_of(told, age="tens", place="half")
    assert (counts.tables[0].inexact.off_by, counts.label_inexact.noise_scale) == (4, 2.0)
    folded = counts_of(told, age="young", place="half").pairs[0].inexact
    assert (folded.noise_scale, folded.terms, folded.off_by) == (2.0, 2, 0)


def test_counts_that_were_rounded_once_are_off_by_less_than_the_base_if_maskings_nest():
    told = document(disclosure_control={"rounded_to": 5, "rounding": "once"})
    counts = counts_of(told, age="young", place="half")
    assert [each.inexact.off_by for each in counts.tables] == [4, 4]
    assert counts.label_inexact.off_by == 4
    told["attributes"][0]["maskings"].append(masking("odd", 0, [0, 1, 0, 1, 0, 1], 2))
    assert counts_of(told, age="odd", place="drop").tables[0].inexact.off_by == 3 * 4


def test_unmasked_counts_that_noise_covers_are_those_of_the_masking_that_changes_nothing():
    told = document()
    unmasked = masking("unmasked", 0, IDENTITY, 6, noise={"kind": "laplace", "scale": 2.0})
    del told["attributes"][0]["joint"]
    told["attributes"][0]["maskings"].append(unmasked)
    table = counts_of(told, age="identity", place="drop").tables[0]
    assert (table.joint.tolist(), table.about.domain) == (unmasked["joint"], AGES)
    assert (table.inexact.noise_scale, table.inexact.terms) == (2.0, 1)


def test_a_generated_configuration_has_the_label_counts_of_its_own_table():
    generated = ConfigurationContent(id="g", kind="generated", records=9, histogram=[4, 5])
    counts = ApprovedCounts.of(entry_in(document()), generated)
    assert (counts.label.histogram, counts.tables, counts.pairs) == ([4, 5], (), ())


def test_a_configuration_is_taken_from_a_list_or_a_table():
    one, other = (ConfigurationContent(id=name, maskings={"age": m}) for name, m in (("a", "tens"), ("b", "drop")))
    assert configuration_in(ConfigurationsContent(configurations=[one, other]), "b") == other
    privacy = {"k": [5, None], "t": [None, 0.2]}
    table = TableContent(ids=["a", "b"], maskings={"age": ["tens", "drop"]}, privacy=privacy)
    columns = ConfigurationsContent(configuration_table=table)
    assert configuration_in(columns, "b") == replace(other, privacy={"t": 0.2})
    with pytest.raises(KeyError):
        configuration_in(columns, "c")
