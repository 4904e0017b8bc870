"""Numbers as texts of finite domains, by named rules that the report states."""

import numpy as np
from numpy.typing import NDArray

STEPS = 40
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


def quarters(values: NDArray[np.float64]) -> NDArray[np.str_]:
    """The quarter of the records, by size, that each value is in; values that are equal share theirs."""
    cuts = np.quantile(values, (0.25, 0.5, 0.75))
    return np.array(QUARTERS)[np.searchsorted(cuts, values, side="left")]


def _plain(values: NDArray[np.float64]) -> NDArray[np.str_]:
    return np.array([f"{value:.10g}" for value in values.tolist()])
