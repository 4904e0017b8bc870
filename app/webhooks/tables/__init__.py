"""Tables of webhooks and deliveries."""
