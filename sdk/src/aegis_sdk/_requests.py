"""Parts of requests: paths, parameters and bodies."""

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any
from urllib.parse import quote

from pydantic import BaseModel

from aegis_sdk._errors import UniqueRecordsError
from aegis_sdk.reading import Alone


def entry_path(entry_id: str, *parts: str) -> str:
    """The path of an entry, or of something below it."""
    return "/".join(["/v1/entries", quote(entry_id, safe=""), *parts])


def version_params(version: int | None) -> dict[str, str] | None:
    """The parameters that name a version; none for the latest."""
    return None if version is None else {"version": str(version)}


def acceptance_params(accept_small_counts: bool) -> dict[str, str] | None:  # noqa: FBT001 - an option of the client
    """The parameter that accepts exact counts of 1 to 4."""
    return {"accept_small_counts": "true"} if accept_small_counts else None


def refuse_unique(body: bytes, accepted: bool) -> None:  # noqa: FBT001 - an option of the client
    """Refuse an entry with a configuration that leaves too many records alone, as it declares itself.

    Raises:
        UniqueRecordsError: It has one, and nobody has accepted that.
    """
    if accepted or b'"alone"' not in body:
        return
    try:
        alone = Alone.of(json.loads(body))
        is_much, line = alone.is_much(offered=True), alone.line(offered=True)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return  # it is not an entry, and the service says why
    if is_much:
        raise UniqueRecordsError(f"{line}. It is not published; mask more, or accept that: accept_unique=True")


def required_text(require: Mapping[str, float]) -> str:
    """Required numbers as a parameter has them: `k=10`, with all digits and no exponent."""
    return ",".join(f"{name}={Decimal(repr(float(limit))).normalize():f}" for name, limit in require.items())


def without_none(values: Mapping[str, str | None]) -> dict[str, str]:
    """The parameters that have a value."""
    return {name: value for name, value in values.items() if value is not None}


def json_bytes(document: BaseModel | Mapping[str, Any] | bytes) -> bytes:
    """The body of a request. A model is sent with only the fields that were set, so it is published as written."""
    if isinstance(document, bytes):
        return document
    if isinstance(document, BaseModel):
        return document.model_dump_json(exclude_unset=True).encode()
    return json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
