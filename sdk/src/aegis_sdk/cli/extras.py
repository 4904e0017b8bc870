"""The SDK's provider part, imported only where a command needs it: the base works without its libraries."""

from importlib import import_module
from types import ModuleType

from aegis_sdk._errors import AegisError

_LIBRARIES = {
    "provider": ("duckdb", "ibis", "numpy", "pyarrow", "yaml"),
    "plots": ("jinja2", "markupsafe", "matplotlib"),
    "noise": ("opendp",),
    "independence": ("ortools",),
}
_ADVISOR = ("aegis_advisor", "highspy", "scipy")


def provider() -> ModuleType:
    """`aegis_sdk.provider`. Raises `AegisError`, naming the extra, where a library of it is not installed."""
    return with_extra("provider", "aegis_sdk.provider")


def with_extra(extra: str, module: str) -> ModuleType:
    """The module, which needs that extra. Raises `AegisError` where a library of the extra is not installed."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _LIBRARIES[extra]:
            raise
        raise AegisError(
            f"{error.name} is not installed: install the SDK with its extra, pip install './sdk[{extra}]'"
        ) from error


def with_advisor(module: str) -> ModuleType:
    """
    The module of the provider part, which needs the distribution aegis-advisor, too.

    Raises `AegisError` where that is not installed, or a library of the extra `provider`.
    """
    provider()
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        if library not in _ADVISOR:
            raise
        raise AegisError(f"{library} is not installed: install aegis-advisor, pip install ./advisor") from error
