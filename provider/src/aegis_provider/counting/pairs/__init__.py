"""Joint counts of pairs of masked attributes: which are needed (`choice`), counted where the table is (`counts`)."""
