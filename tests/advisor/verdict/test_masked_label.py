"""The verdict on counts of maskings and masked labels: alone, and together with counts of all labels."""

import numpy as np

from aegis_advisor.evidence import (
    AttributeContent,
    ConfigurationContent,
    EntryContent,
    LabelContent,
    MaskingContent,
    PairContent,
    evidence_of,
    pairs_of,
)
from aegis_advisor.verdict import PublishedCounts, Reason, Releases, judge, label_counts

MERGED = [0, 0, 1]


def entry(table, block, privacy=None):
    """An entry of three values and three labels: one cut with all labels, another cut with the masked label only."""
    table = np.array(table)
    left = MaskingContent(id="left", domain=["ab", "c"], mapping=[0, 0, 1], joint=[table[:2].sum(0), table[2]])
    right = MaskingContent(id="right", domain=["a", "bc"], mapping=[0, 1, 1])
    return EntryContent(
        records=int(table.sum()),
        label=LabelContent(
            name="y",
            domain=["0", "1", "2"],
            histogram=table.sum(axis=0),
            maskings=[MaskingContent(id="y-2", domain=["01", "2"], mapping=MERGED)],
        ),
        attributes=[AttributeContent(name="x", type="string", domain=["a", "b", "c"], maskings=[left, right])],
        pairs=[PairContent(attributes=["x", "y"], maskings=["right", "y-2"], joint=block)],
        configurations=[
            ConfigurationContent(id="one", maskings={"x": "left", "y": "identity"}, privacy={"k": 5}),
            ConfigurationContent(id="two", maskings={"x": "right", "y": "y-2"}, privacy=privacy),
        ],
    )


def verdict(content):
    published = PublishedCounts(evidence_of(content), pairs_of(content), Releases.of(content), 1, label_counts(content))
    return judge(published)


def block(table):
    table = np.array(table)
    both = np.array([table[0], table[1:].sum(axis=0)])
    return np.stack([both[:, :2].sum(axis=1), both[:, 2]], axis=1)


LARGE = [[30, 20, 40], [25, 25, 35], [20, 30, 30]]


def test_large_counts_pass():
    assert verdict(entry(LARGE, block(LARGE))).passed


def test_a_small_count_with_a_masked_label_is_shown():
    table = [[2, 1, 40], [25, 25, 35], [20, 30, 30]]
    findings = verdict(entry(table, block(table))).findings
    assert [(one.reason, one.path) for one in findings] == [(Reason.SHOWN, ("pairs", 0, "joint"))]


def test_a_small_difference_between_counts_of_a_masked_label_and_of_all_labels_is_certain():
    """Neither table has it: of the value `b`, two have the label 2."""
    table = [[30, 20, 40], [25, 25, 2], [20, 30, 30]]
    findings = verdict(entry(table, block(table))).findings
    assert {one.reason for one in findings} == {Reason.CERTAIN}


def test_other_criteria_than_k_are_about_the_label_that_a_configuration_shows():
    content = entry(LARGE, block(LARGE), privacy={"k": 9, "l": 2})
    assert Releases.of(content).privacy == {"k": [5, 9], "l": [None, None]}
    assert label_counts(content)[0].published.releases.privacy == {"k": [5, 9], "l": [None, 2]}
