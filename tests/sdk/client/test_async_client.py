"""The asynchronous client is the other one, awaited."""

import inspect

import anyio
import httpx
import pytest

from aegis_sdk import AsyncClient, Client, Head, KeyExpiresWarning, NotFoundError, ServiceUnreachableError
from aegis_sdk import UnexpectedAnswerError as Unexpected
from aegis_sdk.testing import MockService
from aegis_sdk.wire import EXAMPLE_ADVICE, EXAMPLE_ENTRY, EXAMPLE_HEAD, Advice
from tests.for_each import case
from tests.sdk.client.loopback import HANGS_UP, answering, document, page, problem

PARTS = ("administration", "audit", "requests", "webhooks")
HEAD = Head.model_validate(EXAMPLE_HEAD)
ADVICE = Advice.model_validate(EXAMPLE_ADVICE)


def public(kind):
    return {name: getattr(kind, name) for name in dir(kind) if not name.startswith("_")}


def faces():
    """Each class of what waits, with that of what is awaited."""
    yield Client, AsyncClient
    for part in PARTS:
        waits, awaited = (type(getattr(kind("http://aegis.test"), part)) for kind in (Client, AsyncClient))
        assert (awaited.__name__, awaited is waits) == (f"Async{waits.__name__}", False)
        yield waits, awaited


def test_both_have_the_same_methods_with_the_same_parameters_and_words():
    for waits, awaited in faces():
        assert public(waits).keys() == public(awaited).keys()
        assert len(public(waits)) >= 3
        for name, method in public(waits).items():
            other = getattr(awaited, name)
            assert inspect.signature(method).parameters == inspect.signature(other).parameters, name
            assert inspect.getdoc(method) == inspect.getdoc(other) != None, name  # noqa: E711 -- both have words
            assert not inspect.iscoroutinefunction(method), name
            assert inspect.iscoroutinefunction(other) is not inspect.isgeneratorfunction(method), name
            assert inspect.isasyncgenfunction(other) is inspect.isgeneratorfunction(method), name


def test_both_are_made_alike():
    ours, theirs = (dict(inspect.signature(kind).parameters) for kind in (Client, AsyncClient))
    assert ours.pop("transport").default is theirs.pop("transport").default is None
    assert ours == theirs


def test_a_method_says_what_it_returns():
    assert inspect.signature(Client.publish).return_annotation.__name__ == "PublishedHead"
    assert str(inspect.signature(AsyncClient.entries).return_annotation).endswith(
        "AsyncIterator[aegis_sdk.wire.catalogue.Head]"
    )
    assert (Client.publish.__qualname__, AsyncClient.publish.__qualname__) == ("Client.publish", "AsyncClient.publish")


@pytest.fixture
def pauses(monkeypatch):
    waited = []

    async def wait(seconds):
        waited.append(seconds)

    monkeypatch.setattr(anyio, "sleep", wait)
    return waited


async def test_it_sends_again_what_the_other_does(pauses):
    sent = [page(502), HANGS_UP, problem(503, "overloaded", Retry_After="3"), document(201, EXAMPLE_HEAD)]
    with answering(*sent) as server:
        async with AsyncClient(server.url, retries=3) as client:
            assert (await client.publish(EXAMPLE_ENTRY)).id == EXAMPLE_HEAD["id"]
        assert [one.method for one in server.asked] == ["POST"] * 4
        assert len({one.headers["Idempotency-Key"] for one in server.asked}) == 1
    assert (len(pauses), pauses[2]) == (3, 3)


async def test_its_errors_are_the_same(pauses):
    refused = [(page(404), Unexpected), (problem(404, "not_found"), NotFoundError), (HANGS_UP, ServiceUnreachableError)]
    with answering(page(404)) as server:
        async with AsyncClient(server.url, "a-secret-key") as client:
            for answer, kind in refused:
                server.answers = [answer]
                with case(kind), pytest.raises(kind) as caught:
                    await client.entry("x")
                assert "a-secret-key" not in repr(caught.value) + repr(client)
    assert len(pauses) == 2


async def test_its_warnings_are_those_of_whoever_called_it():
    answer = document(200, {"items": []}, Aegis_Key_Expires="2026-12-01T10:20:30.5Z")
    with answering(answer) as server:
        async with AsyncClient(server.url) as client:
            with pytest.warns(KeyExpiresWarning) as told:
                await client.measures()
            with pytest.warns(KeyExpiresWarning) as of_listing:
                assert [head async for head in client.entries()] == []
    assert [one.filename for one in (told[0], of_listing[0])] == [__file__] * 2


async def test_what_is_cancelled_ends():
    async def silent(_):
        await anyio.sleep_forever()

    async with AsyncClient("http://service.test", transport=httpx.MockTransport(silent)) as client:
        with anyio.move_on_after(0.01) as scope:
            await client.measures()
    assert scope.cancelled_caught


async def test_the_service_for_tests_serves_it(pauses):
    service = MockService().with_entry(HEAD, summaries=EXAMPLE_ENTRY)
    service.with_advice(ADVICE.model_copy(update={"status": "running"}))
    async with AsyncClient(transport=service) as client:
        assert [head async for head in client.entries()] == [HEAD]
        asked = {"on_progress": lambda _: service.with_advice(ADVICE)}
        assert await client.advise(HEAD.id, "mutual_information", **asked) == ADVICE
        await client.delete(HEAD.id)
    assert len(pauses) == 1
