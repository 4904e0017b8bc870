"""Where tables come from: files by DuckDB, databases by whatever engine Ibis speaks to; counting happens there."""

from aegis_provider.table.address import shown
from aegis_provider.table.opening import Source, files_of, open_table
from aegis_provider.table.table import Table

__all__ = ["Source", "Table", "files_of", "open_table", "shown"]
