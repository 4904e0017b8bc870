"""What was generated."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from aegis_provider.generate.methods.method import Knobs
from aegis_provider.generate.training import Training


@dataclass(frozen=True, eq=False)
class Generated:
    """Generated records, and how they were made.

    Attributes:
        table: The records: a column of texts for each attribute, and the label's last; a missing value is `""`.
        output: The file that they were written to, if any.
        method: The name of the method.
        knobs: What was asked of it.
        guarantee: The epsilon and delta of differential privacy; `None` if nothing is guaranteed.
        training: How the model was trained.
        learnt_from: How many records it learnt from.
        validated: How many others the models were judged by.
        held_out: How many records were held out.
        of_records: How many records the table has.
        left_out: The attributes that may not be shared as they are.
        weights: By attribute, how much it counts for privacy and for value.
    """

    table: pa.Table
    output: Path | None
    method: str
    knobs: Knobs
    guarantee: tuple[float, float] | None
    training: Training
    learnt_from: int
    validated: int
    held_out: int
    of_records: int
    left_out: tuple[str, ...]
    weights: Mapping[str, tuple[float, float]]

    @property
    def promise(self) -> str:
        """What is guaranteed, in a sentence."""
        if self.guarantee is None:
            return "nothing is guaranteed"
        epsilon, delta = self.guarantee
        return f"differential privacy with epsilon {epsilon:g} and delta {delta:.2g}, apart from the choice of levels"
