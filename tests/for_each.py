"""A test over a table of cases that is one test: `for_each` is written as `pytest.mark.parametrize` is.

Where a case takes milliseconds, starting a test for each costs more than the cases do.
"""

import inspect
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any

import pytest

#: What ends a case and not the table. To skip one would skip those after it, so that is a failure.
FAILURES = (Exception, pytest.fail.Exception, pytest.skip.Exception, BaseExceptionGroup)


def for_each(names: str | tuple[str, ...], cases: Iterable[Any]) -> Callable[[Any], Any]:
    """Let a test, or every test of a class, run once for each case, and tell all that fail, each with its case.

    Every case finds the files of `tmp_path` as the fixtures left them. What it patches is undone before the next one.
    """
    known = (names,) if isinstance(names, str) else names
    rows = [dict(zip(known, (case,) if isinstance(names, str) else case, strict=True)) for case in cases]
    assert rows, names

    def decorate(test: Any) -> Any:
        if isinstance(test, type):
            for name in [one for one in vars(test) if one.startswith("test")]:
                setattr(test, name, decorate(vars(test)[name]))
            return test
        return _over_rows(test, rows)

    return decorate


def for_some(few: int, names: str | tuple[str, ...], cases: Iterable[Any]) -> Callable[[Any], Any]:
    """Let a test run for the first few cases, and in the long suite for the others; otherwise as `for_each`."""
    every = list(cases)
    parts = [every[:few], pytest.param(every[few:], marks=pytest.mark.long)]

    def decorate(test: Callable[..., None]) -> Any:
        bare = for_each(names, every)(test)
        signature = inspect.signature(bare)
        part = inspect.Parameter("part", inspect.Parameter.KEYWORD_ONLY)

        @wraps(test)
        def run(*bound: Any, part: list[Any], **fixtures: Any) -> None:
            for_each(names, part)(test)(*bound, **fixtures)

        run.__signature__ = signature.replace(parameters=[*signature.parameters.values(), part])  # type: ignore[attr-defined]
        return pytest.mark.parametrize("part", parts, ids=["few", "others"])(run)

    return decorate


def _over_rows(test: Callable[..., None], rows: list[dict[str, Any]]) -> Callable[..., None]:
    assert not inspect.iscoroutinefunction(test), f"{test.__name__} would not be awaited"
    whole = inspect.signature(test)
    asked = [one for name, one in whole.parameters.items() if name not in rows[0]]
    assert len(asked) == len(whole.parameters) - len(rows[0]), f"{test.__name__} does not take {set(rows[0])}"
    own = [] if "request" in whole.parameters else [inspect.Parameter("request", inspect.Parameter.KEYWORD_ONLY)]
    signature = whole.replace(parameters=[*asked, *own])

    @wraps(test)
    def run(*bound: Any, **fixtures: Any) -> None:
        shared = signature.bind(*bound, **fixtures).arguments
        with _files(shared["request"]) as renew:
            failures = [error for row in rows if (error := _failure(test, shared, row, renew)) is not None]
        if failures:
            raise BaseExceptionGroup(f"{len(failures)} of {len(rows)} cases", failures)

    run.__signature__ = signature  # type: ignore[attr-defined]
    return run


def _failure(
    test: Callable[..., None], shared: dict[str, Any], row: dict[str, Any], renew: Callable[[], None]
) -> BaseException | None:
    """Run one case and return how it fails."""
    taken = {name: shared[name] for name in inspect.signature(test).parameters if name in shared}
    with pytest.MonkeyPatch.context() as patches:
        if "monkeypatch" in taken:
            taken["monkeypatch"] = patches
        try:
            with case(", ".join(f"{name}={repr(value)[:200]}" for name, value in row.items())):
                renew()
                test(**taken, **row)
        except FAILURES as error:
            return error
    return None


@contextmanager
def case(what: Any) -> Iterator[None]:
    """Let what fails in the block name its case, in loops that `for_each` cannot replace, such as asynchronous ones."""
    try:
        yield
    except FAILURES as error:
        error.add_note(f"of the case {what}"[:1_000])
        raise


@contextmanager
def _files(request: pytest.FixtureRequest) -> Iterator[Callable[[], None]]:
    """Return what brings the files of `tmp_path` back."""
    if "tmp_path" not in request.fixturenames:
        yield lambda: None
        return
    folder: Path = request.getfixturevalue("tmp_path")
    before = folder.with_name(f"{folder.name}-before")
    outermost = not before.exists()  # one table of cases may be inside another
    if outermost:
        shutil.copytree(folder, before, symlinks=True)

    def renew() -> None:
        for path in folder.iterdir():
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        shutil.copytree(before, folder, symlinks=True, dirs_exist_ok=True)

    yield renew
    if outermost:
        shutil.rmtree(before)
