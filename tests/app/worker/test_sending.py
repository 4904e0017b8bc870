"""Where events may be posted to, and how much of an answer is waited for."""

import asyncio
import socket
import ssl
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from itertools import chain

import pytest

from aegis_sdk._links import is_public
from app.webhooks.jobs import EventSender
from app.webhooks.model import Outcome
from tests.certificates import certificate_for
from tests.receiver import receiving

REFUSED = Outcome(error="address_refused")
HEADERS = {"Content-Type": "application/json"}


def resolving(*answers):
    """A resolver under the test's control: the answers in turn, the last one forever. Also the names it was asked."""
    asked, left = [], list(answers)

    async def resolve(host, _port):
        asked.append(host)
        return left.pop(0) if len(left) > 1 else left[0]

    return resolve, asked


async def post(url, *answers, allow_private=False, **options):
    resolve, _ = resolving(*(answers or (["127.0.0.1"],)))
    options.setdefault("tls", ssl.create_default_context())
    return await EventSender(allow_private=allow_private, resolve=resolve, **options).post(url, HEADERS, b"{}")


@pytest.fixture
def receiver():
    with receiving() as found:
        yield found


PRIVATE = [
    "10.0.0.1", "127.0.0.1", "127.8.8.8", "0.0.0.0", "169.254.169.254", "100.64.0.1", "172.16.5.5", "192.168.0.1",
    "192.0.0.8", "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "::", "::1", "fe80::1", "fe80::1%lo",
    "fc00::1", "fd00:ec2::254", "fec0::1", "ff02::1", "2001:db8::1", "2001::1", "3fff::1",
    "::ffff:127.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1", "2002:7f00:1::", "2002:a9fe:a9fe::",
    "64:ff9b::127.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "nonsense",
]  # fmt: skip


async def test_a_name_with_a_private_address_is_refused(receiver):
    assert [address for address in PRIVATE if is_public(address)] == []
    tried = [[["8.8.8.8", address], [address, "8.8.8.8"], [address]] for address in PRIVATE]
    resolve, asked = resolving(*chain.from_iterable(tried))
    sender = EventSender(allow_private=False, resolve=resolve)
    url = f"http://hooks.example:{receiver.port}/"
    assert {await sender.post(url, HEADERS, b"{}") for _ in range(3 * len(PRIVATE))} == {REFUSED}
    assert (len(asked), receiver.received) == (3 * len(PRIVATE), [])


