"""What tenants demand of their entries, and may use."""
