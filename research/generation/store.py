"""Results that are kept between runs, since a run takes most of an hour; and a line for each on the terminal."""

import pickle
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Store:
    """A folder of results by name. Names say all that a result depends on but the code and the seed.

    Attributes:
        folder: The folder.
        began: When the run began.
    """

    folder: Path
    began: float = field(default_factory=time.monotonic)

    def of(self, name: str, work: Callable[[], T]) -> T:
        """Return a result that is kept, or work for it and keep it."""
        file = self.folder / f"{name.replace('/', ' ')}.pickle"
        if file.exists():
            result: T = pickle.loads(file.read_bytes())
            return result
        began = time.monotonic()
        result = work()
        took, total = time.monotonic() - began, time.monotonic() - self.began
        print(f"{total / 60:5.1f} min  {name} ({took:.0f} s)", file=sys.stderr, flush=True)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(pickle.dumps(result))
        return result
