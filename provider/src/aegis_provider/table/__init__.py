"""Tables from files, databases and data frames. Any engine that Ibis supports can count."""

from aegis_provider.table.opening import Source, delimiter_in, described, files_of, open_table, table_name
from aegis_provider.table.table import DELIMITERS, Table

__all__ = ["DELIMITERS", "Source", "Table", "delimiter_in", "described", "files_of", "open_table", "table_name"]
