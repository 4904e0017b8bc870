"""Validation of long lists and objects, at a bounded cost even if they have millions of faults.

Pydantic keeps about a kilobyte for each fault, so the faults of a body of a few megabytes could fill the memory. Long
lists and objects are therefore validated in chunks, and validation stops after a hundred faults.
"""

from collections.abc import Iterator
from typing import Any, cast

from pydantic import ValidationError, ValidatorFunctionWrapHandler, WrapValidator

from aegis_sdk.wire.faults import FAULTS_SHOWN, Fault, raised, refuse

_CHUNK = 1000


def _list_in_chunks(value: object, handler: ValidatorFunctionWrapHandler) -> list[Any]:
    """The validated list."""
    if not isinstance(value, list) or len(value) <= _CHUNK:
        return cast("list[Any]", handler(value))
    valid: list[Any] = []
    faults: list[Fault] = []
    for start in range(0, len(value), _CHUNK):
        try:
            valid += handler(value[start : start + _CHUNK])
        except ValidationError as error:
            faults += _moved(raised(error), start)
        if len(faults) >= FAULTS_SHOWN:
            break
    refuse("list", faults)
    return valid


def _moved(faults: list[Fault], start: int) -> Iterator[Fault]:
    """The faults of a chunk, with their indices in the whole list."""
    for (index, *rest), detail in faults:
        yield (int(index) + start, *rest), detail


def _dict_in_chunks(value: object, handler: ValidatorFunctionWrapHandler) -> dict[str, Any]:
    """The validated object."""
    if not isinstance(value, dict) or len(value) <= _CHUNK:
        return cast("dict[str, Any]", handler(value))
    members = list(value.items())
    valid: dict[str, Any] = {}
    faults: list[Fault] = []
    for start in range(0, len(members), _CHUNK):
        try:
            valid |= handler(dict(members[start : start + _CHUNK]))
        except ValidationError as error:
            faults += raised(error)
        if len(faults) >= FAULTS_SHOWN:
            break
    refuse("object", faults)
    return valid


LONG_LIST = WrapValidator(_list_in_chunks)
"""Annotates a list whose length the document decides."""

LONG_OBJECT = WrapValidator(_dict_in_chunks)
"""Annotates an object whose members the document decides."""
