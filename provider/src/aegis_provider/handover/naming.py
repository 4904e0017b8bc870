"""The names of delivered files. They have the SHA-256 in them, so that no upload replaces another file."""

from collections.abc import Mapping
from typing import Final

from aegis_provider.release.table_file import PARQUET_ENDING
from aegis_sdk.wire import MediaType

CSV_ENDING: Final = ".csv"
MEDIA_TYPES: Final[Mapping[str, MediaType]] = {
    CSV_ENDING: "text/csv",
    PARQUET_ENDING: "application/vnd.apache.parquet",
}


def file_name(request_id: str, sha256: str, ending: str) -> str:
    """Return the name in the storage of the table that was masked for a request."""
    return f"{request_id}-{sha256}{ending}"


def ending_of(media_type: str) -> str:
    """Return the ending of files of a media type."""
    return next(ending for ending, each in MEDIA_TYPES.items() if each == media_type)
