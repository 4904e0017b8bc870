"""`aegis audit`: receipts that are fetched, stored and checked, and the log for operators."""

import json
from hashlib import sha256

import pytest

from aegis_sdk import Client
from aegis_sdk.testing import MockService
from aegis_sdk.wire import AuditRecord, PublicKeySet, Receipt
from tests.sdk.test_receipts import CLAIMS, KEYS, SERVICE, Service

TABLE = b"age,health\n10-45,VP\n"
SIGNED = SERVICE.signed(CLAIMS | {"file_sha256": sha256(TABLE).hexdigest()})
RECORD = AuditRecord.model_config["json_schema_extra"]["examples"][0]
REQUEST_ID = CLAIMS["request"]
EVIL = "bad \x1b]0;pwn\x07\nsecond line"


@pytest.fixture
def service(monkeypatch):
    service = MockService().with_receipt(Receipt(claims=CLAIMS, jws=SIGNED)).with_keys(KEYS)
    monkeypatch.setattr("aegis_sdk.cli.audit.Client", lambda: Client(transport=service))
    return service


@pytest.fixture
def files(tmp_path):
    """A receipt, keys, the delivered table and another one."""
    (tmp_path / "receipt.jws").write_text(f"{SIGNED}\n")
    (tmp_path / "keys.json").write_text(KEYS.model_dump_json())
    (tmp_path / "table.csv").write_bytes(TABLE)
    (tmp_path / "other.csv").write_bytes(TABLE + b" ")
    return tmp_path


def test_a_receipt_is_fetched_checked_and_stored(aegis, service, tmp_path):
    code, out, err = aegis("audit", REQUEST_ID, "--output", tmp_path / "receipt.jws")
    assert (code, err) == (0, "")
    assert out.splitlines()[:2] == [
        "the receipt is valid, signed by the service on 2026-03-01T12:00:01Z",
        f"request {REQUEST_ID} of insurer: approved",
    ]
    assert "provider hospital  approve" in out
    assert (tmp_path / "receipt.jws").read_text() == f"{SIGNED}\n"
    assert [one.path for one in service.requests][-1] == "/.well-known/aegis-keys.json"


def test_a_receipt_is_checked_offline_with_the_delivered_file(aegis, monkeypatch, files):
    monkeypatch.setenv("AEGIS_URL", "http://127.0.0.1:9")  # nobody is there
    given = ("audit", "--check", files / "receipt.jws", "--keys", files / "keys.json")
    code, out, err = aegis(*given, "--file", files / "table.csv")
    assert (code, err) == (0, "")
    assert f"sha256:{sha256(TABLE).hexdigest()}; it matches your file" in out
    code, out, err = aegis(*given, "--file", files / "other.csv")
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "this is not the delivered file" in err
    code, out, _ = aegis(*given, "--json")
    assert (code, json.loads(out)["claims"]["request"], json.loads(out)["jws"]) == (0, REQUEST_ID, SIGNED)


def test_what_was_printed_as_json_can_be_checked(aegis, service, files):
    (files / "receipt.json").write_text(aegis("audit", REQUEST_ID, "--json")[1])
    assert aegis("audit", "--check", files / "receipt.json")[0] == 0
    assert service.requests


def test_only_the_pinned_key_is_believed(aegis, service, files):
    good, other = SERVICE.key.kid, KEYS.keys[0].kid
    assert aegis("audit", "--check", files / "receipt.jws", "--pin", good)[0] == 0
    code, _, err = aegis("audit", "--check", files / "receipt.jws", "--pin", other)
    assert (code, err.count("\n")) == (1, 1)
    assert "not among the given ones" in err
    forger = Service(9, kid=good)
    service.with_keys(PublicKeySet(keys=[forger.key]))  # a service that lies about its key
    (files / "forged.jws").write_text(forger.signed())
    code, _, err = aegis("audit", "--check", files / "forged.jws", "--pin", good)
    assert (code, "its id is not its thumbprint" in err) == (1, True)


