"""Policies and quotas over HTTP."""
