"""The command `aegis`, a thin layer over the SDK. Results go to stdout, everything else to stderr.

Commands are registered in `commands`. Shared parts are in `options` and `terminal`.
"""

from aegis_sdk.cli.main import main

__all__ = ["main"]
