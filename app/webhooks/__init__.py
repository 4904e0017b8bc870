"""Webhooks: where tenants are told of events."""
