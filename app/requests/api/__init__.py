"""Data requests over HTTP."""
