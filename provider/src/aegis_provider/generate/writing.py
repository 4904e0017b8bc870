"""Writing of generated records."""

from pathlib import Path
from typing import Final

import pyarrow as pa

from aegis_provider.output import written_whole
from aegis_provider.release.apply import PARQUET_ENDING
from aegis_provider.release.blocks import block_schema
from aegis_provider.release.table_file import write_csv, write_parquet
from aegis_provider.table.values import Domain

_AT_ONCE: Final = 1 << 16


def write(output: Path, texts: pa.Table, delimiter: str) -> None:
    """Write records of texts: as Parquet, in the types of the columns, if the name ends so, otherwise as CSV.

    Raises:
        OutputError: The file cannot be written.
    """
    names = texts.column_names
    blocks = [
        pa.record_batch(batch.columns, schema=block_schema(len(names)))
        for batch in texts.to_batches(max_chunksize=_AT_ONCE)
    ]
    with written_whole(output) as part:
        if output.suffix.lower() == PARQUET_ENDING:
            domains = [Domain.of(column.unique().to_pylist()) for column in texts.columns]
            write_parquet(part, names, blocks, domains)
        else:
            write_csv(part, names, blocks, delimiter)
