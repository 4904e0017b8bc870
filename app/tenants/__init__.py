"""Tenants: their policies and quotas."""
