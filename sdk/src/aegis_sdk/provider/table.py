"""The provider's table; `source` says where tables come from."""

from aegis_sdk.provider.source import Source, Table, files_of, open_table, shown

__all__ = ["Source", "Table", "files_of", "open_table", "shown"]
