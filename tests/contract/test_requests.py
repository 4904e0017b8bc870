"""A data request from the consumer's command to the provider's, and back, against the real service."""

import json
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from aegis_sdk import ConflictError, InvalidError
from aegis_sdk.wire import EXAMPLE_ENTRY, DeliveryDescriptor

ASKED = ("--purpose", "A study of local care", "--contact", "me@lab.example")
CONFIGURATIONS = [
    {"id": "c01", "maskings": {"age": "age-2"}, "privacy": {"k": 5}},
    {"id": "c02", "maskings": {"age": "drop"}, "privacy": {"k": 50}},
]


@pytest.fixture
def head(client):
    entry = EXAMPLE_ENTRY | {"name": f"entry-{uuid4().hex}", "configurations": CONFIGURATIONS}
    return client.publish(entry, accept_small_counts=True)


def requested(aegis, head, *arguments):
    code, out, err = aegis("requests", "new", head.id, *ASKED, "--accept-terms", *arguments)
    assert (code, err) == (0, "")
    return out.strip()


def test_it_is_made_countered_accepted_and_shown_with_its_history(aegis, head):
    request_id = requested(aegis, head, "--require", "k=5", "--measure", "g3")
    countered = aegis("requests", "counter", request_id, "c02", "--why", "k = 50")
    assert countered[0::2] == (0, "")
    assert countered[1].startswith("countered: c02 (rank 2 of 2): 1 column left out\nfor you only: no release of ")
    assert aegis("requests", "accept", request_id) == (0, "approved: c02 (rank 2 of 2): 1 column left out\n", "")
    code, out, _ = aegis("requests", "show", request_id)
    assert code == 0
    assert "for default: A study of local care" in out
    assert "needs measure g3, require k=5" in out
    steps = [line.split("  ") for line in out.splitlines() if line.startswith("  20")]
    assert [[cell.strip() for cell in step if cell.strip()][2] for step in steps] == [
        "request",
        "advise c01",
        "counter c02",
        "accept",
    ]
    code, out, _ = aegis("requests", "list", "--entry", head.id, "--state", "approved", "--json")
    assert [one["id"] for one in json.loads(out)["items"]] == [request_id]
    code, out, _ = aegis("requests", "list", "--entry", head.id)
    assert (code, request_id in out, "approved" in out) == (0, True, True)


def test_a_named_configuration_is_requested_and_its_provider_is_told_what_loses_less(aegis, head):
    request_id = requested(aegis, head, "--measure", "g3", "--configuration", "c02")
    shown = aegis("requests", "show", request_id)[1]
    assert shown.startswith("advised: c02 (rank 2 of 2): 1 column left out\n")
    assert f"\nc01 (age in 2 bands) loses the least; offer it: aegis requests counter {request_id} c01\n" in shown
    countered = aegis("requests", "counter", request_id, "c01")[1].splitlines()
    assert countered[0] == "countered: c01 (rank 1 of 2): age in 2 bands"
    assert "loses less" not in aegis("requests", "show", request_id)[1]
    unmet = ("--configuration", "c01", "--require", "k=6", "--measure", "g3")
    code, out, err = aegis("requests", "new", head.id, *ASKED, "--accept-terms", *unmet)
    assert (code, out, "'c01' does not promise k >= 6." in err) == (2, "", True)


def test_what_is_not_possible_is_said_in_one_line(aegis, head):
    request_id = requested(aegis, head)
    declined = aegis("requests", "decline", request_id, "--why", "no")
    assert declined[:2] == (0, "declined: c01 (rank 1 of 2, keeps 100 %): age in 2 bands\n")
    code, out, err = aegis("requests", "approve", request_id)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "This request is declined, so approve is not possible" in err
    assert aegis("requests", "withdraw", str(uuid4()))[0] == 2


def test_the_terms_are_accepted_on_purpose(aegis, head):
    code, out, err = aegis("requests", "new", head.id, *ASKED)
    assert (code, out) == (2, "")
    assert "--accept-terms" in err


def test_the_client_has_a_method_for_each_step(client, head):
    asked = {"purpose": "a study", "contact": "me", "terms": head.terms}
    one, two, three = [client.requests.create(head.id, "g3", **asked, wait=60) for _ in range(3)]
    assert {each.state for each in (one, two, three)} == {"advised"}
    assert client.requests.approve(one.id, "agreed").changes[-1].reason == "agreed"
    with pytest.raises(ConflictError, match="You may: deliver, decline, withdraw, end") as refused:
        client.requests.counter(one.id, "c02")
    assert refused.value.code == "not_possible"
    assert client.requests.withdraw(one.id).state == "withdrawn"
    assert client.requests.end(two.id, "over").state == "ended"
    assert client.requests.erase_contact(two.id).contact is None
    assert client.requests.decline(three.id, "no").possible == []
    listed = client.requests.list(entry_id=head.id, side="provider")
    assert [each.id for each in listed] == [three.id, two.id, one.id]
    with pytest.raises(InvalidError, match="not the terms"):
        client.requests.create(head.id, "g3", **asked | {"terms": "sha256:" + "0" * 64})


def test_a_delivery_is_shown_with_its_link_and_gets_another_one(aegis, client, head):
    asked = {"purpose": "a study", "contact": "me", "terms": head.terms}
    made = client.requests.create(head.id, "g3", **asked, require={"k": 5}, wait=60)
    client.requests.approve(made.id)
    descriptor = DeliveryDescriptor(
        url="https://store.example/c01.csv",
        media_type="text/csv",
        size=481_230,
        sha256="9c56cc51b374c3ba189210d5b6d4bf57790d351c96c47c02190ecf1e430635ab",
        records=100,
        configuration="c01",
        entry_digest=made.entry.digest,
        privacy={"k": 5},
    )
    assert client.requests.deliver(made.id, descriptor).delivery.url == descriptor.url
    until = datetime(2090, 1, 1, tzinfo=UTC)
    relinked = client.requests.relink(made.id, "https://mirror.example/c01.csv", until).delivery
    assert (relinked.url, relinked.expires_at, relinked.sha256) == (
        "https://mirror.example/c01.csv",
        until,
        descriptor.sha256,
    )
    lines = aegis("requests", "show", made.id)[1].splitlines()
    assert "delivered: 100 records, 481230 bytes of text/csv" in lines
    assert "https://mirror.example/c01.csv, until 2090-01-01T00:00:00Z" in lines
    assert f"SHA-256 {descriptor.sha256}" in lines
    with pytest.raises(ConflictError) as refused:
        client.requests.deliver(made.id, descriptor)
    assert refused.value.possible == ["relink", "receive", "dispute", "end"]
