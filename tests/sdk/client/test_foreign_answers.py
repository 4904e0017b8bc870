"""What is not from the service is told as that, over a real connection: it says nothing about an entry."""

import pytest

from aegis_sdk import Client, ForbiddenError, NotFoundError, ProblemError, UnexpectedAnswerError
from aegis_sdk.wire import EXAMPLE_ENTRY, EXAMPLE_HEAD
from tests.for_each import for_each
from tests.sdk.client.loopback import Answer, answering, document, page, problem


@pytest.fixture(scope="module")
def server():
    with answering(page(404)) as server:
        yield server


@pytest.fixture
def client(server):
    with Client(server.url) as client:
        yield client


@for_each("status", [301, 302, 400, 401, 403, 404, 405, 409, 412, 413, 422, 428, 429, 500, 502, 503, 504])
def test_no_refusal_without_a_problem_document_is_the_services(server, client, status):
    server.answers = [page(status, Retry_After="0", Location="https://elsewhere.example/login")]
    with pytest.raises(UnexpectedAnswerError) as caught:
        client.set_visibility("x", "all")
    error = caught.value
    assert (error.status, isinstance(error, ProblemError)) == (status, False)
    assert f"{server.url}/v1/entries/x answers {status} " in str(error)
    assert "and text/html, which is not a response of Aegis." in str(error)
    assert ("https://elsewhere.example/login" in str(error)) is (status < 400)


@for_each("kind", ["application/json", "text/plain", "application/problem+jsonx", "", "application/problem+json"])
def test_what_only_looks_like_a_problem_is_none(server, client, kind):
    body = b"[]" if kind == "application/problem+json" else problem(404, "not_found").body
    server.answers = [Answer(404, {"Content-Type": kind}, body)]
    with pytest.raises(UnexpectedAnswerError, match="404"):
        client.entry("x")


@for_each(("status", "kind"), [(403, ForbiddenError), (404, NotFoundError)])
def test_a_problem_document_may_name_its_charset(server, client, status, kind):
    server.answers = [Answer(status, {"Content-Type": "Application/Problem+JSON; charset=utf-8"}, problem(status).body)]
    with pytest.raises(kind):
        client.entry("x")


@for_each("status", [200, 204])
def test_a_page_does_not_confirm_what_it_did_not_do(server, client, status):
    server.answers = [page(200) if status == 200 else Answer(204)]
    for delete in (lambda: client.delete("x"), lambda: client.requests.release("x", "y")):
        if status == 204:
            delete()
            continue
        with pytest.raises(UnexpectedAnswerError, match="200 OK and text/html"):
            delete()


def test_the_tag_of_a_file_is_not_that_of_an_entry(server, client):
    server.answers = [page(200, ETag='"file"')]
    with pytest.raises(UnexpectedAnswerError):
        client.update("x", EXAMPLE_ENTRY)
    assert server.asked[-1].method == "GET"
    server.answers = [document(200, EXAMPLE_HEAD, ETag='"3"')]
    assert client.etag("x") == '"3"'


def test_what_cannot_be_unpacked_is_no_answer(server, client):
    server.answers = [Answer(200, {"Content-Encoding": "gzip"}, b"no gzip")]
    with pytest.raises(UnexpectedAnswerError, match="cannot be read"):
        client.measures()
