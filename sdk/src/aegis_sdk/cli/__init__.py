"""The command `aegis`, a thin layer over the SDK. Results go to stdout, everything else to stderr.

Each command has a file, registered in `commands`. `options`, `entry_files`, `terminal` and `failures` have the shared
parts.
"""

from aegis_sdk.cli.main import main

__all__ = ["main"]
