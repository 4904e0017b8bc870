"""Webhooks and events, without SQL or HTTP."""
