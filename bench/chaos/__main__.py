import argparse
import sys
import tempfile
from pathlib import Path
from random import Random

from bench.chaos import __doc__ as about
from bench.chaos.report import show
from bench.chaos.run import disturb


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m bench.chaos", description=about)
    options.add_argument("--faults", type=int, default=1000, help="number of faults (default: 1000)")
    options.add_argument("--seed", type=int, default=1, help="seed of the faults (default: 1)")
    options.add_argument("--keep", type=Path, help="directory for the logs (default: a temporary one)")
    given = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="aegis-chaos-") as temporary:
        directory = given.keep or Path(temporary)
        directory.mkdir(parents=True, exist_ok=True)
        done = disturb(directory, given.faults, Random(given.seed))
    show(done)
    return 0 if done.is_clean else 1


if __name__ == "__main__":
    sys.exit(main())
