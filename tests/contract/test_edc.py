"""Offers in a connector: a stand-in for its management API, which holds what it is told to the API's schemas."""

import json
import os
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote
from uuid import uuid4

import jsonschema_rs
import pytest

from aegis_sdk.dataspace.edc import CONTEXT
from tests.service import example_entry

_PUBLISHED = Path(os.environ.get("AEGIS_STANDARDS_FILES", Path(__file__).parents[3] / "shared/standards"))
_SCHEMAS = "https://w3id.org/edc/connector/management/schema/v4/"
_KINDS = {"assets": "asset", "policydefinitions": "policy-definition", "contractdefinitions": "contract-definition"}


def validators():
    """By kind, what its documents must be; skips the test where the schemas are missing."""
    files = [*_PUBLISHED.glob("edc-management-v4/*-schema.json"), *_PUBLISHED.glob("dsp-2025-1/*/*-schema.json")]
    if not files:
        pytest.skip(f"the schemas of the management API are expected in {_PUBLISHED.name}/edc-management-v4")
    read = [json.loads(file.read_text().replace("json#definitions/", "json#/definitions/")) for file in files]
    schemas = {schema["$id"]: schema for schema in read}
    registry = jsonschema_rs.Registry(list(schemas.items()))
    return {
        kind: jsonschema_rs.Draft201909Validator(schemas[f"{_SCHEMAS}{name}-schema.json"], registry=registry)
        for kind, name in _KINDS.items()
    }


@dataclass
class Edc:
    """A connector with what it was told, by kind and id."""

    validators: dict
    port: int = 0
    refuses: str = ""
    keys: set = field(default_factory=set)
    told: dict = field(default_factory=lambda: {kind: {} for kind in _KINDS})
    methods: list = field(default_factory=list)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/management"

    def answer(self, method, path, body):
        kind, *rest = path.removeprefix("/management/v4/").split("/")
        self.validators[kind].validate(body)
        self.methods.append(method)
        if kind == self.refuses:
            return 400, [{"message": "No, not this.\nIn two lines", "type": "ValidationFailure"}]
        if method == "POST" and body["@id"] in self.told[kind]:
            return 409, [{"message": "is there", "type": "ObjectConflict"}]
        if method == "PUT":
            assert [unquote(each) for each in rest] == ([body["@id"]] if kind == "policydefinitions" else [])
        self.told[kind][body["@id"]] = body
        return (
            (200, {"@context": [CONTEXT], "@type": "IdResponse", "@id": body["@id"]})
            if method == "POST"
            else (204, None)
        )


@pytest.fixture(name="edc")
def _edc():
    with connector() as edc:
        yield edc


@contextmanager
def connector():
    edc = Edc(validators())

    class Handler(BaseHTTPRequestHandler):
        def _do(self):
            edc.keys.add(self.headers.get("X-Api-Key"))
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, answer = edc.answer(self.command, self.path, body)
            self.send_response(status)
            content = b"" if answer is None else json.dumps(answer).encode()
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_PUT = _do  # noqa: N815 -- the names that it looks for

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        edc.port = server.server_address[1]
        threading.Thread(target=server.serve_forever, args=[0.05], daemon=True).start()
        yield edc
        server.shutdown()


@pytest.fixture(name="entry")
def _entry(client):
    document = example_entry(name=f"edc-{uuid4().hex}", title="Ages & incomes", visibility="all")
    return client.publish(document, accept_small_counts=True, accept_unique=True)


def test_each_offer_is_an_asset_with_its_rules(aegis, edc, entry, monkeypatch):
    monkeypatch.setenv("AEGIS_EDC_KEY", "a-key")
    code, out, said = aegis("edc", "push", entry.id, "--management", edc.url)
    assert (code, said) == (0, "")
    offered = {offer["@id"]: offer for offer in _offers(aegis, entry)}
    assert offered.keys() == edc.told["assets"].keys()
    assert out.splitlines()[1:] == list(offered)
    assert edc.keys == {"a-key"}
    for name, asset in edc.told["assets"].items():
        [contract] = [each for each in edc.told["contractdefinitions"].values() if each["@id"].startswith(f"{name}:")]
        [chosen] = contract["assetsSelector"]
        assert (chosen["operandLeft"], chosen["operator"]) == ("https://w3id.org/edc/v0.0.1/ns/id", "=")
        assert chosen["operandRight"] == name
        assert contract["accessPolicyId"] == contract["contractPolicyId"]
        policy = edc.told["policydefinitions"][contract["contractPolicyId"]]["policy"]
        assert policy == {"@type": "Set", "permission": offered[name]["permission"]}
        assert asset["properties"]["name"].startswith("Ages & incomes: ")
        assert "dataAddress" not in asset


def _offers(aegis, entry):
    code, out, said = aegis("dsp", "catalog", os.environ["AEGIS_URL"], "--json")
    assert (code, said) == (0, "")
    [dataset] = [one for one in json.loads(out)["datasets"] if one["@id"] == f"urn:uuid:{entry.id}"]
    return dataset["hasPolicy"]


def test_the_same_again_renews_what_is_there(aegis, edc, entry):
    for _ in range(2):
        assert aegis("edc", "push", entry.id, "--management", edc.url, "--configuration", "c01")[0] == 0
    assert {kind: len(told) for kind, told in edc.told.items()} == dict.fromkeys(_KINDS, 1)
    assert edc.methods == ["POST"] * 3 + ["POST", "PUT"] * 3


def test_what_is_refused_is_said_in_a_line_and_is_not_offered(aegis, edc, entry):
    edc.refuses = "policydefinitions"
    code, out, said = aegis("edc", "push", entry.id, "--management", edc.url)
    assert (code, out, said.count("\n")) == (1, "", 1)
    assert "the connector refuses urn:aegis:offer:" in said
    assert "No, not this." in said
    assert edc.told["contractdefinitions"] == {}


def test_bad_input_is_said_before_anything_is_told(aegis, edc, entry):
    wrong = {
        ("--management", edc.url, "--configuration", "c99"): (2, "c99 is not offered; use one of c01"),
        ("--management", "ftp://edc.example"): (2, "--management"),
        ("--management", "http://127.0.0.1:9/management"): (1, "127.0.0.1:9"),
    }
    for options, (exit_code, said) in wrong.items():
        code, _, error = aegis("edc", "push", entry.id, *options)
        assert (code, error.count("\n")) == (exit_code, 1), error
        assert said in error
    assert aegis("edc", "push", str(uuid4()), "--management", edc.url)[0] == 1
    assert edc.methods == []
