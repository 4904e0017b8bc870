"""Questions about each label of an entry are answered as by an entry with that label alone, in both views."""

import pytest

from tests.labels import LABELS, entry_of, some_records
from tests.service import Worker, create_key, publish, running_app

pytestmark = pytest.mark.usefixtures("_one_loop")

RECORDS = some_records(5)
#: What an answer says about itself, and not about the configurations.
OWN = ("id", "entry", "request", "created_at", "elapsed_ms", "label", "names")


async def answer(api, worker, entry_id, key=None, **question):
    """The answer to a question, once the worker is done."""
    asked = await api.post(
        f"/v1/entries/{entry_id}/advice", json=question, headers={"Prefer": "respond-async"} | (key or {})
    )
    assert asked.status_code in (200, 202), asked.text
    await worker.run()
    found = (await api.get(f"/v1/advice/{asked.json()['id']}", headers=key or {})).json()
    assert found["status"] == "succeeded", found["problem"]
    return found


def told(found):
    """What an answer says about configurations and attributes, in an order of its own."""
    kept = {name: value for name, value in found.items() if name not in OWN}
    rows = [{name: value for name, value in row.items() if name != "about"} for row in kept.pop("ranking")]
    attributes = sorted(kept.pop("attributes"), key=lambda one: one["name"])
    kept.pop("about")
    return kept, rows, attributes


def assert_nearly(one, other):
    """Two JSON values agree, numbers except for rounding."""
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for name in one:
            assert_nearly(one[name], other[name])
    elif isinstance(one, list | tuple):
        assert len(one) == len(other)
        for each, expected in zip(one, other, strict=True):
            assert_nearly(each, expected)
    elif isinstance(one, float):
        assert one == pytest.approx(other, rel=1e-9, abs=1e-12)
    else:
        assert one == other


async def test_each_label_is_answered_as_by_an_entry_of_its_own(database_url):
    consumer = await create_key(database_url, "reader", "consumer")
    provider = await create_key(database_url, "owner", "provider")
    async with running_app(database_url) as api, Worker.on(database_url) as worker:
        several = await publish(api, entry_of(RECORDS, LABELS, visibility="all"), **provider)
        for label in LABELS:
            alone = entry_of(RECORDS, [label], name=label, visibility="all")
            own = await publish(api, alone, **provider)
            for measure, key in (
                ("joint", provider),
                ("mutual_information", provider),
                ("mutual_information", consumer),
            ):
                one = await answer(api, worker, several["id"], key, measure=measure, label=label)
                other = await answer(api, worker, own["id"], key, measure=measure)
                assert_nearly(told(one), told(other))
                assert other["label"] is None
                assert "label" not in other["request"]
                if label == LABELS[0]:
                    assert one["label"] is None
                    assert "label" not in one["request"]
                else:
                    left_out = len(entry_of(RECORDS, LABELS)["configurations"]) - len(alone["configurations"])
                    assert one["label"] == {"name": label, "listed": True, "left_out": left_out}
                    assert one["request"]["label"] == label
