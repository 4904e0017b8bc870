"""Checks for the extras of this distribution."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from aegis_sdk import AegisError

_LIBRARIES = {
    "noise": ("opendp",),
    "independence": ("ortools",),
    "storage": ("obstore",),
    "check": ("loky", "sklearn", "threadpoolctl"),
    "synth": ("chex", "jax", "loky", "mbi", "opendp", "optax", "sklearn"),
}


@contextmanager
def needs_extra(extra: str) -> Iterator[None]:
    """Wrap an import that needs the extra.

    Raises:
        AegisError: A library of the extra is not installed; the text names the extra.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _LIBRARIES[extra]:
            raise
        raise _missing(error.name, extra) from error


def refuse_without(extra: str) -> None:
    """Fail before work that needs the extra; slow libraries are looked up, not imported.

    Raises:
        AegisError: As for `needs_extra`.
    """
    for library in _LIBRARIES[extra]:
        if find_spec(library) is None:
            raise _missing(library, extra)


def _missing(library: str | None, extra: str) -> AegisError:
    return AegisError(
        f"{library} is not installed: run make install or pip install './provider[{extra}]' in the repository"
    )
