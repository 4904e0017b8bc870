"""Stores of webhooks, deliveries and events."""
