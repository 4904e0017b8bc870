"""Conversion of configurations between names (document) and codes (advisor)."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from aegis_advisor.evidence import DROP, IDENTITY
from app.entries.model.configurations import ConfigurationTable, PackedConfigurations
from app.entries.model.documents import compress, decompress
from app.entries.model.entries import AttributeOutline
from app.entries.model.published import ConfigurationColumns
from app.entries.model.transfers import NO_FIGURES, Figures
from app.platform.database.arrays import PackedArray, pack, unpack

#: The names of rows that only entries of format 2 have.
GENERATED, FIGURE_PLACES, FIGURES = "generated", "transfer_places", "transfer"


def options_of(attribute: AttributeOutline) -> tuple[str, ...]:
    """The masking ids that a configuration may use for an attribute; codes are indices into them."""
    return (IDENTITY, DROP, *(masking.id for masking in attribute.maskings))


def pack_configurations(
    configurations: ConfigurationColumns, outline: Sequence[AttributeOutline]
) -> PackedConfigurations:
    """Pack the configurations of an entry as numbers."""
    return PackedConfigurations(
        ids=compress(configurations.ids),
        codes=_pack_codes(configurations.maskings, outline),
        privacy={guarantee: _pack_values(values) for guarantee, values in configurations.privacy.items()},
        declared=_pack_declared(configurations),
    )


def _pack_declared(configurations: ConfigurationColumns) -> dict[str, PackedArray]:
    """The additions of format 2; empty for other entries."""
    declared = {}
    if any(configurations.generated):
        declared[GENERATED] = pack(np.array(configurations.generated, dtype=bool))
    if configurations.figures.numbers.size:
        declared[FIGURE_PLACES], declared[FIGURES] = configurations.figures.pack()
    return declared


def _pack_codes(columns: Mapping[str, Sequence[str]], outline: Sequence[AttributeOutline]) -> PackedArray:
    codes: list[NDArray[np.int64]] = []
    for attribute in outline:
        place = {option: code for code, option in enumerate(options_of(attribute))}
        codes.append(np.fromiter((place[masking] for masking in columns[attribute.name]), dtype=np.int64))
    return pack(np.stack(codes, axis=1))


def _pack_values(values: Sequence[float | None]) -> PackedArray:
    return pack(np.array([math.nan if value is None else value for value in values], dtype=np.float64))


def unpack_configurations(
    packed: PackedConfigurations, outline: Sequence[AttributeOutline], *, with_ids: bool = True
) -> ConfigurationTable:
    """Unpack the configuration table of a version; a million ids take a tenth of a second."""
    declared = packed.declared
    return ConfigurationTable(
        ids=tuple(decompress(packed.ids)) if with_ids else (),
        options=tuple(options_of(attribute) for attribute in outline),
        codes=unpack(packed.codes, narrow=True),  # at a byte each, a hundred million take 0.1 GB instead of 0.8
        privacy={guarantee: unpack(values) for guarantee, values in packed.privacy.items()},
        generated=unpack(declared[GENERATED]) if GENERATED in declared else None,
        figures=Figures.unpack(declared[FIGURE_PLACES], declared[FIGURES]) if FIGURES in declared else NO_FIGURES,
    )
