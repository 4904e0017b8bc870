"""A finished release."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.csv as arrow_csv

from aegis_provider.advice import EntryAdvice
from aegis_provider.search import FrontierPoint
from aegis_provider.workflow.card import Card
from aegis_provider.workflow.card_making import Findings
from aegis_provider.workflow.steps import MASKED
from aegis_sdk.wire import EntryDocument


@dataclass(frozen=True, eq=False)
class Released:
    """A release: the masked table and its evidence.

    Attributes:
        folder: The folder with all of its files.
        card: The release card.
        findings: The results of all steps.
        entry_id: The id of the published entry; `None` if it was not published.
        like: The kind of data frame of `table`: `pandas`, `polars` or `pyarrow`.
        delimiter: What separates the fields of `masked.csv`.
        together: What the masked table tells with what left before, for the provider only.
    """

    folder: Path
    card: Card
    findings: Findings
    entry_id: str | None
    like: str
    delimiter: str = ","
    temporary: TemporaryDirectory[str] | None = field(default=None, repr=False)
    together: tuple[str, ...] = ()

    @property
    def table(self) -> Any:  # noqa: ANN401 - pandas and Polars are not always there
        """The masked table: a data frame of the same kind as the input, by default an Arrow table."""
        masked = self.arrow_table()
        if self.like == "polars":
            import polars as pl  # noqa: PLC0415 - installed, since the table was of that kind

            return pl.from_arrow(masked)
        return masked.to_pandas() if self.like == "pandas" else masked

    @property
    def advice(self) -> EntryAdvice:
        """The configurations, the most useful first."""
        return self.findings.advice

    @property
    def entry(self) -> EntryDocument:
        """The entry, which may leave this machine, like the masked table."""
        return self.findings.entry

    @property
    def frontier(self) -> tuple[FrontierPoint, ...]:
        """The best configuration for each k."""
        return self.findings.search.frontier

    def arrow_table(self) -> pa.Table:
        """Return the masked table as an Arrow table."""
        path = self.folder / MASKED
        return arrow_csv.read_csv(
            path,
            parse_options=arrow_csv.ParseOptions(delimiter=self.delimiter, newlines_in_values=True),
            convert_options=arrow_csv.ConvertOptions(strings_can_be_null=True),
        )

    def _repr_html_(self) -> str:
        """Return the card, as notebooks show it."""
        from aegis_provider.report.rendering import render_fragment  # noqa: PLC0415 - few releases are shown so
        from aegis_provider.workflow.card_report import card_report  # noqa: PLC0415
        from aegis_sdk.charts import style  # noqa: PLC0415

        return f"<style>{style()}</style>{render_fragment(card_report(self.card))}"
