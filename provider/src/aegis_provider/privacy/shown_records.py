"""The records in some release. Only these need to be counted: nothing is published about the others."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from aegis_provider.counting.counted_table import CountedTable
from aegis_provider.plan.model import Plan
from aegis_provider.privacy.privacy_table import PrivacyTable
from aegis_provider.table import Table
from aegis_provider.table.engine import ibis
from aegis_provider.table.values import MISSING, Domain


def shown_records(counted: CountedTable, plan: Plan) -> CountedTable:
    """Return the table without the records that every release leaves out, recounted if there are any.

    With a masking that is random or was applied elsewhere, the records left out are unknown, and all are counted.

    Raises:
        TableError: The table cannot be read.
    """
    leave_out = all(configuration.suppresses for configuration in plan.configurations)
    if not leave_out or any(not masking.is_by_value for attribute in plan.attributes for masking in attribute.maskings):
        return counted
    privacy = PrivacyTable.of(counted, plan)
    hidden = _hidden_in_all(privacy, plan)
    if not hidden.any():
        return counted
    records = privacy.records
    texts = [_texts(domain, codes) for domain, codes in zip(records.domains, records.codes[hidden].T, strict=True)]
    combinations = sorted({each for spelled in zip(*texts, strict=True) for each in product(*spelled)})
    return counted.restricted_to(_without(counted.table, records.columns, combinations), plan.label)


def _hidden_in_all(privacy: PrivacyTable, plan: Plan) -> NDArray[np.bool_]:
    """(combinations,) Which of the distinct records are in no release."""
    hidden = np.ones(len(privacy.records.counts), dtype=np.bool_)
    for configuration in plan.configurations:
        suppressed = privacy.suppressed(configuration)
        left_out = np.zeros_like(hidden)
        left_out[suppressed.places] = suppressed.left_out
        hidden &= left_out
        if not hidden.any():
            break
    return hidden


def _texts(domain: Domain, codes: NDArray[np.intp]) -> Iterator[Sequence[str]]:
    """Yield for each code all texts of its value in the table."""
    spellings: dict[int, list[str]] = {}
    for text, place in domain.places.items():
        spellings.setdefault(place, []).append(text)
    yield from (spellings[code] for code in codes.tolist())


def _without(table: Table, columns: Sequence[str], combinations: Sequence[tuple[str, ...]]) -> Table:
    """Return the table without the records that have one of these combinations of texts."""
    readings = [table.reading(name) for name in columns]
    keys = {
        f"h{n}": pa.array(
            [None if combination[n] == MISSING else reading.key_of(combination[n]) for combination in combinations],
            ibis.dtype(reading.type).to_pyarrow(),
        )
        for n, reading in enumerate(readings)
    }
    hidden = table.engine.keep(table.engine.lookup(pa.table(keys)))
    places = table.positions(columns)
    equal = [
        reading.key(table.source[f"c{place}"]).identical_to(hidden[f"h{n}"])
        for n, (place, reading) in enumerate(zip(places, readings, strict=True))
    ]
    return replace(table, source=table.source.anti_join(hidden, equal), memory=None, kept={})
