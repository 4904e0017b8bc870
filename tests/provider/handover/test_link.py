"""A link that the service would refuse is refused before anything is asked or masked."""

import pytest

from aegis_provider import load_plan
from aegis_provider.errors import PlanError
from aegis_provider.handover import Task, fulfil, storage_at
from aegis_sdk import Client
from tests.for_each import for_each

NOWHERE = "https://127.0.0.1:1"  # nothing answers there


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
