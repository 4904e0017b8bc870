"""Decisions: where the domain, the advisor and the catalogue meet. Services never commit and know no HTTP."""
