"""An entry of a thin table from the provider's package to the service and back, by the real client."""

from uuid import uuid4

import pytest

from tests.thin import thin_entry


@pytest.fixture(scope="module")
def entry(tmp_path_factory):
    return thin_entry(tmp_path_factory.mktemp("thin"), name=f"thin-{uuid4().hex}")


def test_what_is_counted_together_is_published_read_back_and_advised_on(client, entry):
    counted = [pair for pair in entry["pairs"] if "counted_with" in pair]
    head = client.publish(entry, accept_unique=True)
    assert counted
    assert client.summaries(head.id) == entry
    assert client.update(head.id, entry, accept_unique=True).version == 1
    assert "counted_with" not in str(client.entry(head.id).entry_schema)
    for measure in ("joint", "joint_interactions"):
        advice = client.advise(head.id, measure)
        assert (advice.status, advice.considered) == ("succeeded", 4)
        assert advice.configuration != "alone"
