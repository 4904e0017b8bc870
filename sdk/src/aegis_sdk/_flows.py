"""Methods written once for two clients: one blocks, the other awaits.

A method is written as a flow: a generator that yields calls and pauses, and is sent the responses. It does no I/O
itself, so either `Blocking` or `Awaiting` can run it. Both mixins convert the flows of their subclasses; type checkers
see the types of `__get__`.
"""

# ruff: noqa: SLF001 -- what decorates a flow is a part of the class that runs it
import inspect
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar, get_args, overload

import httpx

P = ParamSpec("P")
ResultT = TypeVar("ResultT")
ItemT = TypeVar("ItemT")
ItemT_co = TypeVar("ItemT_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Call:
    """An HTTP call; the flow is sent the response, or an error of httpx is raised in it. `timeout` is in seconds."""

    method: str
    url: str
    params: Mapping[str, str] | None
    content: bytes | None
    headers: Mapping[str, str]
    timeout: float

    def request(self, http: httpx.Client | httpx.AsyncClient) -> httpx.Request:
        """The HTTP request, with the client's own headers."""
        return http.build_request(
            self.method,
            self.url,
            params=self.params,
            content=self.content,
            headers=self.headers,
            timeout=self.timeout,
        )


@dataclass(frozen=True, slots=True)
class Pause:
    """Seconds to wait."""

    seconds: float


Step = Call | Pause
Flow = Generator[Step, Any, ResultT]


class Page(Protocol[ItemT_co]):
    """A page of a listing."""

    @property
    def items(self) -> Sequence[ItemT_co]:
        """The items of the page."""

    @property
    def next_page_token(self) -> str | None:
        """The token of the next page; None on the last one."""


Pages = Callable[[str | None], Flow[Page[ItemT]]]
"""A listing: the flow that fetches the page of a token, or the first page."""


class Blocking:
    """Runs flows, blocking."""

    def __init_subclass__(cls) -> None:
        """Turn its flows into methods that return the result."""
        super().__init_subclass__()
        for name, written in inspect.getmembers_static(cls, lambda member: isinstance(member, method | listing)):
            setattr(cls, name, written.blocking(cls.__name__))

    def __init__(self, send: Callable[..., Flow[httpx.Response]], http: httpx.Client) -> None:
        self._send, self._http = send, http

    def _run(self, flow: Flow[ResultT]) -> ResultT:
        try:
            step = next(flow)
            while True:
                try:
                    answer = self._done(step)
                except httpx.HTTPError as error:
                    step = flow.throw(error)
                else:
                    step = flow.send(answer)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]  # as the flow is declared

    def _done(self, step: Step) -> httpx.Response | None:
        if isinstance(step, Call):
            return self._http.send(step.request(self._http))
        time.sleep(step.seconds)
        return None


class Awaiting:
    """Runs flows asynchronously."""

    def __init_subclass__(cls) -> None:
        """Turn its flows into methods whose result is awaited."""
        super().__init_subclass__()
        for name, written in inspect.getmembers_static(cls, lambda member: isinstance(member, method | listing)):
            setattr(cls, name, written.awaiting(cls.__name__))

    def __init__(self, send: Callable[..., Flow[httpx.Response]], http: httpx.AsyncClient) -> None:
        self._send, self._http = send, http

    async def _run(self, flow: Flow[ResultT]) -> ResultT:
        try:
            step = next(flow)
            while True:
                try:
                    answer = await self._done(step)
                except httpx.HTTPError as error:
                    step = flow.throw(error)
                else:
                    step = flow.send(answer)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]  # as the flow is declared

    async def _done(self, step: Step) -> httpx.Response | None:
        if isinstance(step, Call):
            return await self._http.send(step.request(self._http))
        import anyio  # noqa: PLC0415 -- commands do without it, and it takes them time

        await anyio.sleep(step.seconds)
        return None


class method(Generic[P, ResultT]):  # noqa: N801 -- a decorator
    """Decorates a flow that becomes a method of both clients."""

    def __init__(self, flow: Callable[Concatenate[Any, P], Flow[ResultT]]) -> None:
        self.flow = flow

    if TYPE_CHECKING:

        @overload
        def __get__(self, instance: Blocking, owner: type) -> Callable[P, ResultT]: ...
        @overload
        def __get__(self, instance: Awaiting, owner: type) -> Callable[P, Coroutine[Any, Any, ResultT]]: ...
        def __get__(self, instance: object, owner: type) -> object: ...

    def blocking(self, owner: str) -> Callable[..., ResultT]:
        """The method of a blocking class."""

        @wraps(self.flow)
        def run(face: Blocking, *args: P.args, **kwargs: P.kwargs) -> ResultT:
            return face._run(self.flow(face, *args, **kwargs))

        return _named(run, owner, get_args(inspect.signature(self.flow).return_annotation)[-1])

    def awaiting(self, owner: str) -> Callable[..., Coroutine[Any, Any, ResultT]]:
        """The method of an asynchronous class."""

        @wraps(self.flow)
        async def run(face: Awaiting, *args: P.args, **kwargs: P.kwargs) -> ResultT:
            return await face._run(self.flow(face, *args, **kwargs))

        return _named(run, owner, get_args(inspect.signature(self.flow).return_annotation)[-1])


class listing(Generic[P, ItemT]):  # noqa: N801 -- a decorator
    """Decorates a function that returns the pages of a listing; both clients iterate over the items."""

    def __init__(self, pages: Callable[Concatenate[Any, P], Pages[ItemT]]) -> None:
        self.pages = pages

    if TYPE_CHECKING:

        @overload
        def __get__(self, instance: Blocking, owner: type) -> Callable[P, Iterator[ItemT]]: ...
        @overload
        def __get__(self, instance: Awaiting, owner: type) -> Callable[P, AsyncIterator[ItemT]]: ...
        def __get__(self, instance: object, owner: type) -> object: ...

    def blocking(self, owner: str) -> Callable[..., Iterator[ItemT]]:
        """The method of a blocking class."""

        @wraps(self.pages)
        def run(face: Blocking, *args: P.args, **kwargs: P.kwargs) -> Iterator[ItemT]:
            page_of, token, more = self.pages(face, *args, **kwargs), None, True
            while more:
                page = face._run(page_of(token))
                yield from page.items
                token = page.next_page_token
                more = bool(token)

        return _named(run, owner, Iterator[self._item()])  # type: ignore[misc]  # known as it runs

    def awaiting(self, owner: str) -> Callable[..., AsyncIterator[ItemT]]:
        """The method of an asynchronous class."""

        @wraps(self.pages)
        async def run(face: Awaiting, *args: P.args, **kwargs: P.kwargs) -> AsyncIterator[ItemT]:
            page_of, token, more = self.pages(face, *args, **kwargs), None, True
            while more:
                page = await face._run(page_of(token))
                for item in page.items:
                    yield item
                token = page.next_page_token
                more = bool(token)

        return _named(run, owner, AsyncIterator[self._item()])  # type: ignore[misc]  # known as it runs

    def _item(self) -> Any:  # noqa: ANN401 -- a type
        flow = get_args(inspect.signature(self.pages).return_annotation)[-1]
        return get_args(get_args(flow)[-1])[0]


_CallableT = TypeVar("_CallableT", bound=Callable[..., Any])


def _named(run: _CallableT, owner: str, result: Any) -> _CallableT:  # noqa: ANN401 -- a type
    """Set the name and the return type that `help` and editors show."""
    run.__qualname__ = f"{owner}.{run.__name__}"
    signature = inspect.signature(run).replace(return_annotation=result)
    run.__signature__ = signature  # type: ignore[attr-defined]
    return run
