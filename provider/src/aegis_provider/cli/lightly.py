"""What makes commands start sooner."""

import sys

import pyarrow as pa


class _WithoutPandas:
    """An importer that finds no pandas."""

    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        if name == "pandas":
            raise ModuleNotFoundError(name=name)


def without_pandas() -> None:
    """Keep Arrow from loading pandas, which takes a third of a second and 70 MB.

    Arrow would do so with the first array, to find out whether it is given a frame or a series. A command reads files
    and databases only. Whoever has loaded pandas keeps it, and Arrow still loads it to make a frame.
    """
    if "pandas" in sys.modules:
        return
    sys.meta_path.insert(0, _WithoutPandas)
    try:
        pa.array(())
    finally:
        sys.meta_path.remove(_WithoutPandas)
