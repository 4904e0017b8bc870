"""References computed in chunks equal those computed all at once."""

from dataclasses import asdict

import numpy as np
import pytest

from aegis_advisor.reconstruction import reconstruct
from app.advice.service.advice_input import pack_reference, unpack_reference
from app.advice.service.computation import ReferenceInput, _schema, compute_references
from tests.advisor.cases import evidence_of, mapped, random_table
from tests.app.worker.heavy import heavy_entry
from tests.app.worker.shared import shared_entry
from tests.service import publication

ATTRIBUTES = 5


def given(entry, *places):
    content = publication(entry).content
    tables = [table for table in content.count_tables if table.attribute in {None, *places}]
    return ReferenceInput(content.schema, places, tuple(tables))


def computed(entry, *places):
    return [asdict(reference) for reference in compute_references(given(entry, *places), seconds=60)]


@pytest.fixture(autouse=True)
def _nothing_parsed():
    _schema.cache_clear()


def test_chunks_have_the_references_of_the_whole():
    whole = computed(shared_entry(ATTRIBUTES), *range(ATTRIBUTES))
    assert [reference["attribute"] for reference in whole] == list(range(ATTRIBUTES))
    assert computed(shared_entry(ATTRIBUTES), 3, 1) == [whole[3], whole[1]]
    assert computed(shared_entry(ATTRIBUTES), 0, 2, 4) == whole[::2]


def test_counts_of_another_version_with_the_same_schema_play_no_part():
    bare = shared_entry(ATTRIBUTES)
    for attribute in bare["attributes"]:
        del attribute["histogram"]
    bare_references = computed(bare, 0)
    known = computed(shared_entry(ATTRIBUTES), 0)
    bare = shared_entry(ATTRIBUTES)
    for attribute in bare["attributes"]:
        del attribute["histogram"]
    assert given(bare, 0).schema == given(shared_entry(ATTRIBUTES), 0).schema
    assert computed(bare, 0) == bare_references != known


@pytest.mark.long
def test_when_its_seconds_are_over_a_reference_says_that_it_has_not_converged():
    (hasty,) = compute_references(given(heavy_entry(), 0), seconds=1e-9)
    (patient,) = compute_references(given(heavy_entry(), 0), seconds=60)
    assert not hasty.certificate.converged
    assert hasty.certificate.residual > 1e-9 >= patient.certificate.residual
    assert patient.certificate.converged


def test_a_stored_reference_keeps_what_views_determine_together():
    table = random_table(np.random.default_rng(1), values=12, records=900)
    bins = [mapped("bins", np.arange(12) // 4, table), mapped("shifted", (np.arange(12) + 2) // 4, table)]
    reference = reconstruct(evidence_of(table, bins))
    stored = unpack_reference(pack_reference(0, reference))
    assert len(stored.refined) == len(reference.refined) > 0
    for ours, theirs in zip(stored.refined, reference.refined, strict=True):
        np.testing.assert_array_equal(ours, theirs)
