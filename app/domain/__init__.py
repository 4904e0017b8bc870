"""What the service speaks about: callers, entries, configurations, advice. No SQL, no HTTP."""
