"""What is known of versions is kept for the next question, while they are few and small."""

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from app.advice.service.advice import MOST_ATTRIBUTES, MOST_CELLS, MOST_KEPT, KnownVersion, RecentVersions
from app.entries.model.configurations import ConfigurationTable
from app.entries.model.entries import AttributeOutline, Audience, Head, Visibility

OUTLINE = AttributeOutline("age", values=3, labels=2, joint=True, maskings=(), cells=6)
HEAD = Head(
    *("id", "name", "title", "description", (), "license", "terms", "label", "tenant", Visibility(Audience.PRIVATE)),
    version=1,
    version_id=1,
    digest="digest",
    keyed_digest="keyed",
    created_at=datetime.now(UTC),
    changed_at=datetime.now(UTC),
)


def known(configurations=2, attributes=1):
    codes = np.zeros((configurations, attributes), dtype=np.int64)
    return KnownVersion((OUTLINE,) * attributes, ConfigurationTable((), (("identity",),) * attributes, codes, {}))


@pytest.fixture
def recent():
    return RecentVersions()


def test_a_version_is_found_by_its_id_and_digest(recent):
    one = known()
    recent.keep(HEAD, one)
    assert recent.find(HEAD) is one
    assert recent.find(replace(HEAD, version_id=2)) is None
    assert recent.find(replace(HEAD, digest="that of a restored backup")) is None


def test_of_many_versions_those_asked_about_last_are_kept(recent):
    heads = [replace(HEAD, version_id=number) for number in range(MOST_KEPT + 1)]
    for head in heads[:-1]:
        recent.keep(head, known())
    recent.find(heads[0])
    recent.keep(heads[-1], known())
    assert [head.version_id for head in heads if recent.find(head) is None] == [1]


@pytest.mark.parametrize(("configurations", "attributes"), [(MOST_CELLS + 1, 1), (1, MOST_ATTRIBUTES + 1)])
def test_large_versions_are_not_kept(recent, configurations, attributes):
    recent.keep(HEAD, known(configurations, attributes))
    assert recent.find(HEAD) is None
