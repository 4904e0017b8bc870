"""The audit log: what was done, signed heads, and receipts."""