def test_public_addresses_are_public():
    public = ("8.8.8.8", "1.1.1.1", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::1")
    assert all(map(is_public, public))


async def test_what_this_machine_resolves_to_itself_is_refused(receiver):
    for host in ["127.0.0.1", "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "localhost"]:
        sent = await EventSender(allow_private=False).post(f"http://{host}:{receiver.port}/", HEADERS, b"{}")
        assert sent in (REFUSED, Outcome(error="unreachable")), host  # not every resolver knows every form
    assert receiver.received == []


async def test_a_name_that_changes_its_address_in_between_gains_nothing(receiver):
    resolve, asked = resolving(["203.0.113.1"], ["127.0.0.1"])
    sender = EventSender(allow_private=False, resolve=resolve)
    url = f"http://hooks.example:{receiver.port}/"
    assert [await sender.post(url, HEADERS, b"{}") for _ in range(2)] == [REFUSED, REFUSED]
    assert (asked, receiver.received) == (["hooks.example"] * 2, [])


async def test_the_address_that_was_checked_is_the_one_that_is_used(receiver, monkeypatch):
    """The name is resolved once: the library underneath gets an address."""
    resolve, asked = resolving(["127.0.0.1"], ["203.0.113.1"])

    def never(*_, **__):
        raise AssertionError("resolved again")

    monkeypatch.setattr(socket, "getaddrinfo", never)
    sender = EventSender(allow_private=True, resolve=resolve)
    outcome = await sender.post(f"http://hooks.example:{receiver.port}/a?b=c", HEADERS, b"{}")
    assert (outcome.status, asked) == (204, ["hooks.example"])
    assert (receiver.received[0].path, receiver.received[0].headers["host"]) == (
        "/a?b=c",
        f"hooks.example:{receiver.port}",
    )


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_no_redirect_is_followed(receiver, status):
    receiver.status, receiver.headers = status, {"Location": receiver.url}
    outcome = await post(receiver.url, allow_private=True)
    assert (outcome.status, outcome.is_success, len(receiver.received)) == (status, False, 1)


async def test_no_proxy_of_the_environment_is_used(receiver, monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert (await post(receiver.url, allow_private=True)).status == 204


async def test_a_slow_answer_is_cut(receiver):
    receiver.speak = receiver.dribble
    assert await post(receiver.url, allow_private=True, seconds=0.3) == Outcome(error="timeout")


async def test_a_slow_name_is_cut():
    async def resolve(_host, _port):
        await asyncio.Event().wait()

    sender = EventSender(allow_private=True, resolve=resolve, seconds=0.1)
    assert await sender.post("http://hooks.example/", HEADERS, b"{}") == Outcome(error="timeout")


async def test_of_a_long_answer_only_the_beginning_is_read(receiver):
    receiver.speak = lambda wfile: wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 10000000\r\n\r\n" + b"x" * 100_000)
    assert (await post(receiver.url, allow_private=True)).status == 200


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nX: " + b"x" * 1_000_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X-Many: y\r\n" * 100_000 + b"\r\n",
        b"HTTP/1.1 999999 ?\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.7\r\n",
        b"",
    ],
    ids=["a long header", "many headers", "a bad status", "another protocol", "nothing"],
)
async def test_what_is_no_answer_is_a_failure(receiver, answer):
    receiver.speak = lambda wfile: wfile.write(answer)
    assert await post(receiver.url, allow_private=True) == Outcome(error="unreachable")


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/", "http://hooks.example:99999/", "nonsense", "ftp://a.example/"])
async def test_what_cannot_be_reached_is_a_failure(url):
    assert await post(url, allow_private=True) == Outcome(error="unreachable")


async def test_a_name_without_an_address_is_a_failure():
    sent = await EventSender(allow_private=False).post("https://no-such-name.invalid/", HEADERS, b"{}")
    assert sent == Outcome(error="unreachable")
    assert await post("https://hooks.example/", []) == Outcome(error="unreachable")


WAITS = [("120", 120), ("0", 0), (" 7 ", 7), ("9" * 400, 10**8), ("-5", None), ("soon", None), ("", None)]


async def test_retry_after_is_read(receiver):
    receiver.status, told = 503, []
    for given, _ in WAITS:
        receiver.headers = {"Retry-After": given}
        asked = (await post(receiver.url, allow_private=True)).retry_after
        told.append((given, None if asked is None else asked.total_seconds()))
    assert told == WAITS


async def test_retry_after_may_be_a_time(receiver):
    receiver.status = 503
    receiver.headers = {"Retry-After": format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)}
    asked = (await post(receiver.url, allow_private=True)).retry_after
    assert timedelta(minutes=59) < asked <= timedelta(hours=1)


@pytest.mark.parametrize("status", [200, 503])
@pytest.mark.parametrize("given", ["Fri, 31 Dec 9999 23:59:59 -2359", f"Fri, 31 Dec {'9' * 30} 23:59:59 GMT"])
async def test_a_time_that_does_not_exist_leaves_the_answer_as_it_is(receiver, given, status):
    receiver.status, receiver.headers = status, {"Retry-After": given}
    assert await post(receiver.url, allow_private=True) == Outcome(status)


async def test_a_success_asks_for_no_wait(receiver):
    receiver.status, receiver.headers = 200, {"Retry-After": "120"}
    assert await post(receiver.url, allow_private=True) == Outcome(200)


async def test_a_certificate_has_to_be_of_the_name(tmp_path):
    server, client = certificate_for("hooks.example", tmp_path)
    asked_for = []
    server.sni_callback = lambda _socket, name, _context: asked_for.append(name)
    with receiving(server) as receiver:
        for name, status in (("hooks.example", 204), ("other.example", None)):
            sent = await post(f"https://{name}:{receiver.port}/", allow_private=True, tls=client)
            assert sent.status == status
        untrusted = await post(f"https://hooks.example:{receiver.port}/", allow_private=True)
    assert untrusted == Outcome(error="unreachable")
    assert asked_for == ["hooks.example", "other.example", "hooks.example"]
    assert len(receiver.received) == 1
