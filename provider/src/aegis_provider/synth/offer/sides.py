"""The real records on both sides of a holdout, and releases beside them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from aegis_provider.errors import TableError, shortened
from aegis_provider.plan.generated import GeneratedTable
from aegis_provider.plan.model import Configuration, Plan
from aegis_provider.records import MOST_RECORDS, Records, drawn, held_out_of, learnt, rows_of
from aegis_provider.synth.released import MaskedRecords, Released
from aegis_provider.table import Table, open_table
from aegis_provider.table.formulas import with_plain_header
from aegis_sdk.printable import Share


@dataclass(frozen=True, eq=False)
class RealSides:
    """The records of a table, of which some are held out as `aegis generate` holds them out.

    Attributes:
        plan: The plan, with the share that is held out.
        masked: The records.
        rows: (records,) Which of them are held out.
    """

    plan: Plan
    masked: MaskedRecords
    rows: NDArray[np.bool_]

    @classmethod
    def read(cls, table: Table, plan: Plan) -> Self:
        """Read the records of a table.

        Raises:
            TableError: It does not fit the plan, or one of its sides has no records.
        """
        masked = MaskedRecords.read(table, plan)
        share = plan.holdout or 0.0
        rows = held_out_of(learnt(masked.records, plan), share)
        if rows.all() or not rows.any():
            raise TableError(
                f"{table.name}: {rows.sum():,} of {len(rows):,} records are held out by the holdout {share:g} of the "
                "plan; both sides need some. Records with equal attributes are on one side: state another holdout"
            )
        return cls(plan, masked, rows)

    @cached_property
    def seen(self) -> Records:
        """The records that releases are made of."""
        return self.masked.records.take(~self.rows)

    @cached_property
    def held_out(self) -> Records:
        """The records that no release is made of."""
        return self.masked.records.take(self.rows)

    def released(self, configuration: Configuration) -> Released | None:
        """Return what a configuration makes of the seen records; `None` if it masks at random or shows none of them."""
        if not self.masked.can_release(configuration):
            return None
        released = self.masked.released(configuration, ~self.rows)
        return released if len(released) else None

    def generated(self, generated: GeneratedTable, how: Mapping[str, Any]) -> Released:
        """Return a generated table, or records drawn from a large one.

        Raises:
            TableError: It cannot be read, or too much of it is not understood.
        """
        with open_table(generated.file, **how) as given:
            opened = with_plain_header(given, self.masked.records.names)
            names = [each for each in self.masked.records.names if each in opened.columns]
            rows = drawn(opened.records(), MOST_RECORDS, 0)
            released = Released.of(self.masked.records, rows_of(opened.batches(names), rows).rename_columns(names))
        if unread := next(iter(released.not_judged.items()), None):
            name, found = unread
            raise TableError(
                f"{generated.file}: {shortened(name)}: {Share(found.share)} of the cells are no values that the table "
                "has; write them as the table does"
            )
        return released

    def labels(self, generated: GeneratedTable, how: Mapping[str, Any]) -> dict[str, int]:
        """Return how many records of a generated table have each label value."""
        with open_table(generated.file, **how) as given:
            counted = with_plain_header(given, [self.plan.label]).combinations([self.plan.label])
            return dict(zip(counted["v0"].to_pylist(), counted["n"].to_pylist(), strict=True))
