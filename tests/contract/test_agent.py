"""`aegis requests agent` against the real service: it approves what its rules allow, and fulfils each request once."""

import json
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from aegis_provider import load_plan
from aegis_provider.handover import Agent, load_policy
from aegis_provider.ledger import Leaving, leave
from aegis_provider.workflow.folder import Folder
from aegis_sdk import AegisError, Client
from tests.stores import web_store

RULES = "{tenants: [default], purpose: [Study], require: {k: 20}}"


@pytest.fixture
def store():
    with web_store() as running:
        yield running


@pytest.fixture
def policy(people, head, store, tmp_path):
    """Write a policy with some rules."""

    def write(*rules):
        path = tmp_path / f"{uuid4().hex}.yaml"
        planned = f"{{table: {people}/people.csv, plan: {people}/plan.yaml}}"
        lines = [
            f"to: {store.url}",
            "entries:",
            f"  {head.name}: {planned}",
            "approve:",
            *(f"- {each}" for each in rules),
        ]
        path.write_text("\n".join(lines) + "\n")
        return path

    return write


@pytest.fixture
def ask(client, head):
    def request(purpose="a study of care", **require):
        asked = {"purpose": purpose, "contact": "me", "terms": head.terms}
        made = client.requests.create(head.id, "mutual_information", **asked, require=require or {"k": 5}, wait=60)
        assert made.state == "advised"
        return made.id

    return request


def kinds(events):
    return [(event.kind, event.request.id if event.request else None) for event in events]


def states(client, head):
    return sorted(each.state for each in client.requests.list(entry_id=head.id))


def test_it_approves_by_its_rules_and_delivers(aegis, client, ask, policy, store, tmp_path):
    fits, other, approved = ask(), ask("advertising"), ask("by hand")
    client.requests.approve(approved)
    written = policy(RULES)
    written.write_text(f"{written.read_text()}lineage: {tmp_path / 'lineage.jsonl'}\n")
    arguments = ("requests", "agent", "--policy", written, "--once", "--json", "--work", tmp_path / "work")
    code, out, err = aegis(*arguments)
    assert (code, err) == (0, "")
    lineage = [json.loads(line)["run"]["runId"] for line in (tmp_path / "lineage.jsonl").read_text().splitlines()]
    assert sorted(lineage) == sorted([fits, approved])
    done = [json.loads(line) for line in out.splitlines()]
    assert [(each["event"], each["request"]) for each in done] == [
        ("approved", fits),
        ("delivered", fits),
        ("delivered", approved),
    ]
    assert client.requests.get(other).state == "advised"
    card = dict(client.requests.get(fits).delivery.card)
    first, *_ = card.pop("for_consumers").splitlines()
    assert " masked, for predicting ill; for default, for: a study of care. Records were counted, not people" in first
    assert card == {
        "configuration": "tens",
        "columns": [
            {"name": "age", "role": "quasi-identifier"},
            {"name": "town", "role": "quasi-identifier"},
            {"name": "ill", "role": "sensitive"},
        ],
    }
    assert sum(name.endswith(".csv") for name in store.files) == 2
    assert list((tmp_path / "work").iterdir()) == []
    changes = client.requests.get(fits).changes
    assert changes[2].reason == "approved by the rules of the provider's agent"
    assert aegis(*arguments) == (0, "", "")


RULES_OF_OTHERS = [
    "{tenants: [other], require: {k: 20}}",
    "{tenants: any, purpose: [advertising], require: {k: 20}}",
    "{tenants: any, require: {k: 500}}",
    "{tenants: any, require: {t: 0.1}}",
    "{tenants: any, require: {}, per_month: 0}",
]


def test_what_no_rule_allows_waits_for_a_person(client, ask, policy, tmp_path):
    request_id = ask()
    for rule in RULES_OF_OTHERS:
        assert list(Agent(client, load_policy(policy(rule)), tmp_path / "work").round()) == [], rule
    assert client.requests.get(request_id).state == "advised"


def test_a_tenant_gets_no_more_than_its_share_from_any_number_of_agents(client, url, head, ask, policy, tmp_path):
    asked = [ask() for _ in range(6)]
    path, ready = policy("{tenants: any, require: {}, per_month: 3}"), threading.Barrier(3)
    read = [client.requests.get(each.id) for each in client.requests.list(side="provider")]
    before = sum(any(change.state == "approved" for change in each.changes) for each in read)
    path.write_text(path.read_text().replace("per_month: 3", f"per_month: {before + 3}"))

    def run(number):
        with Client(url) as own:
            agent = Agent(own, load_policy(path), tmp_path / str(number))
            ready.wait()
            return [*agent.round(), *agent.round()]

    with ThreadPoolExecutor(3) as agents:
        events = [event for done in agents.map(run, range(3)) for event in done]
    assert states(client, head) == ["advised"] * 3 + ["delivered"] * 3
    delivered = [each for kind, each in kinds(events) if kind == "delivered"]
    assert sorted(delivered) == sorted(asked[:3])  # each once, the oldest first


