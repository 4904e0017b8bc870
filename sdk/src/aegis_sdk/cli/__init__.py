"""The command `aegis`: a thin user of the SDK. Results go to stdout, everything else to stderr.

One file for each command, named in `commands`; what they share is in `options`, `entry_files`, `terminal` and
`failures`.
"""

from aegis_sdk.cli.main import main

__all__ = ["main"]
