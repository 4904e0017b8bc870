"""The version of the protocol and the catalogue: MET and CAT of the official test kit, and who sees what."""

from aegis_sdk.wire import dataspace as dsp
from app.dataspace.model import processes
from examples.dataspace_kit import NEGOTIATIONS, TRANSFERS
from tests.app.dataspace import test_negotiations, test_transfers
from tests.dataspace import BASE, hold_to_schema, message

REQUEST = message("CatalogRequestMessage")


async def test_met_01_01(guarded):
    answer = await guarded.get("/.well-known/dspace-version")
    hold_to_schema(answer.json(), "common/protocol-version")
    (version,) = answer.json()["protocolVersions"]
    assert (version["version"], version["path"], version["binding"]) == ("2025-1", BASE, "HTTPS")
    assert version["auth"] == {"protocol": "OAuth", "version": "2", "profile": ["bearer"]}


async def test_cat_01_01(consumer, head):
    catalog = (await consumer.post("/catalog/request", REQUEST)).json()
    (dataset,) = [one for one in catalog["dataset"] if one["@id"] == f"urn:uuid:{head['id']}"]
    offers = {one["@id"].rpartition(":")[2]: one for one in dataset["hasPolicy"]}
    assert list(offers) == ["c01", "c02", "c03"]
    constraints = offers["c02"]["permission"][0]["constraint"]
    assert {"leftOperand": "urn:aegis:k", "operator": "gteq", "rightOperand": "50"} in constraints
    assert {"leftOperand": "urn:aegis:terms", "operator": "eq", "rightOperand": head["terms"]} in constraints


async def test_cat_01_02(consumer, head):
    for path in (f"urn:uuid:{head['id']}", head["id"], f"urn:uuid:{head['id']}/"):
        answer = await consumer.get(f"/catalog/datasets/{path}")
        assert (answer.status_code, answer.json()["@id"]) == (200, f"urn:uuid:{head['id']}")


async def test_cat_01_03(consumer):
    answer = await consumer.get("/catalog/datasets/urn:uuid:00000000-0000-4000-8000-000000000000")
    assert (answer.status_code, answer.json()["@type"]) == (404, "CatalogError")


def test_each_id_of_the_kit_has_its_scenario_here():
    scenarios = {f"test_{one.lower()}" for one in (*NEGOTIATIONS, *TRANSFERS)}
    assert len(scenarios) + len(("MET", "CAT", "CAT", "CAT")) == 35
    assert scenarios <= {*vars(test_negotiations), *vars(test_transfers)}


def test_the_wire_has_the_states_that_processes_have():
    assert [*dsp.NegotiationState] == [*processes.NegotiationState]
    assert [*dsp.TransferState] == [*processes.TransferState]
