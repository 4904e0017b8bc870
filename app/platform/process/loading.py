"""Loading of modules."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def loading() -> Iterator[None]:
    """Search for no garbage while modules load: what they make stays, and the search takes a quarter of the time."""
    searched = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        # Both together call everything old, without a search: left frozen, it would not be freed at the end.
        gc.freeze()
        gc.unfreeze()
        if searched:
            gc.enable()
