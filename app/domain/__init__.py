"""The domain: callers, entries, configurations and advice, without SQL or HTTP."""
