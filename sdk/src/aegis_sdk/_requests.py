"""Parts of HTTP requests: paths, parameters and bodies."""

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
    """Refuse an entry that declares a configuration with too many records alone.

    Raises:
        UniqueRecordsError: It has one, which was not accepted.
    """
    if accepted or b'"alone"' not in body:
        return
    try:
        alone = Alone.of(json.loads(body))
        is_much, line = alone.is_much(offered=True), alone.line(offered=True)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return  # not an entry: the service reports the fault
    if is_much:
        raise UniqueRecordsError(f"{line}. Not published: mask more, or accept it with accept_unique=True")


def required_text(require: Mapping[str, float]) -> str:
    """Required numbers as a query parameter: `k=10`, with all digits and no exponent."""
    return ",".join(f"{name}={Decimal(repr(float(limit))).normalize():f}" for name, limit in require.items())


def without_none(values: Mapping[str, str | None]) -> dict[str, str]:
    """The parameters that are not None."""
    return {name: value for name, value in values.items() if value is not None}


def json_bytes(document: BaseModel | Mapping[str, Any] | bytes) -> bytes:
    """A body as JSON. Of a model only the fields that were set are sent, so it is published as written."""
    if isinstance(document, bytes):
        return document
    if isinstance(document, BaseModel):
        return document.model_dump_json(exclude_unset=True).encode()
    return json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