def test_a_failure_ends_only_what_it_concerns_and_is_tried_again_later(client, ask, policy, store, tmp_path):
    now = [0.0]
    agent = Agent(client, load_policy(policy(RULES)), tmp_path / "work", clock=lambda: now[0])
    request_id = ask()
    store.status = 403
    approved, failed = agent.round()
    assert (approved.kind, failed.kind, failed.request.id) == ("approved", "failed", request_id)
    assert "the server answers 403 to PUT" in failed.detail
    assert 5 <= failed.retry_in <= 10
    store.status = 201
    assert list(agent.round()) == []
    now[0] = failed.retry_in
    assert kinds(agent.round()) == [("delivered", request_id)]


def test_a_service_that_does_not_answer_is_asked_more_and_more_rarely(policy, tmp_path):
    with Client("http://127.0.0.1:9") as nowhere:
        agent = Agent(nowhere, load_policy(policy(RULES)), tmp_path / "work")
        waits = [next(iter(agent.round())).retry_in for _ in range(6)]
    assert waits[0] <= 10
    assert 80 < waits[-1] <= 300


def test_links_that_end_soon_are_replaced(people, head, client, ask, s3, tmp_path):
    path = tmp_path / "policy.yaml"
    planned = f"{{table: {people}/people.csv, plan: {people}/plan.yaml}}"
    path.write_text(f"to: {s3}\nentries: {{{head.name}: {planned}}}\napprove: [{{tenants: any, require: {{}}}}]\n")
    now = [0.0]
    agent = Agent(client, load_policy(path), tmp_path / "work", clock=lambda: now[0])
    request_id = ask()
    assert kinds(agent.round()) == [("approved", request_id), ("delivered", request_id)]
    delivery = client.requests.get(request_id).delivery
    soon = datetime.now(UTC) + timedelta(hours=20)
    client.requests.relink(request_id, delivery.url, soon)
    assert list(agent.round()) == []
    now[0] = 3600.0
    assert kinds(agent.round()) == [("relinked", request_id)]
    renewed = client.requests.get(request_id).delivery
    assert (renewed.expires_at > soon + timedelta(days=5), renewed.sha256) == (True, delivery.sha256)


def test_what_is_left_of_a_request_that_has_ended_is_removed(client, ask, policy, store, tmp_path):
    agent = Agent(client, load_policy(policy(RULES)), tmp_path / "work")
    request_id, store.status = ask(), 403
    assert [kind for kind, _ in kinds(agent.round())] == ["approved", "failed"]
    assert [each.name for each in (tmp_path / "work").iterdir()] == [request_id]
    client.requests.withdraw(request_id)
    assert list(agent.round()) == []
    assert list((tmp_path / "work").iterdir()) == []


@pytest.mark.long
def test_a_killed_agents_work_is_taken_over(client, url, head, ask, policy, store, tmp_path):
    """An agent is killed while it uploads; another one delivers once the lease has ended."""
    asked, uploading, killed = [ask() for _ in range(2)], threading.Event(), threading.Event()

    class Slow(list):
        def append(self, method):
            super().append(method)
            uploading.set()
            killed.wait(60)

    store.methods = Slow()
    command = [
        sys.executable,
        "-m",
        "aegis_sdk.cli",
        "requests",
        "agent",
        "--policy",
        str(policy(RULES)),
        "--lease",
        "5",
    ]
    command += ["--work", str(tmp_path / "work")]
    with subprocess.Popen(command, env=os.environ | {"AEGIS_URL": url}, stdout=subprocess.DEVNULL) as agent:
        assert uploading.wait(60)
        agent.send_signal(signal.SIGKILL)
        agent.wait()
    killed.set()
    store.methods = []
    with subprocess.Popen(command, env=os.environ | {"AEGIS_URL": url}, stdout=subprocess.PIPE, text=True) as heir:
        delivered = [next(line for line in heir.stdout if " delivered " in line) for _ in asked]
        heir.terminate()
    assert all(any(each in line for line in delivered) for each in asked)
    assert states(client, head) == ["delivered"] * 2
    kept = {client.requests.get(each).delivery.sha256 for each in asked}
    assert all(any(digest in name for name in store.files) for digest in kept)


