"""The command `aegis`, a thin layer over the SDK. Results go to stdout, everything else to stderr.

Each command has a file, registered in `commands`. Shared parts are in `options`, `entry_files`, `terminal` and
`failures`.
"""

from aegis_sdk.cli.main import main

__all__ = ["main"]
