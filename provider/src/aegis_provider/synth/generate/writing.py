"""Writing of generated records."""

from pathlib import Path
from typing import Final

import pyarrow as pa

from aegis_provider.output import written_whole
from aegis_provider.release.blocks import block_schema
from aegis_provider.release.table_file import write_table
from aegis_provider.table.values import Domain

_AT_ONCE: Final = 1 << 16


def write(output: Path, texts: pa.Table, delimiter: str, *, escape_formulas: bool = False) -> tuple[str, ...]:
    """Write records of texts: as Parquet, in the types of the columns, if the name ends so, otherwise as CSV.

    Returns:
        A sentence if a spreadsheet would run something in the file; with `escape_formulas`, it runs nothing.

    Raises:
        OutputError: The file cannot be written.
    """
    names = texts.column_names
    blocks = [
        pa.record_batch(batch.columns, schema=block_schema(len(names)))
        for batch in texts.to_batches(max_chunksize=_AT_ONCE)
    ]
    domains = [Domain.of(column.unique().to_pylist()) for column in texts.columns]
    with written_whole(output) as part:
        return write_table(part, output, names, blocks, domains, delimiter, escape_formulas=escape_formulas)
