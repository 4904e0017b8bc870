"""The result of generation, and its file."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pyarrow as pa

from aegis_provider.counting.people import People
from aegis_provider.files import digest_of, written_whole
from aegis_provider.release.blocks import block_schema
from aegis_provider.release.table_file import write_table
from aegis_provider.synth.generate.methods.method import Knobs
from aegis_provider.synth.generate.training import TrainingResult
from aegis_provider.table.values import Domain
from aegis_sdk.reading import Share

_AT_ONCE: Final = 1 << 16


def write(output: Path, texts: pa.Table, delimiter: str, *, escape_formulas: bool = False) -> tuple[str, ...]:
    """Write records of texts: as Parquet with typed columns, or as CSV, by the ending of the output.

    Returns:
        A sentence if a spreadsheet would run something in the file; none with `escape_formulas`.

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


_FAR_OFF: Final = 1 / 3
"""Relative deviation of the share of held-out records from the requested one, beyond which a note reports it."""


@dataclass(frozen=True, eq=False)
class Generated:
    """Generated records, and how they were made.

    Attributes:
        table: The records: a column of texts for each attribute, and the label's last; a missing value is `""`.
        guarantee: The epsilon and delta of differential privacy of `table`, for tables that differ by one record, or by
            all those of one person; `None` without a guarantee. It covers no other attribute here.
        steps: The share of the budget of each step that looked at records; empty without a guarantee.
        warnings: A sentence for each disclosure in the file that its provider may not expect.
        accepted: The columns with accepted identifying values, and the kinds of these.
        people: Whose the real records are; `None` if the plan does not say. Generated ones are nobody's.
    """

    table: pa.Table
    output: Path | None
    method: str
    knobs: Knobs
    guarantee: tuple[float, float] | None
    steps: Mapping[str, float]
    training: TrainingResult
    learnt_from: int
    validated: int
    held_out: int
    holdout: float
    combinations: int
    of_records: int
    left_out: tuple[str, ...]
    weights: Mapping[str, tuple[float, float]]
    warnings: tuple[str, ...] = ()
    accepted: Mapping[str, str] = field(default_factory=dict)
    people: People | None = None

    @property
    def sha256(self) -> str:
        """The SHA-256 of the written file; empty if there is none."""
        return "" if self.output is None else digest_of(self.output)

    @property
    def held_out_together(self) -> str:
        """How many of what is held out together there are, in words."""
        split = self.people is not None and not self.people.are_records
        return f"{self.combinations:,} {'people' if split else 'combinations of attributes'}"

    @property
    def promise(self) -> str:
        """The guarantee in a sentence."""
        if self.guarantee is None:
            return "nothing is guaranteed"
        epsilon, delta = self.guarantee
        whose = "" if self.people is None else f", for a person with at most {self.people.rows} records"
        of = f"of the generated records alone{whose}"
        return f"differential privacy with epsilon {epsilon:g} and delta {delta:.2g}, {of}"

    @property
    def holdout_note(self) -> str:
        """A sentence if far more or fewer records are held out than requested; otherwise empty."""
        share = self.held_out / (self.learnt_from + self.validated + self.held_out)
        if abs(share - self.holdout) <= _FAR_OFF * self.holdout:
            return ""
        fewer = share < self.holdout
        if self.people is not None and not self.people.are_records:
            asked = f"{Share(share)} of the records are held out, not {Share(self.holdout)} as asked (--holdout)"
            return f"{asked}: people are held out with all of their records"
        return (
            f"{Share(share)} of the records are held out, not {Share(self.holdout)} as asked (--holdout): records with "
            f"equal attributes are held out together, and there are {self.combinations:,} combinations of attributes. "
            f"To hold out {'more' if fewer else 'fewer'}, choose a {'larger' if fewer else 'smaller'} --holdout; a "
            "plan with more attributes comes nearer to what is asked"
        )
