"""The in-memory service for testing programs that use the SDK."""

import inspect
import textwrap

import pytest

from aegis_sdk import (
    AdviceFailedError,
    Client,
    ConflictError,
    NotFoundError,
    testing,
)
from aegis_sdk.testing import MockService
from aegis_sdk.wire import (
    EXAMPLE_ADVICE,
    EXAMPLE_DATA_REQUEST,
    EXAMPLE_ENTRY,
    EXAMPLE_HEAD,
    EXAMPLE_MEASURE,
    EXAMPLE_TERMS,
    Advice,
    DataRequest,
    DeliveryVerdict,
    Evidence,
    Head,
    Measure,
    Problem,
    PublishingTerms,
)

HEAD = Head.model_validate(EXAMPLE_HEAD)
ADVICE = Advice.model_validate(EXAMPLE_ADVICE)


def test_the_documented_example_runs():
    _, _, example = inspect.getdoc(testing).partition("\n\n")
    names = {"MockService": MockService, "Client": Client, "head": HEAD, "advice": ADVICE}
    exec(textwrap.dedent(example), names)
    assert len(names["service"].requests) == 1


@pytest.fixture
def service():
    return MockService().with_entry(HEAD, summaries=EXAMPLE_ENTRY).with_advice(ADVICE)


@pytest.fixture
def client(service):
    with Client(transport=service) as client:
        yield client


def test_it_answers_every_method_of_the_client(service, client):
    service.with_measures(Measure.model_validate(EXAMPLE_MEASURE))
    assert [measure.id for measure in client.measures()] == ["mutual_information"]
    assert client.publish(EXAMPLE_ENTRY).id == HEAD.id
    assert client.update(HEAD.id, EXAMPLE_ENTRY).id == HEAD.id
    assert list(client.entries()) == [HEAD]
    assert client.entry(HEAD.id).entry_schema == {}
    assert client.summaries(HEAD.id) == EXAMPLE_ENTRY
    assert client.set_visibility(HEAD.id, "all").id == HEAD.id
    assert client.advise(HEAD.id, "mutual_information") == ADVICE
    assert client.advice(ADVICE.id) == ADVICE
    client.delete(HEAD.id)
    assert list(client.entries()) == []


def test_it_tells_what_publishing_asks_for_if_it_was_given_that(service, client):
    with pytest.raises(NotFoundError):
        client.publishing()
    terms = PublishingTerms.model_validate(EXAMPLE_TERMS)
    service.with_terms(terms)
    assert client.publishing("health-survey") == terms
    assert (service.requests[-1].path, service.requests[-1].params) == ("/v1/publishing", {"name": "health-survey"})


def test_it_knows_data_requests(service, client):
    request = DataRequest.model_validate(EXAMPLE_DATA_REQUEST)
    with pytest.raises(NotFoundError):
        client.requests.get(request.id)
    service.with_request(request)
    asked = {"purpose": request.purpose, "contact": "me", "terms": request.terms}
    assert client.requests.create(HEAD.id, "joint", **asked) == request
    assert client.requests.approve(request.id, "yes") == client.requests.get(request.id) == request
    assert service.requests[-2].body == {"action": "approve", "reason": "yes"}
    assert [one.id for one in client.requests.list()] == [request.id]
    client.requests.release(request.id, client.requests.lease(request.id, 60).lease)
    with pytest.raises(NotFoundError):
        client.requests.lease("other", 60)


def test_it_records_what_was_asked(service, client):
    client.advise(HEAD.id, "mutual_information", version=1, limit=3)
    asked = service.requests[0]
    assert (asked.method, asked.path) == ("POST", f"/v1/entries/{HEAD.id}/advice")
    assert asked.params == {"version": "1"}
    assert asked.body["limit"] == 3


def test_what_it_was_not_given_it_does_not_know(client):
    for ask in (
        lambda: client.entry("other"),
        lambda: client.summaries("other"),
        lambda: client.delete("other"),
        lambda: client.advice("other"),
        lambda: client.advise(HEAD.id, "g3"),
        lambda: client.publish({"name": "other"}),
    ):
        with pytest.raises(NotFoundError):
            ask()


def test_it_refuses_what_it_is_told_to(service, client):
    service.with_problem("POST", "/v1/entries", 409, Problem(detail="taken", entry=HEAD.id))
    with pytest.raises(ConflictError, match="taken") as caught:
        client.publish(EXAMPLE_ENTRY)
    assert caught.value.entry == HEAD.id


def test_an_unfinished_advice_can_be_followed(service, client):
    service.with_advice(ADVICE.model_copy(update={"status": "running"}))

    def finish(_):
        service.with_advice(ADVICE)

    assert client.advise(HEAD.id, "mutual_information", on_progress=finish) == ADVICE


def test_an_advice_can_fail(service, client):
    service.with_advice(ADVICE.model_copy(update={"status": "failed"}))
    with pytest.raises(AdviceFailedError):
        client.advise(HEAD.id, "mutual_information")
    assert [request.method for request in service.requests] == ["POST"]


def test_it_knows_the_evidence_of_a_delivery_and_takes_verdicts(service, client):
    request = DataRequest.model_validate(EXAMPLE_DATA_REQUEST)
    evidence = Evidence.model_validate(Evidence.model_config["json_schema_extra"]["examples"][0])
    service.with_request(request).with_evidence(evidence)
    assert client.requests.evidence(request.id) == evidence
    verdict = DeliveryVerdict(sha256="0" * 64, size=7, reason="no table")
    for give in (client.requests.receive, client.requests.dispute):
        assert give(request.id, verdict) == request
    told = [(one.path.rpartition("/")[2], one.body) for one in service.requests[-2:]]
    body = {"sha256": "0" * 64, "size": 7, "reason": "no table"}
    assert told == [("actions", {"action": action} | body) for action in ("receive", "dispute")]
    with pytest.raises(NotFoundError):
        client.requests.evidence("other")
