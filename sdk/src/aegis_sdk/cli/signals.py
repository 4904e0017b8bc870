"""Signals end a command by an exception, so that it can clean up."""

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")

_AGAIN = 1.0
"""Seconds within which a repeated signal counts as the same one: `timeout` sends each twice."""


_SOON = 0.05
"""Seconds until a signal is sent again whose exception was ignored by Python."""


class Interrupted(SystemExit, KeyboardInterrupt):
    """Ctrl-C: ends the command, unless the code catches `KeyboardInterrupt` and continues with partial results."""


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """End the block on a signal; ignored signals stay ignored.

    Interrupted libraries raise their own errors, so any error after a signal ends the block like the signal.

    Raises:
        SystemExit: A signal came; the code is 128 plus its number.
    """
    received: list[tuple[int, float]] = []

    def end(number: int, _frame: object) -> None:
        if not received or monotonic() - received[-1][1] > _AGAIN:
            received.append((number, monotonic()))
            raise (Interrupted if number == signal.SIGINT else SystemExit)(128 + number)

    with _handled(end), _never_ignored(received):
        try:
            yield
        except Exception:
            if received:
                raise SystemExit(128 + received[0][0]) from None
            raise


@contextmanager
def _never_ignored(received: list[tuple[int, float]]) -> Iterator[None]:
    """Send a signal again if its exception was ignored: Python does so in callbacks of the garbage collector."""
    before = sys.unraisablehook

    def hear(ignored: Any) -> None:  # noqa: ANN401 - its type has a name for type checkers only
        if not received or not isinstance(ignored.exc_value, SystemExit):
            before(ignored)
            return
        number, _ = received.pop()
        main = threading.main_thread().ident
        again = threading.Timer(_SOON, lambda: signal.pthread_kill(main or 0, number))
        again.daemon = True
        again.start()

    sys.unraisablehook = hear
    try:
        yield
    finally:
        sys.unraisablehook = before


@contextmanager
def held_back() -> Iterator[None]:
    """Delay signals until the block ends: some libraries swallow exceptions raised inside them, or crash later."""
    waiting: list[int] = []
    try:
        with _handled(lambda number, _: waiting.append(number)):
            yield
    finally:
        if waiting:
            signal.raise_signal(waiting[0])


@contextmanager
def _handled(handler: Callable[[int, object], None]) -> Iterator[None]:
    """Send the signals to the handler; Python allows this in the main thread only."""
    in_main = threading.current_thread() is threading.main_thread()
    numbers = [getattr(signal, name) for name in _NAMES if in_main and hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in numbers}
    heard = {number: was for number, was in before.items() if was not in {signal.SIG_IGN, None}}
    try:
        for number in heard:
            signal.signal(number, handler)
        yield
    finally:
        for number, was in heard.items():
            signal.signal(number, was)
