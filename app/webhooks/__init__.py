"""Webhooks: tenants' addresses for events."""
