"""Configurations between the document, where they are names, and the advisor, where they are codes."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aegis_advisor.evidence import DROP, IDENTITY
from app.domain.arrays import PackedArray, pack, unpack
from app.domain.configurations import ConfigurationTable, PackedConfigurations
from app.domain.documents import Document, compress, decompress
from app.domain.entries import AttributeOutline


def options_of(attribute: AttributeOutline) -> tuple[str, ...]:
    """The masking ids that a configuration may use for an attribute; codes index into them."""
    return (IDENTITY, DROP, *(masking.id for masking in attribute.maskings))


def pack_configurations(configurations: Document, outline: Sequence[AttributeOutline]) -> PackedConfigurations:
    """The configurations of a document as numbers; `configurations` is the part of it that lists them."""
    table = configurations.get("configuration_table")
    if table is None:
        ids, columns, privacy = _columns(configurations["configurations"], outline)
    else:
        ids, columns, privacy = table["ids"], table["maskings"], table.get("privacy") or {}
    return PackedConfigurations(
        ids=compress(ids),
        codes=_pack_codes(columns, outline),
        privacy={guarantee: _pack_values(values) for guarantee, values in privacy.items()},
    )


def _columns(
    rows: Sequence[Document], outline: Sequence[AttributeOutline]
) -> tuple[list[str], dict[str, list[str]], dict[str, list[float | None]]]:
    """The rows of `configurations` as the columns of a `configuration_table`."""
    guarantees = sorted({name for row in rows for name in row.get("privacy") or ()})
    return (
        [row["id"] for row in rows],
        {attribute.name: [row["maskings"][attribute.name] for row in rows] for attribute in outline},
        {name: [(row.get("privacy") or {}).get(name) for row in rows] for name in guarantees},
    )


def _pack_codes(columns: Mapping[str, Sequence[str]], outline: Sequence[AttributeOutline]) -> PackedArray:
    codes: list[NDArray[np.int64]] = []
    for attribute in outline:
        place = {option: code for code, option in enumerate(options_of(attribute))}
        codes.append(np.fromiter((place[masking] for masking in columns[attribute.name]), dtype=np.int64))
    return pack(np.stack(codes, axis=1))


def _pack_values(values: Sequence[Any]) -> PackedArray:
    return pack(np.array([math.nan if value is None else value for value in values], dtype=np.float64))


def unpack_configurations(packed: PackedConfigurations, outline: Sequence[AttributeOutline]) -> ConfigurationTable:
    """The configuration table of a version again."""
    return ConfigurationTable(
        ids=tuple(decompress(packed.ids)),
        options=tuple(options_of(attribute) for attribute in outline),
        codes=unpack(packed.codes, narrow=True),  # a byte each: a hundred million take 0.1 GB, not 0.8
        privacy={guarantee: unpack(values) for guarantee, values in packed.privacy.items()},
    )
