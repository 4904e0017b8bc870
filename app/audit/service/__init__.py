"""Reading, signing and checking the audit log."""
