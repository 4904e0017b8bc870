"""Writes a configuration's masked table: streamed, without suppressed records, checked, and whole or not at all."""
