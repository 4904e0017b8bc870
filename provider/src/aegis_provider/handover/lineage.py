"""An OpenLineage event (openlineage.io, 2-0-2) for each fulfilled request: which table became which masked one.

It has neither records nor counts. The digest of the original table could confirm a guess of its last unknown cell, so
it is keyed by this user's key: the same table has the same version, and nobody else can try tables.
"""

import hmac
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Self
from urllib.parse import urlsplit

import httpx

from aegis_provider.state import lasting_randomness
from aegis_provider.table import Source, table_name
from aegis_provider.table.databases import is_url
from aegis_provider.workflow.folder import digests_of
from aegis_sdk.cli.terminal import InputError
from aegis_sdk.reading import TableColumn, columns_of
from aegis_sdk.wire import IDENTITY, DataRequest, Delivery, EntryHead

_PRODUCER: Final = "urn:aegis:provider"
_SPECIFICATION: Final = "https://openlineage.io/spec"
_EVENT: Final = f"{_SPECIFICATION}/2-0-2/OpenLineage.json#/$defs"
_KEY: Final = b"aegis lineage"
_TIMEOUT: Final = 10.0


@dataclass(frozen=True)
class OriginalTable:
    """The name of a provider's table in lineage, and its keyed digest; `None` if it is not in files."""

    namespace: str
    name: str
    version: str | None

    @classmethod
    def of(cls, table: Source) -> Self:
        """Return a table as lineage names it: a file by its path, a database table by its URL without secrets.

        Raises:
            StateError: The user's key cannot be used.
            TableError: A file of it cannot be read.
        """
        known, name = digests_of(table), table_name(table)
        digests = None if known is None else "\n".join(sorted(known.values())).encode()
        key = hmac.digest(lasting_randomness().key, _KEY, "sha256")
        version = None if digests is None else f"hmac-sha256:{hmac.digest(key, digests, 'sha256').hex()}"
        if isinstance(table, str | Path) and not is_url(str(table)):
            return cls("file", str(Path(table).resolve()), version)
        return cls(*(_place(name) if is_url(name) else ("aegis", name)), version)


@dataclass(frozen=True)
class Lineage:
    """Where events go: the address of a server's endpoint, or a file that gets a line of JSON for each."""

    place: str

    @classmethod
    def at(cls, place: str) -> Self:
        """Return the lineage at a place.

        Raises:
            InputError: It is no address of a web server, and no file in an existing folder.
        """
        if "://" in place:
            try:
                is_web = httpx.URL(place).scheme in ("http", "https") and bool(httpx.URL(place).host)
            except httpx.InvalidURL:
                is_web = False
            if not is_web:
                raise InputError("--lineage: give an address that begins with http:// or https://, or a file")
        elif not Path(place).resolve().parent.is_dir() or Path(place).is_dir():
            raise InputError(f"--lineage: {place} is not a file in an existing folder")
        return cls(place)

    def send(self, event: Mapping[str, Any]) -> str:
        """Send an event; return why that failed, or an empty text. A delivery never fails by it."""
        try:
            if "://" not in self.place:
                with open(self.place, "a", encoding="utf-8", opener=lambda p, how: os.open(p, how, 0o600)) as file:
                    file.write(f"{json.dumps(event)}\n")
                return ""
            with httpx.stream("POST", self.place, json=event, timeout=_TIMEOUT) as answer:
                taken, status = answer.is_success, answer.status_code
        except (httpx.HTTPError, OSError) as error:
            return f"the lineage event was not sent: {type(error).__name__}"  # the text may have a password
        return "" if taken else f"the lineage event was not taken: the server answers {status}"


def run_event(table: OriginalTable, head: EntryHead, request: DataRequest, delivery: Delivery) -> dict[str, Any]:
    """Return the event that a request was fulfilled; its run has the id of the request.

    It has no digest of the entry: the provider's could confirm a guess of the counts.
    """
    original = {"namespace": table.namespace, "name": table.name}
    columns = columns_of(head.entry_schema, delivery.configuration)
    namespace, name = _place(delivery.url)
    facets = {"version": _version(f"sha256:{delivery.sha256}"), "aegis_masking": _masking(head, request, delivery)}
    if columns:  # a generated table comes from rules, not from columns
        fields = [{"name": column.name, "type": column.type.value} for column in columns]
        facets["schema"] = _facet("SchemaDatasetFacet", "1-2-0", fields=fields)
        facets["columnLineage"] = _column_lineage(columns, original)
    return {
        "eventType": "COMPLETE",
        "eventTime": datetime.now(UTC).isoformat(),
        "producer": _PRODUCER,
        "schemaURL": f"{_EVENT}/RunEvent",
        "run": {"runId": request.id},
        "job": {"namespace": "aegis", "name": f"fulfil.{head.name}"},
        "inputs": [original | ({} if table.version is None else {"facets": {"version": _version(table.version)}})],
        "outputs": [{"namespace": namespace, "name": name, "facets": facets}],
    }


def _facet(name: str, version: str, **members: object) -> dict[str, Any]:
    """Return a facet of the standard."""
    return {
        "_producer": _PRODUCER,
        "_schemaURL": f"{_SPECIFICATION}/facets/{version}/{name}.json#/$defs/{name}",
        **members,
    }


def _version(version: str) -> dict[str, Any]:
    return _facet("DatasetVersionDatasetFacet", "1-0-1", datasetVersion=version)


def _masking(head: EntryHead, request: DataRequest, delivery: Delivery) -> dict[str, Any]:
    """Return our facet: what was agreed, and the privacy that the delivery states."""
    return {
        "_producer": _PRODUCER,
        "_schemaURL": f"{_EVENT}/DatasetFacet",
        "request": request.id,
        "entry": {"name": head.name, "id": head.id, "version": head.version},
        "configuration": delivery.configuration,
        "privacy": dict(delivery.privacy),
        "unit": head.unit or "record",
    }


def _column_lineage(columns: list[TableColumn], original: Mapping[str, str]) -> dict[str, Any]:
    """Return which column of the original table each column is, and whether it is masked."""
    fields = {}
    for column in columns:
        as_it_is = column.masking == IDENTITY
        how = {"type": "DIRECT", "subtype": "IDENTITY" if as_it_is else "TRANSFORMATION", "masking": not as_it_is}
        fields[column.name] = {"inputFields": [{**original, "field": column.name, "transformations": [how]}]}
    return _facet("ColumnLineageDatasetFacet", "1-2-0", fields=fields)


def _place(url: str) -> tuple[str, str]:
    """Return the namespace and the name of what is at a URL, without logins and signatures."""
    parts = urlsplit(url)
    table = f"#{parts.fragment}" if parts.fragment and parts.scheme not in ("http", "https") else ""
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}", f"{parts.path.lstrip('/')}{table}"
