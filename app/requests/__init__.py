"""Data requests: asked, decided, handed over, verified."""
