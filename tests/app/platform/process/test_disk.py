"""A disk that is almost full: nothing more is stored, and all else goes on."""

from app.edge.state import Disk
from tests.service import ACCEPTED, ask, example_entry, publish, running_app


async def test_nothing_more_is_stored_until_there_is_room(database_url, tmp_path):
    async with running_app(database_url) as api:
        head = await publish(api)
    async with running_app(database_url, disk_dir=tmp_path, disk_reserve_bytes=10**18) as api:
        path = f"/v1/entries/{head['id']}"
        refused = (
            await api.post("/v1/entries", json=example_entry(name="new"), params=ACCEPTED),
            await api.put(path, json=example_entry(title="new"), headers={"If-Match": "*"}, params=ACCEPTED),
            await ask(api, head["id"]),
        )
        assert [(answer.status_code, answer.json()["code"]) for answer in refused] == [(507, "storage_full")] * 3
        assert (await api.get(path)).status_code == 200
        assert (await api.delete(path)).status_code == 204
    async with running_app(database_url, disk_dir=tmp_path, disk_reserve_bytes=1) as api:
        await publish(api)


def test_a_look_counts_for_a_second_and_a_disk_that_is_gone_stops_nobody(tmp_path, monkeypatch):
    now = 0.0
    disk = Disk(tmp_path, 1, lambda: now)
    assert disk.has_room
    monkeypatch.setattr(disk, "_reserve", 10**18)
    assert disk.has_room
    now = 1.5
    assert not disk.has_room
    tmp_path.rmdir()
    now = 3.0
    assert disk.has_room
