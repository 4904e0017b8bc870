"""
The command `aegis`: a thin user of the SDK. Results go to stdout, everything else to stderr.

One file for each command; what they share is in `options`, `files`, `saying` and `failing`.
"""

from aegis_sdk.cli.main import app, main

__all__ = ["app", "main"]
