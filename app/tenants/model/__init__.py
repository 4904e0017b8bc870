"""Policies and quotas of tenants, without SQL or HTTP."""
