"""Sends the requests on several connections and counts the responses."""

import http.client
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from bench.hostile.cases import Case, case

#: Seconds after which a response is late, and the timeout.
LATE, PATIENCE = 5.0, 60.0

#: The errors on a connection that the service has just closed as idle.
_CLOSED = (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError)

#: A text of the only refusal that does not blame the input: overload.
_OVERLOADED = b'"code":"overloaded"'


@dataclass(frozen=True)
class Answer:
    """A response: its status (0 without a response), its body and its duration in seconds."""

    status: int
    body: bytes
    seconds: float

    @property
    def is_failure(self) -> bool:
        """Whether no input may cause this response. All senders have valid keys unless a request ended one."""
        return self.status in {0, 401} or (self.status >= 500 and _OVERLOADED not in self.body)

    @property
    def is_late(self) -> bool:
        """Whether it exceeded the limit."""
        return self.seconds > LATE


@dataclass
class Tally:
    """The responses to one kind of mutation.

    Attributes:
        answers: their number by class of status, such as 4.
        slowest: the longest duration in seconds.
        failed: the requests with inadmissible responses.
        late: the requests with late responses. They are sent again without other load: other work on the machine can
            delay any response, but hardly the same one twice.
    """

    answers: Counter[int] = field(default_factory=Counter)
    slowest: float = 0.0
    failed: list[tuple[Case, Answer]] = field(default_factory=list)
    late: list[tuple[Case, Answer]] = field(default_factory=list)

    def add(self, one: Case, answer: Answer) -> None:
        """Count an answer."""
        self.answers[answer.status // 100] += 1
        self.slowest = max(self.slowest, answer.seconds)
        if answer.is_failure:
            self.failed.append((one, answer))
        elif answer.is_late:
            self.late.append((one, answer))


class Sender:
    """A separate connection to a service, reopened if it breaks.

    Args:
        url: the service.
        ids: the ids in paths by name, and the callers' keys by role.
    """

    def __init__(self, url: str, ids: dict[str, str]) -> None:
        place = urlsplit(url)
        self._connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=PATIENCE)
        self._ids = ids
        self._is_kept = False

    def send(self, one: Case) -> Answer:
        """Send a request.

        It is sent again only if a connection that has already been used is closed, as idle ones may be, or if nobody
        listens: the service has crashed and restarts, which is reported separately. Any other end without a response
        may be a crash or a hang, which a second try would hide. The duration covers all tries.
        """
        start = time.perf_counter()
        try:
            status, body = self._answered(one)
        except (OSError, http.client.HTTPException) as error:
            self._close()
            status, body = 0, repr(error).encode()
        return Answer(status, body, time.perf_counter() - start)

    def _answered(self, one: Case) -> tuple[int, bytes]:
        until = time.perf_counter() + PATIENCE
        while True:
            try:
                return self._asked(one)
            except ConnectionRefusedError:
                if time.perf_counter() > until:
                    raise
                self._close()
                time.sleep(0.1)
            except _CLOSED:
                if not self._is_kept:
                    raise
                self._close()

    def _asked(self, one: Case) -> tuple[int, bytes]:
        headers = one.headers | {"Authorization": f"Bearer {self._ids[one.caller]}"}
        self._connection.request(one.method, one.path.format(**self._ids), one.content, headers)
        answer = self._connection.getresponse()
        status, body = answer.status, answer.read()
        self._is_kept = self._connection.sock is not None
        return status, body

    def _close(self) -> None:
        self._connection.close()
        self._is_kept = False

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def send_all(url: str, ids: dict[str, str], seed: int, numbers: Iterator[int], clients: int) -> dict[str, Tally]:
    """Send the requests with these numbers on `clients` connections; return the responses by kind of mutation.

    An exception on one connection ends the others and is raised here.
    """
    tallies: dict[str, Tally] = {}
    lock, over = threading.Lock(), threading.Event()

    def next_number() -> int | None:
        with lock:
            return None if over.is_set() else next(numbers, None)

    def count(one: Case, answer: Answer) -> None:
        with lock:
            tallies.setdefault(one.kind, Tally()).add(one, answer)

    with ThreadPoolExecutor(clients) as pool:
        sending = [pool.submit(_send_some, Sender(url, ids), seed, next_number, count) for _ in range(clients)]
        wait(sending, return_when=FIRST_EXCEPTION)
        over.set()
        for one in sending:
            one.result()
    return tallies


def _send_some(
    sender: Sender, seed: int, next_number: Callable[[], int | None], count: Callable[[Case, Answer], None]
) -> None:
    with closing(sender):
        while (number := next_number()) is not None:
            one = case(seed, number)
            count(one, sender.send(one))
