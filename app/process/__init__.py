"""Processes: the children that compute, the group that `serve` runs, the embedded PostgreSQL."""
