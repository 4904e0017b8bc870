"""The SDK's provider part, imported only where a command needs it: the base works without its libraries."""

from types import ModuleType

from aegis_sdk._errors import AegisError

_PROVIDER_LIBRARIES = ("duckdb", "ibis", "numpy", "pyarrow", "yaml")


def provider() -> ModuleType:
    """`aegis_sdk.provider`. Raises `AegisError`, naming the extra, where a library of it is not installed."""
    try:
        from aegis_sdk import provider as part  # noqa: PLC0415 - see above
    except ModuleNotFoundError as error:
        if error.name not in _PROVIDER_LIBRARIES:
            raise
        raise AegisError(
            f"{error.name} is not installed: install the SDK with its extra, pip install './sdk[provider]'"
        ) from error
    return part
