"""The Aegis SDK."""
