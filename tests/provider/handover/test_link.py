"""A link that the service would refuse is refused before anything is asked or masked."""

from itertools import product

import pytest

from aegis_provider import load_plan
from aegis_provider.errors import PlanError
from aegis_provider.handover import Task, fulfil, storage_at
from aegis_sdk import Client
from aegis_sdk._link_form import link_faults
from app.webhooks.service.urls import url_faults
from tests.for_each import for_each

NOWHERE = "https://127.0.0.1:1"  # nothing answers there

HOSTS = ["store.example", "localhost", "intranet", "a.local", "10.0.0.1", "8.8.8.8", "127.1", "[::1]", "-x.example", ""]
PORTS = ["", ":443", ":80", ":8443", ":0", ":99999"]
REST = ["/t.csv", "/t.csv?a=b", "/t#x", "/ü", "/ x"]


def test_the_provider_and_the_service_have_the_same_rule():
    links = ["".join(parts) for parts in product(("https://", "http://", "ftp://", "https://me@"), HOSTS, PORTS, REST)]
    told = {
        (link, private): (list(link_faults(link, allow_private=private)), list(url_faults(link, allow_private=private)))
        for link, private in product(links, (True, False))
    }
    assert {asked: both for asked, both in told.items() if both[0] != both[1]} == {}
    assert {bool(faults) for faults, _ in told.values()} == {True, False}


@for_each(
    ("link", "faults"),
    [
        (
            "ftp://me:secret@store.example:81/x",
            ["begin with https://", "a user or a password", "The port"],
        ),
        ("https://store.example/x#here", ["a fragment"]),
        ("https://store.example/" + "x" * 4_000, ["/url", "4000"]),
    ],
)
def test_every_fault_of_a_link_is_said_before_anything_is_asked_or_masked(link, faults, tmp_path):
    plan = tmp_path / "plan.yaml"
    plan.write_text("label: ill\nattributes: {age: {}}\nconfigurations: {c2: {}}\n")
    with Client(NOWHERE) as service:
        task = Task(service, "0f0c2a3e-63c2-4a53-9a0c-6d6c0d3f5b1e", "t.csv", load_plan(plan))
        with pytest.raises(PlanError) as refused:
            fulfil(task, storage_at(str(tmp_path / "store"), link), tmp_path / "work")
    assert all(fault in str(refused.value) for fault in faults), refused.value
    assert "secret" not in str(refused.value)
    assert not (tmp_path / "work").exists()
