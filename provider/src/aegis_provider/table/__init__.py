"""Where tables come from: files, databases, data frames; counting happens in the engine, whichever Ibis speaks to."""

from aegis_provider.table.opening import Source, files_of, open_table, table_name
from aegis_provider.table.table import Table

__all__ = ["Source", "Table", "files_of", "open_table", "table_name"]
