"""Receipts and the audit log from the commands' side, against the real service, its worker and its two roles."""

import json
import subprocess
import sys
from hashlib import sha256
from uuid import uuid4

import httpx
import pytest

from aegis_sdk.receipts import check_receipt
from aegis_sdk.wire import EXAMPLE_ENTRY, DeliveryDescriptor
from tests.running import environment

TABLE = b"age,health\n10-45,VP\n"


@pytest.fixture
def request_id(client):
    """A request whose table was delivered."""
    entry = EXAMPLE_ENTRY | {"name": f"entry-{uuid4().hex}"}
    head = client.publish(entry, accept_small_counts=True)
    asked = {"purpose": "a study", "contact": "me", "terms": head.terms}
    request = client.requests.create(head.id, "g3", require={"k": 5}, **asked, wait=60)
    client.requests.approve(request.id)
    client.requests.deliver(
        request.id,
        DeliveryDescriptor(
            url="https://store.hospital.example/c01.csv",
            media_type="text/csv",
            size=len(TABLE),
            sha256=sha256(TABLE).hexdigest(),
            records=1,
            configuration="c01",
            entry_digest=head.digest,
            privacy={"k": 5},
        ),
    )
    return request.id


def test_a_receipt_is_stored_and_checked_later_without_the_service(aegis, client, url, request_id, tmp_path):
    (tmp_path / "table.csv").write_bytes(TABLE)
    (tmp_path / "keys.json").write_bytes(httpx.get(f"{url}/.well-known/aegis-keys.json").content)
    code, out, err = aegis("audit", request_id, "--output", tmp_path / "receipt.jws", "--file", tmp_path / "table.csv")
    assert (code, err) == (0, "")
    assert "delivered" in out
    assert "it matches your file" in out
    command = [sys.executable, "-m", "aegis_sdk.cli", "audit", "--check", tmp_path / "receipt.jws"]
    offline = environment() | {"AEGIS_URL": "http://127.0.0.1:9"}
    checked = subprocess.run(
        [*command, "--keys", tmp_path / "keys.json"], env=offline, capture_output=True, text=True, check=True
    )
    assert checked.stdout.splitlines()[0].startswith("the receipt is valid, signed by the service on 2")
    claims = check_receipt((tmp_path / "receipt.jws").read_text(), client.audit.keys(), sha256(TABLE).hexdigest())
    record = next(client.audit.records(request_id=request_id))
    assert (claims.audit.sequence, claims.audit.hash) == (record.sequence, record.hash)


def test_operators_list_the_log_of_a_request(aegis, request_id):
    code, out, err = aegis("audit", "--request", request_id, "--json")
    assert (code, err) == (0, "")
    actions = [one["action"] for one in json.loads(out)["items"]]
    assert actions == [f"request.{action}" for action in ("deliver", "approve", "advise", "request")]
    assert "request.deliver c01" in aegis("audit", "--request", request_id)[1]
