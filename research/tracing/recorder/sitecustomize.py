"""Notes which functions of the project run, in every process that starts with this folder on its path.

The folder that `AEGIS_TRACE` names has a file `journey`, whose one byte says which journey goes on, and gets a file of
calls for each process. Each call is noted once in a journey, when it begins, since processes may be killed.
"""

import mmap
import os
import sys
import threading
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import CodeType, FrameType


def record(folder: Path) -> None:
    """Note calls in all threads of this process from now on."""
    with (folder / "journey").open("rb") as file:
        journey = mmap.mmap(file.fileno(), 1, access=mmap.ACCESS_READ)
    calls = (folder / f"{os.getpid()}.calls").open("a", buffering=1, encoding="utf-8")
    noted: set[tuple[int, CodeType]] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and (journey[0], code) not in noted:
            noted.add((journey[0], code))
            if not code.co_flags & CO_OPTIMIZED and code.co_qualname != "<module>":
                return  # the body of a class
            calls.write(f"{journey[0]}\t{code.co_filename}\t{code.co_qualname}\n")

    threading.setprofile(note)
    sys.setprofile(note)


if "AEGIS_TRACE" in os.environ:
    record(Path(os.environ["AEGIS_TRACE"]))
