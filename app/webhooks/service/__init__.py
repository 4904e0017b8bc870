"""Decisions about webhooks and attempts to deliver."""
