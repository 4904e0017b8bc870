"""The OpenAPI document and the real service, compared by Schemathesis: all of its checks, as each kind of caller."""

import asyncio
import json
import os
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import httpx
import pytest

from tests.answers import OPENAPI
from tests.issuer import running_issuer
from tests.postgres import create_database, drop_database
from tests.running import address, process
from tests.service import ACCEPTED, AUDIT_KEY, create_key, example_entry
from tests.waiting import wait_until

pytestmark = pytest.mark.long

CONFIGURATION = Path(__file__).with_name("schemathesis.toml")
SCOPES = {
    "consumer": "aegis:consume",
    "reviewer": "aegis:review",
    "provider": "aegis:provide",
    "administrator": "aegis:administer",
    "operator": "aegis:operate",
}
QUESTION = {"measure": "g3"}
REQUEST = QUESTION | {"purpose": "a study", "contact": "data@owner.example"}
WEBHOOK = {"url": "https://hooks.example/", "events": ["entry.published"]}

#: So many of each thing there are, since some are deleted.
NUMBER = 4

#: How many requests of each kind are tried for each operation. With more than one, all edges of the schemas are, too.
EXAMPLES = int(os.environ.get("SCHEMATHESIS_EXAMPLES", "1"))
PHASES = "examples,fuzzing,stateful" + (",coverage" if EXAMPLES > 1 else "")


def bearing(issuer, role, **claims):
    """What a caller of a role sends. Unlike a key, a token cannot be revoked by what is tried."""
    token = issuer.token(tenant="owner", scope=SCOPES[role], exp=time.time() + 3600, **claims)
    return {"Authorization": f"Bearer {token}"}


@pytest.fixture(scope="module")
def service(postgres, migrated):
    """A service with a worker, and what each kind of caller sends to it."""
    database = create_database(postgres.url, "schemathesis", template=migrated)
    asyncio.run(create_key(database, "owner", "operator"))  # no development mode
    settings = {"database_url": database, "audit_key": AUDIT_KEY, "rate_limit": "0", "wrong_keys": "0"}
    with (
        running_issuer() as issuer,
        process("api", port="0", oidc_issuer=issuer.url, **settings) as api,
        process("worker", database_url=database) as worker,
    ):
        url = address(api)
        callers = {"no key": {}} | {role: bearing(issuer, role) for role in SCOPES}
        yield url, callers, world(url, callers)
        assert (api.poll(), worker.poll()) == (None, None)
    drop_database(postgres.url, "schemathesis")


def world(url, callers):
    """Ids of what there is, by the name of the parameter in paths."""
    ids = {f"{name}_id": [] for name in ("entry", "advice", "request", "webhook", "lease")} | {"prefix": []}
    with httpx.Client(base_url=url, timeout=60) as api:

        def made(path, body, role, **params):
            return api.post(path, json=body, headers=callers[role], params=params).raise_for_status().json()

        for number in range(NUMBER):
            head = made("/v1/entries", example_entry(name=f"entry-{number}"), "provider", **ACCEPTED)
            entry = f"/v1/entries/{head['id']}"
            ids["entry_id"].append(head["id"])
            ids["advice_id"].append(made(f"{entry}/advice", QUESTION, "consumer")["id"])
            request = made(f"{entry}/requests", REQUEST | {"terms": head["terms"]}, "consumer")["id"]
            ids["request_id"].append(request)
            ids["prefix"].append(made("/v1/keys", {"role": "consumer"}, "administrator")["prefix"])
            ids["webhook_id"].append(made("/v1/webhooks", WEBHOOK, "administrator")["id"])
            if number % 2:
                wait_until(partial(is_advised, api, request, callers["consumer"]), "the request has no advice")
                made(f"/v1/requests/{request}/actions", {"action": "approve"}, "provider")
                ids["lease_id"].append(made(f"/v1/requests/{request}/lease", {}, "provider")["lease"])
    return ids


def is_advised(api, request, headers):
    return api.get(f"/v1/requests/{request}", headers=headers).json()["state"] != "requested"


def configuration(ids):
    """The configuration, by which most paths name what there is."""
    lines = [CONFIGURATION.read_text(encoding="utf-8"), "[dictionaries]"]
    lines += [f"{name} = {{ values = {json.dumps(values)} }}" for name, values in ids.items()]
    lines.append("[parameters]")
    lines += [f'"path.{name}" = {{ dictionary = "{name}", probability = 0.8 }}' for name in ids]
    return "\n".join(lines)


def schemathesis(folder, url, sent, *arguments):
    """Run its command in a folder, for a caller who sends these headers."""
    command = [Path(sys.executable).with_name("schemathesis"), "run", OPENAPI, "--url", url, "--checks", "all"]
    headers = [part for name, value in sent.items() for part in ("--header", f"{name}: {value}")]
    options = ["--no-color", "--seed", "1", "--generation-database", "none", *headers, *arguments]
    return subprocess.run([*command, *options], cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("caller", ["no key", *SCOPES])
def test_whatever_is_asked_the_answer_is_as_the_document_says(service, tmp_path, caller):
    url, callers, ids = service
    (tmp_path / "schemathesis.toml").write_text(configuration(ids), encoding="utf-8")
    ran = schemathesis(tmp_path, url, callers[caller], "--phases", PHASES, "--max-examples", str(EXAMPLES))
    assert ran.returncode == 0, ran.stdout + ran.stderr
