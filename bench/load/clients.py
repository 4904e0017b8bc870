"""The clients, with a pause between two requests, and the responses that they receive."""

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Final

import httpx
import orjson

from bench.load.stage import SHAPE, Stage, bearer
from tests import made_up_entries

WORDS: Final = ("half", "percent", "word1", "word1 half", "former", "nowhere")
#: Seconds after which a client gives up.
PATIENCE: Final = 100.0

#: The document that clients publish under different names.
_NAME: Final = "name-of-the-entry"
_DOCUMENT: Final = orjson.dumps(made_up_entries.entry(SHAPE, _NAME))
_JSON: Final = {"Content-Type": "application/json"}
#: The responses of an overloaded service.
_REFUSALS: Final = frozenset({"503 overloaded", "429"})


@dataclass
class Tally:
    """The responses by kind of request.

    Attributes:
        answers: the number of every response.
        seconds: the durations of successful requests. Refusals are quick, so they would make an overloaded service look
            faster.
    """

    answers: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def note(self, kind: str, answer: str, seconds: float) -> None:
        """Note an answer."""
        self.answers[kind][answer] += 1
        if answer.startswith("2"):
            self.seconds[kind].append(seconds)

    @property
    def count(self) -> int:
        """The number of responses."""
        return sum(map(Counter.total, self.answers.values()))

    @property
    def succeeded(self) -> int:
        """The number of successful requests."""
        return sum(map(len, self.seconds.values()))

    def refusals(self, kind: str) -> int:
        """The number of requests of a kind that were refused because of overload."""
        return sum(self.answers[kind][one] for one in _REFUSALS)

    @property
    def refused(self) -> float:
        """The share of requests that were refused because of overload."""
        return sum(map(self.refusals, self.answers)) / max(self.count, 1)

    @property
    def faults(self) -> Counter[str]:
        """The unjustified responses: other server errors, refusals of valid requests, and missing responses."""
        every = sum(self.answers.values(), Counter[str]())
        return Counter({one: n for one, n in every.items() if one[0] != "2" and one not in _REFUSALS})


class Client:
    """A person or a program of a tenant."""

    def __init__(self, http: httpx.AsyncClient, stage: Stage, tally: Tally, seed: int) -> None:
        self._http, self._tally, self._chance = http, tally, Random(seed)
        self._own = stage.tenants[seed % len(stage.tenants)]
        self._others = stage.tenants
        self._seed, self._published = seed, 0
        self._latest = self._own.entry

    async def run(self, until: float, pause: float) -> None:
        """Send one request after the other until `until`, with random pauses."""
        due = time.perf_counter() + self._chance.uniform(0, pause)
        while due < until:
            await asyncio.sleep(due - time.perf_counter())
            await self.send(due)
            due = time.perf_counter() + self._chance.expovariate(1 / pause)

    async def send(self, due: float) -> None:
        """Send one request; record the response and its delay since `due`."""
        kinds: tuple[tuple[str, Callable[[], Awaitable[httpx.Response]], float], ...] = (
            ("list", self._list, 25),
            ("search", self._search, 25),
            ("stored advice", self._ask_again, 30),
            ("new advice", self._ask, 15),
            ("publish", self._publish, 5),
        )
        kind, send, _ = self._chance.choices(kinds, [weight for *_, weight in kinds])[0]
        try:
            answer = _said(await send())
        except httpx.HTTPError as error:
            answer = type(error).__name__
        self._tally.note(kind, answer, time.perf_counter() - due)

    async def _list(self) -> httpx.Response:
        return await self._get({})

    async def _search(self) -> httpx.Response:
        attribute = {"attribute": f"attribute{self._chance.randrange(1_000)}"}
        return await self._get(self._chance.choice([attribute, *({"query": words} for words in WORDS)]))

    async def _get(self, params: dict[str, str]) -> httpx.Response:
        return await self._http.get("/v1/entries", params=params, headers=bearer(self._own.key))

    async def _ask_again(self) -> httpx.Response:
        entry = self._chance.choice(self._others).entry
        return await self._post(
            f"/v1/entries/{entry}/advice", {"measure": self._chance.choice(made_up_entries.MEASURES)}
        )

    async def _ask(self) -> httpx.Response:
        """Ask a new question, one time in five about the latest entry, which must first be prepared."""
        entry = self._latest if self._chance.random() < 0.2 else self._own.entry
        weights = {"attribute-0": self._chance.random(), "attribute-1": 1}
        return await self._post(f"/v1/entries/{entry}/advice", {"measure": "g3", "weights": weights})

    async def _publish(self) -> httpx.Response:
        self._published += 1
        name = f"client-{self._seed}-{self._published}"
        body = _DOCUMENT.replace(_NAME.encode(), name.encode())
        headers = bearer(self._own.key) | _JSON
        params = {"accept_small_counts": "true"}
        answer = await self._http.post("/v1/entries", content=body, params=params, headers=headers)
        if answer.is_success:
            self._latest = answer.headers["Location"].rpartition("/")[2]
        return answer

    async def _post(self, path: str, body: dict[str, object]) -> httpx.Response:
        headers = bearer(self._own.key) | _JSON | {"Prefer": "wait=60"}
        return await self._http.post(path, content=orjson.dumps(body), headers=headers)


def _said(answer: httpx.Response) -> str:
    """The status, with the code where it distinguishes errors."""
    status = str(answer.status_code)
    return status if answer.is_success or status == "429" else f"{status} {answer.json().get('code')}"


def clients(http: httpx.AsyncClient, stage: Stage, tally: Tally, number: int, first: int = 0) -> Iterator[Client]:
    """Clients of all tenants."""
    return (Client(http, stage, tally, first + seed) for seed in range(number))


def connected(stage: Stage) -> httpx.AsyncClient:
    """Connections to the service, one per open request."""
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None, keepalive_expiry=10)
    return httpx.AsyncClient(base_url=stage.url, timeout=PATIENCE, limits=limits)


async def many(stage: Stage, number: int, seconds: float, pause: float) -> tuple[Tally, float]:
    """Run `number` clients concurrently; return the responses and the seconds until the last one."""
    tally = Tally()
    async with connected(stage) as http:
        start = time.perf_counter()
        await asyncio.gather(*(client.run(start + seconds, pause) for client in clients(http, stage, tally, number)))
        await asyncio.sleep(start + seconds - time.perf_counter())
        return tally, time.perf_counter() - start


async def arriving(stage: Stage, rate: float, seconds: float, first: int) -> tuple[Tally, float]:
    """Send requests at a rate, regardless of earlier ones; return the responses and the seconds until the last one.

    Their times are drawn in advance. If this process is too busy to send one in time, the next one is due no later, and
    the delay counts as response time; otherwise it would lower the rate and hide delays.
    """
    tally, chance = Tally(), Random(first)
    async with connected(stage) as http:
        senders = list(clients(http, stage, tally, len(stage.tenants) * 5, first))
        start = due = time.perf_counter()
        async with asyncio.TaskGroup() as group:
            while (due := due + chance.expovariate(rate)) < start + seconds:
                await asyncio.sleep(due - time.perf_counter())
                group.create_task(chance.choice(senders).send(due))
        return tally, time.perf_counter() - start
