"""Numbers as texts of finite domains, by named rules that the report states."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

STEPS = 40
THIRDS = ("lowest third", "middle third", "highest third")
QUARTERS = ("lowest quarter", "second quarter", "third quarter", "highest quarter")


def texts(values: NDArray[np.float64]) -> NDArray[np.str_]:
    """Values as they are, where there are at most 40; otherwise rounded to fortieths of their range."""
    if np.unique(values).size <= STEPS:
        return _plain(values)
    return _plain(steps(values))


def steps(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The number 0 to 39 of the equal-width step of the range that holds each value."""
    lowest, highest = values.min(), values.max()
    return np.minimum(np.floor((values - lowest) / (highest - lowest) * STEPS), STEPS - 1)


def thirds(values: NDArray[np.float64]) -> NDArray[np.str_]:
    """The third of the records, by size, that each value is in; values that are equal share theirs."""
    return _parts(values, THIRDS)


def quarters(values: NDArray[np.float64]) -> NDArray[np.str_]:
    """The quarter of the records, by size, that each value is in; values that are equal share theirs."""
    return _parts(values, QUARTERS)


def _parts(values: NDArray[np.float64], names: Sequence[str]) -> NDArray[np.str_]:
    """The equal part of the records, of as many as there are names."""
    cuts = np.quantile(values, np.arange(1, len(names)) / len(names))
    return np.array(names)[np.searchsorted(cuts, values, side="left")]


def _plain(values: NDArray[np.float64]) -> NDArray[np.str_]:
    return np.array([f"{value:.10g}" for value in values.tolist()])
