"""
What an entry tells its reader: its configurations in one form, its lattices, its functions in plain words.

Part of the base installation: nothing but Python.
"""

from aegis_sdk.reading.configurations import AT_LEAST, Listed, configurations_of
from aegis_sdk.reading.lattice import Lattice, Node, lattice_of
from aegis_sdk.reading.outline import AttributeOutline, EntryOutline, MaskingOutline, Range, outline_of
from aegis_sdk.reading.shown import shown, some

__all__ = [
    "AT_LEAST",
    "AttributeOutline",
    "EntryOutline",
    "Lattice",
    "Listed",
    "MaskingOutline",
    "Node",
    "Range",
    "configurations_of",
    "lattice_of",
    "outline_of",
    "shown",
    "some",
]
