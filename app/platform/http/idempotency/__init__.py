"""`Idempotency-Key`: POST requests that are carried out once."""
