import json
from collections.abc import Callable

import httpx
import pytest

from aegis_sdk import Client

KEY = "aegis_test_0123456789"


class Script:
    """Gives the answers in order, repeating the last one, and keeps the requests."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self._answers = list(answers)
        self.requests: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def body(self, index: int = -1) -> object:
        return json.loads(self.requests[index].content)


@pytest.fixture
def scripted() -> Callable[..., tuple[Client, Script]]:
    """A client of a service with given answers."""

    def make(*answers: httpx.Response | Exception, timeout: float = 60.0) -> tuple[Client, Script]:
        script = Script(*answers)
        return Client("http://service.test/", KEY, timeout=timeout, transport=httpx.MockTransport(script)), script

    return make
