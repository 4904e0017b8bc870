"""Processes: children that compute, the group that `serve` runs, and the embedded PostgreSQL."""
