"""Arrow arrays of texts and numbers, made without `pa.array`.

With its first sequence, `pa.array` loads pandas to check for a series. That takes a third of a second and 70 MB, more
than most other work of a command on a small table. Grouping by Arrow, and comparison with a Python value, do the same.
"""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

_MOST_BYTES: Final = 2**31 - 1
"""Arrow's offsets of texts have 32 bits."""

_FLOATS: Final = {"float": "float32", "double": "float64"}
"""The types with different names in Arrow and NumPy."""


def text_array(texts: Sequence[str]) -> pa.StringArray:
    """(texts,) Return these texts, of less than 2 GB together.

    Raises:
        UnicodeEncodeError: A text has half of a surrogate pair.
        OverflowError: The texts have more.
    """
    encoded = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, encoded)])
    if ends[-1] > _MOST_BYTES:
        message = f"{ends[-1]:,} bytes of texts are too many for one array"
        raise OverflowError(message)
    ends = ends.astype(np.int32)
    return pa.StringArray.from_buffers(len(encoded), pa.py_buffer(ends), pa.py_buffer(b"".join(encoded)))


def number_array(numbers: NDArray[np.integer[Any]]) -> pa.Array:
    """(numbers,) Return these numbers, without a copy if they are contiguous."""
    held = np.ascontiguousarray(numbers)
    return pa.Array.from_buffers(pa.from_numpy_dtype(held.dtype), len(held), [None, pa.py_buffer(held)])


def numbers_in(numbers: pa.Array | pa.ChunkedArray) -> NDArray[Any]:
    """(numbers,) Return the numbers of an array.

    Raises:
        ValueError: Some are missing.
    """
    whole = numbers.combine_chunks() if isinstance(numbers, pa.ChunkedArray) else numbers
    if whole.null_count:
        message = f"{whole.null_count:,} of {len(whole):,} numbers are missing"
        raise ValueError(message)
    kind = np.dtype(_FLOATS.get(str(whole.type), str(whole.type)))
    held = np.frombuffer(whole.buffers()[1] or b"", dtype=kind)
    return held[whole.offset : whole.offset + len(whole)]
