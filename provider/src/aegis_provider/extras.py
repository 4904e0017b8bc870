"""The extras of this distribution, imported only where they are needed."""

from collections.abc import Iterator
from contextlib import contextmanager

from aegis_sdk import AegisError

_LIBRARIES = {
    "plots": ("jinja2", "markupsafe", "matplotlib"),
    "noise": ("opendp",),
    "independence": ("ortools",),
    "check": ("sklearn", "threadpoolctl"),
    "synth": ("jax", "mbi", "optax", "sklearn"),
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
        raise AegisError(
            f"{error.name} is not installed: install the extra, pip install './provider[{extra}]'"
        ) from error
