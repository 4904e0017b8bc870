"""An administrator, a provider, a reviewer and a consumer of one tenant, each with the SDK or the command."""

import asyncio
import os
import pty
import subprocess
import sys

import pytest

from aegis_sdk import Client, ForbiddenError, InvalidError, KeyExpiresWarning, NotFoundError, PreconditionFailedError
from aegis_sdk.wire import EXAMPLE_ENTRY
from tests.in_thread import serving
from tests.service import create_key


@pytest.fixture
def administrator(database_url):
    """The client of a new tenant's administrator."""
    header = asyncio.run(create_key(database_url, "hospital", "administrator"))
    with (
        serving(database_url, worker=False) as address,
        Client(address, header["Authorization"].split()[1]) as client,
    ):
        yield client


def client_with(administrator, role):
    return Client(administrator.url, administrator.administration.create_key(role).key)


def aegis(client, *arguments, answer=None):
    """Run the command as the holder of a client's key: exit code, output and error lines."""
    environment = os.environ | {"AEGIS_URL": client.url, "AEGIS_API_KEY": client._http.headers["Authorization"][7:]}
    command = [sys.executable, "-m", "aegis_sdk.cli", *arguments]
    ours, theirs = pty.openpty()
    if answer is not None:
        os.write(ours, f"{answer}\n".encode())
    given = subprocess.DEVNULL if answer is None else theirs
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, stdin=given)
    os.close(ours)
    os.close(theirs)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.long
def test_a_version_goes_from_its_provider_by_a_reviewer_to_a_consumer(administrator):
    policy = administrator.administration.set_policy({"k": 5}, sign_off=True)
    assert (policy.tenant, policy.require, policy.sign_off) == ("hospital", {"k": 5}, True)
    assert administrator.administration.policy() == policy
    provider, reviewer, consumer = (client_with(administrator, role) for role in ("provider", "reviewer", "consumer"))
    with provider, reviewer, consumer:
        assert provider.publishing().sign_off is True
        head = provider.publish(EXAMPLE_ENTRY, accept_small_counts=True)
        assert head.awaits_sign_off
        with pytest.raises(NotFoundError):
            consumer.entry(head.id)
        with pytest.raises(ForbiddenError):
            provider.sign_off(head.id, provider.etag(head.id))
        with pytest.raises(PreconditionFailedError):
            reviewer.sign_off(head.id, '"9-0000000000000000-00000000"')
        code, output, complaint = aegis(reviewer, "entries", "sign-off", head.id, answer="n")
        assert (code, output) == (1, "")
        assert "nothing was signed off" in complaint
        code, output, complaint = aegis(reviewer, "entries", "sign-off", head.id, answer="y")
        assert (code, output) == (0, "version 1 of health-survey is visible to its own tenant only\n")
        assert complaint.startswith("NOT JUDGED: no verdict has been reached yet\nSign version 1 of health-survey off,")
        assert not consumer.entry(head.id).awaits_sign_off


def test_keys_are_replaced_and_revoked(administrator):
    old = administrator.administration.create_key("consumer", expires_days=30)
    new = administrator.administration.replace_key(old.prefix, overlap_hours=1)
    with Client(administrator.url, old.key) as before, Client(administrator.url, new.key) as after:
        assert list(after.entries()) == []
        with pytest.warns(KeyExpiresWarning):
            assert list(before.entries()) == []
        assert administrator.administration.revoke_key(new.prefix).state == "revoked"
    states = {key.prefix: key.state for key in administrator.administration.list_keys()}
    assert (states[old.prefix], states[new.prefix]) == ("expiring", "revoked")


@pytest.fixture
def operator(database_url):
    """The client of an operator, and that of an administrator of another tenant."""
    operator, other = (
        asyncio.run(create_key(database_url, *who)) for who in (("ops", "operator"), ("lab", "administrator"))
    )
    with (
        serving(database_url, worker=False) as address,
        Client(address, operator["Authorization"].split()[1]) as client,
        Client(address, other["Authorization"].split()[1]) as administrator,
    ):
        yield client, administrator


def test_quotas_are_set_by_operators_and_read_by_their_tenant(operator):
    operator, administrator = operator
    usual = administrator.administration.quota()
    assert (usual.tenant, usual.used["entries"]) == ("lab", 0)
    assert operator.administration.set_quota({"entries": 7}, tenant="lab").limits == usual.limits | {"entries": 7}
    assert administrator.administration.quota().limits["entries"] == 7
    with pytest.raises(ForbiddenError):
        administrator.administration.set_quota({"entries": 8})
    with pytest.raises(ValueError, match="entires"):
        operator.administration.set_quota({"entires": 8}, tenant="lab")
    assert operator.administration.quota("lab").limits["entries"] == 7


def test_webhooks_from_their_first_secret_to_their_end(operator):
    operator, administrator = operator
    webhooks = administrator.webhooks
    with pytest.raises(InvalidError):
        webhooks.create("http://hooks.example/aegis", ["entry.published"])
    made = webhooks.create("https://hooks.example/aegis", ["entry.published", "advice.stale"])
    assert (made.tenant, made.events, made.secret[:6]) == ("lab", ["entry.published", "advice.stale"], "whsec_")
    assert webhooks.get(made.id) == webhooks.list()[0] == operator.webhooks.list("lab")[0]
    assert operator.webhooks.list() == []
    assert webhooks.replace_secret(made.id, overlap_hours=1).secret != made.secret
    ping = webhooks.test(made.id)
    assert [(one.id, one.event, one.status) for one in webhooks.deliveries(made.id)] == [(ping.id, "ping", "pending")]
    assert webhooks.disable(made.id).disabled_reason == "administrator"
    assert webhooks.enable(made.id).enabled
    webhooks.delete(made.id)
    with pytest.raises(NotFoundError):
        webhooks.get(made.id)
