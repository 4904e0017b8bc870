"""The methods by name, and what each makes of a division of a table: how well models do on it, and what it costs."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

from research.own_processes import grown, resident
from research.rivals.maskings import aegis, page
from research.rivals.maskings.mondrian import mondrian
from research.rivals.maskings.recoding import Masked, Promise, best_recodings, fifteen_lines, given_levels
from research.rivals.maskings.tables import Split
from research.rivals.maskings.trained import aucs, unmasked

Maskings = Callable[[], Mapping[str, Masked]]
"""Makes some maskings, each by its name on the page."""


def methods(split: Split, folder: Path | None, promise: Promise) -> Mapping[str, Maskings]:
    """Return what makes the maskings, by name; given hierarchies are in the folder, if the table has its own."""
    levels, quantiles = given_levels(split, folder), given_levels(split)
    blind = {"quantiles": lambda: {page.QUANTILES: aegis.searched(split, quantiles, promise)}}
    return {
        "raw": lambda: {page.RAW: unmasked(split)},
        "drafted": lambda: {page.DRAFTED: aegis.drafted(split, promise)},
        "given": lambda: {page.GIVEN: aegis.searched(split, levels, promise)},
        **(blind if folder else {}),
        "recodings": partial(best_recodings, split, levels, promise),
        "pandas": lambda: {page.PANDAS: fifteen_lines(split, promise)},
        "mondrian by gain": lambda: {page.GAIN: mondrian(split, promise, by_gain=True)},
        "mondrian by median": lambda: {page.MEDIAN: mondrian(split, promise, by_gain=False)},
    }


def measured(name: str, split: Split, folder: Path | None, promise: Promise) -> Mapping[str, Any]:
    """Return by masking the AUCs, the share of records left out, the attributes shared, whether it is exact, and costs.

    The costs are the CPU seconds until the method has its maskings, and the megabytes by which the memory of this
    process, which must be its own, has grown meanwhile.
    """
    before, start = resident(), process_time()
    made = methods(split, folder, promise)[name]()
    seconds, megabytes = process_time() - start, grown(before)
    return {
        masking: {
            "aucs": aucs(masked, split),
            "left_out": float(1 - masked.shown.mean()),
            "attributes": int(masked.train.shape[1]),
            "exact": masked.exact,
            "seconds": seconds,
            "megabytes": megabytes,
        }
        for masking, masked in made.items()
    }