USUAL = "to: s3://b/c\nentries: {a: {table: t.csv, plan: plan.yaml}}\n"


NO_POLICIES = [
    ("to: s3://b/c\nentries: {}\n", "entries: name at least one entry"),
    (USUAL.replace("to: s3://b/c\n", ""), "`to` is missing"),
    (USUAL.replace("s3://b/c", "shared"), "by `link`"),
    (USUAL.replace("plan.yaml", "none.yaml"), "none.yaml"),
    (USUAL + "approve: [{tenants: any}]\n", "approve.0: `require` is missing"),
    (USUAL + "approve: [{require: {}}]\n", "approve.0: `tenants` is missing"),
    (USUAL + "approve: [{tenants: any, require: {kk: 1}}]\n", "unknown key 'kk'"),
    (USUAL + "approve: [{tenants: any, require: }]\n", "approve.0.require: state the required privacy"),
    (USUAL + "approve: [{tenants: any, require: {k: -5}}]\n", "approve.0.require.k: "),
    (USUAL.replace("s3://b/c", "http://xn--a.com"), "not an address"),
    (USUAL.replace("s3://b/c", "http://[::1"), "not an address"),
]


def test_a_policy_that_is_no_policy_is_refused_with_its_place(people, tmp_path):
    (tmp_path / "plan.yaml").write_text((people / "plan.yaml").read_text())
    for text, said in NO_POLICIES:
        (tmp_path / "policy.yaml").write_text(text)
        with pytest.raises(AegisError, match=said):
            load_policy(tmp_path / "policy.yaml")


TOWNS = """label: ill
quasi_identifiers: [age, town]
attributes: {age: {type: integer}, town: {type: string}}
configurations: {towns: {age: drop}}
privacy: {towns: {k: 200}}
"""


@pytest.fixture
def left(people, head, tmp_path):
    """Let a table by towns leave, which promises more than what both together have."""
    (tmp_path / "towns.yaml").write_text(TOWNS)
    plan = load_plan(tmp_path / "towns.yaml")
    return lambda **how: leave(people / "people.csv", plan, "towns", Leaving(name=head.name, **how), {"delimiter": ","})


def test_what_the_ledger_forbids_is_left_to_a_person_and_said_once(client, ask, left, policy, tmp_path):
    request = client.requests.get(ask())
    left(to=request.consumer)
    now, path = [0.0], policy(RULES)
    agent = Agent(client, load_policy(path), tmp_path / "work", clock=lambda: now[0])
    [event] = agent.round()
    said = "the ledger forbids tens beside what default has of the table; whole keeps it"
    assert (event.kind, event.request.id, event.detail) == ("waiting", request.id, said)
    assert client.requests.get(request.id).state == "advised"
    assert list(agent.round()) == []
    now[0] += 3600
    assert list(agent.round()) == []
    path.write_text(path.read_text().replace("plan.yaml}", "plan.yaml, accept_composition: true}"))
    events = Agent(client, load_policy(path), tmp_path / "work").round()
    assert kinds(events) == [("approved", request.id), ("delivered", request.id)]


def test_approving_on_the_machine_of_the_release_asks_its_ledger_first(
    aegis, client, head, ask, left, people, tmp_path
):
    first, second = ask(), ask()
    code, out, _ = aegis("requests", "approve", first)
    said = (
        f"for you only: no release of {head.name} left from this machine; the ledger is asked when the table is masked"
    )
    assert (code, out.splitlines()[1]) == (0, said)
    folder = Folder.open(tmp_path / "release", keep=())
    (tmp_path / "release" / "configurations.yaml").write_text((people / "plan.yaml").read_text())
    folder.claim(people / "people.csv", {"name": head.name, "how": {"delimiter": ",", "memory_limit": "1GB"}})
    folder.remember("a step", {})
    left(to="default", place=str(tmp_path / "release"))
    code, out, error = aegis("requests", "approve", second)
    assert (code, out) == (1, "")
    assert error.endswith(f"To offer that one: aegis requests counter {second} whole\n")
    assert client.requests.get(second).state == "advised"
    code, out, _ = aegis("requests", "approve", second, "--accept-composition")
    assert (code, "for you only: with towns, delivered on" in out) == (0, True)
    assert aegis("requests", "decline", second, "--why", "too much together")[1].startswith("declined: tens")
    code, out, _ = aegis("requests", "counter", ask(), "whole")
    assert (code, "for you only: with towns, delivered on" in out) == (0, True)