def test_a_receipt_of_another_request_is_not_taken(aegis, service):
    other = "00000000-0000-0000-0000-000000000001"
    service.with_receipt(Receipt(claims=CLAIMS | {"request": other}, jws=SIGNED))
    code, _, err = aegis("audit", other)
    assert (code, "the receipt of another request" in err) == (1, True)


def test_a_changed_receipt_is_a_failure_in_one_line(aegis, files):
    header, _, signature = SIGNED.split(".")
    (files / "receipt.jws").write_text(f"{header}.{SERVICE.signed().split('.')[1]}.{signature}")
    code, out, err = aegis("audit", "--check", files / "receipt.jws", "--keys", files / "keys.json")
    assert (code, out) == (1, "")
    assert err == "aegis: the signature is invalid: the content was changed, or signed with another key\n"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--keys", "keys.json"), "give REQUEST_ID or --check"),
        (("--file", "x.csv"), "give REQUEST_ID or --check"),
        ((REQUEST_ID, "--check", "receipt.jws"), "not both"),
        ((REQUEST_ID, "--entry", "x"), "leave them out"),
        (("--since", "yesterday"), "a time is written as"),
        (("--check", "none.jws"), "No such file"),
        ((REQUEST_ID, "--keys", "none.json"), "No such file"),
        (("00000000-0000-0000-0000-00000000000f",), "not_found"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(aegis, service, monkeypatch, tmp_path, arguments, told):
    monkeypatch.chdir(tmp_path)
    code, out, err = aegis("audit", *arguments)
    assert (code in (1, 2), out, err.count("\n")) == (True, "", 1)
    assert told in err
    assert all(one.method == "GET" for one in service.requests)


def test_operators_list_the_log(aegis, service):
    revoked = {"sequence": 2, "action": "key.revoke", "target": "aegis_30a4a6be", "entry": None, "request": None}
    service.with_audit(AuditRecord(**RECORD | revoked), AuditRecord(**RECORD))
    code, out, err = aegis("audit", "--since", "2026-03-01", "--request", REQUEST_ID)
    assert (code, err) == (0, "")
    header, second, first = out.splitlines()
    assert header.split() == ["record", "when", "who", "what", "about"]
    assert second.split()[0] == "2"
    assert "hospital (aegis_30a4a6be)  request.approve c17" in first
    assert REQUEST_ID in first
    params = service.requests[-1].params
    assert (params["since"], params["request"]) == ("2026-03-01T00:00:00+00:00", REQUEST_ID)
    code, out, _ = aegis("audit", "--limit", "1", "--json")
    assert (json.loads(out)["more"], [one["sequence"] for one in json.loads(out)["items"]]) == (True, [2])
    assert "and more" in aegis("audit", "--limit", "1")[1]


def test_an_empty_log_says_so(aegis, service):
    service.with_audit()
    assert aegis("audit") == (0, "no records\n", "")


def test_texts_of_others_are_escaped(aegis, service):
    evil = dict.fromkeys(("action", "tenant", "subject", "configuration", "request"), EVIL)
    service.with_audit(AuditRecord(**RECORD | evil))
    assert "\x1b" not in aegis("audit")[1]
    claims = CLAIMS | dict.fromkeys(("state", "provider", "consumer", "configuration", "terms"), EVIL)
    service.with_receipt(Receipt(claims=claims, jws=SERVICE.signed(claims)))
    out = aegis("audit", REQUEST_ID)[1]
    assert "signed by the service on 2026" in out
    assert "\x1b" not in out


def test_the_client_has_the_log_its_heads_and_keys(service):
    service.with_audit(AuditRecord(**RECORD))
    with Client(transport=service) as client:
        assert [one.sequence for one in client.audit.records()] == [1]
        assert list(client.audit.heads()) == []
        assert client.audit.keys() == KEYS
        assert client.requests.receipt(REQUEST_ID).jws == SIGNED
