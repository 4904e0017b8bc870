"""Configurations as codes of several attributes at a time, for fast look-ups for a million of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

import numpy as np
import numpy.typing as npt

from aegis_advisor.arrays import BoolArray, Codes, FloatArray, IntArray

CHUNK = 4_096
"""Configurations per chunk; the temporary arrays of a chunk stay in the cache."""

COMBINATIONS = 2_048
"""The most combinations of options in a block of attributes; a table of this size stays in the cache."""


@dataclass(frozen=True, slots=True, eq=False)
class CodeBlocks:
    """The codes of configurations, with neighbouring attributes combined into blocks: one look-up per block.

    Attributes:
        sizes: per attribute, the number of options.
        edges: the first attribute of each block, and finally the number of attributes.
        codes: (blocks, configurations) the combination of options; the last attribute varies fastest.
    """

    sizes: tuple[int, ...]
    edges: tuple[int, ...]
    codes: npt.NDArray[np.unsignedinteger]

    @classmethod
    def of(cls, codes: Codes, sizes: Sequence[int]) -> Self:
        """Combine codes (configurations, attributes) below `sizes`, of any integer type or in a memory map."""
        edges = _edges(sizes, min(COMBINATIONS, max(codes.shape[0], 1)))
        largest = max((int(np.prod(sizes[start:stop])) for start, stop in pairwise(edges)), default=1)
        united = np.empty((len(edges) - 1, codes.shape[0]), dtype=np.min_scalar_type(largest))
        for begin in range(0, codes.shape[0], CHUNK):
            columns = codes[begin : begin + CHUNK].T.astype(united.dtype, order="C")
            for block, (start, stop) in zip(united, pairwise(edges), strict=True):
                combined = columns[start]
                for attribute in range(start + 1, stop):
                    combined = combined * united.dtype.type(sizes[attribute]) + columns[attribute]
                block[begin : begin + CHUNK] = combined
        return cls(tuple(sizes), edges, united)

    def __len__(self) -> int:
        """The number of configurations."""
        return int(self.codes.shape[1])

    def used(self) -> list[BoolArray]:
        """Per attribute (options,), whether any configuration uses the option."""
        used: list[BoolArray] = []
        for block, (start, stop) in zip(self.codes, pairwise(self.edges), strict=True):
            sizes = self.sizes[start:stop]
            combinations = np.bincount(block, minlength=int(np.prod(sizes))).reshape(sizes) > 0
            for axis in range(len(sizes)):
                others = tuple(other for other in range(len(sizes)) if other != axis)
                used.append(np.asarray(combinations.any(axis=others)))
        return used

    def options_of(self, configuration: int) -> list[int]:
        """The code of each attribute in one configuration."""
        options: list[int] = []
        for block, (start, stop) in zip(self.codes, pairwise(self.edges), strict=True):
            options.extend(map(int, np.unravel_index(int(block[configuration]), self.sizes[start:stop])))
        return options

    def sums(self, lookups: Sequence[FloatArray], rows: IntArray | None = None) -> FloatArray:
        """Look up the options of each attribute, and add up over the attributes.

        Args:
            lookups: per attribute, (options,) numbers or (options, n) vectors; NaN for options that no configuration
                uses.
            rows: (rows,) the configurations; None for all.

        Returns:
            (rows,) or (rows, n).
        """
        tables = [_united(lookups[start:stop]) for start, stop in pairwise(self.edges)]
        count = len(self) if rows is None else rows.size
        sums = np.zeros((count, *lookups[0].shape[1:]))
        for begin in range(0, count, CHUNK):
            part = slice(begin, begin + CHUNK)
            chunk = sums[part]
            for table, block in zip(tables, self.codes, strict=True):
                chunk += table[block[part] if rows is None else block[rows[part]]]
        return sums


def _edges(sizes: Sequence[int], most: int) -> tuple[int, ...]:
    """The first attribute of each block, which has one attribute or several with at most `most` combinations."""
    edges, combinations = [0], 1
    for attribute, size in enumerate(sizes):
        combinations *= size
        if combinations > most and attribute > edges[-1]:
            edges.append(attribute)
            combinations = size
    return (*edges, len(sizes))


def _united(lookups: Sequence[FloatArray]) -> FloatArray:
    """The sum for every combination of options: (combinations,) or (combinations, n)."""
    table = lookups[0]
    for lookup in lookups[1:]:
        table = (table[:, np.newaxis] + lookup).reshape(-1, *lookup.shape[1:])
    return table
