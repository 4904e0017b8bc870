"""Advice computed on the provider's machine, against the service's answers about the same entry."""

from pathlib import Path
from uuid import uuid4

import pytest

from aegis_provider import load_plan, prepare_entry
from aegis_provider.advice import advise, of_service
from aegis_provider.entry import document_of
from aegis_sdk import Client

EXAMPLE = Path(__file__).parents[2] / "examples" / "health"


@pytest.fixture(scope="module", params=[False, True], ids=["rounded", "exact"])
def published(request, url):
    """An entry, and its id in the service."""
    plan = load_plan(EXAMPLE / "plan.yaml")
    name = f"local-{uuid4().hex}"
    entry = prepare_entry(EXAMPLE / "health.csv", plan, name=name, pairs=True, exact=request.param).entry
    with Client(url) as client:
        return entry, client.publish(document_of(entry), accept_small_counts=True, accept_unique=True).id


@pytest.mark.long
@pytest.mark.parametrize("measure", ["joint", "joint_interactions", "mutual_information", "chi_square"])
def test_it_is_the_answer_of_the_service(client, published, measure):
    entry, entry_id = published
    here, there = advise(entry, measure), of_service(client.advise(entry_id, measure, limit=10_000))
    assert [row.id for row in here.ranking] == [row.id for row in there.ranking]
    assert here.best.utility == pytest.approx(there.best.utility, rel=1e-9)
    assert (here.measure, here.basis) == (there.measure, there.basis)
